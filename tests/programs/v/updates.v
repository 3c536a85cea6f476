/* Elements of elements, and fields of elements, that change: in place where nothing else needs what was there.
   Values: Python.
   args:
   expect: [[1, 2, 3, 4], [2, 4, 6, 8], [3, 6, 9, 12]]
   expect: [(1.5, [0, 0, 7]), (0.0, [1, 2])]
   expect: [[[0, 0], [0, 5]], [[6, 0], [0, 0]]]
   expect: [[9, 2], [1, 2]]
   expect: [[1, 2], [1, 2]]
   expect: [[3, 1], [0]]
   expect: 20
   expect: [[0, 1, 0], [1, 0, 1]]
   expect: a "text" and [7]
*/
struct measure { double value; int counts[*]; };
pure int products(int rows, int columns) [*][*] {
  int m[*][*] = [dist(0, columns) : i in index(rows)];
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < columns; j++) m[i][j] += (i + 1) * (j + 1);
  return m;
}
void swap(int *a, int *b) {
  int old = *a;
  *a = *b;
  *b = old;
}
pure int checkered(int m[*][*]) [*][*] {
  for (int i = 0; i < $m; i++)
    for (int j = 0; j < $m[i]; j++) {
      if ((i + j) % 2 == 0) continue;
      m[i][j] = 1;
    }
  return m;
}
void main() {
  printf("%v\n", products(3, 4));
  struct measure all[*] = {{0, {0, 0, 0}}, {0, {1, 2}}};
  all[0].value += 1.5;
  all[0].counts[2] = 7;
  printf("%v\n", all);
  int cube[2][2][2];
  cube[0][1][1] = 5;
  cube[1][0][0] = 6;
  printf("%v\n", cube);
  int row[*] = {1, 2};
  int twice[*][*] = [row, row];
  int before[*][*] = twice;
  twice[0][0] = 9;
  printf("%v\n%v\n", twice, before);
  int v[*][*] = {{0, 1}, {3}};
  swap(&v[0][0], &v[1][0]);
  printf("%v\n", v);
  int total = 0, table[3][3];
  for (int k = 0; k < 9; k++) {
    table[k / 3][k % 3] = k;
    total += table[k % 3][k / 3];
  }
  printf("%d\n", total);
  printf("%v\n", checkered([[0, 0, 0], [0, 0, 0]]));
  printf("%v and %v\n", "a \"text\"", [7]);
}
