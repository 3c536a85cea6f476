pure bool is_letter(char c) { return c >= 'a' && c <= 'z'; }
pure bool is_digit(char c) { return '0' <= c && c <= '9'; }
pure char tokens(char text[*]) [*][*] {
  char found[*][*];
  int i = 0;
  while (i < $text) {
    char c = text[i];
    if (c == ' ') {
      i++;
      continue;
    }
    int start = i;
    i++;
    if (is_letter(c))
      while (i < $text && (is_letter(text[i]) || is_digit(text[i]))) i++;
    else if (is_digit(c))
      while (i < $text && is_digit(text[i])) i++;
    found = found >< [subseq(text, start, i)];
  }
  return found;
}
pure int main(int n) [*] {
  char piece[*] = "x1 = 42+(foo-7)*3 ";
  char text[*] = [piece[i % 18] : i in index(n)];
  return [sum([$token : token in tokens(text)])];
}
