/**
 * The CUDA device: hands PTX to the driver of an NVIDIA GPU, as it is. It is the judge of the other devices: what it computes is what the
 * PTX means. It takes no metallibs; how parameters lie is what our own front end says. Start at `library.ts`, then `launch.ts`.
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

/** The first CUDA device, in its primary context; in words why there is none. */
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
  // A kernel that never ends would be waited for; the end of the process ends it.
  if (context.isRunning) return;
  // After an error that stays the context is of no use to anybody. Whether there can be another in this process is the driver's to say.
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
