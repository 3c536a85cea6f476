/* The greatest value that fits into a knapsack. Values: Python.
   expect: [0, 1, 1, 4, 5, 7, 8, 9, 11, 12, 13, 13]
*/
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
struct thing things[*] = {{1, 1}, {3, 4}, {4, 5}, {5, 7}};
[best(things, capacity) : capacity in index(12)];
