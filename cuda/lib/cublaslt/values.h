/** Elements of matrices by types that are known when a kernel runs. */
#ifndef CUMETAL_CUBLASLT_VALUES_H
#define CUMETAL_CUBLASLT_VALUES_H

#include <cuda_fp8.h>
#include <library_types.h>

#include "../common/number.h"

namespace cumetal {

template <class A, class B>
struct IsSame {
  static const bool value = false;
};
template <class A>
struct IsSame<A, A> {
  static const bool value = true;
};

/** A float of 8 bits, of the format that the type says. */
struct Float8 {
  unsigned char bits;
};

static CUMETAL_BOTH float single(Float8 a, int type) { return __cumetal_fp8_single(a.bits, type == CUDA_R_8F_E5M2 ? __NV_E5M2 : __NV_E4M3); }

/** An element as a number of the computation, `V`: float, double, int, or one of the complex types. */
template <class V>
static CUMETAL_BOTH V load(const void *p, long long i, int type) {
  if constexpr (IsSame<V, float>::value) {
    switch (type) {
      case CUDA_R_16F:
        return __half2float(static_cast<const __half *>(p)[i]);
      case CUDA_R_16BF:
        return __bfloat162float(static_cast<const __nv_bfloat16 *>(p)[i]);
      case CUDA_R_8I:
        return static_cast<const signed char *>(p)[i];
      case CUDA_R_32I:
        return float(static_cast<const int *>(p)[i]);
      case CUDA_R_8F_E4M3:
      case CUDA_R_8F_E5M2:
        return single(static_cast<const Float8 *>(p)[i], type);
    }
    return static_cast<const float *>(p)[i];
  } else if constexpr (IsSame<V, int>::value) {
    return type == CUDA_R_8I ? static_cast<const signed char *>(p)[i] : static_cast<const int *>(p)[i];
  } else {
    return static_cast<const V *>(p)[i];
  }
}

/** Rounds to the nearest element, ties to even. Integers and floats of 8 bits saturate. */
template <class V>
static CUMETAL_BOTH void store(void *p, long long i, int type, V v) {
  if constexpr (IsSame<V, float>::value) {
    switch (type) {
      case CUDA_R_16F:
        static_cast<__half *>(p)[i] = __float2half(v);
        return;
      case CUDA_R_16BF:
        static_cast<__nv_bfloat16 *>(p)[i] = __float2bfloat16(v);
        return;
      case CUDA_R_8I:
        static_cast<signed char *>(p)[i] = Convert<signed char>::from(v);
        return;
      case CUDA_R_32I:
        // 2^31 and more saturate, as the conversion of PTX does.
        static_cast<int *>(p)[i] = v >= 2147483648.0f ? 2147483647 : v <= -2147483648.0f ? -2147483647 - 1 : v != v ? 0 : int(rintf(v));
        return;
      case CUDA_R_8F_E4M3:
      case CUDA_R_8F_E5M2:
        static_cast<unsigned char *>(p)[i] = __nv_cvt_float_to_fp8(v, __NV_SATFINITE, type == CUDA_R_8F_E5M2 ? __NV_E5M2 : __NV_E4M3);
        return;
    }
    static_cast<float *>(p)[i] = v;
  } else if constexpr (IsSame<V, int>::value) {
    if (type == CUDA_R_8I)
      static_cast<signed char *>(p)[i] = Convert<signed char>::from(v);
    else
      static_cast<int *>(p)[i] = v;
  } else {
    static_cast<V *>(p)[i] = v;
  }
}

}  // namespace cumetal

#endif
