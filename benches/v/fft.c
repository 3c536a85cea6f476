#include <stdlib.h>
#include <string.h>

#include <math.h>

struct complex { double re, im; };
static void fft(struct complex *v, struct complex *room, long n) {
  if (n == 1) return;
  for (long k = 0; k < n / 2; k++) {
    room[k] = v[2 * k];
    room[n / 2 + k] = v[2 * k + 1];
  }
  fft(room, v, n / 2);
  fft(room + n / 2, v + n / 2, n / 2);
  for (long k = 0; k < n / 2; k++) {
    double angle = -2 * M_PI * k / n, a = cos(angle), b = sin(angle);
    struct complex x = room[n / 2 + k], turned = {a * x.re - b * x.im, a * x.im + b * x.re};
    v[k].re = room[k].re + turned.re;
    v[k].im = room[k].im + turned.im;
    v[n / 2 + k].re = room[k].re - turned.re;
    v[n / 2 + k].im = room[k].im - turned.im;
  }
}
long run(long n) {
  struct complex *v = malloc(n * sizeof *v), *room = malloc(n * sizeof *room);
  for (long i = 0; i < n; i++) v[i] = (struct complex){i % 17, i % 5};
  fft(v, room, n);
  long result = lround(v[1].re) * 1000003 + lround(v[n / 2].im);
  free(v);
  free(room);
  return result;
}
