struct entry { int column; double value; };
pure double product(struct entry row[*], double x[*]) { return sum([e.value * x[e.column] : e in row]); }
pure double times(struct entry rows[*][*], double x[*]) [*] { return [product(row, x) : row in rows]; }
pure int main(int n) [*] {
  double x[*] = [i % 10 : i in index(n)];
  struct entry rows[*][*] = [[entry((i + j * 101) % n, j) : j in index(10)] : i in index(n)];
  return [(int) sum(times(rows, x))];
}
