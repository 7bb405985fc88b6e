/**
 * The Metal device: hands the bytes of a metallib to the GPU of a Mac. It knows the kernel ABI and how a Metal host goes about a
 * launch; pointers and Objective-C are the business of `src/ffi`. Start at `library.ts`, then `launch.ts`.
 */
import type { Diagnostics } from '../../base/diagnostic.ts';
import type { MetalBinding } from '../../ffi/index.ts';
import type { Device } from '../device.ts';
import { allocate } from './buffer.ts';
import type { Context } from './context.ts';
import { metalInfo } from './info.ts';
import { loadModule } from './library.ts';

export { type SystemMetal, systemMetal } from './info.ts';

/** Command buffers that may wait in the queue; asking for one more would block. */
const mostCommandBuffers = 1024;

/** A Metal device over a binding; in words why there is none. */
export function openMetalDevice(binding: MetalBinding): Device | string {
  const device = binding.device();
  if (!device) return binding.lastFault().text;
  const queue = binding.queue(device, mostCommandBuffers);
  if (!queue) {
    const { text } = binding.lastFault();
    binding.release(device);
    return text;
  }
  binding.setLabel(queue, 'cumetal');
  const info = metalInfo(binding, device);
  const context: Context = { binding, info, device, queue, owned: new Set([queue]), addressed: new Set(), lost: undefined };
  let isOpen = true;
  return {
    info,
    allocate: (size: number, diagnostics: Diagnostics) => allocate(context, size, diagnostics),
    load: (metallib: Uint8Array, diagnostics: Diagnostics) => loadModule(context, metallib, diagnostics),
    close() {
      if (!isOpen) return;
      isOpen = false;
      for (const object of context.owned) binding.release(object);
      context.owned.clear();
      binding.release(device);
    },
  };
}
