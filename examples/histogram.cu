//! cumetal: --grid 8 --block 256
//! cumetal: --arg u8:8000=rand(31) --arg "u32:256=fill(0)" --arg "u32:6=fill(0)" --arg u32=8000 --print 1:16 --print 2
// Counts bytes: in shared memory first, then once for each block in global memory. `facts` holds the largest byte, the
// smallest index of a byte above 250, the sum, the exclusive or, and two counters that wrap.
extern "C" __global__ void histogram(const unsigned char *in, unsigned *bins, unsigned *facts, unsigned n) {
  __shared__ unsigned local[256];
  for (unsigned i = threadIdx.x; i < 256; i += blockDim.x) local[i] = 0;
  __syncthreads();
  unsigned stride = gridDim.x * blockDim.x;
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
    unsigned byte = in[i];
    atomicAdd(&local[byte], 1u);
    atomicMax(&facts[0], byte);
    if (byte > 250) atomicMax((int *)&facts[1], (int)(n - i));
    atomicAdd(&facts[2], byte);
    atomicXor(&facts[3], byte * 0x01010101u + i);
    atomicInc(&facts[4], 999u);
    atomicDec(&facts[5], 700u);
  }
  __syncthreads();
  for (unsigned i = threadIdx.x; i < 256; i += blockDim.x)
    if (local[i] != 0) atomicAdd(&bins[i], local[i]);
}
