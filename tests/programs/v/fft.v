/* The Fourier transform with structs for complex numbers, rounded to whole numbers. Values: the definition, in Python.
   expect: [10, -2, -2, -2]
   expect: [0, 2, 0, -2]
   expect: [16, 0, 0, 0, 0, 0, 0, 0]
*/
struct complex { double re, im; };
pure struct complex add(struct complex a, struct complex b) {
  return (struct complex){a.re + b.re, a.im + b.im};
}
pure struct complex times(struct complex a, struct complex b) {
  struct complex c;
  c.re = a.re * b.re - a.im * b.im;
  c.im = a.re * b.im + a.im * b.re;
  return c;
}
pure struct complex root(int k, int n) {
  double angle = -2 * pi * k / n;
  return (struct complex){cos(angle), sin(angle)};
}
pure struct complex fft(struct complex v[*]) [*] {
  int n = $v;
  if (n == 1) return v;
  struct complex halves[*][*] = [fft(h) : h in [even_elts(v), odd_elts(v)]];
  struct complex turned[*] = [times(root(k, n), x) : k in index(n / 2); x in halves[1]];
  struct complex back[*] = [(struct complex){-x.re, -x.im} : x in turned];
  return [add(x, y) : x in halves[0]; y in turned] >< [add(x, y) : x in halves[0]; y in back];
}
pure struct complex lifted(double v[*]) [*] { return [(struct complex){x, 0} : x in v]; }
pure int nearest(double x) { return round(x); }
[nearest(z.re) : z in fft(lifted([1, 2, 3, 4]))];
[nearest(z.im) : z in fft(lifted([1, 2, 3, 4]))];
[nearest(z.re) : z in fft(lifted([2, 2, 2, 2, 2, 2, 2, 2]))];
