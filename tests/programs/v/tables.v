/* Tables, rows and steps of all sizes, with sums that wrap. Values: computed in Python.
   expect: [7, 0, 0, 1, 1]
   expect: [1, 1246, 0, 0, 1]
   expect: [[0, 30, 120, 270, 480], [0, -4611686018427387874, 120, -4611686018427387634, 480], [0, -9223372036854775778, 120, -9223372036854775538, 480], [0, 4611686018427387934, 120, 4611686018427388174, 480], [0, 30, 120, 270, 480]]
   expect: [[49]]
   expect: [20624403171, 1435, 6, 21]
*/
pure int longest(char a[*], char b[*]) {
  int t[*][*] = [[0 : j in index($b + 1)] : i in index($a + 1)];
  for (int i = 1; i <= $a; i++)
    for (int j = 1; j <= $b; j++)
      if (a[i - 1] == b[j - 1]) t[i][j] = t[i - 1][j - 1] + 1;
      else t[i][j] = max(t[i - 1][j], t[i][j - 1]);
  return t[$a][$b];
}
pure int ways(int coins[*], int total) {
  int w[*] = dist(0, total + 1);
  w[0] = 1;
  for (int c = 0; c < $coins; c++)
    for (int t = coins[c]; t <= total; t++) w[t] = w[t] * 3 + w[t - coins[c]];
  return w[total];
}
pure int product(int a[*][*]) [*][*] {
  int c[*][*] = [[0 : j in index($a)] : i in index($a)];
  for (int i = 0; i < $a; i++)
    for (int j = 0; j < $a; j++)
      for (int k = 0; k < $a; k++) c[i][j] += a[i][k] * a[k][j];
  return c;
}
pure int steps(int v[*], int first, int step, int last) {
  int sum = 0;
  for (int i = first; i <= last && i >= 0; i += step) sum = sum * 5 + v[i];
  for (int i = last; i > first; i -= step) sum = sum * 5 + v[i];
  return sum;
}
[longest("nematode knowledge", "empty bottle"), longest("", "a"), longest("a", ""), longest("b", "b"),
    longest("aaaaaaaaaaaaaaaaa", "ba")];
[ways([1, 2, 5], 0), ways([1, 2, 5], 50), ways([], 3), ways([7], 6), ways([1, 9223372036854775807], 4)];
product([[i * 4611686018427387904 - j * j : j in index(5)] : i in index(5)]);
product([[7]]);
[steps([3, 1, 4, 1, 5, 9, 2, 6], f, s, 7) : f in [0, 1, 7, 0]; s in [1, 3, 1, 9223372036854775807]];
