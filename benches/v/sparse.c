#include <stdlib.h>
#include <string.h>

struct entry { long column; double value; };
long run(long n) {
  double *x = malloc(n * sizeof *x), total = 0;
  struct entry *rows = malloc(10 * n * sizeof *rows);
  for (long i = 0; i < n; i++) x[i] = i % 10;
  for (long i = 0; i < n; i++)
    for (long j = 0; j < 10; j++) rows[10 * i + j] = (struct entry){(i + j * 101) % n, j};
  for (long i = 0; i < n; i++) {
    double sum = 0;
    for (long j = 0; j < 10; j++) sum += rows[10 * i + j].value * x[rows[10 * i + j].column];
    total += sum;
  }
  free(x);
  free(rows);
  return (long) total;
}
