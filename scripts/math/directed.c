// Proofs of directed rounding from operations that round to nearest (`src/ptx/table/rounding.ts`, `half-away.ts`). gcc -O2 -ffp-contract=off -o directed
// scripts/math/directed.c -lm && ./directed
//
// 1. Sums and fused sums, for all significands of formats of 2 to 7 bits and all distances of exponents that matter: the comparisons that say on which side
//    of the nearest float the exact value lies, in exact integers. Exponents have no bounds here; the code has slow ways for products beyond.
// 2. The same for random floats and doubles of the machine with its rounding modes, with subnormals, zeros, infinities and overflow, and reciprocals of all of them.
// 3. The next float upwards, and the next one towards zero, as the sum with a little more than half of a last place, for all floats that are neither subnormal
//    nor near infinity; and as a product and a sum, for random doubles of at least 2^-969.
// 4. Reciprocals rounded in a direction, for all floats.
// 5. Rounding with halves away from zero, for all floats, and for random doubles.
#include <fenv.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef int64_t I;
static int bits;

static I nearest(I v) {
  I size = v < 0 ? -v : v, up = 0;
  int drop = 0;
  while (size >> drop >= (I)1 << bits) drop++;
  if (drop) {
    I kept = size >> drop, rest = size & (((I)1 << drop) - 1), half = (I)1 << (drop - 1);
    up = rest > half || (rest == half && (kept & 1));
    size = (kept + up) << drop;
  }
  return v < 0 ? -size : size;
}

static long wrong = 0, count = 0;

static void small_sum(I a, I b) {
  I s = nearest(a + b), of_a = nearest(s - b), of_b = nearest(s - a), e = a + b - s;
  count++;
  wrong += (b > of_b || a > of_a) != (e > 0) || (b < of_b || a < of_a) != (e < 0);
}

static void small_fused(I product, I c) {
  I n = nearest(product + c), s = nearest(n - c), of_c = nearest(s - n), of_n = nearest(s - of_c);
  I lower = nearest(nearest(n - of_n) + nearest(-c - of_c)), rest = nearest(product - s), e = product + c - n;
  count++;
  wrong += s + lower != n - c;
  wrong += (rest > lower) != (e > 0) || (rest < lower) != (e < 0);
}

static uint64_t seed = 88172645463325252ull;
static uint64_t next(void) {
  seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
  return seed * 0x2545F4914F6CDD1Dull;
}

