// Distributions. Source: cuRAND Library, "Distributions"; G. E. P. Box, M. E. Muller, "A note on the generation of random normal deviates", 1958.
#ifndef __CUMETAL_RANDOM_DISTRIBUTIONS_H__
#define __CUMETAL_RANDOM_DISTRIBUTIONS_H__

#ifdef __CUDA__
// In (0, 1]: the middle of each of 2^32, or 2^53, intervals.
__cumetal_device float __cumetal_uniform(unsigned int x) { return __fmaf_rn((float)x, 0x1p-32f, 0x1p-33f); }
__cumetal_device double __cumetal_uniform_double(unsigned int x, unsigned int y) {
  unsigned long long z = (unsigned long long)x ^ ((unsigned long long)y << (53 - 32));
  return __fma_rn((double)z, 0x1p-53, 0x1p-54);
}
template <class State> __cumetal_device float curand_uniform(State *state) { return __cumetal_uniform(curand(state)); }
template <class State> __cumetal_device double curand_uniform_double(State *state) {
  unsigned int x = curand(state), y = curand(state);
  return __cumetal_uniform_double(x, y);
}
// MRG32k3a's own scale: one number is enough for both precisions.
__cumetal_device float curand_uniform(curandStateMRG32k3a_t *state) { return (float)(__cumetal_mrg_next(state) * 2.3283065498378288e-10); }
__cumetal_device double curand_uniform_double(curandStateMRG32k3a_t *state) { return __cumetal_mrg_next(state) * 2.3283065498378288e-10; }
// Philox gives doubles of 32 bits, above zero.
__cumetal_device double curand_uniform_double(curandStatePhilox4_32_10_t *state) { return __fma_rn((double)curand(state), 0x1p-32, 0x1p-32); }

// Two independent normal numbers of two uniform ones.
__cumetal_device float2 __cumetal_box_muller(unsigned int x, unsigned int y) {
  float u = __cumetal_uniform(x), v = __fmaf_rn((float)y, 0x1.921fb6p-30f, 0x1.921fb6p-31f), s = sqrtf(-2.0f * logf(u));
  float2 r;
  sincosf(v, &r.x, &r.y);
  return {r.x * s, r.y * s};
}
__cumetal_device double2 __cumetal_box_muller(double u, double v) {
  double s = sqrt(-2.0 * log(u));
  double2 r;
  sincospi(2 * v, &r.x, &r.y);
  return {r.x * s, r.y * s};
}
template <class State> __cumetal_device float2 curand_normal2(State *state) {
  unsigned int x = curand(state), y = curand(state);
  return __cumetal_box_muller(x, y);
}
template <class State> __cumetal_device double2 curand_normal2_double(State *state) {
  double u = curand_uniform_double(state), v = curand_uniform_double(state);
  return __cumetal_box_muller(u, v);
}
__cumetal_device double2 curand_normal2_double(curandStatePhilox4_32_10_t *state) {
  uint4 x = curand4(state);
  return __cumetal_box_muller(__cumetal_uniform_double(x.x, x.y), __cumetal_uniform_double(x.z, x.w));
}
__cumetal_device double2 curand_uniform2_double(curandStatePhilox4_32_10_t *state) {
  uint4 x = curand4(state);
  return {__cumetal_uniform_double(x.x, x.y), __cumetal_uniform_double(x.z, x.w)};
}
__cumetal_device double4 curand_normal4_double(curandStatePhilox4_32_10_t *state) {
  double2 a = curand_normal2_double(state), b = curand_normal2_double(state);
  return {a.x, a.y, b.x, b.y};
}
// The second number of a pair waits in the state for the next call of its kind: 1 for normal numbers, 2 for the others.
template <class State> __cumetal_device float curand_normal(State *state) {
  if (state->boxmuller_flag == 1) {
    state->boxmuller_flag = 0;
    return state->boxmuller_extra;
  }
  float2 r = curand_normal2(state);
  state->boxmuller_extra = r.y;
  state->boxmuller_flag = 1;
  return r.x;
}
template <class State> __cumetal_device double curand_normal_double(State *state) {
  if (state->boxmuller_flag_double == 1) {
    state->boxmuller_flag_double = 0;
    return state->boxmuller_extra_double;
  }
  double2 r = curand_normal2_double(state);
  state->boxmuller_extra_double = r.y;
  state->boxmuller_flag_double = 1;
  return r.x;
}
template <class State> __cumetal_device float2 curand_log_normal2(State *state, float mean, float deviation) {
  float2 r = curand_normal2(state);
  return {expf(mean + deviation * r.x), expf(mean + deviation * r.y)};
}
template <class State> __cumetal_device double2 curand_log_normal2_double(State *state, double mean, double deviation) {
  double2 r = curand_normal2_double(state);
  return {exp(mean + deviation * r.x), exp(mean + deviation * r.y)};
}
template <class State> __cumetal_device float curand_log_normal(State *state, float mean, float deviation) {
  if (state->boxmuller_flag == 2) {
    state->boxmuller_flag = 0;
    return state->boxmuller_extra;
  }
  float2 r = curand_log_normal2(state, mean, deviation);
  state->boxmuller_extra = r.y;
  state->boxmuller_flag = 2;
  return r.x;
}
template <class State> __cumetal_device double curand_log_normal_double(State *state, double mean, double deviation) {
  if (state->boxmuller_flag_double == 2) {
    state->boxmuller_flag_double = 0;
    return state->boxmuller_extra_double;
  }
  double2 r = curand_log_normal2_double(state, mean, deviation);
  state->boxmuller_extra_double = r.y;
  state->boxmuller_flag_double = 2;
  return r.x;
}
__cumetal_device float4 curand_uniform4(curandStatePhilox4_32_10_t *state) {
  uint4 x = curand4(state);
  return {__cumetal_uniform(x.x), __cumetal_uniform(x.y), __cumetal_uniform(x.z), __cumetal_uniform(x.w)};
}
__cumetal_device float4 curand_normal4(curandStatePhilox4_32_10_t *state) {
  uint4 x = curand4(state);
  float2 a = __cumetal_box_muller(x.x, x.y), b = __cumetal_box_muller(x.z, x.w);
  return {a.x, a.y, b.x, b.y};
}
// Knuth's product for small means; a rounded normal number for large ones. Between them cuRAND inverts the incomplete gamma function, whose
// numbers are others of the same distribution.
template <class State> __cumetal_library unsigned int curand_poisson(State *state, double lambda) {
  if (lambda > 4000) return (unsigned int)(sqrt(lambda) * curand_normal_double(state) + lambda + 0.5);
  unsigned int count = 0;
  if (lambda < 64) {
    double p = expf((float)lambda);
    do {
      count++;
      p *= curand_uniform(state);
    } while (p > 1.0);
    return count - 1;
  }
  double limit = -lambda, sum = 0;
  for (sum = log(curand_uniform_double(state)); sum > limit; sum += log(curand_uniform_double(state))) count++;
  return count;
}
#endif

#endif
