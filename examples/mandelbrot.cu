//! cumetal: --grid 32,64 --block 16,8
//! cumetal: --arg u8:512x512 --arg u32=512 --arg f32=-2.2 --arg f32=-1.5
//! cumetal: --arg f32=0.005859375 --arg u32=255
// The Mandelbrot set as a grey picture: how many steps each point takes to leave the circle of radius 2.
extern "C" __global__ void mandelbrot(unsigned char *image, unsigned width, float left, float top, float step, unsigned limit) {
  unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  float re = left + step * (float)x, im = top + step * (float)y;
  float a = 0, b = 0;
  unsigned steps = 0;
  while (steps < limit && a * a + b * b <= 4.0f) {
    float next = a * a - b * b + re;
    b = 2.0f * a * b + im;
    a = next;
    steps++;
  }
  image[y * width + x] = steps == limit ? 0 : (unsigned char)(255 - steps * 7 % 256);
}
