/* A glider of Conway's Life on a torus, after six steps. Values: Python.
   expect: [[0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0], [0, 0, 0, 1, 0, 0], [0, 1, 0, 1, 0, 0], [0, 0, 1, 1, 0, 0], [0, 0, 0, 0, 0, 0]]
*/
pure int alive(int board[*][*], int row, int column) {
  int n = $board, around = 0;
  for (int i = -1; i <= 1; i++)
    for (int j = -1; j <= 1; j++) {
      if (i == 0 && j == 0) continue;
      around += board[(row + i + n) % n][(column + j + n) % n];
    }
  return around == 3 || (around == 2 && board[row][column] == 1);
}
pure int after(int board[*][*], int steps) [*][*] {
  int n[*] = index($board);
  for (int k = 0; k < steps; k++) board = [[alive(board, row, column) : column in n] : row in n];
  return board;
}
int glider[6][6] = {{0, 1, 0, 0, 0, 0}, {0, 0, 1, 0, 0, 0}, {1, 1, 1, 0, 0, 0}, {0, 0, 0, 0, 0, 0}, {0, 0, 0, 0, 0, 0},
    {0, 0, 0, 0, 0, 0}};
after(glider, 6);
