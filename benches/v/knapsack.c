#include <stdlib.h>
#include <string.h>

long run(long n) {
  long *value = calloc(n + 1, sizeof *value);
  for (long i = 0; i < 200; i++) {
    long weight = i * 37 % 50 + 1, worth = i * 91 % 101 + 1;
    for (long k = n; k >= weight; k--) {
      long with = value[k - weight] + worth;
      if (with > value[k]) value[k] = with;
    }
  }
  long result = value[n];
  free(value);
  return result;
}
