/* In how many ways n queens stand on a board of n by n. Values: a search in Python.
   expect: [1, 0, 0, 2, 10, 4, 40]
*/
pure bool fits(int queens[*], int column) {
  for (int row = 0; row < $queens; row++) {
    int distance = $queens - row;
    if (queens[row] == column || abs(queens[row] - column) == distance) return false;
  }
  return true;
}
pure int ways(int n, int queens[*]) {
  if ($queens == n) return 1;
  return sum([ways(n, queens >< [c]) : c in index(n) : fits(queens, c)]);
}
[ways(n, []) : n in iseq(1, 1, 8)];
