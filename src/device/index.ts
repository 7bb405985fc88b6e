/**
 * Devices: what runs a metallib. `device.ts` is what every device offers; `cpu/` is the one that is on every machine, `metal/` the
 * GPU of a Mac, `cuda/` an NVIDIA GPU that judges the others and takes PTX. Devices never know each other.
 */
import type { Diagnostics } from '../base/diagnostic.ts';
import { cpuInfo, openCpuDevice } from './cpu/index.ts';
import type { Device, DeviceInfo, EngineOptions } from './device.ts';
import { openCudaDevice, openMetalDevice, systemCuda, systemMetal } from './gpus.ts';

export { openCpuDevice } from './cpu/index.ts';
export type * from './device.ts';
export type * from './profile.ts';
export type * from './trace.ts';

/** The devices of this machine, the preferred one first; what is there to compare with comes last. */
export function devices(): DeviceInfo[] {
  return [systemMetal().info, cpuInfo, systemCuda().info].filter((info) => info !== undefined);
}

/** How this machine's Metal device is reached, in words, and what of the ways before it did not work. */
export interface MetalState {
  readonly name: string | undefined;
  readonly way: string | undefined;
  readonly failures: readonly string[];
}

/** For `cumetal doctor`. */
export function metalState(): MetalState {
  const { binding, info, failures } = systemMetal();
  return { name: info?.name, way: binding?.way, failures };
}

/** Of this machine's CUDA device: its name, or why there is none. */
export interface CudaState {
  readonly name: string | undefined;
  readonly failures: readonly string[];
}

/** For `cumetal doctor`. */
export function cudaState(): CudaState {
  const { info, failures } = systemCuda();
  return { name: info?.name, failures };
}

/** Opens a device by kind, `auto` for the preferred one; nothing after reporting CM6001. */
export function openDevice(name: string, diagnostics: Diagnostics, options: EngineOptions = {}): Device | undefined {
  if (name === 'cpu') return openCpuDevice(options);
  const open = openers[name];
  const opened = open?.();
  if (opened && 'info' in opened) return opened;
  if (name === 'auto') return openCpuDevice(options);
  diagnostics.report('CM6001', { name }, opened ? { notes: opened.failures } : {});
  return undefined;
}

type Opened = Device | { readonly failures: readonly string[] };

const openers: Readonly<Record<string, () => Opened>> = {
  metal: openMetal,
  auto: openMetal,
  cuda: openCuda,
};

function openMetal(): Opened {
  const { binding, failures } = systemMetal();
  const device = binding ? openMetalDevice(binding) : undefined;
  return typeof device === 'object' ? device : { failures: device === undefined ? failures : [...failures, device] };
}

function openCuda(): Opened {
  const { binding, failures } = systemCuda();
  const device = binding ? openCudaDevice(binding) : undefined;
  return typeof device === 'object' ? device : { failures: device === undefined ? failures : [...failures, device] };
}
