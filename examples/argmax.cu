//! cumetal: --grid 6 --block 128 --shared 1024
//! cumetal: --arg i32:3000=rand(11) --arg i32:6 --arg u32:6 --arg u32=3000 --print 1 --print 2
// The largest of each block's share and where it stands, in dynamic shared memory: values first, then their indices.
extern "C" __global__ void argmax(const int *in, int *best, unsigned *where, unsigned n) {
  extern __shared__ int values[];
  unsigned *indices = (unsigned *)(values + blockDim.x);
  unsigned t = threadIdx.x, stride = gridDim.x * blockDim.x;
  int value = -2147483647 - 1;
  unsigned index = 0;
  for (unsigned i = blockIdx.x * blockDim.x + t; i < n; i += stride) {
    if (in[i] > value) {
      value = in[i];
      index = i;
    }
  }
  values[t] = value;
  indices[t] = index;
  __syncthreads();
  for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
    if (t < half && values[t + half] > values[t]) {
      values[t] = values[t + half];
      indices[t] = indices[t + half];
    }
    __syncthreads();
  }
  if (t == 0) {
    best[blockIdx.x] = values[0];
    where[blockIdx.x] = indices[0];
  }
}
