pure int primes(int n) [*] {
  if (n <= 2) return [];
  int sieves[*][*] = [iseq(2 * p, p, n) : p in primes(1 + (int) sqrt(n - 1.0))];
  int is_prime[*] = dist(1, n);
  int crossed[*] = flatten(sieves);
  for (int i = 0; i < $crossed; i++) is_prime[crossed[i]] = 0;
  return [i : i in iseq(2, 1, n); p in drop(is_prime, 2) : p == 1];
}
pure int checked(int v[*]) { return sum([x * (i % 7 + 1) : x in v; i in index($v)]); }
pure int main(int n) [*] { return [checked(primes(n))]; }
