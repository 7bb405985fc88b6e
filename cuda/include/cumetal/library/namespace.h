// The namespaces of libcu++: what is constexpr in the C++ library is for devices too, and its names are those of `cuda::std`. CCCL's own headers
// come first where a program has their folder. Source: libcu++, "Standard API", "Extended API".
#ifndef __CUMETAL_LIBRARY_NAMESPACE_H__
#define __CUMETAL_LIBRARY_NAMESPACE_H__

#include "cuda_runtime.h"

#include <cstddef>
#include <type_traits>

namespace cuda {
namespace std {
using namespace ::std;
// Not constexpr before C++20.
template <class T> __host__ __device__ constexpr void swap(T &a, T &b) {
  T kept = static_cast<T &&>(a);
  a = static_cast<T &&>(b);
  b = static_cast<T &&>(kept);
}
} // namespace std
} // namespace cuda

#endif
