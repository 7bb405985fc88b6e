// Accelerations of bodies that attract each other: positions and masses go through shared memory, a block of them at a time.
extern "C" __global__ void __launch_bounds__(128) nbody(const float4* bodies, float4* accelerations, int count) {
  __shared__ float4 tile[128];
  const int i = blockIdx.x * 128 + threadIdx.x;
  const float4 own = bodies[i];
  float ax = 0.0f, ay = 0.0f, az = 0.0f;
  for (int start = 0; start < count; start += 128) {
    tile[threadIdx.x] = bodies[start + threadIdx.x];
    __syncthreads();
#pragma unroll 32
    for (int j = 0; j < 128; j++) {
      const float4 other = tile[j];
      const float x = other.x - own.x, y = other.y - own.y, z = other.z - own.z;
      const float inverse = rsqrtf(x * x + y * y + z * z + 0.01f);
      const float pull = other.w * inverse * inverse * inverse;
      ax += x * pull;
      ay += y * pull;
      az += z * pull;
    }
    __syncthreads();
  }
  accelerations[i] = make_float4(ax, ay, az, 0.0f);
}
