/**
 * Devices: what runs a metallib. `device.ts` is what every device offers; `cpu/` is the one that is on every machine. Devices
 * never know each other.
 */
import type { Diagnostics } from '../base/diagnostic.ts';
import { cpuInfo, openCpuDevice } from './cpu/index.ts';
import type { Device, DeviceInfo, EngineOptions } from './device.ts';

export { openCpuDevice } from './cpu/index.ts';
export type * from './device.ts';

/** The devices of this machine, the preferred one first. */
export const devices = (): DeviceInfo[] => [cpuInfo];

/** Opens a device by kind, `auto` for the preferred one; nothing after reporting CM6001. */
export function openDevice(name: string, diagnostics: Diagnostics, options: EngineOptions = {}): Device | undefined {
  if (name === 'auto' || name === 'cpu') return openCpuDevice(options);
  diagnostics.report('CM6001', { name });
  return undefined;
}
