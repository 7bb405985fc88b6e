// Sobol's points in the order of Gray codes, with 32 and with 64 bits, and scrambled by a digital shift. Source: cuRAND Library, "Quasirandom
// Sequences"; I. Antonov, V. Saleev, "An economic method of computing LP-tau sequences", 1979.
#ifndef __CUMETAL_RANDOM_SOBOL_H__
#define __CUMETAL_RANDOM_SOBOL_H__

typedef unsigned int curandDirectionVectors32_t[32];
typedef unsigned long long curandDirectionVectors64_t[64];

// i: the number of the next point; x: the point; c: the shift, which is the point with number 0.
#define __cumetal_sobol_state(Name, Word, Bits) \
  struct Name { \
    Word i, x, c; \
    Word direction_vectors[Bits]; \
  }; \
  typedef struct Name Name##_t;
__cumetal_sobol_state(curandStateSobol32, unsigned int, 32)
__cumetal_sobol_state(curandStateScrambledSobol32, unsigned int, 32)
__cumetal_sobol_state(curandStateSobol64, unsigned long long, 64)
__cumetal_sobol_state(curandStateScrambledSobol64, unsigned long long, 64)
#undef __cumetal_sobol_state

#ifdef __CUDA__
// Directions of a dimension that the library has no numbers for are zero, and a point of them would be a wrong one. The first direction of every
// dimension has the highest bit.
template <class State, class Word> __cumetal_device void __cumetal_sobol_init(State *state, const Word *directions, Word shift) {
  if (directions[0] == 0) __trap();
  for (unsigned int k = 0; k < 8 * sizeof(Word); k++) state->direction_vectors[k] = directions[k];
  state->i = 0;
  state->x = state->c = shift;
}
template <class State, class Word> __cumetal_device void __cumetal_sobol_skip(State *state, Word n) {
  state->i += n;
  state->x = state->c;
  Word gray = state->i ^ state->i >> 1;
  for (int k = 0; gray; k++, gray >>= 1)
    if (gray & 1) state->x ^= state->direction_vectors[k];
}
__cumetal_device int __cumetal_first_zero(unsigned int i) { return ~i ? __ffs(~i) - 1 : 31; }
__cumetal_device int __cumetal_first_zero(unsigned long long i) { return ~i ? __ffsll(~i) - 1 : 63; }

// A point as the middle of an interval, and the normal number that has it as its probability. Points above the middle are mirrored, so that neither is
// rounded to 1.
__cumetal_device float __cumetal_sobol_uniform(unsigned int x) { return __fmaf_rn((float)x, 0x1p-32f, 0x1p-33f); }
__cumetal_device float __cumetal_sobol_uniform(unsigned long long x) { return __cumetal_sobol_uniform((unsigned int)(x >> 32)); }
__cumetal_device double __cumetal_sobol_middle(unsigned int x) { return __fma_rn((double)x, 0x1p-32, 0x1p-33); }
__cumetal_device double __cumetal_sobol_middle(unsigned long long x) { return __fma_rn((double)(x >> 11), 0x1p-53, 0x1p-54); }
// As Philox does, 32 bits give the upper end of an interval.
__cumetal_device double __cumetal_sobol_double(unsigned int x) { return __fma_rn((double)x, 0x1p-32, 0x1p-32); }
__cumetal_device double __cumetal_sobol_double(unsigned long long x) { return __cumetal_sobol_middle(x); }
__cumetal_device float __cumetal_sobol_normal(unsigned int x) {
  return x > 0x80000000u ? -normcdfinvf(__cumetal_sobol_uniform(~x)) : normcdfinvf(__cumetal_sobol_uniform(x));
}
__cumetal_device float __cumetal_sobol_normal(unsigned long long x) { return __cumetal_sobol_normal((unsigned int)(x >> 32)); }
template <class Word> __cumetal_device double __cumetal_sobol_normal_double(Word x) {
  return x > (Word)1 << (8 * sizeof(Word) - 1) ? -normcdfinv(__cumetal_sobol_middle((Word)~x)) : normcdfinv(__cumetal_sobol_middle(x));
}
// The number of events whose distribution reaches a probability.
__cumetal_library unsigned int __cumetal_sobol_poisson(double u, double mean) {
  if (mean > 700) {
    double v = rint(mean + sqrt(mean) * normcdfinv(u));
    return v < 0 ? 0u : (unsigned int)v;
  }
  double p = exp(-mean), sum = p;
  unsigned int k = 0;
  while (sum < u && k < 4000) {
    k++;
    p *= mean / k;
    sum += p;
  }
  return k;
}

// Functions that take two numbers of a sequence are not for points: their order is what makes the points even.
#define __cumetal_sobol_functions(State, Word) \
  __cumetal_device void skipahead(Word n, State *state) { __cumetal_sobol_skip(state, n); } \
  __cumetal_device Word curand(State *state) { \
    Word x = state->x; \
    state->x ^= state->direction_vectors[__cumetal_first_zero(state->i)]; \
    state->i++; \
    return x; \
  } \
  __cumetal_device float curand_uniform(State *state) { return __cumetal_sobol_uniform(curand(state)); } \
  __cumetal_device double curand_uniform_double(State *state) { return __cumetal_sobol_double(curand(state)); } \
  __cumetal_device float curand_normal(State *state) { return __cumetal_sobol_normal(curand(state)); } \
  __cumetal_device double curand_normal_double(State *state) { return __cumetal_sobol_normal_double(curand(state)); } \
  __cumetal_device float curand_log_normal(State *state, float mean, float deviation) { return expf(mean + deviation * curand_normal(state)); } \
  __cumetal_device double curand_log_normal_double(State *state, double mean, double deviation) { \
    return exp(mean + deviation * curand_normal_double(state)); \
  } \
  __cumetal_device unsigned int curand_poisson(State *state, double lambda) { return __cumetal_sobol_poisson(__cumetal_sobol_middle(curand(state)), lambda); } \
  __cumetal_device float2 curand_normal2(State *state) = delete; \
  __cumetal_device double2 curand_normal2_double(State *state) = delete; \
  __cumetal_device float2 curand_log_normal2(State *state, float mean, float deviation) = delete; \
  __cumetal_device double2 curand_log_normal2_double(State *state, double mean, double deviation) = delete;
#define __cumetal_sobol_kind(Bits, Word) \
  __cumetal_sobol_functions(curandStateSobol##Bits##_t, Word) \
  __cumetal_sobol_functions(curandStateScrambledSobol##Bits##_t, Word) \
  __cumetal_device void curand_init(curandDirectionVectors##Bits##_t directions, Word offset, curandStateSobol##Bits##_t *state) { \
    __cumetal_sobol_init(state, directions, (Word)0); \
    skipahead(offset, state); \
  } \
  __cumetal_device void curand_init(curandDirectionVectors##Bits##_t directions, Word shift, Word offset, curandStateScrambledSobol##Bits##_t *state) { \
    __cumetal_sobol_init(state, directions, shift); \
    skipahead(offset, state); \
  }
__cumetal_sobol_kind(32, unsigned int)
__cumetal_sobol_kind(64, unsigned long long)
#undef __cumetal_sobol_kind
#undef __cumetal_sobol_functions
#endif

#endif
