/* printf writes what it writes in C. Expected values: those of the C library.
  args:
  expect: [05] [+4] [-4] [+2.50] [ff   ] [   ff] [-003.142] [7    ] [+0042]
  expect: [0.000000e+00] [1.234568e+04] [1.0e-05] [1.000000e+100] [9.999999e+00] [1e+04] [-inf] [  inf]
  expect: [00007] [-0007] [123456] [+03.5] [   ab] [cd   ] [  x] [100%]
  expect: [0] [ffffffffffffffff] [7fffffffffffffff]
*/
void main() {
  printf("[%02d] [%+d] [%+d] [%+.2f] [%-5x] [%5x] [%08.3f] [%-05d] [%+05d]\n", 5, 4, -4, 2.5, 255, 255, -3.14159, 7,
      42);
  printf("[%e] [%e] [%.1e] [%e] [%e] [%.0e] [%e] [%05f]\n", 0.0, 12345.678, 1e-5, 1e100, 9.999999, 12345.678,
      -1.0 / 0.0, 1.0 / 0.0);
  printf("[%05d] [%05d] [%05d] [%+05.1f] [%5s] [%-5s] [%3c] [100%%]\n", 7, -7, 123456, 3.5, "ab", "cd", 'x');
  printf("[%x] [%x] [%x]\n", 0, -1, 9223372036854775807);
}
