// Generators of the host interface. Source: cuRAND Library, "Host API Overview".
#include "generator.h"

#include <vector>

using namespace cumetal;

struct curandGenerator_st {
  curandRngType_t type;
  /** Whether results are memory of the host. */
  bool isHost;
  bool isQuasi;
  cudaStream_t stream;
  unsigned long long seed, offset;
  curandOrdering_t ordering;
  unsigned dimensions;
  const Sequences *sequences;
  void *states;
  int threads;
  /** The thread that has the next number, and how many of its group are gone. */
  int next, within;
  Twister *twister;
  /** Whether the states are at their places. */
  bool isStarted;
};

#define CUMETAL_NEED_GENERATOR(generator) \
  if (!(generator)) return CURAND_STATUS_NOT_INITIALIZED

static curandStatus_t create(curandGenerator_t *to, curandRngType_t type, bool isHost) {
  if (!to) return CURAND_STATUS_TYPE_ERROR;
  curandGenerator_st generator = {};
  generator.type = type == CURAND_RNG_PSEUDO_DEFAULT ? CURAND_RNG_PSEUDO_XORWOW : type == CURAND_RNG_QUASI_DEFAULT ? CURAND_RNG_QUASI_SOBOL32 : type;
  generator.isHost = isHost;
  generator.isQuasi = type >= CURAND_RNG_QUASI_DEFAULT;
  generator.ordering = generator.isQuasi ? CURAND_ORDERING_QUASI_DEFAULT : CURAND_ORDERING_PSEUDO_DEFAULT;
  generator.dimensions = 1;
  switch (generator.type) {
    case CURAND_RNG_PSEUDO_XORWOW:
      generator.sequences = &xorwowSequences();
      break;
    case CURAND_RNG_PSEUDO_MRG32K3A:
      generator.sequences = &mrg32k3aSequences();
      break;
    case CURAND_RNG_PSEUDO_PHILOX4_32_10:
      generator.sequences = &philoxSequences();
      break;
    case CURAND_RNG_PSEUDO_MT19937:
    case CURAND_RNG_PSEUDO_MTGP32:
      generator.twister = newTwister();
      break;
    case CURAND_RNG_QUASI_SOBOL32:
    case CURAND_RNG_QUASI_SOBOL64:
      break;
    default:
      return CURAND_STATUS_TYPE_ERROR;
  }
  *to = new curandGenerator_st(generator);
  return CURAND_STATUS_SUCCESS;
}
extern "C" curandStatus_t curandCreateGenerator(curandGenerator_t *to, curandRngType_t type) { return create(to, type, false); }
extern "C" curandStatus_t curandCreateGeneratorHost(curandGenerator_t *to, curandRngType_t type) { return create(to, type, true); }

