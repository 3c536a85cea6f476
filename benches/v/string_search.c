#include <stdlib.h>
#include <string.h>

static long checked(const long *v, long n) {
  long sum = 0;
  for (long i = 0; i < n; i++) sum += v[i] * (i % 7 + 1);
  return sum;
}
long run(long n) {
  char *text = malloc(n + 1);
  long *found = malloc((n + 1) * sizeof *found), count = 0;
  for (long i = 0; i < n; i++) text[i] = 97 + i * 48271 % 2147483647 % 3;
  for (long i = 0; i + 4 <= n; i++)
    if (text[i] == 'a' && text[i + 1] == 'b' && text[i + 2] == 'c' && text[i + 3] == 'a') found[count++] = i;
  long sum = checked(found, count);
  free(text);
  free(found);
  return sum;
}
