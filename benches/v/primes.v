pure int primes(int n) [*] {
  bool is_prime[*] = dist(true, n);
  for (int p = 2; p * p < n; p++)
    if (is_prime[p])
      for (int i = 2 * p; i < n; i += p) is_prime[i] = false;
  return [i : i in iseq(2, 1, n); p in drop(is_prime, 2) : p];
}
pure int checked(int v[*]) { return sum([x * (i % 7 + 1) : x in v; i in index($v)]); }
pure int main(int n) [*] { return [checked(primes(n))]; }
