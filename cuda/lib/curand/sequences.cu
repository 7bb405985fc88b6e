// Generators whose output is that of many sequences in turn: which thread has which number was found from outputs of cuRAND on an H200. A unit is
// compiled for each generator: CUMETAL_STATE is the type of its state, CUMETAL_NAME its name, CUMETAL_THREADS and CUMETAL_LEGACY_THREADS how
// many threads there are, and CUMETAL_GROUP how many numbers a thread has side by side. Source: cuRAND Library, "Generator Options".
#include <curand_kernel.h>

#include "generator.h"

using namespace cumetal;

typedef CUMETAL_STATE State;
static const int group = CUMETAL_GROUP;
static const int blockThreads = 128;

#if CUMETAL_HAS_MATRICES
// Powers of the recurrences' matrices for 2^76 steps times each power of two, which all threads share.
static const int sequenceBits = 17;
static __device__ unsigned matrices[2][sequenceBits][9];
static __device__ unsigned long long modulusOf(int part) { return part == 0 ? __cumetal_mrg_m1 : __cumetal_mrg_m2; }

static __global__ void matricesKernel() {
  const int part = threadIdx.x / sequenceBits, bit = threadIdx.x % sequenceBits;
  unsigned matrix[9] = {0, 1, 0, 0, 0, 1, part == 0 ? unsigned(__cumetal_mrg_m1 - 810728) : unsigned(__cumetal_mrg_m2 - 1370589), part == 0 ? 1403580u : 0u,
                        part == 0 ? 0u : 527612u};
  for (int i = 0; i < 76 + bit; i++) {
    unsigned copy[9];
    for (int k = 0; k < 9; k++) copy[k] = matrix[k];
    __cumetal_mrg_product(matrix, copy, modulusOf(part));
  }
  for (int k = 0; k < 9; k++) matrices[part][bit][k] = matrix[k];
}

static __device__ void startState(State *state, int sequence, unsigned long long seed, unsigned long long place) {
  curand_init(seed, 0, 0, state);
  for (int part = 0; part < 2; part++) {
    unsigned *s = part == 0 ? state->s1 : state->s2;
    for (int bit = 0; bit < sequenceBits; bit++) {
      if (!(sequence >> bit & 1)) continue;
      unsigned r[3];
      for (int i = 0; i < 3; i++) {
        unsigned long long sum = 0;
        for (int k = 0; k < 3; k++) sum = (sum + (unsigned long long)matrices[part][bit][3 * i + k] * s[k] % modulusOf(part)) % modulusOf(part);
        r[i] = unsigned(sum);
      }
      for (int i = 0; i < 3; i++) s[i] = r[i];
    }
  }
  if (place) skipahead(place, state);
}
#else
static __device__ void startState(State *state, int sequence, unsigned long long seed, unsigned long long place) { curand_init(seed, sequence, place, state); }
#endif

static __global__ void startKernel(State *states, int threads, unsigned long long seed, unsigned long long offset) {
  const int t = blockIdx.x * blockThreads + threadIdx.x;
  if (t >= threads) return;
  const unsigned long long units = offset / group, next = units % threads;
  const unsigned long long rounds = units / threads + (t < next ? 1 : 0);
  startState(&states[t], t, seed, rounds * group + (t == next ? offset % group : 0));
}

