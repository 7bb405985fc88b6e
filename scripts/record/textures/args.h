// What the recorder passes to its kernels, and the hash of both.
#pragma once
typedef unsigned int u;
typedef unsigned long long u64;

__host__ __device__ inline u mix(u x) {
  x ^= x >> 16; x *= 0x7feb352dU; x ^= x >> 15; x *= 0x846ca68bU; x ^= x >> 16;
  return x;
}

struct Args { u64 handle; const u *coords; u *out; int n; int words; };
