struct transfer { int from, to, amount; };
pure int refused(int accounts[*], struct transfer transfers[*]) [*] {
  int count = 0;
  for (int i = 0; i < $transfers; i++) {
    struct transfer t = transfers[i];
    if (accounts[t.from] < t.amount) {
      count++;
      continue;
    }
    accounts[t.from] -= t.amount;
    accounts[t.to] += t.amount;
  }
  return accounts >< [count];
}
pure int checked(int v[*]) { return sum([x * (i % 7 + 1) : x in v; i in index($v)]); }
pure int main(int n) [*] {
  struct transfer transfers[*] = [transfer(i * 31 % 1000, i * 77 % 1000, i * 48271 % 2147483647 % 100) : i in index(n)];
  return [checked(refused(dist(50, 1000), transfers))];
}
