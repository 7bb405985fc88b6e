//! cumetal: --grid 4,4 --block 16,16
//! cumetal: --arg i16:64x64=rand(13) --arg i16:64x64 --arg i32=64 --print 1:8
// The median of each point's 3x3 neighbours, sorted in an array of the thread's own (local memory).
extern "C" __global__ void median(const short *in, short *out, int n) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  short sorted[9];
  int count = 0;
  for (int dy = -1; dy <= 1; dy++) {
    for (int dx = -1; dx <= 1; dx++) {
      int row = min(max(y + dy, 0), n - 1), column = min(max(x + dx, 0), n - 1);
      short value = in[row * n + column];
      int at = count++;
      while (at > 0 && sorted[at - 1] > value) {
        sorted[at] = sorted[at - 1];
        at--;
      }
      sorted[at] = value;
    }
  }
  out[y * n + x] = sorted[4];
}
