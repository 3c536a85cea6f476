pure int occurrences(char pattern[*], char text[*]) [*] {
  int candidates[*] = index($text - $pattern + 1);
  for (int i = 0; i < $pattern; i++) {
    char letter = pattern[i];
    candidates = [c : c in candidates : text[c + i] == letter];
  }
  return candidates;
}
pure int checked(int v[*]) { return sum([x * (i % 7 + 1) : x in v; i in index($v)]); }
pure int main(int n) [*] {
  char text[*] = [(char) (97 + i * 48271 % 2147483647 % 3) : i in index(n)];
  return [checked(occurrences("abca", text))];
}
