/** Diagnostics of the API: memory, streams, events, typed arguments. */
import { entries } from './entry.ts';

/** CM506x and CM507x: the API. */
export const api = entries({
  CM5060: {
    severity: 'error',
    title: 'wrong buffer state',
    message: '{what} requires {wanted} memory, and this buffer is {given}',
    page: 'Kernels see `device` and `unified` memory. The host sees `host`, `staging` and `unified` memory in place, and reaches `device` memory by copies.',
  },
  CM5061: {
    severity: 'error',
    title: 'use after free or close',
    message: 'the {what} was {ended} and cannot be used anymore',
    page: 'The buffer was freed, or the stream, event, module or device was closed. Pending work is not affected: its memory is released when it has finished.',
  },
  CM5062: {
    severity: 'error',
    title: 'wrong device',
    message: 'the {what} belongs to another device',
    page: 'Buffers, streams, events and modules belong to the device that created them. A stream can wait for an event of another device, but cannot record it.',
  },
  CM5063: {
    severity: 'error',
    title: 'range outside the buffer',
    message: 'the range of {count} starting at {start} is not within {size}',
    page: 'A copy, a fill or a part of a buffer must lie within the buffer. A typed part must start at a multiple of its element size.',
  },
  CM5064: {
    severity: 'error',
    title: 'invalid device address',
    message: 'address {address} is not in any memory of the device',
    page: 'Valid addresses come from `buffer.address` or `cudaMalloc`, plus any offset within the buffer. The address of freed memory is invalid.',
  },
  CM5065: {
    severity: 'error',
    title: 'no unified memory',
    message: 'the host cannot access the memory of {name} directly',
    help: 'use `device` memory, and copy',
    page: 'Memory of Apple GPUs is always unified. Memory of the CPU device is unified if the JavaScript engine supports resizable WebAssembly memory (`WebAssembly.Memory.prototype.toResizableBuffer`), as Bun does.',
  },
  CM5066: {
    severity: 'error',
    title: 'buffer in use',
    message: 'the buffer is in use by pending work',
    help: '`await device.synchronize()` first',
    page: 'The host can access unified memory only while no kernel and no copy uses it. A concurrent access would read undefined contents, as on GPUs without coherent unified memory.',
  },
  CM5067: {
    severity: 'error',
    title: 'event without a time',
    message: 'the event has no time: {why}',
    page: 'The elapsed time between two events requires that both were recorded on the same device, and that neither was created without timing.',
  },
  CM5068: {
    severity: 'error',
    title: 'not finished',
    message: 'the {what} has not finished yet',
    help: '`await` its `synchronize()` first',
    page: 'The elapsed time between two events is available when the work before both has finished.',
  },
  CM5069: {
    severity: 'error',
    title: 'device used in a callback',
    message: 'a host function in a stream cannot use the device',
    page: 'As in CUDA, a host function in a stream can neither enqueue work nor wait for it.',
  },
  CM5070: {
    severity: 'error',
    title: 'invalid argument value',
    message: 'parameter {index} `{name}` of `{kernel}` is {wanted}, but the argument is {given}',
    page: 'A number is converted to the type of the parameter. An integer must be whole and in range, signed or unsigned; a 64-bit integer is a bigint or a safe integer. A parameter without a known type takes bytes.',
  },
  CM5071: {
    severity: 'error',
    title: 'signature mismatch',
    message: 'the signature of `{kernel}` has {given} for parameter {index}, which is {wanted}',
    page: 'A signature such as `["f32", "f32*", "u32"]` declares the TypeScript types of the arguments. It must match the kernel: the number of parameters, which of them are pointers, the sizes of values, and whether they are floating-point.',
  },
  CM5072: {
    severity: 'error',
    title: 'failed device',
    message: 'the device has failed and accepts no more work: {why}',
    help: '`device.reset()` reopens it, without its memory and modules',
    page: 'As in CUDA, the error of a kernel is sticky: memory is in an unknown state, so work enqueued after the kernel is dropped, and every further call fails.',
  },
  CM5073: {
    severity: 'error',
    title: 'callback failed',
    message: 'a host function in a stream threw an exception: {why}',
    page: 'The stream continues with its next work. The error is reported when the stream or the device is synchronized.',
  },
  CM5075: {
    severity: 'error',
    title: 'copy failed',
    message: 'the copy failed: {why}',
    page: 'A valid copy failed when it was executed: the driver rejected it, or the device was lost.',
  },
  CM5076: {
    severity: 'error',
    title: 'device closed before its work ended',
    message: 'the device was {ended} before its work had finished',
    help: 'await the work or a synchronization before closing the device; `await using` does so',
    page: 'Closing or resetting a device drops the work that has not started and cancels running launches. A synchronization that waited for this work rejects, because its results do not exist.',
  },
  CM5077: {
    severity: 'error',
    title: 'invalid time limit',
    message: 'the time limit of a launch is {given}, which is not a number of milliseconds',
    help: 'pass a finite number of at least 0; 0 is no limit',
    page: 'A time limit is a finite number of milliseconds that is not negative. 0 means that the launch has no limit; `Infinity` is not accepted, so that a failed computation of a limit is noticed.',
  },
  CM5078: {
    severity: 'error',
    title: 'invalid device option',
    message: 'the device option `{option}` is {given}, but {wanted} was expected',
    page: 'The options of a device are checked when it is opened: its kind is a text, `engine`, `fma` and `denormals` by name, `threads` as a positive integer, `lanes` as 4, 8, 16 or 32.',
  },
  CM5074: {
    severity: 'error',
    title: 'element type mismatch',
    message: 'the buffer holds {wanted}, but the data is {given}',
    page: 'The data is a typed array of the buffer’s element type, a list of numbers, or bytes (`Uint8Array`), which are copied verbatim. Numbers are rounded to floats, and integers must be in the range of their type. f16 and bf16 data is also a `Float32Array` of numbers or a `Uint16Array` of bits.',
  },
});
