/* The primes below n, by sieving with those below its root. Values: trial division in Python.
   expect: [2, 3, 5, 7, 11, 13, 17, 19, 23, 29]
   expect: [2]
   expect: 168
*/
pure int primes(int n) [*] {
  if (n <= 2) return [];
  int sieves[*][*] = [iseq(2 * p, p, n) : p in primes(1 + (int) sqrt(n - 1.0))];
  int is_prime[*] = dist(1, n);
  int crossed[*] = flatten(sieves);
  for (int i = 0; i < $crossed; i++) is_prime[crossed[i]] = 0;
  return [i : i in iseq(2, 1, n); p in drop(is_prime, 2) : p == 1];
}
primes(30);
primes(3);
$primes(1000);
