#include <stdlib.h>
#include <string.h>

static long checked(const long *v, long n) {
  long sum = 0;
  for (long i = 0; i < n; i++) sum += v[i] * (i % 7 + 1);
  return sum;
}
static long *numbers(long n, long most) {
  long *v = malloc((n + 1) * sizeof *v);
  for (long i = 0; i < n; i++) v[i] = i * 48271 % 2147483647 % most;
  return v;
}
long run(long n) {
  long h[1000] = {0}, *v = numbers(n, 1000);
  for (long i = 0; i < n; i++) h[v[i]] += 1;
  free(v);
  return checked(h, 1000);
}
