// MT19937 on the host. Source: M. Matsumoto, T. Nishimura, "Mersenne Twister: a 623-dimensionally equidistributed uniform pseudorandom number
// generator", 1998.
#include <cmath>

#include "generator.h"

namespace cumetal {

struct Twister {
  unsigned state[624];
  int next;
  unsigned draw() {
    if (next == 624) {
      for (int i = 0; i < 624; i++) {
        const unsigned y = (state[i] & 0x80000000u) | (state[(i + 1) % 624] & 0x7fffffffu);
        state[i] = state[(i + 397) % 624] ^ (y >> 1) ^ (y & 1 ? 0x9908b0dfu : 0);
      }
      next = 0;
    }
    unsigned y = state[next++];
    y ^= y >> 11;
    y ^= (y << 7) & 0x9d2c5680u;
    y ^= (y << 15) & 0xefc60000u;
    return y ^ (y >> 18);
  }
  /** Above 0, and up to 1. */
  double real(bool isDouble) {
    const unsigned x = draw();
    if (!isDouble) return x * 0x1p-32 + 0x1p-33;
    return double((unsigned long long)x ^ (unsigned long long)draw() << 21) * 0x1p-53 + 0x1p-54;
  }
};

Twister *newTwister() { return new Twister(); }
void deleteTwister(Twister *twister) { delete twister; }

void startTwister(Twister &twister, unsigned long long seed, unsigned long long offset) {
  twister.state[0] = unsigned(seed) ^ unsigned(seed >> 32);
  for (int i = 1; i < 624; i++) twister.state[i] = 1812433253u * (twister.state[i - 1] ^ (twister.state[i - 1] >> 30)) + unsigned(i);
  twister.next = 624;
  for (; offset > 0; offset--) twister.draw();
}

static unsigned drawPoisson(Twister &twister, double mean) {
  if (mean > 4000) {
    const double u = twister.real(true), v = twister.real(true);
    return unsigned(sqrt(mean) * sqrt(-2 * log(u)) * cos(6.283185307179586 * v) + mean + 0.5);
  }
  unsigned count = 0;
  for (double sum = log(twister.real(true)); sum > -mean; sum += log(twister.real(true))) count++;
  return count;
}

void runTwister(Twister &twister, const Request &request) {
  const bool isDouble = bytesOf(request.kind) == 8;
  const auto put = [&](size_t i, double value) {
    if (isDouble)
      static_cast<double *>(request.out)[i] = value;
    else
      static_cast<float *>(request.out)[i] = float(value);
  };
  for (size_t i = 0; i < request.count; i++) {
    if (request.kind == integers) {
      static_cast<unsigned *>(request.out)[i] = twister.draw();
    } else if (request.kind == poisson) {
      static_cast<unsigned *>(request.out)[i] = drawPoisson(twister, request.first);
    } else if (!isPaired(request.kind)) {
      put(i, twister.real(isDouble));
    } else {
      const bool isLog = request.kind == logNormal || request.kind == logNormalDouble;
      const double u = twister.real(isDouble), v = 6.283185307179586 * twister.real(isDouble), size = sqrt(-2 * log(u));
      for (size_t k = 0; k < 2 && i + k < request.count; k++) {
        const double value = request.second * size * (k == 0 ? sin(v) : cos(v)) + request.first;
        put(i + k, isLog ? exp(value) : value);
      }
      i++;
    }
  }
}

}  // namespace cumetal
