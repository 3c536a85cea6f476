/* Accounts, with transfers that may be refused. Values: Python.
   args:
   expect: moved 30 from 0 to 1
   expect: refused 100 from 1 to 2
   expect: refused 10 from 2 to 0
   expect: moved 70 from 0 to 2
   expect: balances    0   80   70
*/
struct transfer { int from, to, amount; };
bool move(int (*accounts)[*], struct transfer t) {
  if ((*accounts)[t.from] < t.amount) return false;
  (*accounts)[t.from] -= t.amount;
  (*accounts)[t.to] += t.amount;
  return true;
}
void main() {
  int accounts[*] = {100, 50, 0};
  struct transfer transfers[*] = {{0, 1, 30}, {1, 2, 100}, {2, 0, 10}, {0, 2, 70}};
  for (int i = 0; i < $transfers; i++) {
    struct transfer t = transfers[i];
    bool is_moved = move(&accounts, t);
    if (is_moved) printf("moved"); else printf("refused");
    printf(" %d from %d to %d\n", t.amount, t.from, t.to);
  }
  printf("balances %4d %4d %4d\n", accounts[0], accounts[1], accounts[2]);
}
