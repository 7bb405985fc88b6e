/**
 * The Metal device: it runs metallibs on the GPU of a Mac. It knows the kernel ABI and the steps of a Metal launch; pointers and Objective-C
 * are in `src/ffi`. Start at `library.ts`, then `launch.ts`.
 */
import type { MetalBinding } from '../../ffi/index.ts';
import type { Device, Via } from '../device.ts';
import { allocate, reserve } from './buffer.ts';
import type { Context } from './context.ts';
import { metalInfo } from './info.ts';
import { loadModule } from './library.ts';

export { type SystemMetal, systemMetal } from './info.ts';

/** Most command buffers of the queue; requesting one more would block. */
const maxCommandBuffers = 1024;

/** Opens a Metal device over a binding; a text if there is none. `via` is what the driver gets of a library. */
export function openMetalDevice(binding: MetalBinding, via: Via = 'auto'): Device | string {
  const device = binding.device();
  if (!device) return binding.lastFault().text;
  const queue = binding.queue(device, maxCommandBuffers);
  if (!queue) {
    const { text } = binding.lastFault();
    binding.release(device);
    return text;
  }
  binding.setLabel(queue, 'cumetal');
  const info = metalInfo(binding, device);
  const context: Context = {
    binding,
    info,
    device,
    queue,
    owned: new Set([queue]),
    memory: new Map(),
    heap: undefined,
    addressed: new Set(),
    via,
    hasSaidSource: false,
    isClosed: false,
    lost: undefined,
  };
  return {
    info,
    allocate: (size, diagnostics) => allocate(context, size, diagnostics),
    reserve: (size, diagnostics) => reserve(context, size, diagnostics),
    load: (metallib, diagnostics, options = {}) => loadModule(context, metallib, options, diagnostics),
    close() {
      if (context.isClosed) return;
      context.isClosed = true;
      for (const object of context.owned) binding.release(object);
      context.owned.clear();
      binding.release(device);
    },
  };
}
