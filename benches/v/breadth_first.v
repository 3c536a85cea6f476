pure int distances(int graph[*][*], int start) [*] {
  int distance[*] = dist(-1, $graph);
  int level[*] = [start];
  int depth = 0;
  distance[start] = 0;
  while ($level > 0) {
    int reached[*] = flatten([graph[node] : node in level]);
    int next[*] = remove_duplicates([node : node in reached : distance[node] < 0]);
    depth++;
    for (int i = 0; i < $next; i++) distance[next[i]] = depth;
    level = next;
  }
  return distance;
}
pure int checked(int v[*]) { return sum([x * (i % 7 + 1) : x in v; i in index($v)]); }
pure int main(int n) [*] {
  int graph[*][*] = [[i * 2 % n, (i * 2 + 1) % n, i * 48271 % n] : i in index(n)];
  return [checked(distances(graph, 0))];
}
