/**
 * The CUDA device: it runs PTX unchanged on an NVIDIA GPU, as the reference for the other devices. It loads no metallibs; the layout of
 * parameters comes from our own front end. Start at `library.ts`, then `launch.ts`.
 */
import { Diagnostics } from '../../base/diagnostic.ts';
import { type CudaBinding, retainContext } from '../../ffi/index.ts';
import type { Device } from '../device.ts';
import { allocate, reserve } from './buffer.ts';
import type { Context } from './context.ts';
import { faultText, isSticky } from './faults.ts';
import { imagesOf } from './images.ts';
import { cudaInfo } from './info.ts';
import { loadModule } from './library.ts';
import { closeQueue, drainQueue, openQueue } from './queue.ts';

export { systemCuda } from './info.ts';

/** Opens a CUDA device in its primary context; a text if there is none. `CUDA_VISIBLE_DEVICES` orders the devices. */
export function openCudaDevice(driver: CudaBinding, ordinal = 0): Device | string {
  const count = driver.deviceCount();
  if (count === 0) return 'the CUDA driver is here, and no device of it';
  if (ordinal >= count) return `the CUDA driver has ${count === 1 ? 'one device' : `${count} devices`}, and no \`cuda:${ordinal}\``;
  const retained = retainContext(driver, ordinal);
  const binding = retained?.binding ?? driver;
  const stream = retained && binding.stream();
  const start = stream && binding.event();
  const end = start && binding.event();
  if (!stream || !start || !end) {
    const fault = binding.lastFault();
    if (retained) binding.release(ordinal);
    return isSticky(fault)
      ? `the CUDA driver serves this process no more, since a kernel has failed: ${faultText(fault)}`
      : faultText(fault);
  }
  const images = imagesOf(binding, () => !context.isClosed && context.lost === undefined);
  const context: Context = {
    binding,
    driver,
    handle: retained!.handle,
    ordinal,
    info: cudaInfo(binding, ordinal),
    stream,
    events: { start, end },
    queue: openQueue(binding, ordinal, stream),
    memory: new Set(),
    modules: new Set(),
    images,
    isClosed: false,
    lost: undefined,
    isRunning: false,
  };
  return {
    info: context.info,
    allocate: (size, diagnostics, isSeen = false) => allocate(context, size, diagnostics, isSeen),
    reserve: (size, diagnostics, isSeen = false) => reserve(context, size, diagnostics, isSeen),
    load(_, diagnostics) {
      diagnostics.report('CM6040', {});
      return undefined;
    },
    loadPtx: (module, diagnostics: Diagnostics) => loadModule(context, module, diagnostics),
    images,
    close: () => close(context),
  };
}

function close(context: Context): void {
  const { binding, ordinal, stream, events, memory, modules, images, queue } = context;
  if (context.isClosed) return;
  if (queue) drainQueue(context, queue, new Diagnostics());
  context.isClosed = true;
  // Closing would wait for a kernel that never ends; the end of the process ends it.
  if (context.isRunning) return;
  // After a sticky error the context is useless. Whether the process can have another one depends on the driver.
  if (context.lost !== undefined) {
    binding.reset(ordinal);
    return;
  }
  images.close();
  if (queue) closeQueue(binding, queue);
  for (const address of memory) binding.free(address);
  for (const module of modules) binding.unload(module);
  for (const event of [events.start, events.end]) binding.endEvent(event);
  binding.endStream(stream);
  binding.release(ordinal);
}
