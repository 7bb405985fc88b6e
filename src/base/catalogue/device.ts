/** The words of device faults. */
import { entries } from './entry.ts';

/** CM60xx: devices. */
export const device = entries({
  CM6001: {
    severity: 'error',
    title: 'no such device here',
    message: 'device `{name}` is not on this machine',
    help: '`cumetal devices` lists what is here',
    page: 'The device asked for needs hardware, a driver or an operating system that this machine does not have.',
  },
  CM6010: {
    severity: 'error',
    title: 'time is up',
    message: 'kernel `{kernel}` was stopped after {seconds} s, in block ({block}) at thread ({thread})',
    help: 'a longer limit: `--timeout SECONDS`; 0 is none',
    page: 'The kernel ran longer than the launch allows. A loop that never ends, or threads of one block that wait for each other without a barrier, look like this.',
  },
  CM6011: {
    severity: 'error',
    title: 'access outside memory',
    message: 'kernel `{kernel}` accessed an address outside of device memory, in block ({block}) at thread ({thread}){others}',
    page: 'The address is that of no memory: a null pointer, an index far too large, or a buffer that was freed. Writes of blocks before this one have happened. Threads that run as one strip access memory together: `--engine=lane` names the very one, and minds all 64 bits of an address, of which strips take 32.',
  },
  CM6012: {
    severity: 'error',
    title: 'memory exhausted',
    message: 'the device has no {bytes} bytes left for {what}',
    page: 'The CPU device has just under 4 GiB for all buffers together.',
  },
  CM6013: {
    severity: 'error',
    title: 'kernel too large',
    message: 'kernel `{kernel}` is too large for the CPU device: {what}',
    help: 'unroll less, or split the kernel',
    page: 'JavaScript engines take WebAssembly functions of at most 50 000 local variables and some 7 MB of code. A kernel, from one barrier to the next, is one function.',
  },
  CM6014: {
    severity: 'error',
    title: 'the kernel stopped itself',
    message: 'kernel `{kernel}` stopped itself: {why}',
    page: 'A thread executed `trap`, or an `assert` failed. The thread ends there, the others go on to their end, and what the launch wrote is not to be used.',
  },
  CM6015: {
    severity: 'warning',
    title: 'lost lines',
    message: 'kernel `{kernel}` printed more than there is room for: {count} calls of `printf` are lost',
    help: 'print from fewer threads, or less often',
    page: 'What a launch prints is kept in a buffer of 1 MiB until the kernel has ended, as on an NVIDIA GPU. Calls for which it has no room print nothing. Unlike there, the first calls are kept and not the last.',
  },
});
