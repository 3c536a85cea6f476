/* Where a text occurs in another one, character by character for all places at once. Values: Python.
   expect: [2, 10]
   expect: [0, 1, 2]
   expect: []
*/
pure int occurrences(char pattern[*], char text[*]) [*] {
  int candidates[*] = index($text - $pattern + 1);
  for (int i = 0; i < $pattern; i++) {
    char letter = pattern[i];
    candidates = [c : c in candidates : text[c + i] == letter];
  }
  return candidates;
}
occurrences("asi", "asasiararoasise");
occurrences("aa", "aaaa");
occurrences("x", "abc");
