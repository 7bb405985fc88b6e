/**
 * The CUDA device: it runs PTX unchanged on an NVIDIA GPU, as the reference for the other devices. It loads no metallibs; the layout of
 * parameters comes from our own front end. Start at `library.ts`, then `launch.ts`.
 */
import type { Diagnostics } from '../../base/diagnostic.ts';
import type { CudaBinding } from '../../ffi/index.ts';
import type { Device } from '../device.ts';
import { allocate } from './buffer.ts';
import type { Context } from './context.ts';
import { faultText, isSticky } from './faults.ts';
import { cudaInfo, firstDevice } from './info.ts';
import { loadModule } from './library.ts';

export { systemCuda } from './info.ts';

/** Opens the first CUDA device in its primary context; a text if there is none. */
export function openCudaDevice(binding: CudaBinding): Device | string {
  if (binding.deviceCount() <= firstDevice) return 'the CUDA driver is here, and no device of it';
  const isOpen = binding.retain(firstDevice) !== undefined;
  const stream = isOpen ? binding.stream() : undefined;
  const start = stream && binding.event();
  const end = start && binding.event();
  if (!stream || !start || !end) {
    const fault = binding.lastFault();
    if (isOpen) binding.release(firstDevice);
    return isSticky(fault)
      ? `the CUDA driver serves this process no more, since a kernel has failed: ${faultText(fault)}`
      : faultText(fault);
  }
  const context: Context = {
    binding,
    info: cudaInfo(binding, firstDevice),
    stream,
    events: { start, end },
    memory: new Set(),
    modules: new Set(),
    isClosed: false,
    lost: undefined,
    isRunning: false,
  };
  return {
    info: context.info,
    allocate: (size, diagnostics, isSeen = false) => allocate(context, size, diagnostics, isSeen),
    load(_, diagnostics) {
      diagnostics.report('CM6040', {});
      return undefined;
    },
    loadPtx: (module, diagnostics: Diagnostics) => loadModule(context, module, diagnostics),
    close: () => close(context),
  };
}

function close(context: Context): void {
  const { binding, stream, events, memory, modules } = context;
  if (context.isClosed) return;
  context.isClosed = true;
  // Closing would wait for a kernel that never ends; the end of the process ends it.
  if (context.isRunning) return;
  // After a sticky error the context is useless. Whether the process can have another one depends on the driver.
  if (context.lost !== undefined) {
    binding.reset(firstDevice);
    return;
  }
  for (const address of memory) binding.free(address);
  for (const module of modules) binding.unload(module);
  for (const event of [events.start, events.end]) binding.endEvent(event);
  binding.endStream(stream);
  binding.release(firstDevice);
}