extern "C" curandStatus_t curandDestroyGenerator(curandGenerator_t generator) {
  CUMETAL_NEED_GENERATOR(generator);
  if (generator->states) cudaFree(generator->states);
  if (generator->twister) deleteTwister(generator->twister);
  delete generator;
  return CURAND_STATUS_SUCCESS;
}
extern "C" curandStatus_t curandGetVersion(int *version) {
  if (!version) return CURAND_STATUS_OUT_OF_RANGE;
  *version = CURAND_VERSION;
  return CURAND_STATUS_SUCCESS;
}
extern "C" curandStatus_t curandGetProperty(libraryPropertyType type, int *value) {
  if (!value || type < MAJOR_VERSION || type > PATCH_LEVEL) return CURAND_STATUS_OUT_OF_RANGE;
  *value = type == MAJOR_VERSION ? CURAND_VER_MAJOR : type == MINOR_VERSION ? CURAND_VER_MINOR : CURAND_VER_PATCH;
  return CURAND_STATUS_SUCCESS;
}
extern "C" curandStatus_t curandSetStream(curandGenerator_t generator, cudaStream_t stream) {
  CUMETAL_NEED_GENERATOR(generator);
  generator->stream = stream;
  return CURAND_STATUS_SUCCESS;
}
extern "C" curandStatus_t curandSetPseudoRandomGeneratorSeed(curandGenerator_t generator, unsigned long long seed) {
  CUMETAL_NEED_GENERATOR(generator);
  if (generator->isQuasi) return CURAND_STATUS_TYPE_ERROR;
  generator->seed = seed;
  generator->isStarted = false;
  return CURAND_STATUS_SUCCESS;
}
extern "C" curandStatus_t curandSetGeneratorOffset(curandGenerator_t generator, unsigned long long offset) {
  CUMETAL_NEED_GENERATOR(generator);
  // As in cuRAND, the twisters have no offset.
  if (generator->twister) return CURAND_STATUS_TYPE_ERROR;
  generator->offset = offset;
  generator->isStarted = false;
  return CURAND_STATUS_SUCCESS;
}
extern "C" curandStatus_t curandSetGeneratorOrdering(curandGenerator_t generator, curandOrdering_t ordering) {
  CUMETAL_NEED_GENERATOR(generator);
  if (generator->isQuasi != (ordering == CURAND_ORDERING_QUASI_DEFAULT)) return CURAND_STATUS_OUT_OF_RANGE;
  if (!generator->isQuasi && (ordering < CURAND_ORDERING_PSEUDO_BEST || ordering > CURAND_ORDERING_PSEUDO_DYNAMIC)) return CURAND_STATUS_OUT_OF_RANGE;
  generator->ordering = ordering;
  generator->isStarted = false;
  return CURAND_STATUS_SUCCESS;
}
extern "C" curandStatus_t curandSetQuasiRandomGeneratorDimensions(curandGenerator_t generator, unsigned dimensions) {
  CUMETAL_NEED_GENERATOR(generator);
  if (!generator->isQuasi) return CURAND_STATUS_TYPE_ERROR;
  if (dimensions < 1 || dimensions > mostDimensions) return CURAND_STATUS_OUT_OF_RANGE;
  generator->dimensions = dimensions;
  generator->isStarted = false;
  return CURAND_STATUS_SUCCESS;
}

/** Puts the states to their places, if they are not. */
static curandStatus_t start(curandGenerator_st &generator) {
  if (generator.isStarted) return CURAND_STATUS_SUCCESS;
  if (generator.twister) startTwister(*generator.twister, generator.type == CURAND_RNG_PSEUDO_MTGP32 ? generator.seed + 1 : generator.seed, 0);
  if (const Sequences *sequences = generator.sequences) {
    const int threads = sequences->threads(generator.ordering);
    if (threads != generator.threads) {
      if (generator.states) cudaFree(generator.states);
      generator.states = nullptr;
      if (cudaMalloc(&generator.states, threads * sequences->stateBytes) != cudaSuccess) return CURAND_STATUS_ALLOCATION_FAILED;
      generator.threads = threads;
    }
    sequences->start(generator.stream, generator.states, threads, generator.seed, generator.offset);
    generator.next = int(generator.offset / sequences->group % threads);
    generator.within = int(generator.offset % sequences->group);
  }
  generator.isStarted = true;
  return CURAND_STATUS_SUCCESS;
}
extern "C" curandStatus_t curandGenerateSeeds(curandGenerator_t generator) {
  CUMETAL_NEED_GENERATOR(generator);
  return start(*generator);
}

/** Generates into memory of the device. */
static bool runOnDevice(curandGenerator_st &generator, const Request &request) {
  if (generator.isQuasi) {
    runSobol(generator.stream, generator.type == CURAND_RNG_QUASI_SOBOL64 ? 64 : 32, generator.dimensions, generator.offset, request);
    generator.offset += request.count / generator.dimensions;
    return cudaPeekAtLastError() == cudaSuccess;
  }
  const Sequences &sequences = *generator.sequences;
  const bool isRows = isPaired(request.kind) || request.kind == uniformDouble;
  // Rows begin at whole ones: numbers of a row that has begun are left out.
  if (isRows && generator.within > 0) {
    generator.next = (generator.next + 1) % generator.threads;
    generator.within = 0;
  }
  const int size = isPaired(request.kind) && sequences.group == 1 ? 2 : sequences.group;
  sequences.run(generator.stream, generator.states, generator.threads, generator.next, generator.within, request);
  const unsigned long long end = generator.within + request.count;
  generator.next = int((generator.next + (isRows ? (end + size - 1) / size : end / size)) % generator.threads);
  generator.within = isRows ? 0 : int(end % size);
  return cudaPeekAtLastError() == cudaSuccess;
}

