/* Figure 5.6 of the thesis, with `menores` where it has `less`.
   expect: [-9, -9, -8, -3, 0, 5, 8, 14, 17, 19]
   expect: []
   expect: [[1, 2], [], [3]]
*/
pure int qsort (int v[*]) [*] {
  int pivot;
  int menores[*], iguales[*], mayores[*];
  int ordenado[*][*];

  if ($v <= 1) return v;
  pivot    = v[$v / 2];
  menores  = [x : x in v : x < pivot];
  iguales  = [x : x in v : x == pivot];
  mayores  = [x : x in v : x > pivot];
  ordenado = [qsort (subseq) : subseq in [menores, mayores]];
  return ordenado[0] >< iguales >< ordenado[1];
}
qsort([8, 14, -8, -9, 5, -9, -3, 0, 17, 19]);
qsort([]);
[qsort(v) : v in [[2, 1], [], [3]]];
