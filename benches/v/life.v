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
pure int main(int n) [*] {
  int board[*][*] = [[(int) ((i * i + j * 7 + i * j) % 3 == 0) : j in index(n)] : i in index(n)];
  return [sum([sum(row) : row in after(board, 5)])];
}
