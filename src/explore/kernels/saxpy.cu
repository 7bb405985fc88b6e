//! cumetal: --grid 4 --block 256 --arg u32=1000 --arg f32=2.5 --arg f32:1000=iota --arg f32:1000=ones --print 3:8
// y = a x + y, a thread for each element.
extern "C" __global__ void saxpy(int n, float a, const float *x, float *y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}
