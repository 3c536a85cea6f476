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
pure int main(int n) [*] {
  struct complex v[*] = fft([(struct complex){i % 17, i % 5} : i in index(n)]);
  return [nearest(v[1].re) * 1000003 + nearest(v[n / 2].im)];
}
