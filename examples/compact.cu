//! cumetal: --grid 1 --block 256
//! cumetal: --arg u32:256=rand(8) --arg u32=2147483648 --arg u32:256 --arg u32:1 --print 2:8 --print 3
// Keeps the numbers above a limit, in their order: threads of a warp count by a ballot how many of them come before.
extern "C" __global__ void compact(const unsigned *in, unsigned limit, unsigned *out, unsigned *count) {
  __shared__ unsigned kept[8];
  unsigned t = threadIdx.x, lane = t % 32, warp = t / 32, value = in[t];
  unsigned mask = __ballot_sync(0xffffffff, value > limit);
  if (lane == 0) kept[warp] = __popc(mask);
  __syncthreads();
  unsigned at = __popc(mask & ((1u << lane) - 1)), all = 0;
  for (unsigned w = 0; w < 8; w++) {
    if (w < warp) at += kept[w];
    all += kept[w];
  }
  if (value > limit) out[at] = value;
  if (t >= all) out[t] = 0;
  if (t == 0) count[0] = all;
}
