static int fits(const long *queens, long count, long column) {
  for (long row = 0; row < count; row++) {
    long apart = queens[row] - column, distance = count - row;
    if (apart == 0 || apart == distance || apart == -distance) return 0;
  }
  return 1;
}
static long ways(long n, long *queens, long count) {
  if (count == n) return 1;
  long sum = 0;
  for (long column = 0; column < n; column++)
    if (fits(queens, count, column)) {
      queens[count] = column;
      sum += ways(n, queens, count + 1);
    }
  return sum;
}
long run(long n) {
  long queens[64];
  return ways(n, queens, 0);
}
