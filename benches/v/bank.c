#include <stdlib.h>
#include <string.h>

static long checked(const long *v, long n) {
  long sum = 0;
  for (long i = 0; i < n; i++) sum += v[i] * (i % 7 + 1);
  return sum;
}
struct transfer { long from, to, amount; };
long run(long n) {
  struct transfer *transfers = malloc(n * sizeof *transfers);
  long accounts[1001], count = 0;
  for (long i = 0; i < 1000; i++) accounts[i] = 50;
  for (long i = 0; i < n; i++)
    transfers[i] = (struct transfer){i * 31 % 1000, i * 77 % 1000, i * 48271 % 2147483647 % 100};
  for (long i = 0; i < n; i++) {
    struct transfer t = transfers[i];
    if (accounts[t.from] < t.amount) {
      count++;
      continue;
    }
    accounts[t.from] -= t.amount;
    accounts[t.to] += t.amount;
  }
  accounts[1000] = count;
  free(transfers);
  return checked(accounts, 1001);
}
