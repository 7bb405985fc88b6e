/**
 * Factors of sparse matrices on the host: each column of a factor is found from those before it, and only from those that it depends on.
 * Source: T. Davis, "Direct Methods for Sparse Linear Systems", 2006, chapters 4 to 6.
 */
#ifndef CUMETAL_CUSOLVER_SPARSE_FACTORS_H
#define CUMETAL_CUSOLVER_SPARSE_FACTORS_H

#include <numeric>

#include "../common/number.h"
#include "sparse-order.h"

namespace cumetal {

/** A matrix by columns, or the transposed one by rows. */
template <class T>
struct Columns {
  int rows = 0, columns = 0;
  Ints offsets, indices;
  std::vector<T> values;
  void end() { offsets.push_back(int(indices.size())); }
  void add(int index, T value) {
    indices.push_back(index);
    values.push_back(value);
  }
};

/** The same matrix with rows and columns exchanged; entries are ascending. */
template <class T>
static Columns<T> transposed(const Columns<T> &a) {
  Columns<T> to = {a.columns, a.rows, Ints(a.rows + 1), Ints(a.indices.size()), std::vector<T>(a.values.size())};
  for (int i : a.indices) to.offsets[i + 1]++;
  std::partial_sum(to.offsets.begin(), to.offsets.end(), to.offsets.begin());
  Ints next(to.offsets.begin(), to.offsets.end() - 1);
  for (int c = 0; c < a.columns; c++)
    for (int e = a.offsets[c]; e < a.offsets[c + 1]; e++) {
      const int place = next[a.indices[e]]++;
      to.indices[place] = c;
      if (!a.values.empty()) to.values[place] = a.values[e];
    }
  return to;
}

/** The first diagonal entry that is not larger than a bound; -1 if there is none. */
template <class T>
static int firstSmall(const std::vector<T> &diagonal, RealOf<T> bound) {
  for (size_t i = 0; i < diagonal.size(); i++)
    if (!(modulus(diagonal[i]) > bound)) return int(i);
  return -1;
}

/** A = L·Lᴴ. */
template <class T>
struct Cholesky {
  /** Columns without their diagonals, rows ascending. */
  Columns<T> l;
  std::vector<T> diagonal;

  /** Of the lower triangle of a matrix by rows. At a pivot that is not positive the work ends, and the rest of the diagonal is zero. */
  void factor(const Columns<T> &a) {
    const int n = a.columns;
    Ints parent(n, -1), mark(n, -1), counts(n), path, ancestor(n, -1);
    for (int k = 0; k < n; k++)
      for (int e = a.offsets[k]; e < a.offsets[k + 1]; e++)
        for (int i = a.indices[e], next; i < k && i != -1; i = next) {
          next = ancestor[i];
          ancestor[i] = k;
          if (next == -1) parent[i] = k;
        }
    // The columns that row k has entries in: from those of the matrix up the tree.
    const auto reach = [&](int k, auto visit) {
      mark[k] = k;
      for (int e = a.offsets[k]; e < a.offsets[k + 1]; e++)
        for (int i = a.indices[e]; i < k && mark[i] != k; i = parent[i]) {
          mark[i] = k;
          visit(i);
        }
    };
    for (int k = 0; k < n; k++) reach(k, [&](int i) { counts[i]++; });
    l = {n, n, Ints(n + 1), {}, {}};
    std::partial_sum(counts.begin(), counts.end(), l.offsets.begin() + 1);
    l.indices.resize(l.offsets[n]);
    l.values.resize(l.offsets[n]);
    diagonal.assign(n, T(0));
    Ints end(l.offsets.begin(), l.offsets.end() - 1);
    std::fill(mark.begin(), mark.end(), -1);
    std::vector<T> x(n, T(0));
    for (int k = 0; k < n; k++) {
      path.clear();
      reach(k, [&](int i) { path.push_back(i); });
      std::sort(path.begin(), path.end());
      for (int e = a.offsets[k]; e < a.offsets[k + 1]; e++)
        if (a.indices[e] <= k) x[a.indices[e]] += conj(a.values[e]);
      RealOf<T> d = realOf(x[k]);
      x[k] = T(0);
      for (int i : path) {
        const T v = x[i] / diagonal[i];
        x[i] = T(0);
        for (int e = l.offsets[i]; e < end[i]; e++) x[l.indices[e]] -= l.values[e] * v;
        d -= squared(v);
        l.indices[end[i]] = k;
        l.values[end[i]++] = conj(v);
      }
      x[k] = T(0);
      if (!(d > 0)) return;
      diagonal[k] = T(root(d));
    }
  }
  void solve(std::vector<T> &x) const {
    const int n = l.columns;
    for (int k = 0; k < n; k++) {
      x[k] = x[k] / diagonal[k];
      for (int e = l.offsets[k]; e < l.offsets[k + 1]; e++) x[l.indices[e]] -= l.values[e] * x[k];
    }
    for (int k = n - 1; k >= 0; k--) {
      for (int e = l.offsets[k]; e < l.offsets[k + 1]; e++) x[k] -= conj(l.values[e]) * x[l.indices[e]];
      x[k] = x[k] / conj(diagonal[k]);
    }
  }
  size_t bytes() const { return l.indices.size() * (sizeof(T) + sizeof(int)) + (l.columns + 1) * (sizeof(T) + sizeof(int)); }
};

/** P·A = L·U: row `rows[k]` of A is row k of the product. */
template <class T>
struct Lu {
  /** Columns without diagonals; that of L is 1. Rows of L are those of the product, ascending in U only by chance. */
  Columns<T> l, u;
  std::vector<T> diagonal;
  Ints rows;

