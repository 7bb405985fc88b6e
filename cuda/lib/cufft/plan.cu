// Plans, and the functions that run them. Source: cuFFT Library, "cuFFT API Reference" and "Advanced Data Layout".
#include <cufftXt.h>

#include <map>

#include "plan.h"

using namespace cumetal;

/** Plans by handle. */
static std::map<cufftHandle, Plan> &plans() {
  static std::map<cufftHandle, Plan> all;
  return all;
}
static cufftHandle lastHandle = 0;

static Plan *planOf(cufftHandle handle) {
  const auto found = plans().find(handle);
  return found == plans().end() ? nullptr : &found->second;
}

static bool isType(cufftType type) {
  return type == CUFFT_C2C || type == CUFFT_R2C || type == CUFFT_C2R || type == CUFFT_Z2Z || type == CUFFT_D2Z || type == CUFFT_Z2D;
}
static bool isDouble(cufftType type) { return type == CUFFT_Z2Z || type == CUFFT_D2Z || type == CUFFT_Z2D; }
static bool isFromReal(cufftType type) { return type == CUFFT_R2C || type == CUFFT_D2Z; }
static bool isToReal(cufftType type) { return type == CUFFT_C2R || type == CUFFT_Z2D; }

/** How a length is transformed. */
static Line lineOf(int length) {
  Line line = {length, 0, nullptr, nullptr, nullptr};
  int rest = length;
  for (int p = 2; p <= largestRadix; p++)
    while (rest % p == 0) rest /= p;
  if (rest == 1) return line;
  line.padded = 1;
  while (line.padded < 2 * length - 1) line.padded *= 2;
  return line;
}

/** The layout without gaps; a half has the last dimension cut. */
static Layout usualLayout(int rank, const int *n, bool isHalf) {
  Layout layout = {{1, 1, 1}, 1, 1};
  for (int d = 0; d < rank; d++) {
    layout.embed[d] = isHalf && d == rank - 1 ? n[d] / 2 + 1 : n[d];
    layout.distance *= layout.embed[d];
  }
  return layout;
}

static void release(Plan &plan) {
  for (Line &line : plan.lines)
    for (void *p : {line.roots, line.chirp, line.filter})
      if (p) cudaFree(p);
  for (void *p : plan.work)
    if (p) cudaFree(p);
}

template <class Size>
static cufftResult make(cufftHandle handle, int rank, const Size *n, const Size *inembed, Size istride, Size idist, const Size *onembed, Size ostride,
                        Size odist, cufftType type, Size batches, size_t *workSize) {
  Plan *plan = planOf(handle);
  if (!plan || plan->isMade) return CUFFT_INVALID_PLAN;
  if (!isType(type)) return CUFFT_INVALID_TYPE;
  if (rank < 1 || rank > maxRank) return CUFFT_INVALID_VALUE;
  if (batches < 1 || !n) return CUFFT_INVALID_SIZE;
  for (int d = 0; d < rank; d++)
    if (n[d] < 1 || n[d] > (1 << 27)) return CUFFT_INVALID_SIZE;
  plan->type = type;
  plan->rank = rank;
  plan->batches = int(batches);
  plan->count = 1;
  for (int d = 0; d < rank; d++) {
    plan->n[d] = int(n[d]);
    plan->count *= plan->n[d];
    plan->lines[d] = lineOf(plan->n[d]);
  }
  plan->in = usualLayout(rank, plan->n, isToReal(type));
  plan->out = usualLayout(rank, plan->n, isFromReal(type));
  plan->isInUsual = !inembed;
  plan->isOutUsual = !onembed;
  if (inembed) {
    for (int d = 0; d < rank; d++) plan->in.embed[d] = inembed[d];
    plan->in.stride = istride;
    plan->in.distance = idist;
  }
  if (onembed) {
    for (int d = 0; d < rank; d++) plan->out.embed[d] = onembed[d];
    plan->out.stride = ostride;
    plan->out.distance = odist;
  }
  const cufftResult result = isDouble(type) ? prepareD(*plan) : prepareS(*plan);
  if (result != CUFFT_SUCCESS) {
    release(*plan);
    const cudaStream_t stream = plan->stream;
    *plan = Plan();
    plan->stream = stream;
    return result;
  }
  plan->isMade = true;
  if (workSize) *workSize = plan->workBytes;
  return CUFFT_SUCCESS;
}

