/* How many letters are inserted, removed or replaced between two words. Values: Python.
   expect: [3, 3, 0, 5]
*/
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
[distance(a, b) : a in ["kitten", "", "same", "intention"]; b in ["sitting", "abc", "same", "execution"]];
