/** What the objects of the steps of sparse solvers have: factors of one of the four types. */
#ifndef CUMETAL_CUSOLVER_SPARSE_INFO_H
#define CUMETAL_CUSOLVER_SPARSE_INFO_H

#include <cusolverSp_LOWLEVEL_PREVIEW.h>

#include <memory>

#include "sparse-factors.h"

namespace cumetal {

struct Held {
  /** The letter of the type. */
  const char type;
  explicit Held(char type) : type(type) {}
  virtual ~Held() = default;
};
template <class Factors>
struct HeldFactors : Held {
  Factors factors;
  explicit HeldFactors(char type) : Held(type) {}
};
/** A matrix whose factors come in a step of their own. */
template <class T>
struct Prepared {
  Columns<T> matrix;
  Qr<T> factors;
  std::vector<T> diagonal;
  bool isFactored = false;
};
struct CsrInfo {
  std::unique_ptr<Held> held;
};

}  // namespace cumetal

struct csrluInfoHost : cumetal::CsrInfo {
  int nnzL = 0, nnzU = 0;
};
struct csrqrInfoHost : cumetal::CsrInfo {};
struct csrqrInfo : cumetal::CsrInfo {};
struct csrcholInfoHost : cumetal::CsrInfo {};
struct csrcholInfo : cumetal::CsrInfo {};

#endif
