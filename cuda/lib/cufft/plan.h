/** What a plan of cuFFT is: sizes and layouts, and for each dimension how its transforms are done. */
#ifndef CUMETAL_CUFFT_PLAN_H
#define CUMETAL_CUFFT_PLAN_H

#include <cufft.h>

#include "../common/number.h"

namespace cumetal {

static const int maxRank = 3;
/** Lengths whose primes are larger are convolutions with a chirp. */
static const int largestRadix = 31;

/** Where elements of a transform are: in memory `((x · embed[1] + y) · embed[2] + z) · stride`, and `distance` between transforms. */
struct Layout {
  long long embed[maxRank];
  long long stride, distance;
};

/** Transforms along one dimension, for a power of primes, or by a chirp. */
struct Line {
  int length;
  /** The length of the convolution, a power of two; 0 for none. */
  int padded;
  /** Roots of unity, exp(-2πik / n), for `padded` ? `padded` : `length`. */
  void *roots;
  /** exp(-πik² / n), and the transform of its conjugate. */
  void *chirp, *filter;
};

struct Plan {
  bool isMade;
  cufftType type;
  int rank;
  int n[maxRank];
  long long count;
  int batches;
  Layout in, out;
  /** Whether the layouts are the usual ones, which in place have padded rows. */
  bool isInUsual, isOutUsual;
  Line lines[maxRank];
  /** Two buffers of all elements, or of all convolutions of a dimension. */
  void *work[2];
  size_t workBytes;
  cudaStream_t stream;
};

/** Makes the tables of a plan, and runs it, in one precision. */
cufftResult prepareS(Plan &);
cufftResult prepareD(Plan &);
cufftResult runS(Plan &, const void *in, void *out, int direction);
cufftResult runD(Plan &, const void *in, void *out, int direction);

}  // namespace cumetal

#endif
