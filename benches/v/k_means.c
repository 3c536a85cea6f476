#include <stdlib.h>
#include <string.h>

#include <math.h>

long run(long n) {
  double *points = malloc(n * sizeof *points), centres[10], total = 0;
  for (long i = 0; i < n; i++) points[i] = i * 48271 % 2147483647 % 1000003;
  for (long k = 0; k < 10; k++) centres[k] = k * 100000;
  for (long step = 0; step < 5; step++) {
    double sums[10] = {0};
    long counts[10] = {0};
    for (long i = 0; i < n; i++) {
      long best = 0;
      for (long k = 1; k < 10; k++)
        if (fabs(points[i] - centres[k]) < fabs(points[i] - centres[best])) best = k;
      sums[best] += points[i];
      counts[best]++;
    }
    for (long k = 0; k < 10; k++)
      if (counts[k] > 0) centres[k] = sums[k] / counts[k];
  }
  for (long k = 0; k < 10; k++) total += centres[k];
  free(points);
  return (long) total;
}
