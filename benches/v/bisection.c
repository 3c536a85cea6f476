static double root(double a) {
  double low = 0, high = a + 1;
  for (long steps = 0; steps < 60; steps++) {
    double middle = (low + high) / 2;
    if (middle * middle > a) high = middle; else low = middle;
  }
  return low;
}
long run(long n) {
  double sum = 0;
  for (long a = 0; a < n; a++) sum += root(a);
  return (long) (1000 * sum);
}
