// Transforms of one precision, by Stockham's form of the algorithm of Cooley and Tukey: each pass is a launch, with a thread for each small
// transform, and reads one buffer and writes the other. Lengths with large primes are convolutions. Source: C. Van Loan, "Computational
// Frameworks for the Fast Fourier Transform"; L. Bluestein, "A linear filtering approach to the computation of discrete Fourier transform".
#include <cmath>
#include <vector>

#include "plan.h"

using namespace cumetal;

typedef CUMETAL_REAL R;
typedef Complex<R> V;

static const int threads = 256;
static int blocksFor(long long n) {
  const long long blocks = (n + threads - 1) / threads;
  return int(blocks < 1 ? 1 : blocks > 65535 ? 65535 : blocks);
}
#define EACH(i, n) for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < (n); i += (long long)gridDim.x * blockDim.x)

/** The shape of a pass: `outer` transforms of `length` elements, `inner` apart. `step` is the product of the radices before. */
struct Pass {
  long long outer, inner;
  int length, radix, step;
  bool isInverse;
};

/** The transform of a few numbers. */
template <int radix>
static __device__ __forceinline__ void small(V *a, const V *roots, int length, bool isInverse) {
  if (radix == 2) {
    const V b = a[1];
    a[1] = a[0] - b;
    a[0] = a[0] + b;
  } else if (radix == 4) {
    const V p = a[0] + a[2], q = a[0] - a[2], r = a[1] + a[3], d = a[1] - a[3];
    const V s = isInverse ? V(-d.im, d.re) : V(d.im, -d.re);
    a[0] = p + r;
    a[1] = q + s;
    a[2] = p - r;
    a[3] = q - s;
  } else {
    V to[radix];
#pragma unroll
    for (int u = 0; u < radix; u++) {
      V sum = a[0];
#pragma unroll
      for (int t = 1; t < radix; t++) {
        const V w = roots[(t * u % radix) * (length / radix)];
        sum += a[t] * (isInverse ? conj(w) : w);
      }
      to[u] = sum;
    }
#pragma unroll
    for (int u = 0; u < radix; u++) a[u] = to[u];
  }
}

template <int radix>
static __global__ void passKernel(Pass pass, const V *from, V *to, const V *roots) {
  const long long m = pass.length / radix, rest = m / pass.step;
  EACH(i, pass.outer * m * pass.inner) {
    const long long in = i % pass.inner, j = i / pass.inner % m, base = i / (pass.inner * m) * (pass.inner * pass.length) + in;
    const int q = int(j % pass.step), p = int(j / pass.step);
    V a[radix];
#pragma unroll
    for (int t = 0; t < radix; t++) a[t] = from[base + (q + pass.step * (p + rest * t)) * pass.inner];
    small<radix>(a, roots, pass.length, pass.isInverse);
#pragma unroll
    for (int u = 0; u < radix; u++) {
      V v = a[u];
      if (u > 0 && p > 0) {
        const V w = roots[(long long)p * u * pass.step % pass.length];
        v = v * (pass.isInverse ? conj(w) : w);
      }
      to[base + (q + (long long)pass.step * (radix * p + u)) * pass.inner] = v;
    }
  }
}

/** A pass of any radix: a thread has one element of the result. */
static __global__ void anyPassKernel(Pass pass, const V *from, V *to, const V *roots) {
  const int radix = pass.radix;
  const long long m = pass.length / radix, rest = m / pass.step;
  EACH(i, pass.outer * pass.length * pass.inner) {
    const long long in = i % pass.inner, e = i / pass.inner % pass.length, base = i / (pass.inner * pass.length) * (pass.inner * pass.length) + in;
    const int q = int(e % pass.step), u = int(e / pass.step % radix), p = int(e / pass.step / radix);
    V sum = V(0);
    for (int t = 0; t < radix; t++) {
      const V w = roots[((long long)t * u % radix) * (pass.length / radix)];
      sum += from[base + (q + pass.step * (p + rest * t)) * pass.inner] * (pass.isInverse ? conj(w) : w);
    }
    const V w = roots[(long long)p * u * pass.step % pass.length];
    to[base + e * pass.inner] = sum * (pass.isInverse ? conj(w) : w);
  }
}

