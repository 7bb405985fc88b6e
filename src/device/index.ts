/**
 * Devices: what runs a metallib. `device.ts` is what every device offers; `cpu/` is the one that is on every machine, `metal/` the
 * GPU of a Mac. Devices never know each other.
 */
import type { Diagnostics } from '../base/diagnostic.ts';
import { cpuInfo, openCpuDevice } from './cpu/index.ts';
import type { Device, DeviceInfo, EngineOptions } from './device.ts';
import { openMetalDevice, systemMetal } from './metal/index.ts';

export { openCpuDevice } from './cpu/index.ts';
export type * from './device.ts';
export type * from './profile.ts';
export type * from './trace.ts';

/** The devices of this machine, the preferred one first. */
export function devices(): DeviceInfo[] {
  const { info } = systemMetal();
  return info ? [info, cpuInfo] : [cpuInfo];
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

/** Opens a device by kind, `auto` for the preferred one; nothing after reporting CM6001. */
export function openDevice(name: string, diagnostics: Diagnostics, options: EngineOptions = {}): Device | undefined {
  if (name === 'cpu') return openCpuDevice(options);
  if (name !== 'metal' && name !== 'auto') {
    diagnostics.report('CM6001', { name });
    return undefined;
  }
  const { binding, failures } = systemMetal();
  const metal = binding ? openMetalDevice(binding) : undefined;
  if (metal && typeof metal !== 'string') return metal;
  if (name === 'auto') return openCpuDevice(options);
  diagnostics.report('CM6001', { name }, { notes: metal === undefined ? failures : [...failures, metal] });
  return undefined;
}
