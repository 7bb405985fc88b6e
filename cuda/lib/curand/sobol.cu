// Sobol's points, in the order of Gray codes; each dimension has a part of the output of its own. Initial numbers are those of Joe and Kuo.
// Source: S. Joe, F. Kuo, "Constructing Sobol sequences with better two-dimensional projections", 2008, table new-joe-kuo-6; I. Antonov,
// V. Saleev, "An economic method of computing LP-tau sequences", 1979.
#include <curand_kernel.h>

#include <cstdlib>

#include "generator.h"

using namespace cumetal;

typedef unsigned long long Word;

/** The degree of a polynomial, its inner coefficients, and the first numbers. */
struct Dimension {
  int degree;
  unsigned coefficients;
  unsigned first[7];
};
/** Of the dimensions after the first one, whose numbers are all 1. */
static const Dimension dimensionTable[mostDimensions - 1] = {
    {1, 0, {1}},
    {2, 1, {1, 3}},
    {3, 1, {1, 3, 1}},
    {3, 2, {1, 1, 1}},
    {4, 1, {1, 1, 3, 3}},
    {4, 4, {1, 3, 5, 13}},
    {5, 2, {1, 1, 5, 5, 17}},
    {5, 4, {1, 1, 5, 5, 5}},
    {5, 7, {1, 1, 7, 11, 19}},
    {5, 11, {1, 1, 5, 1, 1}},
    {5, 13, {1, 1, 1, 3, 11}},
    {5, 14, {1, 3, 5, 5, 31}},
    {6, 1, {1, 3, 3, 9, 7, 49}},
    {6, 13, {1, 1, 1, 15, 21, 21}},
    {6, 16, {1, 3, 1, 13, 27, 49}},
    {6, 19, {1, 1, 1, 15, 7, 5}},
    {6, 22, {1, 3, 1, 15, 13, 25}},
    {6, 25, {1, 1, 5, 5, 19, 61}},
    {7, 1, {1, 3, 7, 11, 23, 15, 103}},
};

/** The directions of a dimension, their first bits at the top. */
struct Directions {
  Word words[64];
};
static Directions directionsOf(unsigned dimension) {
  Directions to;
  const Dimension *d = dimension == 0 ? nullptr : &dimensionTable[dimension - 1];
  for (int i = 0; i < 64; i++) {
    if (!d || i < d->degree) {
      to.words[i] = Word(d ? d->first[i] : 1) << (63 - i);
      continue;
    }
    Word v = to.words[i - d->degree] ^ to.words[i - d->degree] >> d->degree;
    for (int k = 1; k < d->degree; k++)
      if (d->coefficients >> (d->degree - 1 - k) & 1) v ^= to.words[i - k];
    to.words[i] = v;
  }
  return to;
}

static __global__ void sobolKernel(Directions directions, bool isLong, Word offset, Request request, Word begin, Word count) {
  for (Word i = blockIdx.x * (Word)blockDim.x + threadIdx.x; i < count; i += gridDim.x * (Word)blockDim.x) {
    const Word at = offset + i;
    Word gray = at ^ at >> 1, x = 0;
    for (int bit = 0; gray; bit++, gray >>= 1)
      if (gray & 1) x ^= directions.words[bit];
    const unsigned top = unsigned(x >> 32);
    const float single = __cumetal_sobol_uniform(top);
    const double both = isLong ? __cumetal_sobol_double(x) : __cumetal_sobol_double(top);
    const double middle = isLong ? __cumetal_sobol_middle(x) : __cumetal_sobol_middle(top);
    const auto normalOf = [&] { return isLong ? __cumetal_sobol_normal_double(x) : __cumetal_sobol_normal_double(top); };
    const Word to = begin + i;
    switch (request.kind) {
      case integers:
        if (isLong)
          static_cast<Word *>(request.out)[to] = x;
        else
          static_cast<unsigned *>(request.out)[to] = top;
        break;
      case poisson:
        static_cast<unsigned *>(request.out)[to] = __cumetal_sobol_poisson(middle, request.first);
        break;
      case uniform:
        static_cast<float *>(request.out)[to] = single;
        break;
      case uniformDouble:
        static_cast<double *>(request.out)[to] = both;
        break;
      case normal:
        static_cast<float *>(request.out)[to] = float(request.second) * __cumetal_sobol_normal(top) + float(request.first);
        break;
      case normalDouble:
        static_cast<double *>(request.out)[to] = request.second * normalOf() + request.first;
        break;
      case logNormal:
        static_cast<float *>(request.out)[to] = expf(float(request.second) * __cumetal_sobol_normal(top) + float(request.first));
        break;
      case logNormalDouble:
        static_cast<double *>(request.out)[to] = exp(request.second * normalOf() + request.first);
        break;
    }
  }
}

void cumetal::runSobol(cudaStream_t stream, int bits, unsigned dimensions, unsigned long long offset, const Request &request) {
  const Word count = request.count / dimensions;
  const unsigned blocks = unsigned((count + 127) / 128 > 1024 ? 1024 : (count + 127) / 128);
  for (unsigned d = 0; d < dimensions; d++) sobolKernel<<<blocks, 128, 0, stream>>>(directionsOf(d), bits == 64, offset, request, d * count, count);
}

/** How many dimensions programs may look for; those that there are no numbers for have directions of zero, which kernels stop at. */
static const unsigned listedDimensions = 20000;

/** The directions of all dimensions, made once. */
template <class Vector>
static Vector *directionList() {
  static Vector *list = nullptr;
  if (list) return list;
  list = static_cast<Vector *>(calloc(listedDimensions, sizeof(Vector)));
  const int bits = sizeof(Vector) / sizeof(**list);
  for (unsigned d = 0; list && d < mostDimensions; d++) {
    const Directions directions = directionsOf(d);
    for (int i = 0; i < bits; i++) list[d][i] = directions.words[i] >> (64 - 8 * sizeof(**list));
  }
  return list;
}
template <class Vector>
static curandStatus_t directions(Vector **to, bool isKnown) {
  if (!to || !isKnown) return CURAND_STATUS_OUT_OF_RANGE;
  *to = directionList<Vector>();
  return *to ? CURAND_STATUS_SUCCESS : CURAND_STATUS_ALLOCATION_FAILED;
}
extern "C" curandStatus_t curandGetDirectionVectors32(curandDirectionVectors32_t *vectors[], curandDirectionVectorSet_t set) {
  return directions(vectors, set == CURAND_DIRECTION_VECTORS_32_JOEKUO6);
}
extern "C" curandStatus_t curandGetDirectionVectors64(curandDirectionVectors64_t *vectors[], curandDirectionVectorSet_t set) {
  return directions(vectors, set == CURAND_DIRECTION_VECTORS_64_JOEKUO6);
}
