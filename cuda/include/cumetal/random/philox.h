// Philox 4x32 with ten rounds: a function of a counter and a key. Source: J. Salmon and others, "Parallel random numbers: as easy as 1, 2, 3",
// 2011.
#ifndef __CUMETAL_RANDOM_PHILOX_H__
#define __CUMETAL_RANDOM_PHILOX_H__

struct curandStatePhilox4_32_10 {
  uint4 ctr, output;
  uint2 key;
  unsigned int STATE;
  int boxmuller_flag, boxmuller_flag_double;
  float boxmuller_extra;
  double boxmuller_extra_double;
};
typedef struct curandStatePhilox4_32_10 curandStatePhilox4_32_10_t;

#ifdef __CUDA__
__cumetal_device uint4 curand_Philox4x32_10(uint4 c, uint2 k) {
#pragma unroll
  for (int round = 0; round < 10; round++) {
    unsigned int hi0 = __umulhi(0xd2511f53u, c.x), lo0 = 0xd2511f53u * c.x, hi1 = __umulhi(0xcd9e8d57u, c.z), lo1 = 0xcd9e8d57u * c.z;
    c = {hi1 ^ c.y ^ k.x, lo1, hi0 ^ c.w ^ k.y, lo0};
    k.x += 0x9e3779b9u;
    k.y += 0xbb67ae85u;
  }
  return c;
}
// The counter is of 128 bits: its upper half numbers the sequences.
__cumetal_device void __cumetal_philox_advance(curandStatePhilox4_32_10_t *state, unsigned long long low, unsigned long long high) {
  unsigned long long a = (unsigned long long)state->ctr.y << 32 | state->ctr.x, b = (unsigned long long)state->ctr.w << 32 | state->ctr.z;
  a += low;
  b += high + (a < low);
  state->ctr = {(unsigned int)a, (unsigned int)(a >> 32), (unsigned int)b, (unsigned int)(b >> 32)};
}
__cumetal_device void skipahead_sequence(unsigned long long n, curandStatePhilox4_32_10_t *state) {
  __cumetal_philox_advance(state, 0, n);
  state->output = curand_Philox4x32_10(state->ctr, state->key);
}
__cumetal_device void skipahead(unsigned long long n, curandStatePhilox4_32_10_t *state) {
  state->STATE += (unsigned int)(n & 3);
  n /= 4;
  if (state->STATE > 3) {
    n++;
    state->STATE -= 4;
  }
  __cumetal_philox_advance(state, n, 0);
  state->output = curand_Philox4x32_10(state->ctr, state->key);
}
__cumetal_device void curand_init(unsigned long long seed, unsigned long long subsequence, unsigned long long offset,
                                  curandStatePhilox4_32_10_t *state) {
  *state = {};
  state->key = {(unsigned int)seed, (unsigned int)(seed >> 32)};
  skipahead_sequence(subsequence, state);
  skipahead(offset, state);
}
__cumetal_device unsigned int curand(curandStatePhilox4_32_10_t *state) {
  uint4 o = state->output;
  unsigned int r = state->STATE == 0 ? o.x : state->STATE == 1 ? o.y : state->STATE == 2 ? o.z : o.w;
  if (++state->STATE == 4) {
    __cumetal_philox_advance(state, 1, 0);
    state->output = curand_Philox4x32_10(state->ctr, state->key);
    state->STATE = 0;
  }
  return r;
}
// Four numbers: the rest of this block and the start of the next.
__cumetal_device uint4 curand4(curandStatePhilox4_32_10_t *state) {
  uint4 a = state->output;
  __cumetal_philox_advance(state, 1, 0);
  uint4 b = state->output = curand_Philox4x32_10(state->ctr, state->key);
  switch (state->STATE) {
    case 0: return a;
    case 1: return {a.y, a.z, a.w, b.x};
    case 2: return {a.z, a.w, b.x, b.y};
    default: return {a.w, b.x, b.y, b.z};
  }
}
#endif

#endif
