/* Distances in a graph, level by level. Values: a queue in Python.
   expect: [0, 1, 1, 2, 2, 3, -1]
   expect: [1, 2, 2, 3, 3, 4, 0]
   expect: [-1, -1, -1, -1, -1, 0, -1]
*/
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
int graph[*][*] = [[1, 2], [3], [3, 4], [5], [5], [], [0]];
distances(graph, 0);
[distances(graph, start) : start in [6, 5]][0];
[distances(graph, start) : start in [6, 5]][1];
