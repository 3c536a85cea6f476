static long steps(double x, double y, long most) {
  double a = 0, b = 0;
  long k = 0;
  while (k < most && a * a + b * b <= 4) {
    double next = a * a - b * b + x;
    b = 2 * a * b + y;
    a = next;
    k++;
  }
  return k;
}
long run(long n) {
  long sum = 0;
  for (long j = 0; j < n; j++)
    for (long i = 0; i < n; i++) sum += steps(-2.0 + 3.0 * i / n, -1.0 + 2.0 * j / n, 200);
  return sum;
}