#define MACHINE(F, B, S, MB, EB, FMA, ABS, COPYSIGN, LEAST, MOST, NAME)                                                                         \
  static F NAME##_of(B b) { F x; memcpy(&x, &b, sizeof x); return x; }                                                                         \
  static B NAME##_bits(F x) { B b; memcpy(&b, &x, sizeof b); return b; }                                                                       \
  static F NAME##_up(F s, int is_above) { return NAME##_of(NAME##_bits(s) + (is_above ? (B)(((S)NAME##_bits(s) >> (sizeof(B) * 8 - 1)) | 1) : 0)); } \
  static int NAME##_same(F a, F b) { return (isnan(a) && isnan(b)) || NAME##_bits(a) == NAME##_bits(b); }                                       \
  static F NAME##_pick(F near) {                                                                                                               \
    uint64_t r = next(), k = next() % 16;                                                                                                      \
    B sign = (B)(r >> 63) << (MB + EB), fraction = (B)r & (((B)1 << MB) - 1), top = ((B)1 << EB) - 1;                                            \
    if (k < 4) return NAME##_of((B)r);                                                                                                         \
    if (k < 10) {                                                                                                                              \
      I e = (I)(NAME##_bits(near) >> MB & top) + (I)(next() % 61) - 30;                                                                        \
      e = e < 0 ? 0 : e > (I)top ? (I)top : e;                                                                                                 \
      if (k == 9) return NAME##_of((NAME##_bits(near) ^ (B)1 << (MB + EB)) + next() % 5 - 2);                                                  \
      if (k > 7) fraction &= ~(((B)1 << next() % (MB + 1)) - 1);                                                                               \
      return NAME##_of(sign | (B)e << MB | fraction);                                                                                          \
    }                                                                                                                                          \
    if (k == 10) return NAME##_of(sign | next() % 3);                                                                                          \
    if (k == 11) return NAME##_of(sign | top << MB);                                                                                           \
    if (k == 12) return NAME##_of(sign | ((top << MB) - 1 - next() % 3));                                                                      \
    return NAME##_of(sign | (B)(next() & 1 ? next() % 60 : top - 1 - next() % 60) << MB | fraction);                                             \
  }                                                                                                                                            \
  static long NAME##_machine(long cases) {                                                                                                     \
    long bad = 0;                                                                                                                              \
    for (long i = 0; i < cases; i++) {                                                                                                         \
      volatile F a = NAME##_pick(1), b = NAME##_pick(a), near = a * b, c = NAME##_pick(near);                                                   \
      volatile F s = a + b, of_a = s - b, of_b = s - a, p = a * b, n = FMA(a, b, c);                                                            \
      F up = NAME##_up(s, b > of_b || a > of_a), down = -NAME##_up(-s, -b > -of_b || -a > -of_a);                                               \
      volatile F r = FMA(a, b, -p), q = n - c, of_c = q - n, of_n = q - of_c, x = n - of_n, y = -c - of_c, lower = x + y, rest = FMA(a, b, -q);   \
      int is_safe = ABS(p) >= LEAST && ABS(q) <= MOST;                                                                                         \
      F fused = NAME##_up(n, rest > lower), product = NAME##_up(p, r > 0);                                                                      \
      volatile F inverse = 1 / a, remainder = FMA(-inverse, a, 1), excess = FMA(ABS(inverse), ABS(a), -1);                                      \
      F inverse_up = NAME##_up(inverse, COPYSIGN(1, a) * remainder > 0), inverse_cut = NAME##_of(NAME##_bits(inverse) - (excess > 0));           \
      fesetround(FE_UPWARD);                                                                                                                   \
      volatile F want_up = a + b, want_product = a * b, want_fused = FMA(a, b, c), want_inverse = 1 / a;                                       \
      fesetround(FE_DOWNWARD);                                                                                                                 \
      volatile F want_down = a + b;                                                                                                            \
      fesetround(FE_TOWARDZERO);                                                                                                               \
      volatile F want_cut = 1 / a;                                                                                                             \
      fesetround(FE_TONEAREST);                                                                                                                \
      if (want_down == 0) down = want_down; /* the sign of zero is that of negated operands */                                                 \
      bad += !NAME##_same(up, want_up) || !NAME##_same(down, want_down);                                                                       \
      bad += !NAME##_same(inverse_up, want_inverse) || !NAME##_same(inverse_cut, want_cut);                                                     \
      bad += (ABS(p) >= LEAST && !NAME##_same(product, want_product)) || (is_safe && !NAME##_same(fused, want_fused));                           \
    }                                                                                                                                          \
    return bad;                                                                                                                                \
  }

MACHINE(float, uint32_t, int32_t, 23, 8, fmaf, fabsf, copysignf, 0x1p-78f, 0x1p126f, single)
MACHINE(double, uint64_t, int64_t, 52, 11, fma, fabs, copysign, 0x1p-900, 0x1p1000, wide)

enum { block = 1 << 16 };

/** The reciprocals of a block of floats, in a rounding mode. */
static void inverses(uint32_t from, int mode, float *to) {
  fesetround(mode);
  for (uint32_t i = 0; i < block; i++) {
    volatile float x = single_of(from + i), inverse = 1 / x;
    to[i] = inverse;
  }
  fesetround(FE_TONEAREST);
}

