/** The words about how the API is used: memory, streams, events, typed arguments. */
import { entries } from './entry.ts';

/** CM506x and CM507x: the API. */
export const api = entries({
  CM5060: {
    severity: 'error',
    title: 'state of a buffer',
    message: '{what} is for {wanted} memory, and this buffer is {given}',
    page: 'Kernels see `device` and `unified` memory. The host sees `host`, `staging` and `unified` memory in place, and reaches `device` memory by copies.',
  },
  CM5061: {
    severity: 'error',
    title: 'used after its end',
    message: 'the {what} was {ended}, and cannot be used any more',
    page: 'A buffer that was freed, or a stream, event, module or device that was closed. Work that was under way is not disturbed: memory is given back when it has ended.',
  },
  CM5062: {
    severity: 'error',
    title: 'of another device',
    message: 'the {what} belongs to another device',
    page: 'Buffers, streams, events and modules belong to the device that they were made by. An event of another device may be waited for, but not recorded.',
  },
  CM5063: {
    severity: 'error',
    title: 'outside of a buffer',
    message: 'a part of {count} from {start} on is not within {size}',
    page: 'A copy, a fill or a part of a buffer has to lie within it, and a typed part has to start at a multiple of its element.',
  },
  CM5064: {
    severity: 'error',
    title: 'address of nothing',
    message: 'no memory of the device is at address {address}',
    page: 'An address is given by `buffer.address`, or by `cudaMalloc`, and may be moved within the buffer. That of memory that was freed is one of nothing.',
  },
  CM5065: {
    severity: 'error',
    title: 'no unified memory',
    message: 'the host cannot see memory of {name} in place',
    help: 'use `device` memory, and copy',
    page: 'On Apple GPUs all memory is unified. On the CPU device it is where the JavaScript engine lets WebAssembly memory grow in place (`WebAssembly.Memory.prototype.toResizableBuffer`), as Bun does.',
  },
  CM5066: {
    severity: 'error',
    title: 'in use',
    message: 'the buffer is used by work that has not ended',
    help: '`await device.synchronize()` first',
    page: 'The host may look at unified memory while no kernel and no copy uses it. As on GPUs that share memory without watching it, what is seen meanwhile would be anything.',
  },
  CM5067: {
    severity: 'error',
    title: 'event without a time',
    message: 'an event has no time: {why}',
    page: 'The time between two events is known where both were recorded, by the same device, and neither was made without timing.',
  },
  CM5068: {
    severity: 'error',
    title: 'not yet',
    message: 'the {what} has not come to its end yet',
    help: '`await` its `synchronize()` first',
    page: 'The time between two events is known when the work before both has ended.',
  },
  CM5069: {
    severity: 'error',
    title: 'called back',
    message: 'a function that a stream calls may not use the device',
    page: 'As in CUDA, host functions in a stream can wake up others, but neither hand over work nor wait for it.',
  },
  CM5070: {
    severity: 'error',
    title: 'value of an argument',
    message: 'parameter {index} `{name}` of `{kernel}` is {wanted}, and {given} is given',
    page: 'Numbers are packed as the type of the parameter that the kernel describes: integers have to be whole and fit, signed or not; 64 bits want a bigint or a whole number that is exact. Where the kernel describes no type, bytes are wanted.',
  },
  CM5071: {
    severity: 'error',
    title: 'signature of a kernel',
    message: 'the signature of `{kernel}` says {given} for parameter {index}, which is {wanted}',
    page: 'A signature such as `["f32", "f32*", "u32"]` gives the arguments of a kernel their types in TypeScript. It has to agree with what the kernel itself describes: how many parameters, which are pointers, how many bytes values have, and whether they are floats.',
  },
  CM5072: {
    severity: 'error',
    title: 'failed device',
    message: 'the device takes nothing more, since it has failed: {why}',
    help: '`device.reset()` starts afresh, without memory and modules',
    page: 'As in CUDA, an error of a kernel stays with the device: memory is in an unknown state, so nothing that was handed over after it is done, and all further calls fail.',
  },
  CM5073: {
    severity: 'error',
    title: 'callback failed',
    message: 'a function that a stream called has thrown: {why}',
    page: 'The stream goes on with what comes after it. The error is told when the stream or the device is waited for.',
  },
  CM5075: {
    severity: 'error',
    title: 'copy failed',
    message: 'the device did not copy: {why}',
    page: 'A copy that was in order could not be done when its turn came: the driver refused it, or the device was lost meanwhile.',
  },
  CM5074: {
    severity: 'error',
    title: 'elements of a buffer',
    message: 'the buffer holds {wanted}, and {given} is given',
    page: 'Data comes as the typed array of the buffer’s elements, as a list of numbers, or as bytes (`Uint8Array`), which are copied as they are. Halves and bfloats are a `Uint16Array` of their bits.',
  },
});
