/**
 * The OpenCL device: it runs metallibs on a device of an OpenCL driver, as OpenCL C that `src/text` prints. Buffers are shared virtual memory, so
 * that their addresses may be in memory. Start at `library.ts`, then `launch.ts`.
 */
import type { ClHandle, OpenclBinding } from '../../ffi/index.ts';
import type { Device } from '../device.ts';
import { allocate, reserve } from './buffer.ts';
import type { Context } from './context.ts';
import { openclInfo, systemOpencl } from './info.ts';
import { loadModule } from './library.ts';

export { systemOpencl } from './info.ts';

/** Opens an OpenCL device, the first usable one by default; a text if that fails. */
export function openOpenclDevice(binding: OpenclBinding, device: ClHandle | undefined = systemOpencl().device): Device | string {
  const made = device === undefined ? undefined : binding.context(device);
  const queue = made === undefined ? undefined : binding.queue(made, device!);
  if (device === undefined || made === undefined || queue === undefined) {
    const { call, name } = binding.lastFault();
    if (made !== undefined) binding.releaseContext(made);
    return `${call}: ${name}`;
  }
  const context: Context = {
    binding,
    info: openclInfo(binding, device),
    device,
    context: made,
    queue,
    memory: new Set(),
    addressed: new Set(),
    programs: new Set(),
    heap: undefined,
    isClosed: false,
    lost: undefined,
  };
  return {
    info: context.info,
    allocate: (size, diagnostics) => allocate(context, size, diagnostics),
    reserve: (size, diagnostics) => reserve(context, size, diagnostics),
    load: (metallib, diagnostics, options = {}) => loadModule(context, metallib, options, diagnostics),
    close: () => close(context),
  };
}

function close(context: Context): void {
  const { binding, memory, programs, queue, context: own } = context;
  if (context.isClosed) return;
  context.isClosed = true;
  // Closing would wait for a kernel that never ends.
  if (context.lost !== undefined) return;
  for (const address of memory) binding.free(own, address);
  for (const program of programs) binding.releaseProgram(program);
  binding.releaseQueue(queue);
  binding.releaseContext(own);
}
