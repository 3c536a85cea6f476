struct thing { int weight, value; };
pure int best(struct thing things[*], int capacity) {
  int value[*] = dist(0, capacity + 1);
  for (int i = 0; i < $things; i++) {
    struct thing t = things[i];
    for (int k = capacity; k >= t.weight; k--) {
      int with = value[k - t.weight] + t.value;
      if (with > value[k]) value[k] = with;
    }
  }
  return value[capacity];
}
pure int main(int n) [*] {
  struct thing things[*] = [thing(i * 37 % 50 + 1, i * 91 % 101 + 1) : i in index(200)];
  return [best(things, n)];
}
