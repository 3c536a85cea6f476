/* Linear equations by elimination. Values: a solution that was chosen, in numbers that are exact.
   expect: [1.0, -2.0, 3.0]
*/
pure double solved(double a[*][*], double b[*]) [*] {
  int n = $b;
  for (int k = 0; k < n; k++)
    for (int i = k + 1; i < n; i++) {
      double factor = a[i][k] / a[k][k];
      for (int j = k; j < n; j++) a[i][j] -= factor * a[k][j];
      b[i] -= factor * b[k];
    }
  double x[*] = dist(0.0, n);
  for (int i = n - 1; i >= 0; i--) {
    double rest = b[i];
    for (int j = i + 1; j < n; j++) rest -= a[i][j] * x[j];
    x[i] = rest / a[i][i];
  }
  return x;
}
solved([[2, 1, 1], [4, 4, 1], [8, 2, 8]], [3, -1, 28]);