/** What is read and written: complex numbers, real ones, or the first half of what has real ones as its transform. */
enum Form { complexForm, realForm, halfForm };

struct Shape {
  int rank;
  int n[maxRank];
  long long count, batches;
  Layout layout;
  Form form;
};

static __device__ __forceinline__ void placeOf(const Shape &s, long long i, int *at) {
  for (int d = s.rank - 1; d >= 0; d--) {
    at[d] = int(i % s.n[d]);
    i /= s.n[d];
  }
}
static __device__ __forceinline__ long long offsetOf(const Shape &s, const int *at) {
  long long offset = at[0];
  for (int d = 1; d < s.rank; d++) offset = offset * s.layout.embed[d] + at[d];
  return offset * s.layout.stride;
}

static __global__ void loadKernel(Shape s, const R *from, V *to) {
  EACH(i, s.count * s.batches) {
    int at[maxRank];
    placeOf(s, i % s.count, at);
    const long long start = i / s.count * s.layout.distance;
    if (s.form == realForm) {
      to[i] = V(from[start + offsetOf(s, at)]);
      continue;
    }
    const V *complex = reinterpret_cast<const V *>(from) + start;
    const int last = s.rank - 1;
    if (s.form == halfForm && at[last] > s.n[last] / 2) {
      for (int d = 0; d < s.rank; d++) at[d] = at[d] == 0 ? 0 : s.n[d] - at[d];
      to[i] = conj(complex[offsetOf(s, at)]);
      continue;
    }
    V v = complex[offsetOf(s, at)];
    // Where it is its own conjugate, the number is real.
    if (s.form == halfForm && s.rank == 1 && (at[0] == 0 || 2 * at[0] == s.n[0])) v.im = 0;
    to[i] = v;
  }
}

static __global__ void storeKernel(Shape s, const V *from, R *to) {
  EACH(i, s.count * s.batches) {
    int at[maxRank];
    placeOf(s, i % s.count, at);
    if (s.form == halfForm && at[s.rank - 1] > s.n[s.rank - 1] / 2) continue;
    const long long offset = i / s.count * s.layout.distance + offsetOf(s, at);
    if (s.form == realForm)
      to[offset] = from[i].re;
    else
      reinterpret_cast<V *>(to)[offset] = from[i];
  }
}

/** Into convolutions, between their transforms, and out of them. */
static __global__ void padKernel(long long outer, long long inner, int length, int padded, bool isInverse, const V *chirp, const V *from, V *to) {
  EACH(i, outer * inner * padded) {
    const int k = int(i % padded);
    const long long line = i / padded, in = line % inner, out = line / inner;
    V v = V(0);
    if (k < length) {
      const V c = chirp[k];
      v = from[(out * length + k) * inner + in] * (isInverse ? conj(c) : c);
    }
    to[i] = v;
  }
}
static __global__ void filterKernel(long long count, int padded, bool isInverse, const V *filter, V *data) {
  EACH(i, count * padded) {
    const int k = int(i % padded);
    // The filter of the inverse is the conjugate of one that runs backwards, and is symmetric.
    const V f = filter[k];
    data[i] = data[i] * (isInverse ? conj(filter[(padded - k) % padded]) : f);
  }
}
static __global__ void unpadKernel(long long outer, long long inner, int length, int padded, bool isInverse, const V *chirp, const V *from, V *to) {
  EACH(i, outer * inner * length) {
    const long long in = i % inner, k = i / inner % length, out = i / (inner * length);
    const V c = chirp[k], v = from[(out * inner + in) * padded + k] * (isInverse ? conj(c) : c);
    to[i] = V(v.re / padded, v.im / padded);
  }
}

