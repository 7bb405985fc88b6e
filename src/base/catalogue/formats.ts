/** Diagnostics of bitcode, metallibs, AIR and containers. */
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
    page: 'The file is readable, but differs from every known Metal library in a hash, a size or the place of a section.',
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
    title: 'kernel not supported',
    message: 'kernel `{kernel}` cannot run on this device: {why} is not supported',
    page: 'The CPU device runs compute kernels. It rejects every feature that it does not implement exactly, such as textures.',
  },
  CM4054: {
    severity: 'error',
    title: 'function constant without a value',
    message: 'kernel `{kernel}` needs a value for its function constant `{name}`, {type}{index}',
    help: 'set it with `--constant {name}=VALUE`',
    page: 'A function constant is a value that a Metal program sets when it creates a pipeline (`MTLFunctionConstantValues`); the kernel is compiled with that value. `cumetal inspect FILE` lists the constants of each kernel. `cumetal run FILE --constant NAME=VALUE` sets them, by name or by number.',
  },
  CM4055: {
    severity: 'error',
    title: 'invalid function constant value',
    message: 'invalid value for the function constant `{name}` of type {type}: {why}',
    page: 'A `bool` is `true` or `false`. An integer must be in the range of its type. A vector has as many values as its type, separated by commas.',
  },
  CM4056: {
    severity: 'error',
    title: 'unknown function constant',
    message: 'no kernel of the library has a function constant `{name}`',
    page: 'A function constant is identified by its name, or by its number in `[[function_constant(N)]]`. `cumetal inspect FILE` lists the constants of each kernel.',
  },
  CM4060: {
    severity: 'error',
    title: 'malformed container',
    message: 'malformed container at byte {offset}: {why}',
    page: 'The file is a fatbinary, a cubin or an ELF file with an invalid layout: a size, an offset or a count is wrong, compressed data does not match its header, or the file is truncated.',
  },
  CM4061: {
    severity: 'error',
    title: 'container without PTX',
    message: 'the file contains no PTX: {what}',
    help: 'build it with PTX: `nvcc -gencode arch=compute_80,code=compute_80 …`, or compile to PTX: `nvcc -ptx -arch=sm_80 …`',
    page: 'A fatbinary, an object file or a program can contain PTX, SASS, or both. SASS is the machine code of one NVIDIA architecture and cannot be compiled for other GPUs. `nvcc -arch=sm_80` keeps both, `-gencode arch=compute_80,code=sm_80` keeps SASS only. `cumetal inspect FILE` lists the images. Device code in a shared library is not part of the program file.',
  },
  CM4062: {
    severity: 'error',
    title: 'several PTX images',
    message: 'the file contains {count} PTX images for {arch}: {list}',
    help: 'select one by its number: `--image N`; `cumetal inspect FILE` lists the kernels of each image',
    page: 'Without `--image`, the PTX image for the highest architecture is used. A program of several source files has one image per file, so the choice is ambiguous.',
  },
  CM4063: {
    severity: 'error',
    title: 'unknown image',
    message: 'unknown image for `--image`: {what}',
    page: '`--image` takes the number of an image, counted from 0 as `cumetal inspect FILE` lists them, or the architecture of a PTX image, such as `sm_80`.',
  },
  CM4065: {
    severity: 'error',
    title: 'image unpacks to too much',
    message: 'image {image} has {stored} compressed bytes and claims to unpack to {size}, where {limit} are the limit',
    help: 'build the file with `nvcc -no-compress`, or print its PTX with NVIDIA’s `cuobjdump -ptx FILE`',
    page: 'PTX is compressed to about a tenth. A small image that claims to unpack to far more is refused, because the text that it stands for could exhaust memory.',
  },
  CM4064: {
    severity: 'error',
    title: 'unknown compression',
    message: 'image {image} has an unknown compression',
    help: 'build the file with `nvcc -no-compress`, or print its PTX with NVIDIA’s `cuobjdump -ptx FILE`',
    page: 'Images are uncompressed, or compressed with LZ4 or Zstandard. Very old versions of nvcc use another compression.',
  },
  CM4070: {
    severity: 'error',
    title: 'not PTX',
    message: '`{path}` is {what}, not PTX',
    page: 'The input is PTX text, a `.metallib`, a fatbinary, cubin, object file or program that contains PTX, an AIR module as `cumetal build --emit air` or `air-ll` writes it, or a `.cu` file where nvcc or clang is installed.',
  },
  CM4080: {
    severity: 'error',
    title: 'no translation to PTX',
    message: 'no translation to PTX for {what}, in `{name}` at {where}',
    page: 'The device half of a `.cu` file becomes LLVM IR, which this compiler translates to PTX. Constructs without a translation are refused: variadic functions, arrays of variable size in local memory, functions that no file defines.',
  },
  CM4072: {
    severity: 'error',
    title: 'unreadable LLVM text',
    message: 'this LLVM text cannot be read: {why}',
    help: '`llvm-as` of LLVM 14 reads any text; pass its bitcode',
    page: 'The reader of LLVM text takes what `cumetal build --emit air-ll` and `cumetal inspect --disassemble` write: typed pointers, no debug information. Other text is refused instead of guessed.',
  },
  CM4071: {
    severity: 'error',
    title: 'not an AIR module of this compiler',
    message: 'the LLVM module cannot become a metallib: {why}',
    help: 'pass PTX; LLVM IR for NVIDIA GPUs becomes PTX with `llc -march=nvptx64 -mcpu=sm_80`',
    page: 'A metallib contains one AIR module for each kernel: LLVM 14 bitcode for `air64-apple-…` with the metadata `!air.kernel`. `cumetal build --emit air` writes such a module, and `--emit air-ll` its text. Modules of other compilers are linked by Apple’s `metallib`.',
  },
});
