pure int steps(double x, double y, int most) {
  double a = 0, b = 0;
  int k = 0;
  while (k < most && a * a + b * b <= 4) {
    double next = a * a - b * b + x;
    b = 2 * a * b + y;
    a = next;
    k++;
  }
  return k;
}
pure int main(int n) [*] {
  return [sum([sum([steps(-2.0 + 3.0 * i / n, -1.0 + 2.0 * j / n, 200) : i in index(n)]) : j in index(n)])];
}
