#include <stdlib.h>
#include <string.h>

long run(long n) {
  long *d = malloc(n * n * sizeof *d), sum = 0;
  for (long i = 0; i < n; i++)
    for (long j = 0; j < n; j++) d[i * n + j] = i == j ? 0 : (i * 131 + j * 71) % 997 + 1;
  for (long k = 0; k < n; k++)
    for (long i = 0; i < n; i++)
      for (long j = 0; j < n; j++)
        if (d[i * n + k] + d[k * n + j] < d[i * n + j]) d[i * n + j] = d[i * n + k] + d[k * n + j];
  for (long i = 0; i < n * n; i++) sum += d[i];
  free(d);
  return sum;
}
