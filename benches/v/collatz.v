pure int steps(int n, int most) {
  int k = 0;
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
pure int main(int n) [*] { return [sum([steps(k, 1000) : k in iseq(1, 1, n)])]; }
