#include <stdlib.h>
#include <string.h>

static long least(long a, long b) { return a < b ? a : b; }
long run(long n) {
  char *a = malloc(n + 1), *b = malloc(n + 1);
  long *row = malloc((n + 1) * sizeof *row);
  for (long i = 0; i < n; i++) {
    a[i] = 97 + i * 7 % 26;
    b[i] = 97 + i * 11 % 26;
  }
  for (long j = 0; j <= n; j++) row[j] = j;
  for (long i = 1; i <= n; i++) {
    long diagonal = row[0];
    row[0] = i;
    for (long j = 1; j <= n; j++) {
      long above = row[j];
      row[j] = least(least(above, row[j - 1]) + 1, diagonal + (a[i - 1] != b[j - 1]));
      diagonal = above;
    }
  }
  long result = row[n];
  free(a);
  free(b);
  free(row);
  return result;
}
