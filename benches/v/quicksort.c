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
static void sort(long *v, long low, long high) {
  while (low < high) {
    long pivot = v[low + (high - low) / 2], i = low, j = high;
    while (i <= j) {
      while (v[i] < pivot) i++;
      while (v[j] > pivot) j--;
      if (i <= j) {
        long old = v[i];
        v[i++] = v[j];
        v[j--] = old;
      }
    }
    sort(v, low, j);
    low = i;
  }
}
long run(long n) {
  long *v = numbers(n, 1000000);
  sort(v, 0, n - 1);
  long sum = checked(v, n);
  free(v);
  return sum;
}
