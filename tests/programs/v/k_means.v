/* Centres of groups of numbers. Values: Python.
   expect: [2.0, 11.0, 100.5]
*/
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
centred([1, 2, 3, 10, 11, 12, 100, 101], [1, 2, 50], 10);
