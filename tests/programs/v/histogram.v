/* How often each digit ends i*i + 3*i. Values: counting in Python.
   expect: [80, 0, 0, 0, 40, 0, 0, 0, 80, 0]
*/
pure int counted(int v[*], int n) [*] {
  int h[*] = dist(0, n);
  for (int i = 0; i < $v; i++) h[v[i]] += 1;
  return h;
}
counted([(i * i + 3 * i) % 10 : i in index(200)], 10);
