// XORWOW: an xorshift of 160 bits and a Weyl sequence. Source: G. Marsaglia, "Xorshift RNGs", 2003, 3.1; cuRAND Library, "Device API".
#ifndef __CUMETAL_RANDOM_XORWOW_H__
#define __CUMETAL_RANDOM_XORWOW_H__

struct curandStateXORWOW {
  unsigned int d, v[5];
  // The second number of a pair of normal ones waits here.
  int boxmuller_flag, boxmuller_flag_double;
  float boxmuller_extra;
  double boxmuller_extra_double;
};
typedef struct curandStateXORWOW curandStateXORWOW_t;
typedef struct curandStateXORWOW curandState_t;
typedef struct curandStateXORWOW curandState;

// The step's characteristic polynomial without its term of degree 160, and x^(2^(67 + k)) modulo it: a sequence is 2^67 steps long.
static constexpr unsigned int __cumetal_xorwow_polynomial[5] = {0x00060001, 0x08610030, 0x00062121, 0x0f3c0035, 0x00000f0e};
static constexpr unsigned int __cumetal_xorwow_sequences[32][5] = {
    {0x26294934, 0x77bbc248, 0x1a87dad0, 0x930052d4, 0x947e6dd2},
    {0x5f39c379, 0x95e20ba6, 0x20e9ff72, 0x1244ce5e, 0xe8fd228f},
    {0xa7474d19, 0x37c549e0, 0x140877d2, 0x24c43924, 0xcd52ebec},
    {0xe0360ec5, 0xb1c96c24, 0xdbb91766, 0x666ff5dc, 0xf19a7e52},
    {0xfcc8f692, 0x35aa698a, 0x04ebbf85, 0x448304b0, 0x082f3fd5},
    {0x48c289bd, 0xe851cf98, 0x845ad581, 0xfd70752a, 0x2c3e63f6},
    {0xe502f5b3, 0x77859d31, 0x97e1cbb3, 0xea09047a, 0x61d5f37e},
    {0xb89326d0, 0x5a8655a9, 0xfb6e98f5, 0x02102162, 0x7e6fcf6f},
    {0xb3a15db4, 0xc6df3330, 0x1a8be751, 0xf1e4b221, 0x6bb61c05},
    {0x133de1d0, 0x361e4422, 0xc6131fcf, 0xd9719f45, 0x9658a164},
    {0x19e2bee8, 0xf8974218, 0x4e65536a, 0xa2570336, 0xe9b88082},
    {0x7863644b, 0x2a21ce84, 0x112e86f1, 0xed01ce0e, 0xba143e84},
    {0x0e2cae2e, 0xd1011279, 0x58923768, 0x2bf650ba, 0xc985bcda},
    {0x213a286a, 0x6596b510, 0x6fc10eae, 0x38a13547, 0x11c7749e},
    {0x146281e7, 0xa45b4452, 0xafa8c695, 0x74a0ac94, 0x4b250e0a},
    {0x2306bc52, 0x790f3b4c, 0x2fe473b9, 0xbc81d7c0, 0x093efe98},
    {0x89658c8b, 0xf3914315, 0xa73fe84b, 0x3c5fadb6, 0xadba8dd6},
    {0x09e49814, 0x09caf5ed, 0x6b2460d9, 0x1b9981c1, 0x2d1fefc3},
    {0x82161afc, 0x9bb13c55, 0xfd20d7fb, 0x306d90b9, 0x92bf386f},
    {0x96d32350, 0x0e081864, 0x69faa798, 0xe7faecf5, 0xf1f951be},
    {0x3e9058c1, 0x71da9705, 0xe2cb1f2b, 0x73456536, 0xbd6501b6},
    {0x990ffc6e, 0xbfdd1b5d, 0xc83e520b, 0xe972936a, 0xac79abb9},
    {0xb1321eb5, 0xb06d01a2, 0x51532012, 0x8fb59962, 0x141d3b0b},
    {0x3257dfe1, 0xd8a3d601, 0x3a58c735, 0x845f36e4, 0x0112c611},
    {0xa0ffe9a4, 0xf57be00e, 0xe706880c, 0x191211ef, 0xee5664fb},
    {0x9a3385b8, 0xc540c30a, 0xb241d1e0, 0x00626569, 0x6b355fe9},
    {0xe129d45d, 0xac3e698b, 0xd61f79fd, 0x7a72a28b, 0x7f4942be},
    {0x612501bb, 0xae7b767d, 0xaa66c165, 0x09bfaf8e, 0x3e55c16d},
    {0x874e26a7, 0x33bc5a47, 0xad95cba5, 0x67651c39, 0xf1f07dca},
    {0xb5ed0732, 0x30e7a573, 0x5c056714, 0x2304f8fa, 0xebc584e1},
    {0x4b324c2e, 0x2bdcc5a0, 0x53eb4240, 0xcac4fbc1, 0x13e529e7},
    {0xe1683e38, 0xa2339994, 0x7308a647, 0xc7c3f0b1, 0x4a3dcd33}};

