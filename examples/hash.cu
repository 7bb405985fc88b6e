//! cumetal: --grid 16 --block 128
//! cumetal: --arg u32:2048=iota --arg u32:2048 --arg u32=0x9e3779b9 --arg u32=2048 --print 1:8
// A hash of each number: the finaliser of MurmurHash3, then rounds of xorshift.
extern "C" __global__ void hash(const unsigned *in, unsigned *out, unsigned seed, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned h = in[i] ^ seed;
  h ^= h >> 16;
  h *= 0x85ebca6bu;
  h ^= h >> 13;
  h *= 0xc2b2ae35u;
  h ^= h >> 16;
  for (unsigned round = 0; round < (i & 7); round++) {
    h ^= h << 13;
    h ^= h >> 17;
    h ^= h << 5;
  }
  out[i] = h;
}
