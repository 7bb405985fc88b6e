/** Orders of rows that leave factors of sparse matrices with few entries. */
#ifndef CUMETAL_CUSOLVER_SPARSE_ORDER_H
#define CUMETAL_CUSOLVER_SPARSE_ORDER_H

#include <algorithm>
#include <vector>

namespace cumetal {

typedef std::vector<int> Ints;

/** The graph of a square matrix: for each row the others that it shares an entry with, on either side of the diagonal, ascending. */
static inline std::vector<Ints> graphOf(int n, const Ints &offsets, const Ints &indices) {
  std::vector<Ints> graph(n);
  for (int r = 0; r < n; r++)
    for (int e = offsets[r]; e < offsets[r + 1]; e++)
      if (indices[e] != r) {
        graph[r].push_back(indices[e]);
        graph[indices[e]].push_back(r);
      }
  for (Ints &each : graph) {
    std::sort(each.begin(), each.end());
    each.erase(std::unique(each.begin(), each.end()), each.end());
  }
  return graph;
}

/** Appends the nodes that a start reaches and that have no level yet, by their distance, and those of one distance by their degree. */
static inline int breadthFirst(const std::vector<Ints> &graph, int start, Ints &level, Ints &order) {
  size_t next = order.size();
  level[start] = 0;
  order.push_back(start);
  for (; next < order.size(); next++) {
    const int node = order[next];
    const size_t first = order.size();
    for (int other : graph[node])
      if (level[other] < 0) {
        level[other] = level[node] + 1;
        order.push_back(other);
      }
    std::stable_sort(order.begin() + first, order.end(), [&](int a, int b) { return graph[a].size() < graph[b].size(); });
  }
  return level[order.back()];
}

/** The reverse of the order by Cuthill and McKee. Source: A. George, J. Liu, "Computer Solution of Large Sparse Positive Definite Systems", 1981. */
static inline Ints reverseCuthillMcKee(const std::vector<Ints> &graph) {
  const int n = int(graph.size());
  Ints order, level(n, -1);
  for (int node = 0; node < n; node++) {
    if (level[node] >= 0) continue;
    // A start from which the others are far away: one of the last level, as long as there come to be more levels.
    int start = node;
    for (int depth = -1;;) {
      Ints part;
      const int found = breadthFirst(graph, start, level, part);
      int last = part.back();
      for (int each : part) {
        if (level[each] == found && graph[each].size() < graph[last].size()) last = each;
        level[each] = -1;
      }
      if (found <= depth) break;
      depth = found;
      start = last;
    }
    breadthFirst(graph, start, level, order);
  }
  std::reverse(order.begin(), order.end());
  return order;
}

/**
 * An order by approximate minimum degree: eliminated nodes stay as the sets of nodes that they join. Source: P. Amestoy, T. Davis, I. Duff, "An
 * approximate minimum degree ordering algorithm", 1996, without its supervariables.
 */
static inline Ints minimumDegree(std::vector<Ints> graph) {
  const int n = int(graph.size());
  std::vector<Ints> sets(n), setsOf(n), buckets(n + 1);
  Ints degree(n), mark(n, -1), order;
  std::vector<bool> isGone(n);
  for (int i = 0; i < n; i++) buckets[degree[i] = int(graph[i].size())].push_back(i);
  for (int least = 0; int(order.size()) < n;) {
    while (buckets[least].empty()) least++;
    const int pivot = buckets[least].back();
    buckets[least].pop_back();
    if (isGone[pivot] || degree[pivot] != least) continue;
    isGone[pivot] = true;
    order.push_back(pivot);
    mark[pivot] = pivot;
    Ints &joined = sets[pivot];
    const auto add = [&](const Ints &nodes) {
      for (int i : nodes)
        if (!isGone[i] && mark[i] != pivot) {
          mark[i] = pivot;
          joined.push_back(i);
        }
    };
    add(graph[pivot]);
    for (int e : setsOf[pivot]) {
      add(sets[e]);
      Ints().swap(sets[e]);
    }
    Ints().swap(graph[pivot]);
    for (int i : joined) {
      const auto isJoined = [&](int other) { return mark[other] == pivot || isGone[other]; };
      graph[i].erase(std::remove_if(graph[i].begin(), graph[i].end(), isJoined), graph[i].end());
      setsOf[i].erase(std::remove_if(setsOf[i].begin(), setsOf[i].end(), [&](int e) { return sets[e].empty(); }), setsOf[i].end());
      setsOf[i].push_back(pivot);
      size_t bound = graph[i].size();
      for (int e : setsOf[i]) bound += sets[e].size() - 1;
      degree[i] = int(std::min(bound, size_t(n) - order.size()));
      buckets[degree[i]].push_back(i);
      least = std::min(least, degree[i]);
    }
  }
  return order;
}

}  // namespace cumetal

#endif
