/** The words about bitcode, metallibs and AIR. */
import { entries } from './entry.ts';

/** CM40xx: bitcode, metallib and AIR. */
export const formats = entries({
  CM4001: {
    severity: 'error',
    title: 'malformed metallib',
    message: 'malformed metallib at byte {offset}: {why}',
    page: 'The container does not follow the layout of a `.metallib` file: a size, an offset or a tag is wrong, or the file is truncated.',
  },
  CM4002: {
    severity: 'error',
    title: 'malformed bitcode',
    message: 'malformed bitcode at bit {bit} in {block}: {why}',
    page: 'The LLVM bitcode inside the library cannot be read: a record is truncated, has the wrong operands, or refers to something that does not exist.',
  },
  CM4010: {
    severity: 'error',
    title: 'container rule',
    message: 'container rule {rule} is broken: {why}',
    page: 'The file can be read, but differs from what every real metal library looks like: a hash, a size or the place of a section.',
  },
  CM4050: {
    severity: 'error',
    title: 'AIR rule',
    message: 'AIR rule {rule} is broken: {why}',
    page: 'The module is readable LLVM bitcode, but breaks a rule that Metal drivers are known to enforce. `docs/air-rules.md` lists the rules with their evidence.',
  },
  CM4052: {
    severity: 'error',
    title: 'kernel metadata',
    message: 'the kernel metadata cannot be read: {why}',
    page: 'Every kernel of a metallib is described by a node of `!air.kernel`: the function, its outputs, and one node per parameter.',
  },
  CM4053: {
    severity: 'error',
    title: 'kernel not understood',
    message: 'kernel `{kernel}` cannot be run here: {why} is not supported',
    page: 'The CPU device runs compute kernels. It refuses what it does not know exactly, textures and simdgroup matrices for instance, rather than guess.',
  },
  CM4054: {
    severity: 'error',
    title: 'function constant without a value',
    message: 'kernel `{kernel}` needs a value for its function constant `{name}`, {type}{index}',
    help: 'give one: `--constant {name}=VALUE`',
    page: 'A function constant is a value that a Metal program gives when it asks for a kernel (`MTLFunctionConstantValues`), and that the kernel is then compiled with. `cumetal inspect FILE` lists those of each kernel; `cumetal run FILE --constant NAME=VALUE` gives them, by name or by number.',
  },
  CM4055: {
    severity: 'error',
    title: 'value of a function constant',
    message: 'the function constant `{name}` of type {type} cannot have the value given: {why}',
    page: 'A `bool` is `true` or `false`, an integer has the range of its type, a vector as many values as its type, separated by commas.',
  },
  CM4056: {
    severity: 'error',
    title: 'no such function constant',
    message: 'no kernel of the library has a function constant `{name}`',
    page: 'Function constants are given by their names, or by their numbers in `[[function_constant(N)]]`. `cumetal inspect FILE` lists those of each kernel.',
  },
  CM4060: {
    severity: 'error',
    title: 'malformed container',
    message: 'malformed container at byte {offset}: {why}',
    page: 'The file is a fatbinary, a cubin or an ELF file, and does not follow its layout: a size, an offset or a count is wrong, compressed bytes do not unpack to what their header says, or the file is truncated.',
  },
  CM4061: {
    severity: 'error',
    title: 'container without PTX',
    message: 'there is no PTX in this file: {what}',
    help: 'build it with PTX in it: `nvcc -gencode arch=compute_80,code=compute_80 …`, or make PTX alone: `nvcc -ptx -arch=sm_80 …`',
    page: 'A fatbinary, an object or a program can hold PTX, SASS, or both. SASS is the machine code of one family of NVIDIA chips and cannot be compiled for another maker’s. `nvcc -arch=sm_80` keeps both, `-gencode arch=compute_80,code=sm_80` keeps SASS only. `cumetal inspect FILE` lists what is there. Device code that a program loads from shared libraries is in those.',
  },
  CM4062: {
    severity: 'error',
    title: 'several PTX images',
    message: '{count} PTX images for {arch} are in this file: {list}',
    help: 'choose one by its number: `--image N`; `cumetal inspect FILE` shows the kernels of each',
    page: 'Without `--image`, the PTX image for the highest architecture is taken. A program of several source files has one image for each of them, and which is meant cannot be told.',
  },
  CM4063: {
    severity: 'error',
    title: 'no such image',
    message: 'the image that `--image` names is not there: {what}',
    page: '`--image` takes the number of an image, counted from 0 as `cumetal inspect FILE` lists them, or the architecture of a PTX image, such as `sm_80`.',
  },
  CM4064: {
    severity: 'error',
    title: 'unknown compression',
    message: 'image {image} is compressed in a way that is not known',
    help: 'build the file with `nvcc -no-compress`, or print its PTX with NVIDIA’s `cuobjdump -ptx FILE`',
    page: 'Images are raw, or compressed with LZ4 or Zstandard. Very old versions of nvcc compressed in another way.',
  },
});
