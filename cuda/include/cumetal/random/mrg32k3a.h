// MRG32k3a: two linear recurrences modulo primes near 2^32. Source: P. L'Ecuyer, "Good parameters and implementations for combined multiple
// recursive random number generators", 1999.
#ifndef __CUMETAL_RANDOM_MRG32K3A_H__
#define __CUMETAL_RANDOM_MRG32K3A_H__

struct curandStateMRG32k3a {
  unsigned int s1[3], s2[3];
  int boxmuller_flag, boxmuller_flag_double;
  float boxmuller_extra;
  double boxmuller_extra_double;
};
typedef struct curandStateMRG32k3a curandStateMRG32k3a_t;

static constexpr unsigned long long __cumetal_mrg_m1 = 4294967087ull, __cumetal_mrg_m2 = 4294944443ull;

#ifdef __CUDA__
__cumetal_device double __cumetal_mrg_next(curandStateMRG32k3a_t *state) {
  unsigned long long m1 = __cumetal_mrg_m1, m2 = __cumetal_mrg_m2;
  // A product with a negative coefficient is one with its complement.
  unsigned int p1 = (unsigned int)((1403580ull * state->s1[1] + 810728ull * (m1 - state->s1[0])) % m1);
  unsigned int p2 = (unsigned int)((527612ull * state->s2[2] + 1370589ull * (m2 - state->s2[0])) % m2);
  state->s1[0] = state->s1[1], state->s1[1] = state->s1[2], state->s1[2] = p1;
  state->s2[0] = state->s2[1], state->s2[1] = state->s2[2], state->s2[2] = p2;
  return p1 <= p2 ? (double)p1 - p2 + 4294967087.0 : (double)p1 - p2;
}
// A matrix of 3 x 3 times another, and a power of the recurrence's matrix applied to a state.
__cumetal_library void __cumetal_mrg_product(unsigned int *a, const unsigned int *b, unsigned long long m) {
  unsigned int r[9];
  for (int i = 0; i < 9; i++) {
    unsigned long long sum = 0;
    for (int k = 0; k < 3; k++) sum = (sum + (unsigned long long)a[i / 3 * 3 + k] * b[k * 3 + i % 3] % m) % m;
    r[i] = (unsigned int)sum;
  }
  for (int i = 0; i < 9; i++) a[i] = r[i];
}
__cumetal_library void __cumetal_mrg_skip(unsigned int *s, unsigned int *matrix, unsigned long long m, unsigned long long n, int doublings) {
  for (int i = 0; i < doublings; i++) {
    unsigned int copy[9];
    for (int k = 0; k < 9; k++) copy[k] = matrix[k];
    __cumetal_mrg_product(matrix, copy, m);
  }
  for (; n; n >>= 1) {
    if (n & 1) {
      unsigned int r[3];
      for (int i = 0; i < 3; i++) {
        unsigned long long sum = 0;
        for (int k = 0; k < 3; k++) sum = (sum + (unsigned long long)matrix[3 * i + k] * s[k] % m) % m;
        r[i] = (unsigned int)sum;
      }
      for (int i = 0; i < 3; i++) s[i] = r[i];
    }
    unsigned int copy[9];
    for (int k = 0; k < 9; k++) copy[k] = matrix[k];
    __cumetal_mrg_product(matrix, copy, m);
  }
}
__cumetal_library void __cumetal_mrg_skip_both(curandStateMRG32k3a_t *state, unsigned long long n, int doublings) {
  unsigned int a[9] = {0, 1, 0, 0, 0, 1, (unsigned int)(__cumetal_mrg_m1 - 810728), 1403580, 0};
  unsigned int b[9] = {0, 1, 0, 0, 0, 1, (unsigned int)(__cumetal_mrg_m2 - 1370589), 0, 527612};
  __cumetal_mrg_skip(state->s1, a, __cumetal_mrg_m1, n, doublings);
  __cumetal_mrg_skip(state->s2, b, __cumetal_mrg_m2, n, doublings);
}
__cumetal_device void skipahead(unsigned long long n, curandStateMRG32k3a_t *state) { __cumetal_mrg_skip_both(state, n, 0); }
// Subsequences are 2^76 steps apart, sequences 2^127, as L'Ecuyer's streams.
__cumetal_device void skipahead_subsequence(unsigned long long n, curandStateMRG32k3a_t *state) { __cumetal_mrg_skip_both(state, n, 76); }
__cumetal_device void skipahead_sequence(unsigned long long n, curandStateMRG32k3a_t *state) { __cumetal_mrg_skip_both(state, n, 127); }
__cumetal_library void curand_init(unsigned long long seed, unsigned long long sequence, unsigned long long offset, curandStateMRG32k3a_t *state) {
  *state = {};
  for (int i = 0; i < 3; i++) state->s1[i] = state->s2[i] = 12345;
  if (seed) {
    // The seed's halves, multiplied into the state alternately.
    unsigned int low = (unsigned int)seed ^ 0x55555555u, high = (unsigned int)(seed >> 32) ^ 0xaaaaaaaau;
    for (int i = 0; i < 3; i++) {
      state->s1[i] = (unsigned int)((unsigned long long)(i & 1 ? high : low) * state->s1[i] % __cumetal_mrg_m1);
      state->s2[i] = (unsigned int)((unsigned long long)(i & 1 ? low : high) * state->s2[i] % __cumetal_mrg_m2);
    }
  }
  if (sequence) skipahead_subsequence(sequence, state);
  if (offset) skipahead(offset, state);
}
__cumetal_device unsigned int curand(curandStateMRG32k3a_t *state) {
  return (unsigned int)(__cumetal_mrg_next(state) * 1.000000048662);
}
#endif

#endif
