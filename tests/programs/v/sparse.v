/* A sparse matrix, rows of columns and values, times a vector. Values: by hand.
   expect: [4.0, 0.0, 14.0]
*/
struct entry { int column; double value; };
pure double product(struct entry row[*], double x[*]) { return sum([e.value * x[e.column] : e in row]); }
pure double times(struct entry rows[*][*], double x[*]) [*] { return [product(row, x) : row in rows]; }
times([[entry(0, 4)], [], [entry(1, 1), entry(2, 4)]], [1, 2, 3]);
