/* Runs a twin in C: its answer and the time of its fastest run. The yardstick compiles it with each. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

long run(long n);

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec + 1e-9 * time.tv_nsec;
}

int main(int argc, char **argv) {
  long n = atol(argv[1]), repetitions = argc > 2 ? atol(argv[2]) : 1, answer = 0;
  double best = 1e9;
  for (long k = 0; k < repetitions; k++) {
    double start = now();
    answer = run(n);
    double time = now() - start;
    if (time < best) best = time;
  }
  printf("%ld %.9f\n", answer, best);
  return 0;
}
