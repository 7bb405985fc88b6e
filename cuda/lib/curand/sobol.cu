// Sobol's points, in the order of Gray codes; each dimension has a part of the output of its own. Initial numbers are those of Joe and Kuo.
// Source: S. Joe, F. Kuo, "Constructing Sobol sequences with better two-dimensional projections", 2008, table new-joe-kuo-6; I. Antonov,
// V. Saleev, "An economic method of computing LP-tau sequences", 1979.
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

/** The number of events whose distribution reaches a probability. */
static __device__ unsigned poissonOf(double u, double mean) {
  if (mean > 700) {
    const double v = rint(mean + sqrt(mean) * normcdfinv(u));
    return v < 0 ? 0u : unsigned(v);
  }
  double p = exp(-mean), sum = p;
  unsigned k = 0;
  while (sum < u && k < 4000) {
    k++;
    p *= mean / k;
    sum += p;
  }
  return k;
}

static __global__ void sobolKernel(Directions directions, bool isLong, Word offset, Request request, Word begin, Word count) {
  for (Word i = blockIdx.x * (Word)blockDim.x + threadIdx.x; i < count; i += gridDim.x * (Word)blockDim.x) {
    const Word at = offset + i;
    Word gray = at ^ at >> 1, x = 0;
    for (int bit = 0; gray; bit++, gray >>= 1)
      if (gray & 1) x ^= directions.words[bit];
    const unsigned top = unsigned(x >> 32);
    const float single = __fmaf_rn(float(top), 0x1p-32f, 0x1p-33f);
    const double both = isLong ? __fma_rn(double(x >> 11), 0x1p-53, 0x1p-54) : __fma_rn(double(top), 0x1p-32, 0x1p-33);
    const Word to = begin + i;
    switch (request.kind) {
      case integers:
        if (isLong)
          static_cast<Word *>(request.out)[to] = x;
        else
          static_cast<unsigned *>(request.out)[to] = top;
        break;
      case poisson:
        static_cast<unsigned *>(request.out)[to] = poissonOf(both, request.first);
        break;
      case uniform:
        static_cast<float *>(request.out)[to] = single;
        break;
      case uniformDouble:
        static_cast<double *>(request.out)[to] = both;
        break;
      case normal:
        static_cast<float *>(request.out)[to] = float(request.second) * normcdfinvf(single) + float(request.first);
        break;
      case normalDouble:
        static_cast<double *>(request.out)[to] = request.second * normcdfinv(both) + request.first;
        break;
      case logNormal:
        static_cast<float *>(request.out)[to] = expf(float(request.second) * normcdfinvf(single) + float(request.first));
        break;
      case logNormalDouble:
        static_cast<double *>(request.out)[to] = exp(request.second * normcdfinv(both) + request.first);
        break;
    }
  }
}

void cumetal::runSobol(cudaStream_t stream, int bits, unsigned dimensions, unsigned long long offset, const Request &request) {
  const Word count = request.count / dimensions;
  const unsigned blocks = unsigned((count + 127) / 128 > 1024 ? 1024 : (count + 127) / 128);
  for (unsigned d = 0; d < dimensions; d++) sobolKernel<<<blocks, 128, 0, stream>>>(directionsOf(d), bits == 64, offset, request, d * count, count);
}
