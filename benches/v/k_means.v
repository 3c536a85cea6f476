pure int nearest(double x, double centres[*]) {
  int best = 0;
  for (int k = 1; k < $centres; k++)
    if (abs(x - centres[k]) < abs(x - centres[best])) best = k;
  return best;
}
pure double mean(double v[*], double otherwise) {
  if ($v == 0) return otherwise;
  return sum(v) / $v;
}
pure double centred(double points[*], double centres[*], int steps) [*] {
  for (int i = 0; i < steps; i++) {
    int group[*] = [nearest(x, centres) : x in points];
    centres = [mean([x : x in points; g in group : g == k], c) : k in index($centres); c in centres];
  }
  return centres;
}
pure int main(int n) [*] {
  double points[*] = [i * 48271 % 2147483647 % 1000003 : i in index(n)];
  double centres[*] = [i * 100000 : i in index(10)];
  return [(int) sum(centred(points, centres, 5))];
}
