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
pure int main(int n) [*] { return [ways(n, [])]; }
