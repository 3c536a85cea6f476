#include <stdlib.h>
#include <string.h>

static int is_letter(char c) { return c >= 'a' && c <= 'z'; }
static int is_digit(char c) { return '0' <= c && c <= '9'; }
long run(long n) {
  const char *piece = "x1 = 42+(foo-7)*3 ";
  char *text = malloc(n + 1), **found = NULL;
  long *lengths = NULL, count = 0, room = 0, sum = 0;
  for (long i = 0; i < n; i++) text[i] = piece[i % 18];
  for (long i = 0; i < n;) {
    if (text[i] == ' ') {
      i++;
      continue;
    }
    long start = i++;
    if (is_letter(text[start]))
      while (i < n && (is_letter(text[i]) || is_digit(text[i]))) i++;
    else if (is_digit(text[start]))
      while (i < n && is_digit(text[i])) i++;
    if (count == room) {
      room = 2 * room + 16;
      found = realloc(found, room * sizeof *found);
      lengths = realloc(lengths, room * sizeof *lengths);
    }
    found[count] = malloc(i - start + 1);
    memcpy(found[count], text + start, i - start);
    lengths[count++] = i - start;
  }
  for (long k = 0; k < count; k++) {
    sum += lengths[k];
    free(found[k]);
  }
  free(text);
  free(found);
  free(lengths);
  return sum;
}
