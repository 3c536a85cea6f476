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
pure int main(int n) [*] {
  double a[*][*] = [[i == j ? n + 1 : (i * 31 + j * 17) % 10 : j in index(n)] : i in index(n)];
  double b[*] = [i % 7 : i in index(n)];
  return [(int) (1000000 * sum(solved(a, b)))];
}
