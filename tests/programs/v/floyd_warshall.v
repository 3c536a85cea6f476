/* All shortest ways in a graph. Values: Python.
   expect: [[0, 3, 5, 6], [5, 0, 2, 3], [3, 6, 0, 1], [2, 5, 7, 0]]
*/
pure int shortest(int d[*][*]) [*][*] {
  for (int k = 0; k < $d; k++)
    for (int i = 0; i < $d; i++)
      for (int j = 0; j < $d; j++)
        if (d[i][k] + d[k][j] < d[i][j]) d[i][j] = d[i][k] + d[k][j];
  return d;
}
int far = 1000000;
shortest([[0, 3, far, 7], [8, 0, 2, far], [5, far, 0, 1], [2, far, far, 0]]);