static long all_inverses(void) {
  static float near[block], up[block], cut[block];
  long bad = 0;
  for (uint64_t from = 0; from < (uint64_t)1 << 32; from += block) {
    inverses(from, FE_TONEAREST, near), inverses(from, FE_UPWARD, up), inverses(from, FE_TOWARDZERO, cut);
    for (uint32_t i = 0; i < block; i++) {
      float x = single_of(from + i), remainder = fmaf(-near[i], x, 1), excess = fmaf(fabsf(near[i]), fabsf(x), -1);
      bad += !single_same(single_up(near[i], copysignf(1, x) * remainder > 0), up[i]) || !single_same(single_of(single_bits(near[i]) - (excess > 0)), cut[i]);
    }
  }
  return bad;
}

int main(void) {
  for (bits = 2; bits <= 7; bits++) {
    I low = (I)1 << (bits - 1), high = (I)1 << bits;
    int scale = 2 * bits + 3;
    for (I a = low; a < high; a++)
      for (int k = 0; k <= scale + 4 * bits; k++)
        for (I c = low; c < high; c++) {
          small_sum(a << scale, c << k), small_sum(a << scale, -(c << k));
          for (I b = low; b < high; b++) small_fused((a * b) << scale, c << k), small_fused((a * b) << scale, -(c << k));
        }
  }
  printf("formats of 2 to 7 bits: %ld cases, %ld wrong\n", count, wrong);
  long floats = single_machine(20000000), doubles = wide_machine(20000000);
  printf("20000000 random floats and doubles each: %ld and %ld wrong\n", floats, doubles);
  long steps = 0, halves = 0;
  for (uint64_t i = 0; i < (uint64_t)1 << 32; i++) {
    float x = single_of((uint32_t)i);
    volatile float sum = x + copysignf(0x1.fffffep-2f, x);
    halves += !single_same(truncf(sum), roundf(x));
    uint32_t field = i >> 23 & 255;
    if (field <= 1 || field >= 254) continue;
    steps += !single_same(fmaf(0x1.000002p-24f, fabsf(x), x), single_up(x, 1));
    steps += !single_same(fmaf(-0x1.000002p-24f, x, x), single_of(single_bits(x) - 1));
  }
  long double_steps = 0;
  for (long i = 0; i < 100000000; i++) {
    uint64_t u = next(), k = next() % 8;
    if (k < 2) u &= ~((((uint64_t)1 << next() % 53)) - 1);
    if (k == 2) u |= ((uint64_t)1 << next() % 53) - 1;
    if (k == 3) u = (u >> 52 << 52) + next() % 8;
    double x = wide_of(u);
    uint32_t field = u >> 52 & 2047;
    if (field < 54 || field >= 2046) continue;
    volatile double part = 0x1.0000000000001p-53 * fabs(x), inward = -0x1.0000000000001p-53 * x;
    double_steps += !wide_same(part + x, wide_up(x, 1)) || !wide_same(inward + x, wide_of(u - 1));
  }
  printf("the same by products and sums: %ld of 100000000 doubles wrong\n", double_steps);
  long reciprocals = all_inverses();
  printf("reciprocals: %ld of all floats wrong\n", reciprocals);
  long half_doubles = 0;
  for (long i = 0; i < 100000000; i++) {
    uint64_t u = next(), k = next() % 8;
    if (k < 6) u = (u & 0x800fffffffffffffull) | (uint64_t)(1018 + next() % 60) << 52;
    if (k < 3) u &= ~(((uint64_t)1 << next() % 53) - 1);
    double x = wide_of(u);
    volatile double sum = x + copysign(0x1.fffffffffffffp-2, x);
    half_doubles += !wide_same(trunc(sum), round(x));
  }
  printf("steps upwards and towards zero: %ld of all floats wrong\n", steps);
  printf("halves away from zero: %ld of all floats and %ld of 100000000 doubles wrong\n", halves, half_doubles);
  return wrong || floats || doubles || steps || double_steps || reciprocals || halves || half_doubles;
}
