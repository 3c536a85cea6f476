/* Steps of Collatz' sequence to 1, or -1 after too many. Values: Python.
   expect: [0, 1, 7, 2, 5, 8, 16, 3, 19, 6, 14, 9, 9, 17, 17, 4, 12, 20, 20, 7, 7, 15, 15, 10, 23, 10, -1, 18, 18, 18]
*/
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
[steps(n, 100) : n in iseq(1, 1, 31)];
