pure int distances(int graph[*][*], int start) [*] {
  int distance[*] = dist(-1, $graph), queue[*] = dist(start, $graph);
  int first = 0, last = 1;
  distance[start] = 0;
  while (first < last) {
    int node = queue[first];
    first++;
    for (int k = 0; k < $graph[node]; k++) {
      int other = graph[node][k];
      if (distance[other] < 0) {
        distance[other] = distance[node] + 1;
        queue[last] = other;
        last++;
      }
    }
  }
  return distance;
}
pure int checked(int v[*]) { return sum([x * (i % 7 + 1) : x in v; i in index($v)]); }
pure int main(int n) [*] {
  int graph[*][*] = [[i * 2 % n, (i * 2 + 1) % n, i * 48271 % n] : i in index(n)];
  return [checked(distances(graph, 0))];
}