/** Runs all passes of one length; the result is in the buffer that is returned. */
static int passes(const Plan &plan, V *const buffers[2], int current, const V *roots, int length, long long outer, long long inner, bool isInverse) {
  int step = 1;
  for (int rest = length; rest > 1;) {
    int radix = rest % 4 == 0 ? 4 : 2;
    while (rest % radix != 0) radix++;
    const Pass pass = {outer, inner, length, radix, step, isInverse};
    const V *from = buffers[current];
    V *to = buffers[1 - current];
    const int blocks = blocksFor(outer * inner * (length / radix));
    switch (radix) {
      case 2:
        passKernel<2><<<blocks, threads, 0, plan.stream>>>(pass, from, to, roots);
        break;
      case 3:
        passKernel<3><<<blocks, threads, 0, plan.stream>>>(pass, from, to, roots);
        break;
      case 4:
        passKernel<4><<<blocks, threads, 0, plan.stream>>>(pass, from, to, roots);
        break;
      case 5:
        passKernel<5><<<blocks, threads, 0, plan.stream>>>(pass, from, to, roots);
        break;
      default:
        anyPassKernel<<<blocksFor(outer * inner * length), threads, 0, plan.stream>>>(pass, from, to, roots);
    }
    current = 1 - current;
    step *= radix;
    rest /= radix;
  }
  return current;
}

cufftResult cumetal::CUMETAL_RUN(Plan &plan, const void *in, void *out, int direction) {
  const bool isInverse = direction == CUFFT_INVERSE;
  const bool isFromReal = plan.type == CUFFT_R2C || plan.type == CUFFT_D2Z, isToReal = plan.type == CUFFT_C2R || plan.type == CUFFT_Z2D;
  V *const buffers[2] = {static_cast<V *>(plan.work[0]), static_cast<V *>(plan.work[1])};
  Shape from = {plan.rank, {plan.n[0], plan.n[1], plan.n[2]}, plan.count, plan.batches, plan.in, isFromReal ? realForm : isToReal ? halfForm : complexForm};
  Shape to = from;
  to.layout = plan.out;
  to.form = isFromReal ? halfForm : isToReal ? realForm : complexForm;
  // In place, rows of real numbers are as long as those of complex ones.
  if (in == out) {
    const int last = plan.rank - 1;
    Shape &real = isFromReal ? from : to;
    if ((isFromReal && plan.isInUsual) || (isToReal && plan.isOutUsual)) {
      real.layout.embed[last] = 2 * (plan.n[last] / 2 + 1);
      real.layout.distance = plan.count / plan.n[last] * real.layout.embed[last];
    }
  }
  const long long total = plan.count * plan.batches;
  loadKernel<<<blocksFor(total), threads, 0, plan.stream>>>(from, static_cast<const R *>(in), buffers[0]);
  int current = 0;
  long long inner = 1;
  for (int d = plan.rank - 1; d >= 0; d--) {
    const Line &line = plan.lines[d];
    const long long outer = total / (inner * line.length);
    const V *roots = static_cast<const V *>(line.roots), *chirp = static_cast<const V *>(line.chirp);
    if (line.padded == 0) {
      current = passes(plan, buffers, current, roots, line.length, outer, inner, isInverse);
    } else {
      padKernel<<<blocksFor(outer * inner * line.padded), threads, 0, plan.stream>>>(outer, inner, line.length, line.padded, isInverse, chirp,
                                                                                     buffers[current], buffers[1 - current]);
      current = passes(plan, buffers, 1 - current, roots, line.padded, outer * inner, 1, false);
      filterKernel<<<blocksFor(outer * inner * line.padded), threads, 0, plan.stream>>>(outer * inner, line.padded, isInverse,
                                                                                        static_cast<const V *>(line.filter), buffers[current]);
      current = passes(plan, buffers, current, roots, line.padded, outer * inner, 1, true);
      unpadKernel<<<blocksFor(total), threads, 0, plan.stream>>>(outer, inner, line.length, line.padded, isInverse, chirp, buffers[current],
                                                                 buffers[1 - current]);
      current = 1 - current;
    }
    inner *= line.length;
  }
  storeKernel<<<blocksFor(total), threads, 0, plan.stream>>>(to, buffers[current], static_cast<R *>(out));
  return cudaPeekAtLastError() == cudaSuccess ? CUFFT_SUCCESS : CUFFT_EXEC_FAILED;
}

