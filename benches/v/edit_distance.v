pure int distance(char a[*], char b[*]) {
  int row[*] = index($b + 1);
  for (int i = 1; i <= $a; i++) {
    int diagonal = row[0];
    row[0] = i;
    for (int j = 1; j <= $b; j++) {
      int above = row[j];
      row[j] = min(min(above, row[j - 1]) + 1, diagonal + (a[i - 1] != b[j - 1]));
      diagonal = above;
    }
  }
  return row[$b];
}
pure int main(int n) [*] {
  char a[*] = [(char) (97 + i * 7 % 26) : i in index(n)], b[*] = [(char) (97 + i * 11 % 26) : i in index(n)];
  return [distance(a, b)];
}
