/* Places that are passed on: a parameter `int *x` to a parameter `int *x`, in branches and in loops, too; and variables
   that are called like their struct.
   Values: gcc, but for vectors, which are counted by hand.
   args:
   expect: 5 8
   expect: 22 6
   expect: 120
   expect: 3 1 2
   expect: 7 1
   expect: 4 13
   expect: 6 6 7
   expect: [0, 1, 4, 9] 14 4
   expect: [7, 1, 4, 81] 3
   expect: [2, 7]
*/
struct pair { int x, y; };
struct t { int a, b; };
void five(int *a) { *a = 5; }
void on(int *a) { five(a); }
int bump(int *a) {
  *a += 1;
  return *a * 2;
}
void twice(int *a, int *sum) {
  int first = bump(a), second;
  second = bump(a);
  *sum = first + second;
}
void in_loops(int *a, int *calls) {
  for (int i = 0; i < 10; i++) {
    if (i % 2 == 0) bump(a);
    else if (i == 7) bump(calls);
    while (*a > 100) five(a);
  }
}
void factorial(int n, int *result) {
  if (n <= 1) return;
  *result *= n;
  factorial(n - 1, result);
}
void swap(int *a, int *b) {
  int old = *a;
  *a = *b;
  *b = old;
}
void sort(int *a, int *b, int *c) {
  if (*a > *b) swap(a, b);
  if (*b > *c) swap(b, c);
  if (*a > *b) swap(a, b);
}
void rotated(int *a, int *b, int *c) {
  sort(a, b, c);
  swap(a, b);
  swap(a, c);
}
void square(int (*v)[*]) {
  for (int i = 0; i < $*v; i++) (*v)[i] *= (*v)[i];
}
int squared(int (*v)[*], int *count) {
  square(v);
  *count = $*v;
  return sum(*v);
}
int changed(int (*v)[*]) {
  int count = 0;
  int total = squared(v, &count);
  swap(&(*v)[0], &(*v)[2]);
  (*v)[0] = 7;
  (*v)[2] = 4;
  return total > 0 ? count - 1 : 0;
}
void move(struct pair *p) { p->x += 10; }
void moved(struct pair *p) {
  move(p);
  bump(&p->y);
}
int of(struct t *t) {
  t->a += 1;
  struct t other = *t;
  if (other.a > 5) t->b = other.a + 1;
  return other.a;
}
pure int bs(struct t v[*]) [*] { return [t.b : t in v]; }
void main() {
  int a = 1, b = 7, c = 3, sum = 0;
  on(&a);
  bump(&b);
  printf("%d %d\n", a, b);
  a = 4;
  twice(&a, &sum);
  printf("%d %d\n", sum, a);
  b = 1;
  factorial(5, &b);
  printf("%d\n", b);
  a = 2;
  b = 1;
  rotated(&a, &b, &c);
  printf("%d %d %d\n", a, b, c);
  a = 98;
  c = 0;
  in_loops(&a, &c);
  printf("%d %d\n", a, c);
  struct pair p = {3, 3};
  moved(&p);
  swap(&p.x, &p.y);
  printf("%d %d\n", p.x, p.y);
  struct t t = {5, 0};
  a = of(&t);
  printf("%d %d %d\n", a, t.a, t.b);
  int v[*] = [0, 1, 2, 3];
  int count = 0, total = squared(&v, &count);
  printf("%v %d %d\n", v, total, count);
  count = changed(&v);
  printf("%v %d\n", v, count);
  struct t all[*] = {{1, 2}, t};
  printf("%v\n", bs(all));
}