extern "C" cufftResult cufftCreate(cufftHandle *to) {
  if (!to) return CUFFT_INVALID_VALUE;
  *to = ++lastHandle;
  plans()[*to] = Plan();
  return CUFFT_SUCCESS;
}
extern "C" cufftResult cufftDestroy(cufftHandle handle) {
  Plan *plan = planOf(handle);
  if (!plan) return CUFFT_INVALID_PLAN;
  release(*plan);
  plans().erase(handle);
  return CUFFT_SUCCESS;
}
extern "C" cufftResult cufftMakePlanMany(cufftHandle plan, int rank, int *n, int *inembed, int istride, int idist, int *onembed, int ostride, int odist,
                                         cufftType type, int batch, size_t *workSize) {
  return make<int>(plan, rank, n, inembed, istride, idist, onembed, ostride, odist, type, batch, workSize);
}
extern "C" cufftResult cufftMakePlanMany64(cufftHandle plan, int rank, long long *n, long long *inembed, long long istride, long long idist,
                                           long long *onembed, long long ostride, long long odist, cufftType type, long long batch, size_t *workSize) {
  return make<long long>(plan, rank, n, inembed, istride, idist, onembed, ostride, odist, type, batch, workSize);
}
static cufftResult makeUsual(cufftHandle plan, int rank, int *n, cufftType type, int batch, size_t *workSize) {
  return make<int>(plan, rank, n, nullptr, 1, 0, nullptr, 1, 0, type, batch, workSize);
}
extern "C" cufftResult cufftMakePlan1d(cufftHandle plan, int nx, cufftType type, int batch, size_t *workSize) {
  return makeUsual(plan, 1, &nx, type, batch, workSize);
}
extern "C" cufftResult cufftMakePlan2d(cufftHandle plan, int nx, int ny, cufftType type, size_t *workSize) {
  int n[] = {nx, ny};
  return makeUsual(plan, 2, n, type, 1, workSize);
}
extern "C" cufftResult cufftMakePlan3d(cufftHandle plan, int nx, int ny, int nz, cufftType type, size_t *workSize) {
  int n[] = {nx, ny, nz};
  return makeUsual(plan, 3, n, type, 1, workSize);
}

/** A plan in one call: its handle is written where it could be made. */
template <class Make>
static cufftResult created(cufftHandle *to, Make make) {
  if (!to) return CUFFT_INVALID_VALUE;
  cufftHandle handle;
  cufftResult result = cufftCreate(&handle);
  if (result == CUFFT_SUCCESS) result = make(handle);
  if (result == CUFFT_SUCCESS)
    *to = handle;
  else
    cufftDestroy(handle);
  return result;
}
extern "C" cufftResult cufftPlan1d(cufftHandle *plan, int nx, cufftType type, int batch) {
  return created(plan, [&](cufftHandle handle) { return cufftMakePlan1d(handle, nx, type, batch, nullptr); });
}
extern "C" cufftResult cufftPlan2d(cufftHandle *plan, int nx, int ny, cufftType type) {
  return created(plan, [&](cufftHandle handle) { return cufftMakePlan2d(handle, nx, ny, type, nullptr); });
}
extern "C" cufftResult cufftPlan3d(cufftHandle *plan, int nx, int ny, int nz, cufftType type) {
  return created(plan, [&](cufftHandle handle) { return cufftMakePlan3d(handle, nx, ny, nz, type, nullptr); });
}
extern "C" cufftResult cufftPlanMany(cufftHandle *plan, int rank, int *n, int *inembed, int istride, int idist, int *onembed, int ostride, int odist,
                                     cufftType type, int batch) {
  return created(plan, [&](cufftHandle handle) {
    return cufftMakePlanMany(handle, rank, n, inembed, istride, idist, onembed, ostride, odist, type, batch, nullptr);
  });
}

