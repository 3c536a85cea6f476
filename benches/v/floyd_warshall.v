pure int shortest(int d[*][*]) [*][*] {
  for (int k = 0; k < $d; k++)
    for (int i = 0; i < $d; i++)
      for (int j = 0; j < $d; j++)
        if (d[i][k] + d[k][j] < d[i][j]) d[i][j] = d[i][k] + d[k][j];
  return d;
}
pure int main(int n) [*] {
  int d[*][*] = [[i == j ? 0 : (i * 131 + j * 71) % 997 + 1 : j in index(n)] : i in index(n)];
  return [sum([sum(row) : row in shortest(d)])];
}