/** exp(-πi·k / n), with k reduced to a whole turn. */
static V turn(long long k, long long n) {
  const double angle = 3.14159265358979323846 * double(k % (2 * n)) / double(n);
  return V(R(cos(angle)), R(-sin(angle)));
}

static cufftResult upload(const std::vector<V> &values, void **to) {
  if (cudaMalloc(to, values.size() * sizeof(V)) != cudaSuccess) return CUFFT_ALLOC_FAILED;
  return cudaMemcpy(*to, values.data(), values.size() * sizeof(V), cudaMemcpyHostToDevice) == cudaSuccess ? CUFFT_SUCCESS : CUFFT_INTERNAL_ERROR;
}

/** A transform on the host, of a power of two, in double precision. */
static void transform(std::vector<Complex<double>> &a) {
  const size_t n = a.size();
  for (size_t i = 1, j = 0; i < n; i++) {
    size_t bit = n >> 1;
    for (; j & bit; bit >>= 1) j ^= bit;
    j |= bit;
    if (i < j) {
      const Complex<double> v = a[i];
      a[i] = a[j];
      a[j] = v;
    }
  }
  for (size_t half = 1; half < n; half *= 2) {
    for (size_t k = 0; k < half; k++) {
      const double angle = -3.14159265358979323846 * double(k) / double(half);
      const Complex<double> w(cos(angle), sin(angle));
      for (size_t i = k; i < n; i += 2 * half) {
        const Complex<double> b = w * a[i + half];
        a[i + half] = a[i] - b;
        a[i] = a[i] + b;
      }
    }
  }
}

static cufftResult prepareLine(Line &line) {
  const int n = line.length;
  const int length = line.padded == 0 ? n : line.padded;
  std::vector<V> roots(length);
  for (int k = 0; k < length; k++) roots[k] = turn(2ll * k, length);
  cufftResult result = upload(roots, &line.roots);
  if (result != CUFFT_SUCCESS || line.padded == 0) return result;
  std::vector<V> chirp(n);
  std::vector<Complex<double>> filter(line.padded, Complex<double>(0));
  for (int k = 0; k < n; k++) {
    const long long square = (long long)k * k;
    chirp[k] = turn(square, n);
    const double angle = 3.14159265358979323846 * double(square % (2ll * n)) / double(n);
    filter[k] = Complex<double>(cos(angle), sin(angle));
    if (k > 0) filter[line.padded - k] = filter[k];
  }
  transform(filter);
  std::vector<V> rounded(line.padded);
  for (int k = 0; k < line.padded; k++) rounded[k] = V(R(filter[k].re), R(filter[k].im));
  result = upload(chirp, &line.chirp);
  return result == CUFFT_SUCCESS ? upload(rounded, &line.filter) : result;
}

cufftResult cumetal::CUMETAL_PREPARE(Plan &plan) {
  long long most = plan.count * plan.batches;
  for (int d = 0; d < plan.rank; d++) {
    const cufftResult result = prepareLine(plan.lines[d]);
    if (result != CUFFT_SUCCESS) return result;
    const long long lines = plan.count * plan.batches / plan.n[d];
    if (plan.lines[d].padded != 0 && lines * plan.lines[d].padded > most) most = lines * plan.lines[d].padded;
  }
  plan.workBytes = 2 * most * sizeof(V);
  for (void *&buffer : plan.work)
    if (cudaMalloc(&buffer, most * sizeof(V)) != cudaSuccess) return CUFFT_ALLOC_FAILED;
  return CUFFT_SUCCESS;
}
