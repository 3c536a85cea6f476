#include <stdlib.h>
#include <string.h>

long run(long n) {
  double *a = malloc(n * n * sizeof *a), *b = malloc(n * sizeof *b), *x = malloc(n * sizeof *x), sum = 0;
  for (long i = 0; i < n; i++) {
    for (long j = 0; j < n; j++) a[i * n + j] = i == j ? n + 1 : (i * 31 + j * 17) % 10;
    b[i] = i % 7;
  }
  for (long k = 0; k < n; k++)
    for (long i = k + 1; i < n; i++) {
      double factor = a[i * n + k] / a[k * n + k];
      for (long j = k; j < n; j++) a[i * n + j] -= factor * a[k * n + j];
      b[i] -= factor * b[k];
    }
  for (long i = n - 1; i >= 0; i--) {
    double rest = b[i];
    for (long j = i + 1; j < n; j++) rest -= a[i * n + j] * x[j];
    x[i] = rest / a[i * n + i];
  }
  for (long i = 0; i < n; i++) sum += x[i];
  free(a);
  free(b);
  free(x);
  return (long) (1000000 * sum);
}
