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
static void sort(long *v, long *room, long n) {
  if (n <= 1) return;
  long half = n / 2, i = 0, j = half;
  sort(v, room, half);
  sort(v + half, room + half, n - half);
  for (long k = 0; k < n; k++) room[k] = j == n || (i < half && v[i] <= v[j]) ? v[i++] : v[j++];
  memcpy(v, room, n * sizeof *v);
}
long run(long n) {
  long *v = numbers(n, 1000000), *room = malloc((n + 1) * sizeof *room);
  sort(v, room, n);
  long sum = checked(v, n);
  free(v);
  free(room);
  return sum;
}
