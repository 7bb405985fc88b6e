/**
 * Devices, which run metallibs. `device.ts` is the interface of every device, `validate-launch.ts` checks its launch requests. `cpu/` is the
 * device of every machine, `metal/` the GPU of a Mac, `cuda/` an NVIDIA GPU that runs PTX as a reference, `opencl/` a device of an OpenCL driver,
 * `webgpu/` a GPU by WebGPU. Devices do not know each other.
 */
import type { Diagnostics } from '../base/diagnostic.ts';
import { cpuInfo, openCpuDevice } from './cpu/index.ts';
import type { Device, DeviceInfo, DeviceKind, OpenOptions } from './device.ts';
import {
  openCudaDevice,
  openMetalDevice,
  openOpenclDevice,
  openWebgpuDevice,
  prepareWebgpu as prepare,
  systemCuda,
  systemMetal,
  systemOpencl,
} from './gpus.ts';
import { areOpenOptions, isKind } from './open-options.ts';

export { type Diagnostic, Diagnostics } from '../base/diagnostic.ts';
export { defaultStackBytes } from '../ir/index.ts';
export { openCpuDevice } from './cpu/index.ts';
export { pointerRange } from './cpu/memory.ts';
export type * from './device.ts';
export type * from './images.ts';
export type * from './profile.ts';
export type * from './trace.ts';

/**
 * Connects to the GPU of a page, so that a device can be opened: in a worker, whose thread may wait. A text if that fails. Elsewhere it does nothing,
 * since a device is opened without it. The types of the package end here: those of GPUs name what only Bun has.
 */
export const prepareWebgpu = (): Promise<string | undefined> => prepare();

/** The devices of this machine, the preferred one first. */
export function devices(): DeviceInfo[] {
  return [systemMetal().info, cpuInfo, ...systemCuda().infos, systemOpencl().info].filter((info) => info !== undefined);
}

/** The Metal device of this machine: how it is reached, and the ways that failed before. */
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

/** The CUDA device of this machine: its name, or why there is none. */
export interface CudaState {
  readonly name: string | undefined;
  readonly failures: readonly string[];
}

/** For `cumetal doctor`. */
export function cudaState(): CudaState {
  const { info, failures } = systemCuda();
  return { name: info?.name, failures };
}

/** Opens a device by kind, `auto` for the preferred one; undefined after reporting CM5078 or CM6001. */
export function openDevice(name: DeviceKind, diagnostics: Diagnostics, options: OpenOptions = {}): Device | undefined {
  if (!isKind(name, diagnostics) || !areOpenOptions(options, diagnostics)) return undefined;
  if (name === 'cpu') return openCpuDevice(options);
  const [, kind = name, ordinal = '0'] = /^(cuda):(\d{1,3})$/.exec(name) ?? [];
  const open = Object.hasOwn(openers, kind) ? openers[kind] : undefined;
  const opened = open?.(options, Number(ordinal));
  if (opened && 'info' in opened) return opened;
  if (name === 'auto') return openCpuDevice(options);
  diagnostics.report('CM6001', { name }, opened ? { notes: opened.failures } : {});
  return undefined;
}

type Opened = Device | { readonly failures: readonly string[] };

const openers: Readonly<Record<string, (options: OpenOptions, ordinal: number) => Opened>> = {
  metal: openMetal,
  auto: openMetal,
  cuda: openCuda,
  opencl: openOpencl,
  webgpu: openWebgpu,
};

function openMetal({ via }: OpenOptions): Opened {
  const { binding, failures } = systemMetal();
  const device = binding ? openMetalDevice(binding, via) : undefined;
  return typeof device === 'object' ? device : { failures: device === undefined ? failures : [...failures, device] };
}

function openCuda(_: OpenOptions, ordinal: number): Opened {
  const { binding, failures } = systemCuda();
  const device = binding ? openCudaDevice(binding, ordinal) : undefined;
  return typeof device === 'object' ? device : { failures: device === undefined ? failures : [...failures, device] };
}

function openOpencl(): Opened {
  const { binding, failures } = systemOpencl();
  const device = binding ? openOpenclDevice(binding) : undefined;
  return typeof device === 'object' ? device : { failures: device === undefined ? failures : [...failures, device] };
}

function openWebgpu({ fp }: OpenOptions): Opened {
  const device = openWebgpuDevice(fp);
  return typeof device === 'string' ? { failures: [device] } : device;
}
