pure int nearest(double x, double centres[*]) {
  int best = 0;
  for (int k = 1; k < $centres; k++)
    if (abs(x - centres[k]) < abs(x - centres[best])) best = k;
  return best;
}
pure double centred(double points[*], double centres[*], int steps) [*] {
  for (int step = 0; step < steps; step++) {
    int group[*] = [nearest(x, centres) : x in points];
    double sums[*] = dist(0.0, $centres);
    int counts[*] = dist(0, $centres);
    for (int i = 0; i < $points; i++) {
      sums[group[i]] += points[i];
      counts[group[i]]++;
    }
    centres = [n > 0 ? s / n : c : s in sums; n in counts; c in centres];
  }
  return centres;
}
pure int main(int n) [*] {
  double points[*] = [i * 48271 % 2147483647 % 1000003 : i in index(n)];
  double centres[*] = [i * 100000 : i in index(10)];
  return [(int) sum(centred(points, centres, 5))];
}