  /** Of a matrix by columns. A diagonal entry is the pivot if it is at least `threshold` times the largest one. */
  void factor(const Columns<T> &a, RealOf<T> threshold) {
    const int n = a.columns;
    Ints place(n, -1), mark(n, -1), stack, next(n), order;
    l = u = {n, n, {0}, {}, {}};
    diagonal.assign(n, T(0));
    rows.assign(n, -1);
    std::vector<T> x(n, T(0));
    int firstFree = 0;
    for (int k = 0; k < n; k++) {
      order.clear();
      for (int e = a.offsets[k]; e < a.offsets[k + 1]; e++) {
        visit(a.indices[e], k, place, mark, stack, next, order);
        x[a.indices[e]] += a.values[e];
      }
      RealOf<T> largest = -1;
      int pivot = -1;
      for (size_t at = order.size(); at-- > 0;) {
        const int row = order[at], column = place[row];
        if (column < 0) {
          if (modulus(x[row]) > largest) largest = modulus(x[row]), pivot = row;
          continue;
        }
        const T v = x[row];
        u.add(column, v);
        for (int e = l.offsets[column]; e < l.offsets[column + 1]; e++) x[l.indices[e]] -= l.values[e] * v;
      }
      if (place[k] < 0 && mark[k] == k && modulus(x[k]) >= threshold * largest) pivot = k;
      while (firstFree < n && place[firstFree] >= 0) firstFree++;
      if (pivot < 0) pivot = firstFree;
      diagonal[k] = x[pivot];
      place[pivot] = k;
      rows[k] = pivot;
      for (int row : order) {
        if (place[row] < 0 && largest > 0) l.add(row, x[row] / diagonal[k]);
        x[row] = T(0);
      }
      l.end();
      u.end();
    }
    for (int &row : l.indices) row = place[row];
  }
  void solve(std::vector<T> &x) const {
    const int n = l.columns;
    std::vector<T> y(n);
    for (int k = 0; k < n; k++) y[k] = x[rows[k]];
    for (int k = 0; k < n; k++)
      for (int e = l.offsets[k]; e < l.offsets[k + 1]; e++) y[l.indices[e]] -= l.values[e] * y[k];
    for (int k = n - 1; k >= 0; k--) {
      y[k] = y[k] / diagonal[k];
      for (int e = u.offsets[k]; e < u.offsets[k + 1]; e++) y[u.indices[e]] -= u.values[e] * y[k];
    }
    x = y;
  }
  size_t bytes() const { return (l.indices.size() + u.indices.size() + l.columns + 1) * (sizeof(T) + sizeof(int)); }

 private:
  /** Appends the rows that an entry of the column leads to through the columns of L, each behind those that depend on it. */
  void visit(int start, int k, const Ints &place, Ints &mark, Ints &stack, Ints &next, Ints &order) const {
    if (mark[start] == k) return;
    const auto enter = [&](int row) {
      mark[row] = k;
      next[row] = place[row] < 0 ? 0 : l.offsets[place[row]];
      stack.push_back(row);
    };
    enter(start);
    while (!stack.empty()) {
      const int row = stack.back(), column = place[row];
      bool isDone = true;
      while (column >= 0 && next[row] < l.offsets[column + 1]) {
        const int other = l.indices[next[row]++];
        if (mark[other] == k) continue;
        enter(other);
        isDone = false;
        break;
      }
      if (!isDone) continue;
      stack.pop_back();
      order.push_back(row);
    }
  }
};

/** A = Q·R by reflections, of a matrix with at least as many rows as columns. */
template <class T>
struct Qr {
  /** The vectors of the reflections, and columns of R without diagonals. */
  Columns<T> v, r;
  std::vector<T> diagonal;
  std::vector<RealOf<T>> beta;
  /** Where the rows of A are; some behind them are of no row of A. */
  Ints place;
  int height = 0;