/** The numbers of a thread in a row: one, a pair of normal ones, or those of a block of Philox. */
template <Kind kind>
struct Row;
template <>
struct Row<integers> {
  typedef unsigned Number;
  static const int size = group;
  static __device__ void get(State *state, const Request &, unsigned *to, int from, int end) {
    for (int i = from; i < end; i++) to[i] = curand(state);
  }
};
template <>
struct Row<uniform> {
  typedef float Number;
  static const int size = group;
  static __device__ void get(State *state, const Request &, float *to, int from, int end) {
    for (int i = from; i < end; i++) to[i] = curand_uniform(state);
  }
};
template <>
struct Row<poisson> {
  typedef unsigned Number;
  static const int size = group;
  static __device__ void get(State *state, const Request &request, unsigned *to, int from, int end) {
    for (int i = from; i < end; i++) to[i] = curand_poisson(state, request.first);
  }
};
template <>
struct Row<uniformDouble> {
  typedef double Number;
  static const int size = group;
  static __device__ void get(State *state, const Request &, double *to, int, int) {
#if CUMETAL_GROUP == 4
    for (int i = 0; i < 4; i += 2) {
      const double2 pair = curand_uniform2_double(state);
      to[i] = pair.x;
      to[i + 1] = pair.y;
    }
#else
    to[0] = curand_uniform_double(state);
#endif
  }
};
static const int pairSize = group == 1 ? 2 : group;
#define CUMETAL_PAIRS(kind, Type, call)                                              \
  template <>                                                                        \
  struct Row<kind> {                                                                 \
    typedef Type Number;                                                             \
    static const int size = pairSize;                                                \
    static __device__ void get(State *state, const Request &r, Type *to, int, int) { \
      for (int i = 0; i < pairSize; i += 2) {                                        \
        const auto pair = call;                                                      \
        to[i] = pair.x;                                                              \
        to[i + 1] = pair.y;                                                          \
      }                                                                              \
    }                                                                                \
  };
static __device__ float2 scaled(float2 v, const Request &r) { return {float(r.second) * v.x + float(r.first), float(r.second) * v.y + float(r.first)}; }
static __device__ double2 scaled(double2 v, const Request &r) { return {r.second * v.x + r.first, r.second * v.y + r.first}; }
CUMETAL_PAIRS(normal, float, scaled(curand_normal2(state), r))
CUMETAL_PAIRS(normalDouble, double, scaled(curand_normal2_double(state), r))
CUMETAL_PAIRS(logNormal, float, curand_log_normal2(state, float(r.first), float(r.second)))
CUMETAL_PAIRS(logNormalDouble, double, curand_log_normal2_double(state, r.first, r.second))

/** `within` numbers of the first row are gone. */
template <Kind kind>
static __global__ void runKernel(State *states, int threads, int next, int within, Request request) {
  typedef typename Row<kind>::Number Number;
  constexpr int size = Row<kind>::size;
  const int t = blockIdx.x * blockThreads + threadIdx.x;
  if (t >= threads) return;
  const long long count = (long long)request.count, rows = (within + count + size - 1) / size;
  long long row = (t - next + threads) % threads;
  if (row >= rows) return;
  State state = states[t];
  Number *out = static_cast<Number *>(request.out);
  for (; row < rows; row += threads) {
    const long long at = row * size - within;
    const int from = at < 0 ? int(-at) : 0, end = at + size > count ? int(count - at) : size;
    Number numbers[size];
    Row<kind>::get(&state, request, numbers, from, end);
    for (int i = from; i < end; i++) out[at + i] = numbers[i];
  }
  states[t] = state;
}

static int threadsOf(curandOrdering_t ordering) { return ordering == CURAND_ORDERING_PSEUDO_LEGACY ? CUMETAL_LEGACY_THREADS : CUMETAL_THREADS; }

static void start(cudaStream_t stream, void *states, int threads, unsigned long long seed, unsigned long long offset) {
#if CUMETAL_HAS_MATRICES
  matricesKernel<<<1, 2 * sequenceBits, 0, stream>>>();
#endif
  startKernel<<<(threads + blockThreads - 1) / blockThreads, blockThreads, 0, stream>>>(static_cast<State *>(states), threads, seed, offset);
}

static void run(cudaStream_t stream, void *states, int threads, int next, int within, const Request &request) {
  const int blocks = (threads + blockThreads - 1) / blockThreads;
  State *own = static_cast<State *>(states);
#define CUMETAL_RUN(kind)                                                                       \
  case kind:                                                                                    \
    runKernel<kind><<<blocks, blockThreads, 0, stream>>>(own, threads, next, within, request);  \
    return;
  switch (request.kind) {
    CUMETAL_RUN(integers)
    CUMETAL_RUN(uniform)
    CUMETAL_RUN(uniformDouble)
    CUMETAL_RUN(normal)
    CUMETAL_RUN(normalDouble)
    CUMETAL_RUN(logNormal)
    CUMETAL_RUN(logNormalDouble)
    CUMETAL_RUN(poisson)
  }
}

const Sequences &cumetal::CUMETAL_NAME() {
  static const Sequences all = {threadsOf, sizeof(State), group, start, run};
  return all;
}
