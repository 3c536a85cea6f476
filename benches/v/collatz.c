static long steps(long n, long most) {
  long k = 0;
  for (;;) {
    if (n == 1) break;
    if (k == most) {
      k = -1;
      break;
    }
    n = n % 2 == 0 ? n / 2 : 3 * n + 1;
    k++;
  }
  return k;
}
long run(long n) {
  long sum = 0;
  for (long k = 1; k < n; k++) sum += steps(k, 1000);
  return sum;
}
