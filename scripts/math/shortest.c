// How few sums and fused sums tell on which side of the nearest float an exact a * b + c lies (`fusedStep` in `src/ptx/table/rounding.ts`).
// gcc -O2 -o shortest scripts/math/shortest.c && ./shortest 7
//
// Values are c and the nearest float n; a step is x + y, x - y, a * b, a * b + x or a * b - x of earlier values, rounded to nearest. The answer is a comparison of
// two values, with or without a sign, or two such comparisons joined by `and` or `or`. All sequences of each length are tried on all products and addends
// with significands of 3 bits and all distances of exponents that matter: what is right in every format is right there. A step that gives the value of an
// earlier one in every case is left out, and so are sequences with a value that nothing uses.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

typedef int64_t I;
enum { bits = 3, most_cases = 1 << 13, most_values = 12, first = 96, most_tests = 512 };

static I nearest(I v) {
  I size = v < 0 ? -v : v;
  int drop = size ? 64 - __builtin_clzll(size) - bits : 0;
  if (drop > 0) {
    I kept = size >> drop, rest = size & (((I)1 << drop) - 1), half = (I)1 << (drop - 1);
    size = (kept + (rest > half || (rest == half && (kept & 1)))) << drop;
  }
  return v < 0 ? -size : size;
}

typedef struct { enum { sum, difference, product, fused, fused_minus } kind; int x, y; } Step;
typedef struct { int x, y, form; } Test; // x > y, x < y, x > -y, x < -y; y is -1 for zero

static I products[most_cases], values[most_values][most_cases];
static char is_above[most_cases];
static int cases, longest;
static Step steps[most_values];
static long tried, found;

static I made(Step s, int at) {
  I ab = products[at], x = values[s.x][at], y = values[s.y][at];
  return nearest(s.kind == sum ? x + y : s.kind == difference ? x - y : s.kind == product ? ab : s.kind == fused ? ab + x : ab - x);
}

static int holds(Test t, int at) {
  I x = values[t.x][at], y = t.y < 0 ? 0 : values[t.y][at];
  return t.form == 0 ? x > y : t.form == 1 ? x < y : t.form == 2 ? x > -y : x < -y;
}

static void add_case(I ab, I c) {
  I n = nearest(ab + c);
  products[cases] = ab, values[0][cases] = c, values[1][cases] = n, is_above[cases] = ab + c > n;
  cases++;
}

static void print(Test t) {
  static const char *forms[] = {"v%d > v%d", "v%d < v%d", "v%d > -v%d", "v%d < -v%d"};
  if (t.y < 0) printf(t.form ? "v%d < 0" : "v%d > 0", t.x);
  else printf(forms[t.form], t.x, t.y);
}

static void report(int count, const Test *a, const Test *b, const char *join) {
  found++;
  for (int k = 2; k < count; k++) {
    Step s = steps[k];
    if (s.kind < product) printf("v%d = v%d %c v%d; ", k, s.x, s.kind == sum ? '+' : '-', s.y);
    else if (s.kind == product) printf("v%d = ab; ", k);
    else printf("v%d = ab %c v%d; ", k, s.kind == fused ? '+' : '-', s.x);
  }
  print(*a);
  if (b) printf(" %s ", join), print(*b);
  printf("\n");
}

static unsigned unused(int count) {
  unsigned used = 3;
  for (int k = 2; k < count; k++) used |= steps[k].kind == product ? 0 : 1u << steps[k].x | (steps[k].kind < product ? 1u << steps[k].y : 0);
  return ((1u << count) - 1) & ~used;
}

static unsigned valuesOf(Test t) { return 1u << t.x | (t.y < 0 ? 0 : 1u << t.y); }

/** Whether two tests together give the answer: `or` of tests that are never wrongly true, `and` of ones that are never wrongly false. */
static int together(Test a, Test b, int is_and, int to) {
  for (int at = 0; at < to; at++)
    if ((is_and ? holds(a, at) && holds(b, at) : holds(a, at) || holds(b, at)) != is_above[at]) return 0;
  return 1;
}

