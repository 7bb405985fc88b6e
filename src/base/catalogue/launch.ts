/** The words about launches. */
import { entries } from './entry.ts';

/** CM50xx: launches: arguments, sizes, limits. */
export const launch = entries({
  CM5001: {
    severity: 'error',
    title: 'kernel not found',
    message: 'no kernel named `{name}`',
    page: 'The module holds kernels of other names. `cumetal inspect` lists them.',
  },
  CM5002: {
    severity: 'error',
    title: 'several kernels',
    message: 'the module holds {count} kernels and none was chosen: {names}',
    help: 'choose one with `--kernel NAME`',
    page: 'A launch runs one kernel. A module with a single kernel needs no choice.',
  },
  CM5003: {
    severity: 'error',
    title: 'no kernel',
    message: 'the module holds no kernel',
    page: 'Only `.entry` functions are kernels. A module of `.func` functions alone cannot be launched.',
  },
  CM5010: {
    severity: 'error',
    title: 'malformed argument',
    message: 'argument `{spec}` cannot be read: {why}',
    help: '`cumetal run --help` shows every form of an argument',
    page: 'An argument is `f32:1024` (a buffer of zeros), `f32:32x32=iota`, `=ones`, `=fill(2.5)`, `=rand` or `=rand(7)` (initialised), `f32@a.npy` (from a file), `i32=1024` (a scalar), or `bytes@p.bin` (a struct).',
  },
  CM5011: {
    severity: 'error',
    title: 'argument count',
    message: 'kernel `{kernel}` takes {wanted} ({names}), and {given} given',
    page: 'One argument is given for each parameter of the kernel, in the order of the parameters.',
  },
  CM5012: {
    severity: 'error',
    title: 'kind of argument',
    message: 'parameter {index} `{name}` of `{kernel}` is {wanted}, and argument `{spec}` is {given}',
    page: 'A pointer parameter takes a buffer. A parameter passed by value takes a scalar or, for a struct, raw bytes.',
  },
  CM5013: {
    severity: 'error',
    title: 'size of an argument',
    message: 'parameter {index} `{name}` of `{kernel}` holds {wanted} bytes, and argument `{spec}` has {given}',
    page: 'A value is passed byte by byte, so its size must be the size of the parameter.',
  },
  CM5014: {
    severity: 'warning',
    title: 'number kind of an argument',
    message: 'parameter {index} `{name}` of `{kernel}` is {wanted}, and argument `{spec}` is {given}: its bits are passed as they are',
    page: 'The sizes agree, so the launch goes ahead, but an integer read as a float (or the reverse) is seldom meant.',
  },
  CM5020: {
    severity: 'error',
    title: 'block shape',
    message: 'kernel `{kernel}` must be launched with blocks of {wanted}, and the launch has {given}',
    page: 'The source demands this shape with `.reqntid`; any other gives wrong results.',
  },
  CM5021: {
    severity: 'error',
    title: 'threads of a block',
    message: 'a block of {given} threads is more than the {limit} that {who} allows',
    page: 'A block may not have more threads than the device runs in a threadgroup, nor more than `.maxntid` of the kernel says.',
  },
  CM5022: {
    severity: 'error',
    title: 'shared memory',
    message: '{given} bytes of shared memory are more than the {limit} that the device has for a threadgroup',
    page: 'Static and dynamic shared memory of a kernel share the threadgroup memory of the device: 32768 bytes on Apple GPUs, and on the CPU device 232448 for what is compiled with `--target cpu`.',
  },
  CM5023: {
    severity: 'error',
    title: 'unknown symbol',
    message: 'the module has no symbol `{name}` that can be written',
    page: 'The `constants` of a launch file name `.global` and `.const` variables of the module, which are written before the launch. Where all `.const` variables of a module have initial values and are not `.visible`, they are part of the library and cannot be written; nor can variables be where no kernel names any.',
  },
  CM5024: {
    severity: 'error',
    title: 'launch shape',
    message: 'this is no shape of a launch: {given}',
    page: 'Blocks in the grid, threads in a block and bytes of shared memory are whole numbers below 2^31.',
  },
  CM5025: {
    severity: 'error',
    title: 'size of a symbol',
    message: 'symbol `{name}` has {size} bytes, and `{path}` {given}',
    page: 'A file that a module symbol is written from holds all of it.',
  },
  CM5030: {
    severity: 'error',
    title: 'file cannot be read',
    message: 'cannot read `{path}`: {why}',
    page: 'The file is missing, is a folder, or may not be read.',
  },
  CM5031: {
    severity: 'error',
    title: 'file cannot be written',
    message: 'cannot write `{path}`: {why}',
    page: 'The folder is missing or may not be written.',
  },
  CM5032: {
    severity: 'error',
    title: 'unreadable .npy',
    message: '`{path}` cannot be read as .npy: {why}',
    page: 'Versions 1 to 3 of the format are read, with little-endian numbers in C order. `numpy.ascontiguousarray(a).astype("<f4")` makes such an array.',
  },
  CM5033: {
    severity: 'error',
    title: 'contents of a file',
    message: '`{path}` holds {found}, and {wanted} was expected',
    page: 'The element type, shape and size of a file must be those of the buffer. bf16 is stored as u16, because numpy has no bfloat16.',
  },
  CM5035: {
    severity: 'error',
    title: 'not a picture',
    message: 'argument {index} cannot be written to `{path}`: a .pgm needs a buffer of two dimensions, and this one is {shape}',
    help: 'give the argument a shape such as `u8:256x256`',
    page: 'A `.pgm` file is a grey picture: rows times columns.',
  },
  CM5040: {
    severity: 'error',
    title: 'launch file is not JSON',
    message: 'launch file `{path}` is not JSON: {why}',
    page: 'A launch file is one JSON object. JSON has no comments and no trailing commas.',
  },
  CM5041: {
    severity: 'error',
    title: 'launch file',
    message: 'launch file `{path}`: `{at}` {why}',
    page: 'A launch file follows `launch.schema.json`: module, kernel, grid, block and args are required, and unknown keys are refused.',
  },
  CM5042: {
    severity: 'error',
    title: 'launch line',
    message: 'launch line {line}: {why}',
    page: 'Comment lines `//! cumetal: --grid 4 --block 256 --arg f32:1024` carry the launch of a PTX file. They are joined and read as if typed, with quotes as in a shell.',
  },
  CM5050: {
    severity: 'error',
    title: 'no such buffer',
    message: '`--{word} {index}` names no buffer: {why}',
    page: 'Arguments are counted from 0 in the order of the kernel parameters; only buffers can be printed, saved or checked.',
  },
  CM5090: {
    severity: 'error',
    title: 'several modules',
    message: 'the file has {count} entries, and `--emit air` writes one bitcode module, which holds one kernel',
    help: 'choose one with `--entry NAME`',
    page: 'A metallib holds one bitcode module per kernel. `--emit metallib` takes any number of them.',
  },
});
