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
pure int checked(int v[*]) { return sum([x * (i % 7 + 1) : x in v; i in index($v)]); }
pure int numbers(int n, int most) [*] { return [i * 48271 % 2147483647 % most : i in index(n)]; }
pure int main(int n) [*] { return [checked(sorted(numbers(n, 1000000)))]; }