static void ask(int count) {
  Test kept[2][most_tests];
  int sizes[2] = {0, 0};
  unsigned left = unused(count);
  tried++;
  for (int at = 0; at < first; at++) values[count - 1][at] = made(steps[count - 1], at);
  int is_whole = 0;
  for (int x = 0; x < count; x++)
    for (int y = -1; y < x; y++)
      for (int form = 0; form < (y < 0 ? 2 : 4); form++) {
        Test t = {x, y, form};
        int sides[2] = {1, 1};
        for (int at = 0; at < first && (sides[0] || sides[1]); at++) {
          int answer = holds(t, at);
          if (answer != is_above[at]) sides[answer ? 0 : 1] = 0;
        }
        for (int side = 0; side < 2; side++)
          if (sides[side] && sizes[side] < most_tests) kept[side][sizes[side]++] = t;
      }
  for (int side = 0; side < 2; side++)
    for (int i = 0; i < sizes[side]; i++)
      for (int j = 0; j <= i; j++) {
        Test a = kept[side][i], b = kept[side][j];
        if (left & ~(valuesOf(a) | valuesOf(b)) || !together(a, b, side, first)) continue;
        if (!is_whole) for (int at = first; at < cases; at++) values[count - 1][at] = made(steps[count - 1], at);
        is_whole = 1;
        if (together(a, b, side, cases)) report(count, &a, i == j ? NULL : &b, side ? "and" : "or");
      }
}

static int order(Step a, Step b) { return a.kind != b.kind ? (int)a.kind - (int)b.kind : a.x != b.x ? a.x - b.x : a.y - b.y; }

/** Whether a value is new: in some case it differs from each earlier one, and from that with the other sign. */
static int is_new(int count) {
  for (int k = 0; k < count; k++) {
    int same = 1, opposite = 1;
    for (int at = 0; at < cases && (same || opposite); at++) same &= values[k][at] == values[count][at], opposite &= values[k][at] == -values[count][at];
    if (same || opposite) return 0;
  }
  return 1;
}

static void extend(int count);

static void take(Step s, int count) {
  int is_after = count > 2 && s.x != count - 1 && s.y != count - 1;
  // Steps that do not use the one before come in one order.
  if (is_after && order(steps[count - 1], s) >= 0) return;
  steps[count] = s;
  int remaining = longest + 2 - count - 1;
  if (__builtin_popcount(unused(count + 1)) > remaining + 4) return;
  if (remaining == 0) {
    ask(count + 1);
    return;
  }
  for (int at = 0; at < cases; at++) values[count][at] = made(s, at);
  if (is_new(count)) extend(count + 1);
}

static void extend(int count) {
  for (int x = 0; x < count; x++)
    for (int y = x + 1; y < count; y++) take((Step){sum, x, y}, count), take((Step){difference, x, y}, count);
  take((Step){product, 0, 0}, count);
  for (int x = 0; x < count; x++) {
    if (x) take((Step){fused, x, x}, count);
    take((Step){fused_minus, x, x}, count);
  }
}

int main(int argc, char **argv) {
  I low = (I)1 << (bits - 1), high = (I)1 << bits;
  int scale = 2 * bits + 3, until = argc > 1 ? atoi(argv[1]) : 6;
  for (I a = low; a < high; a++)
    for (I b = a; b < high; b++)
      for (int k = 0; k <= scale + 4 * bits; k++)
        for (I c = low; c < high; c++)
          for (int sign = -1; sign <= 1; sign += 2) {
            I ab = (a * b) << scale, addend = sign * (c << k);
            add_case(ab, addend), add_case(-ab, -addend);
          }
  // In an order that meets differences early.
  srand(1);
  for (int at = cases - 1; at > 0; at--) {
    int other = rand() % (at + 1);
    I ab = products[at], c = values[0][at];
    int before = cases;
    cases = at, add_case(products[other], values[0][other]), cases = other, add_case(ab, c), cases = before;
  }
  for (longest = 1; longest <= until && found == 0; longest++) {
    tried = 0, extend(2);
    printf("%d steps: %ld sequences, %ld right\n", longest, tried, found);
    fflush(stdout);
  }
  return 0;
}