  void factor(const Columns<T> &a) {
    const int n = a.columns;
    const Ints parent = columnTree(a);
    Ints leftmost(a.rows, -1);
    for (int k = n - 1; k >= 0; k--)
      for (int e = a.offsets[k]; e < a.offsets[k + 1]; e++) leftmost[a.indices[e]] = k;
    placeRows(a.rows, n, parent, leftmost);
    v = r = {height, n, {0}, {}, {}};
    diagonal.assign(n, T(0));
    beta.assign(n, 0);
    Ints mark(height, -1), path, branch;
    std::vector<T> x(height, T(0));
    for (int k = 0; k < n; k++) {
      const int first = int(v.indices.size());
      mark[k] = k;
      v.indices.push_back(k);
      path.clear();
      for (int e = a.offsets[k]; e < a.offsets[k + 1]; e++) {
        branch.clear();
        for (int i = leftmost[a.indices[e]]; i != -1 && mark[i] != k; i = parent[i]) {
          branch.push_back(i);
          mark[i] = k;
        }
        path.insert(path.end(), branch.begin(), branch.end());
        const int row = place[a.indices[e]];
        x[row] += a.values[e];
        if (row > k && mark[row] < k) {
          mark[row] = k;
          v.indices.push_back(row);
        }
      }
      // Columns of R depend on earlier ones only.
      std::sort(path.begin(), path.end());
      for (int i : path) {
        reflect(i, x);
        r.add(i, x[i]);
        x[i] = T(0);
        if (parent[i] == k)
          for (int e = v.offsets[i]; e < v.offsets[i + 1]; e++)
            if (mark[v.indices[e]] < k) {
              mark[v.indices[e]] = k;
              v.indices.push_back(v.indices[e]);
            }
      }
      for (size_t e = first; e < v.indices.size(); e++) {
        v.values.push_back(x[v.indices[e]]);
        x[v.indices[e]] = T(0);
      }
      diagonal[k] = reflection(first, k);
      v.end();
      r.end();
    }
  }
  /** The vector that comes nearest to `b`, of as many numbers as there are columns. */
  std::vector<T> solve(const std::vector<T> &b) const {
    const int n = v.columns;
    std::vector<T> x(height, T(0));
    for (size_t i = 0; i < b.size(); i++) x[place[i]] = b[i];
    for (int k = 0; k < n; k++) reflect(k, x);
    for (int k = n - 1; k >= 0; k--) {
      x[k] = x[k] / diagonal[k];
      for (int e = r.offsets[k]; e < r.offsets[k + 1]; e++) x[r.indices[e]] -= r.values[e] * x[k];
    }
    x.resize(n);
    return x;
  }
  size_t bytes() const { return (v.indices.size() + r.indices.size() + v.columns + 1) * (sizeof(T) + sizeof(int)); }

 private:
  /** The elimination tree of Aᴴ·A. */
  static Ints columnTree(const Columns<T> &a) {
    Ints parent(a.columns, -1), ancestor(a.columns, -1), previous(a.rows, -1);
    for (int k = 0; k < a.columns; k++)
      for (int e = a.offsets[k]; e < a.offsets[k + 1]; e++) {
        for (int i = previous[a.indices[e]], next; i != -1 && i < k; i = next) {
          next = ancestor[i];
          ancestor[i] = k;
          if (next == -1) parent[i] = k;
        }
        previous[a.indices[e]] = k;
      }
    return parent;
  }
  /** Gives each column a row that has no entry left of it; the other rows of a column go on to its parent. */
  void placeRows(int m, int n, const Ints &parent, const Ints &leftmost) {
    std::vector<Ints> waiting(n);
    place.assign(m, -1);
    height = m;
    for (int i = 0; i < m; i++)
      if (leftmost[i] >= 0) waiting[leftmost[i]].push_back(i);
    for (int k = 0; k < n; k++) {
      if (waiting[k].empty()) {
        height++;
        continue;
      }
      place[waiting[k][0]] = k;
      if (parent[k] < 0) continue;
      Ints &next = waiting[parent[k]];
      next.insert(next.end(), waiting[k].begin() + 1, waiting[k].end());
      Ints().swap(waiting[k]);
    }
    int end = n;
    for (int &each : place)
      if (each < 0) each = end++;
    height = std::max(height, end);
  }
  void reflect(int k, std::vector<T> &x) const {
    T sum = T(0);
    for (int e = v.offsets[k]; e < v.offsets[k + 1]; e++) sum += conj(v.values[e]) * x[v.indices[e]];
    sum = T(beta[k]) * sum;
    for (int e = v.offsets[k]; e < v.offsets[k + 1]; e++) x[v.indices[e]] -= v.values[e] * sum;
  }
  /** Makes the numbers from `first` on the vector that reflects them to one number, which it returns. */
  T reflection(int first, int k) {
    RealOf<T> scale = 0, sum = 0;
    for (size_t e = first; e < v.values.size(); e++) scale = std::max(scale, modulus(v.values[e]));
    if (scale == 0) return T(0);
    for (size_t e = first; e < v.values.size(); e++) sum += squared(v.values[e] / T(scale));
    const RealOf<T> norm = scale * root(sum), size = modulus(v.values[first]);
    const T phase = size == 0 ? T(1) : v.values[first] / T(size);
    v.values[first] = phase * T(size + norm);
    beta[k] = 1 / (norm * (norm + size));
    return -(phase * T(norm));
  }
};

}  // namespace cumetal

#endif
