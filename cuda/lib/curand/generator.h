/** What a generator of cuRAND is. */
#ifndef CUMETAL_CURAND_GENERATOR_H
#define CUMETAL_CURAND_GENERATOR_H

#include <curand.h>

namespace cumetal {

/** What is generated. Real numbers have `first` and `second` as mean and deviation, and Poisson's `first` as mean. */
enum Kind { integers, uniform, uniformDouble, normal, normalDouble, logNormal, logNormalDouble, poisson };

struct Request {
  Kind kind;
  void *out;
  size_t count;
  double first, second;
};

/** Generators of the device whose threads have sequences of their own, one after another in the output. */
struct Sequences {
  /** How many threads there are in an ordering. */
  int (*threads)(curandOrdering_t ordering);
  size_t stateBytes;
  /** Numbers that a thread has in the output side by side. */
  int group;
  /** Sets every state to its place: that of output number `offset`. */
  void (*start)(cudaStream_t, void *states, int threads, unsigned long long seed, unsigned long long offset);
  /** Generates from a thread on, of whose group `within` numbers are gone. */
  void (*run)(cudaStream_t, void *states, int threads, int next, int within, const Request &);
};
const Sequences &xorwowSequences();
const Sequences &mrg32k3aSequences();
const Sequences &philoxSequences();

/** Mersenne Twister on the host. */
struct Twister;
Twister *newTwister();
void deleteTwister(Twister *);
void startTwister(Twister &, unsigned long long seed, unsigned long long offset);
/** Generates into memory of the host. */
void runTwister(Twister &, const Request &);

/** Sobol's points from a number on: `bits` is 32 or 64. */
void runSobol(cudaStream_t, int bits, unsigned dimensions, unsigned long long offset, const Request &);
static const unsigned mostDimensions = 20;

static inline size_t bytesOf(Kind kind) { return kind == uniformDouble || kind == normalDouble || kind == logNormalDouble ? 8 : 4; }
static inline bool isPaired(Kind kind) { return kind >= normal && kind <= logNormalDouble; }

}  // namespace cumetal

#endif
