// Kernels of doubles, for what they cost on a GPU without double precision.
// nvcc -arch=sm_80 -ptx doubles.cu

extern "C" __global__ void dgemm(const double *a, const double *b, double *c, int n) {
  __shared__ double as[16][16], bs[16][17];
  const int x = threadIdx.x, y = threadIdx.y;
  const int row = blockIdx.y * 16 + y, column = blockIdx.x * 16 + x;
  double sum = 0;
  for (int k = 0; k < n; k += 16) {
    as[y][x] = a[row * n + k + x];
    bs[y][x] = b[(k + y) * n + column];
    __syncthreads();
    for (int i = 0; i < 16; i++) sum += as[y][i] * bs[i][x];
    __syncthreads();
  }
  c[row * n + column] = sum;
}

// Four results of a thread, so that what is loaded is used more than once.
extern "C" __global__ void dgemm4(const double *a, const double *b, double *c, int n) {
  __shared__ double as[16][16], bs[16][17];
  const int x = threadIdx.x, y = threadIdx.y;
  const int row = blockIdx.y * 16 + 2 * y, column = blockIdx.x * 16 + 2 * x;
  double s00 = 0, s01 = 0, s10 = 0, s11 = 0;
  for (int k = 0; k < n; k += 16) {
    for (int i = 0; i < 2; i++)
      for (int j = 0; j < 2; j++) {
        as[2 * y + i][2 * x + j] = a[(row + i) * n + k + 2 * x + j];
        bs[2 * y + i][2 * x + j] = b[(k + 2 * y + i) * n + column + j];
      }
    __syncthreads();
#pragma unroll 4
    for (int i = 0; i < 16; i++) {
      const double a0 = as[2 * y][i], a1 = as[2 * y + 1][i], b0 = bs[i][2 * x], b1 = bs[i][2 * x + 1];
      s00 += a0 * b0; s01 += a0 * b1; s10 += a1 * b0; s11 += a1 * b1;
    }
    __syncthreads();
  }
  c[row * n + column] = s00; c[row * n + column + 1] = s01;
  c[(row + 1) * n + column] = s10; c[(row + 1) * n + column + 1] = s11;
}

extern "C" __global__ void nbody(const double4 *bodies, double4 *out, int n) {
  __shared__ double4 tile[128];
  const int i = blockIdx.x * 128 + threadIdx.x;
  const double4 me = bodies[i];
  double ax = 0, ay = 0, az = 0;
  for (int first = 0; first < n; first += 128) {
    tile[threadIdx.x] = bodies[first + threadIdx.x];
    __syncthreads();
#pragma unroll 4
    for (int j = 0; j < 128; j++) {
      const double4 other = tile[j];
      const double x = other.x - me.x, y = other.y - me.y, z = other.z - me.z;
      const double distance = x * x + y * y + z * z + 1e-4;
      const double force = other.w / (distance * sqrt(distance));
      ax += x * force; ay += y * force; az += z * force;
    }
    __syncthreads();
  }
  out[i] = make_double4(ax, ay, az, 0);
}

extern "C" __global__ void sum(const double *in, double *out) {
  __shared__ double part[256];
  const int i = blockIdx.x * 2048 + threadIdx.x;
  double total = 0;
  for (int k = 0; k < 8; k++) total += in[i + 256 * k];
  part[threadIdx.x] = total;
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = part[0];
}

extern "C" __global__ void jacobi(const double *in, double *out, int n) {
  const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  if (x == 0 || y == 0 || x == n - 1 || y == n - 1) return;
  const double *at = in + y * n + x;
  out[y * n + x] = 0.2 * (at[0] + at[-1] + at[1] + at[-n] + at[n]);
}

extern "C" __global__ void mandelbrot(int *out, int n, double left, double top, double step, int most) {
  const int i = blockIdx.x * 16 + threadIdx.x, j = blockIdx.y * 16 + threadIdx.y;
  const double x = left + i * step, y = top + j * step;
  double a = 0, b = 0;
  int count = 0;
  for (; count < most && a * a + b * b < 4; count++) {
    const double next = a * a - b * b + x;
    b = 2 * a * b + y;
    a = next;
  }
  out[j * n + i] = count;
}

extern "C" __global__ void exponential(const double *in, double *out) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  out[i] = exp(in[i]);
}

extern "C" __global__ void axpy(double a, const double *x, double *y) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  y[i] += a * x[i];
}
