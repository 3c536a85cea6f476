#include <stdlib.h>
#include <string.h>

static long checked(const long *v, long n) {
  long sum = 0;
  for (long i = 0; i < n; i++) sum += v[i] * (i % 7 + 1);
  return sum;
}
long run(long n) {
  long *graph = malloc(3 * n * sizeof *graph), *distance = malloc(n * sizeof *distance), *queue = malloc(n * sizeof *queue);
  for (long i = 0; i < n; i++) {
    graph[3 * i] = i * 2 % n;
    graph[3 * i + 1] = (i * 2 + 1) % n;
    graph[3 * i + 2] = i * 48271 % n;
    distance[i] = -1;
  }
  long first = 0, last = 1;
  queue[0] = 0;
  distance[0] = 0;
  while (first < last) {
    long node = queue[first++];
    for (long k = 0; k < 3; k++) {
      long other = graph[3 * node + k];
      if (distance[other] < 0) {
        distance[other] = distance[node] + 1;
        queue[last++] = other;
      }
    }
  }
  long sum = checked(distance, n);
  free(graph);
  free(distance);
  free(queue);
  return sum;
}
