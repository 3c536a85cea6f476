/* Square roots by halving an interval sixty times. Values: Python, with the same floats.
   expect: [1.414213562373095, 3.0, 3.162277660168379, 0.0]
*/
pure double root(double a) {
  double low = 0, high = a + 1;
  int steps = 0;
  do {
    double middle = (low + high) / 2;
    if (middle * middle > a) high = middle; else low = middle;
    steps++;
  } while (steps < 60);
  return low;
}
[root(a) : a in index(11) : a == 2 || a >= 9] >< [root(0)];
