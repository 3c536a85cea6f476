/* Sorting by merging, element by element. Values: sorted of Python.
   expect: [0, 3, 6, 9, 12, 13, 15, 16, 19, 22, 25, 28, 31, 34, 35, 38, 41, 44, 47, 50, 53, 54, 56, 57, 60, 63, 66, 69, 72, 75, 76, 79, 82, 85, 88, 91, 94, 95, 97, 98]
   expect: []
   expect: [[1, 2], [3], []]
*/
pure int merged(int v[*], int w[*]) [*] {
  int result[*] = dist(0, $v + $w);
  int i = 0, j = 0;
  while (i < $v || j < $w)
    if (j == $w || (i < $v && v[i] <= w[j])) {
      result[i + j] = v[i];
      i++;
    } else {
      result[i + j] = w[j];
      j++;
    }
  return result;
}
pure int sorted(int v[*]) [*] {
  if ($v <= 1) return v;
  int halves[*][*] = [sorted(h) : h in bottop(v)];
  return merged(halves[0], halves[1]);
}
sorted([(i * 7919 + 13) % 101 : i in index(40)]);
sorted([]);
[sorted(v) : v in [[2, 1], [3], []]];
