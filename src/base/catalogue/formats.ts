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
});
