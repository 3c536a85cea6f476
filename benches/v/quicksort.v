pure int qsort(int v[*]) [*] {
  int pivot;
  int menores[*], iguales[*], mayores[*];
  int ordenado[*][*];

  if ($v <= 1) return v;
  pivot = v[$v / 2];
  menores = [x : x in v : x < pivot];
  iguales = [x : x in v : x == pivot];
  mayores = [x : x in v : x > pivot];
  ordenado = [qsort(subseq) : subseq in [menores, mayores]];
  return ordenado[0] >< iguales >< ordenado[1];
}
pure int checked(int v[*]) { return sum([x * (i % 7 + 1) : x in v; i in index($v)]); }
pure int numbers(int n, int most) [*] { return [i * 48271 % 2147483647 % most : i in index(n)]; }
pure int main(int n) [*] { return [checked(qsort(numbers(n, 1000000)))]; }