/** Bytes of the buffers of a plan that is not made. */
static cufftResult estimate(int rank, const int *n, cufftType type, int batch, size_t *workSize) {
  if (!workSize) return CUFFT_INVALID_VALUE;
  if (!isType(type)) return CUFFT_INVALID_TYPE;
  if (rank < 1 || rank > maxRank) return CUFFT_INVALID_VALUE;
  if (batch < 1) return CUFFT_INVALID_SIZE;
  long long count = batch, most = 0;
  for (int d = 0; d < rank; d++) {
    if (n[d] < 1) return CUFFT_INVALID_SIZE;
    count *= n[d];
  }
  most = count;
  for (int d = 0; d < rank; d++) {
    const long long padded = count / n[d] * lineOf(n[d]).padded;
    most = padded > most ? padded : most;
  }
  *workSize = size_t(2 * most) * (isDouble(type) ? 16 : 8);
  return CUFFT_SUCCESS;
}
extern "C" cufftResult cufftEstimate1d(int nx, cufftType type, int batch, size_t *workSize) { return estimate(1, &nx, type, batch, workSize); }
extern "C" cufftResult cufftEstimate2d(int nx, int ny, cufftType type, size_t *workSize) {
  const int n[] = {nx, ny};
  return estimate(2, n, type, 1, workSize);
}
extern "C" cufftResult cufftEstimate3d(int nx, int ny, int nz, cufftType type, size_t *workSize) {
  const int n[] = {nx, ny, nz};
  return estimate(3, n, type, 1, workSize);
}
extern "C" cufftResult cufftEstimateMany(int rank, int *n, int *, int, int, int *, int, int, cufftType type, int batch, size_t *workSize) {
  return estimate(rank, n, type, batch, workSize);
}
extern "C" cufftResult cufftGetSize1d(cufftHandle, int nx, cufftType type, int batch, size_t *workSize) {
  return cufftEstimate1d(nx, type, batch, workSize);
}
extern "C" cufftResult cufftGetSize2d(cufftHandle, int nx, int ny, cufftType type, size_t *workSize) { return cufftEstimate2d(nx, ny, type, workSize); }
extern "C" cufftResult cufftGetSize3d(cufftHandle, int nx, int ny, int nz, cufftType type, size_t *workSize) {
  return cufftEstimate3d(nx, ny, nz, type, workSize);
}
extern "C" cufftResult cufftGetSizeMany(cufftHandle, int rank, int *n, int *, int, int, int *, int, int, cufftType type, int batch, size_t *workSize) {
  return estimate(rank, n, type, batch, workSize);
}
extern "C" cufftResult cufftGetSize(cufftHandle handle, size_t *workSize) {
  Plan *plan = planOf(handle);
  if (!plan) return CUFFT_INVALID_PLAN;
  if (!workSize) return CUFFT_INVALID_VALUE;
  *workSize = plan->workBytes;
  return CUFFT_SUCCESS;
}
// Plans have buffers of their own.
extern "C" cufftResult cufftSetWorkArea(cufftHandle handle, void *) { return planOf(handle) ? CUFFT_SUCCESS : CUFFT_INVALID_PLAN; }
extern "C" cufftResult cufftSetAutoAllocation(cufftHandle handle, int) { return planOf(handle) ? CUFFT_SUCCESS : CUFFT_INVALID_PLAN; }
extern "C" cufftResult cufftSetStream(cufftHandle handle, cudaStream_t stream) {
  Plan *plan = planOf(handle);
  if (!plan) return CUFFT_INVALID_PLAN;
  plan->stream = stream;
  return CUFFT_SUCCESS;
}
extern "C" cufftResult cufftGetVersion(int *version) {
  if (!version) return CUFFT_INVALID_VALUE;
  *version = CUFFT_VERSION;
  return CUFFT_SUCCESS;
}
extern "C" cufftResult cufftGetProperty(libraryPropertyType type, int *value) {
  if (!value || type < MAJOR_VERSION || type > PATCH_LEVEL) return CUFFT_INVALID_VALUE;
  *value = type == MAJOR_VERSION ? CUFFT_VER_MAJOR : type == MINOR_VERSION ? CUFFT_VER_MINOR : CUFFT_VER_PATCH;
  return CUFFT_SUCCESS;
}

