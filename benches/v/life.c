#include <stdlib.h>
#include <string.h>

static long alive(const long *board, long n, long row, long column) {
  long around = 0;
  for (long i = -1; i <= 1; i++)
    for (long j = -1; j <= 1; j++) {
      if (i == 0 && j == 0) continue;
      around += board[(row + i + n) % n * n + (column + j + n) % n];
    }
  return around == 3 || (around == 2 && board[row * n + column] == 1);
}
long run(long n) {
  long *board = malloc(n * n * sizeof *board), *next = malloc(n * n * sizeof *next), sum = 0;
  for (long i = 0; i < n; i++)
    for (long j = 0; j < n; j++) board[i * n + j] = (i * i + j * 7 + i * j) % 3 == 0;
  for (long k = 0; k < 5; k++) {
    for (long i = 0; i < n; i++)
      for (long j = 0; j < n; j++) next[i * n + j] = alive(board, n, i, j);
    long *old = board;
    board = next;
    next = old;
  }
  for (long i = 0; i < n * n; i++) sum += board[i];
  free(board);
  free(next);
  return sum;
}
