// Draws the Mandelbrot set in the terminal: cumetal run examples/programs/mandelbrot.cu
// Arguments: columns, rows, and the real part, imaginary part and width of the section.
#include <cstdio>
#include <cstdlib>
#include <string>

__global__ void iterate(unsigned *steps, int columns, int rows, double x0, double y0, double width, unsigned limit) {
  int column = blockIdx.x * blockDim.x + threadIdx.x;
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (column >= columns || row >= rows) return;
  double cx = x0 + width * (column - columns / 2) / columns;
  // A character is about twice as high as wide.
  double cy = y0 + 2 * width * (row - rows / 2) / columns;
  double x = 0, y = 0;
  unsigned n = 0;
  while (n < limit && x * x + y * y < 4) {
    double next = x * x - y * y + cx;
    y = 2 * x * y + cy;
    x = next;
    n++;
  }
  steps[row * columns + column] = n;
}

int main(int argc, char **argv) {
  auto number = [&](int i, double otherwise) { return argc > i ? atof(argv[i]) : otherwise; };
  int columns = number(1, 78), rows = number(2, 30);
  const unsigned limit = 512;
  unsigned *steps;
  if (cudaMallocManaged(&steps, columns * rows * sizeof *steps) != cudaSuccess) return 1;

  dim3 block(16, 8), grid((columns + 15) / 16, (rows + 7) / 8);
  iterate<<<grid, block>>>(steps, columns, rows, number(3, -0.65), number(4, 0), number(5, 3.1), limit);
  if (cudaError_t error = cudaDeviceSynchronize()) {
    fprintf(stderr, "%s\n", cudaGetErrorString(error));
    return 1;
  }

  const std::string shades = " .:-=+*%$#@";
  for (int row = 0; row < rows; row++) {
    std::string line;
    for (int column = 0; column < columns; column++) {
      unsigned n = steps[row * columns + column];
      unsigned shade = 0;
      for (unsigned at = n; at > 1; at /= 2) shade++;
      line += n == limit ? ' ' : shades[shade < shades.size() ? shade : shades.size() - 1];
    }
    printf("%s\n", line.c_str());
  }
  cudaFree(steps);
  return 0;
}
