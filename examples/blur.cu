//! cumetal: --grid 4 --block 256
//! cumetal: --arg f32:1000=rand(9) --arg f32:1000 --arg i32=1000 --print 1:8
// A weighted mean of seven neighbours, the weights in constant memory; the ends repeat their last value.
__constant__ float weights[7] = {0.015625f, 0.09375f, 0.234375f, 0.3125f, 0.234375f, 0.09375f, 0.015625f};

extern "C" __global__ void blur(const float *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float sum = 0;
  for (int k = -3; k <= 3; k++) {
    int at = min(max(i + k, 0), n - 1);
    sum += weights[k + 3] * in[at];
  }
  out[i] = sum;
}