static curandStatus_t generate(curandGenerator_t generator, Kind kind, void *out, size_t count, double first, double second) {
  CUMETAL_NEED_GENERATOR(generator);
  // Threads of these make numbers in pairs; Philox makes four at a time, of which the last ones may be left out.
  const bool isOfPairs = generator->type == CURAND_RNG_PSEUDO_XORWOW || generator->type == CURAND_RNG_PSEUDO_MRG32K3A;
  if (isPaired(kind) && isOfPairs && count % 2 != 0) return CURAND_STATUS_LENGTH_NOT_MULTIPLE;
  if (generator->isQuasi && count % generator->dimensions != 0) return CURAND_STATUS_LENGTH_NOT_MULTIPLE;
  if (count == 0) return CURAND_STATUS_SUCCESS;
  const curandStatus_t started = start(*generator);
  if (started != CURAND_STATUS_SUCCESS) return started;
  Request request = {kind, out, count, first, second};
  const size_t bytes = count * bytesOf(kind);
  if (generator->twister) {
    std::vector<char> own(generator->isHost ? 0 : bytes);
    if (!generator->isHost) request.out = own.data();
    runTwister(*generator->twister, request);
    if (generator->isHost) return CURAND_STATUS_SUCCESS;
    const bool isDone = cudaMemcpyAsync(out, own.data(), bytes, cudaMemcpyHostToDevice, generator->stream) == cudaSuccess &&
                        cudaStreamSynchronize(generator->stream) == cudaSuccess;
    return isDone ? CURAND_STATUS_SUCCESS : CURAND_STATUS_LAUNCH_FAILURE;
  }
  if (!generator->isHost) return runOnDevice(*generator, request) ? CURAND_STATUS_SUCCESS : CURAND_STATUS_LAUNCH_FAILURE;
  if (cudaMalloc(&request.out, bytes) != cudaSuccess) return CURAND_STATUS_ALLOCATION_FAILED;
  const bool isDone = runOnDevice(*generator, request) && cudaStreamSynchronize(generator->stream) == cudaSuccess &&
                      cudaMemcpy(out, request.out, bytes, cudaMemcpyDeviceToHost) == cudaSuccess;
  cudaFree(request.out);
  return isDone ? CURAND_STATUS_SUCCESS : CURAND_STATUS_LAUNCH_FAILURE;
}

extern "C" curandStatus_t curandGenerate(curandGenerator_t generator, unsigned *out, size_t count) {
  CUMETAL_NEED_GENERATOR(generator);
  if (generator->type == CURAND_RNG_QUASI_SOBOL64) return CURAND_STATUS_TYPE_ERROR;
  return generate(generator, integers, out, count, 0, 0);
}
extern "C" curandStatus_t curandGenerateLongLong(curandGenerator_t generator, unsigned long long *out, size_t count) {
  CUMETAL_NEED_GENERATOR(generator);
  if (generator->type != CURAND_RNG_QUASI_SOBOL64) return CURAND_STATUS_TYPE_ERROR;
  return generate(generator, integers, out, count, 0, 0);
}
extern "C" curandStatus_t curandGenerateUniform(curandGenerator_t generator, float *out, size_t count) {
  return generate(generator, uniform, out, count, 0, 1);
}
extern "C" curandStatus_t curandGenerateUniformDouble(curandGenerator_t generator, double *out, size_t count) {
  return generate(generator, uniformDouble, out, count, 0, 1);
}
extern "C" curandStatus_t curandGenerateNormal(curandGenerator_t generator, float *out, size_t count, float mean, float deviation) {
  return generate(generator, normal, out, count, mean, deviation);
}
extern "C" curandStatus_t curandGenerateNormalDouble(curandGenerator_t generator, double *out, size_t count, double mean, double deviation) {
  return generate(generator, normalDouble, out, count, mean, deviation);
}
extern "C" curandStatus_t curandGenerateLogNormal(curandGenerator_t generator, float *out, size_t count, float mean, float deviation) {
  return generate(generator, logNormal, out, count, mean, deviation);
}
extern "C" curandStatus_t curandGenerateLogNormalDouble(curandGenerator_t generator, double *out, size_t count, double mean, double deviation) {
  return generate(generator, logNormalDouble, out, count, mean, deviation);
}
extern "C" curandStatus_t curandGeneratePoisson(curandGenerator_t generator, unsigned *out, size_t count, double mean) {
  if (!(mean > 0)) return CURAND_STATUS_OUT_OF_RANGE;
  return generate(generator, poisson, out, count, mean, 0);
}
