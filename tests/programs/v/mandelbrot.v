/* Steps to escape, for the points of a grid. Values: Python, with the same floats.
   expect: [[1, 2, 3, 4, 50, 2], [1, 3, 5, 50, 50, 5], [50, 50, 50, 50, 50, 5], [1, 3, 5, 50, 50, 5], [1, 2, 3, 4, 50, 2]]
*/
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
[[steps(-2.0 + 0.5 * i, -1.0 + 0.5 * j, 50) : i in index(6)] : j in index(5)];
