pure int counted(int v[*], int n) [*] {
  int h[*] = dist(0, n);
  for (int i = 0; i < $v; i++) h[v[i]] += 1;
  return h;
}
pure int checked(int v[*]) { return sum([x * (i % 7 + 1) : x in v; i in index($v)]); }
pure int numbers(int n, int most) [*] { return [i * 48271 % 2147483647 % most : i in index(n)]; }
pure int main(int n) [*] { return [checked(counted(numbers(n, 1000), 1000))]; }
