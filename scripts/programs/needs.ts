/** What a program needs beside the CUDA runtime, by its sources and its libraries. */

const needs: Readonly<Record<string, RegExp>> = {
  'CUB or Thrust': /#\s*include\s*[<"](thrust|cub)\//,
  'libcu++': /#\s*include\s*[<"](cuda\/|nv\/)/,
  cuBLAS: /#\s*include\s*[<"](cublas|cublasLt)/,
  cuRAND: /#\s*include\s*[<"]curand\.h/,
  cuFFT: /#\s*include\s*[<"]cufft/,
  cuSPARSE: /#\s*include\s*[<"]cusparse/,
  cuSOLVER: /#\s*include\s*[<"]cusolver/,
  NVRTC: /#\s*include\s*[<"]nvrtc/,
  'another library':
    /#\s*include\s*[<"](cudnn|nccl|mpi\.h|gsl\/|boost\/|opencv|cutlass|cute\/|zlib|png\.h|hdf5|nvml|npp|nvjpeg|GL\/|Kokkos|mkl|openblas|cblas|tbb\/)/,
  textures: /\btex[123]D\w*\s*[<(]|\btexture\s*<|cudaTextureObject_t|\bsurf[123]D\w*\s*\(/,
  'grid synchronisation': /\bthis_grid\s*\(|grid_group\b|cudaLaunchCooperativeKernel/,
  'dynamic parallelism': /cudaLaunchDevice|cudaStreamFireAndForget/,
  OpenGL: /cudaGraphicsGL|glut\.h/,
};
const libraries: Readonly<Record<string, string>> = {
  cublas: 'cuBLAS',
  cublasLt: 'cuBLAS',
  curand: 'cuRAND',
  cufft: 'cuFFT',
  cusparse: 'cuSPARSE',
  cusolver: 'cuSOLVER',
  nvrtc: 'NVRTC',
};
const plain = new Set([
  'm',
  'cudart',
  'cudart_static',
  'cuda',
  'pthread',
  'rt',
  'dl',
  'stdc++',
  'cudadevrt',
  'gomp',
  'omp',
  'nvToolsExt',
  'stdc++fs',
]);

/** The names of what it needs, in the order above. */
export function needsOf(texts: readonly string[], linked: readonly string[]): string[] {
  const found = Object.entries(needs).flatMap(([name, pattern]) => (texts.some((text) => pattern.test(text)) ? [name] : []));
  const others = linked.filter((name) => !plain.has(name)).map((name) => libraries[name] ?? `-l${name}`);
  return [...new Set([...found, ...others])];
}
