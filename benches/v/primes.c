#include <stdlib.h>
#include <string.h>

static long checked(const long *v, long n) {
  long sum = 0;
  for (long i = 0; i < n; i++) sum += v[i] * (i % 7 + 1);
  return sum;
}
long run(long n) {
  char *is_prime = malloc(n + 1);
  long *found = malloc((n + 1) * sizeof *found), count = 0;
  memset(is_prime, 1, n + 1);
  for (long p = 2; p * p < n; p++)
    if (is_prime[p])
      for (long i = 2 * p; i < n; i += p) is_prime[i] = 0;
  for (long i = 2; i < n; i++)
    if (is_prime[i]) found[count++] = i;
  long sum = checked(found, count);
  free(is_prime);
  free(found);
  return sum;
}
