/**
 * What `nvcc -v` prints of its steps, for a compiler in a toolkit's folder: CMake reads the folders and the linker from these lines. Source: the
 * modules `CMakeDetermineCUDACompiler` and `FindCUDAToolkit` of CMake 3.18 to 4.
 */

/** The release of CUDA whose headers these are. */
export const cudaRelease = '12.8';

/** The file of a toolkit's folder by which it is known. */
export const toolchainFile = 'cumetal.cmake';

/** The lines; `root` is the folder of the toolkit. */
export const stepsOf = (root: string): string =>
  [
    `TOP=${root}`,
    `NVVMIR_LIBRARY_DIR=${root}/nvvm/libdevice`,
    `PATH=${root}/bin`,
    `INCLUDES="-I${root}/include"`,
    `LIBRARIES=  "-L${root}/lib64"`,
    'device code -arch compute_80',
    `"${root}/bin/cumetal-c++"   "-L${root}/lib64"  -lcudadevrt -lcudart_static`,
  ]
    .map((line) => `#$ ${line}\n`)
    .join('');
