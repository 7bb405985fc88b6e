//! cumetal: --grid 8 --block 128
//! cumetal: --arg u64:1024=iota --arg u32:1024 --arg u64:1024 --arg u32=1024 --print 1:16 --print 2:8
// How many steps a number needs to reach 1 (halve it, or treble it and add one), and how high it climbs: 64-bit integers.
extern "C" __global__ void collatz(const unsigned long long *in, unsigned *steps, unsigned long long *highest, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned long long value = in[i] * 1000003ull + 27, top = value;
  unsigned count = 0;
  while (value > 1 && count < 1000) {
    value = value % 2 == 0 ? value / 2 : 3 * value + 1;
    if (value > top) top = value;
    count++;
  }
  steps[i] = count;
  highest[i] = top;
}