#ifdef __CUDA__
__cumetal_device void __cumetal_xorwow_step(unsigned int *v) {
  unsigned int t = v[0] ^ (v[0] >> 2);
  v[0] = v[1];
  v[1] = v[2];
  v[2] = v[3];
  v[3] = v[4];
  v[4] = (v[4] ^ (v[4] << 4)) ^ (t ^ (t << 1));
}
__cumetal_device unsigned int curand(curandStateXORWOW_t *state) {
  __cumetal_xorwow_step(state->v);
  state->d += 362437;
  return state->v[4] + state->d;
}

// a := a b modulo the polynomial, over GF(2).
__cumetal_library void __cumetal_xorwow_multiply(unsigned int *a, const unsigned int *b) {
  unsigned int power[5], sum[5] = {0, 0, 0, 0, 0};
  for (int i = 0; i < 5; i++) power[i] = a[i];
  for (int bit = 0; bit < 160; bit++) {
    unsigned int take = 0u - (b[bit >> 5] >> (bit & 31) & 1), carry = 0u - (power[4] >> 31);
    for (int i = 4; i >= 0; i--) {
      sum[i] ^= power[i] & take;
      power[i] = (power[i] << 1 | (i ? power[i - 1] >> 31 : 0)) ^ (carry & __cumetal_xorwow_polynomial[i]);
    }
  }
  for (int i = 0; i < 5; i++) a[i] = sum[i];
}
// The state after as many steps as the polynomial's power of x says: the sum of the states that its terms name.
__cumetal_library void __cumetal_xorwow_apply(unsigned int *v, const unsigned int *polynomial) {
  unsigned int sum[5] = {0, 0, 0, 0, 0};
  for (int bit = 0; bit < 160; bit++) {
    unsigned int take = 0u - (polynomial[bit >> 5] >> (bit & 31) & 1);
    for (int i = 0; i < 5; i++) sum[i] ^= v[i] & take;
    __cumetal_xorwow_step(v);
  }
  for (int i = 0; i < 5; i++) v[i] = sum[i];
}
__cumetal_library void skipahead_sequence(unsigned long long n, curandStateXORWOW_t *state) {
  unsigned int power[5] = {1, 0, 0, 0, 0};
  // 2^67 is a multiple of the Weyl sequence's period: its part stays.
  for (int k = 0; k < 32 && n; k++, n >>= 1)
    if (n & 1) __cumetal_xorwow_multiply(power, __cumetal_xorwow_sequences[k]);
  // Beyond the table, each power is the square of the one before.
  unsigned int base[5];
  for (int i = 0; i < 5; i++) base[i] = __cumetal_xorwow_sequences[31][i];
  for (; n; n >>= 1) {
    unsigned int square[5] = {base[0], base[1], base[2], base[3], base[4]};
    __cumetal_xorwow_multiply(base, square);
    if (n & 1) __cumetal_xorwow_multiply(power, base);
  }
  __cumetal_xorwow_apply(state->v, power);
}
__cumetal_library void skipahead(unsigned long long n, curandStateXORWOW_t *state) {
  unsigned int power[5] = {1, 0, 0, 0, 0}, base[5] = {2, 0, 0, 0, 0};
  state->d += 362437u * (unsigned int)n;
  for (; n; n >>= 1) {
    if (n & 1) __cumetal_xorwow_multiply(power, base);
    unsigned int square[5] = {base[0], base[1], base[2], base[3], base[4]};
    __cumetal_xorwow_multiply(base, square);
  }
  __cumetal_xorwow_apply(state->v, power);
}
__cumetal_library void curand_init(unsigned long long seed, unsigned long long sequence, unsigned long long offset, curandStateXORWOW_t *state) {
  // The seed's halves, spread over Marsaglia's initial state.
  unsigned int t0 = 1099087573u * ((unsigned int)seed ^ 0xaad26b49u), t1 = 2591861531u * ((unsigned int)(seed >> 32) ^ 0xf7dcefddu);
  state->d = 6615241u + t1 + t0;
  state->v[0] = 123456789u + t0;
  state->v[1] = 362436069u ^ t0;
  state->v[2] = 521288629u + t1;
  state->v[3] = 88675123u ^ t1;
  state->v[4] = 5783321u + t0;
  state->boxmuller_flag = state->boxmuller_flag_double = 0;
  state->boxmuller_extra = 0;
  state->boxmuller_extra_double = 0;
  if (sequence) skipahead_sequence(sequence, state);
  if (offset) skipahead(offset, state);
}
#endif

#endif
