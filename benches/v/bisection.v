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
pure int main(int n) [*] { return [(int) (1000 * sum([root(a) : a in index(n)]))]; }