static cufftResult run(cufftHandle handle, cufftType type, const void *in, void *out, int direction) {
  Plan *plan = planOf(handle);
  if (!plan || !plan->isMade) return CUFFT_INVALID_PLAN;
  if (plan->type != type) return CUFFT_EXEC_FAILED;
  if (!in || !out || (direction != CUFFT_FORWARD && direction != CUFFT_INVERSE)) return CUFFT_INVALID_VALUE;
  return isDouble(type) ? runD(*plan, in, out, direction) : runS(*plan, in, out, direction);
}
extern "C" cufftResult cufftExecC2C(cufftHandle plan, cufftComplex *in, cufftComplex *out, int direction) {
  return run(plan, CUFFT_C2C, in, out, direction);
}
extern "C" cufftResult cufftExecZ2Z(cufftHandle plan, cufftDoubleComplex *in, cufftDoubleComplex *out, int direction) {
  return run(plan, CUFFT_Z2Z, in, out, direction);
}
extern "C" cufftResult cufftExecR2C(cufftHandle plan, cufftReal *in, cufftComplex *out) { return run(plan, CUFFT_R2C, in, out, CUFFT_FORWARD); }
extern "C" cufftResult cufftExecD2Z(cufftHandle plan, cufftDoubleReal *in, cufftDoubleComplex *out) { return run(plan, CUFFT_D2Z, in, out, CUFFT_FORWARD); }
extern "C" cufftResult cufftExecC2R(cufftHandle plan, cufftComplex *in, cufftReal *out) { return run(plan, CUFFT_C2R, in, out, CUFFT_INVERSE); }
extern "C" cufftResult cufftExecZ2D(cufftHandle plan, cufftDoubleComplex *in, cufftDoubleReal *out) { return run(plan, CUFFT_Z2D, in, out, CUFFT_INVERSE); }

extern "C" cufftResult cufftXtMakePlanMany(cufftHandle plan, int rank, long long *n, long long *inembed, long long istride, long long idist,
                                           cudaDataType in, long long *onembed, long long ostride, long long odist, cudaDataType out,
                                           long long batch, size_t *workSize, cudaDataType execution) {
  static const struct {
    cudaDataType in, out, execution;
    cufftType type;
  } types[] = {{CUDA_C_32F, CUDA_C_32F, CUDA_C_32F, CUFFT_C2C}, {CUDA_R_32F, CUDA_C_32F, CUDA_C_32F, CUFFT_R2C},
               {CUDA_C_32F, CUDA_R_32F, CUDA_C_32F, CUFFT_C2R}, {CUDA_C_64F, CUDA_C_64F, CUDA_C_64F, CUFFT_Z2Z},
               {CUDA_R_64F, CUDA_C_64F, CUDA_C_64F, CUFFT_D2Z}, {CUDA_C_64F, CUDA_R_64F, CUDA_C_64F, CUFFT_Z2D}};
  for (const auto &each : types)
    if (each.in == in && each.out == out && each.execution == execution)
      return make<long long>(plan, rank, n, inembed, istride, idist, onembed, ostride, odist, each.type, batch, workSize);
  return CUFFT_NOT_SUPPORTED;
}
extern "C" cufftResult cufftXtExec(cufftHandle handle, void *in, void *out, int direction) {
  Plan *plan = planOf(handle);
  if (!plan || !plan->isMade) return CUFFT_INVALID_PLAN;
  return run(handle, plan->type, in, out, isFromReal(plan->type) ? CUFFT_FORWARD : isToReal(plan->type) ? CUFFT_INVERSE : direction);
}
