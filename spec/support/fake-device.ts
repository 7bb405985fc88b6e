/** A device for specs of the runtime and the CLI: memory is real, kernels are TypeScript functions. */
import type { Diagnostics } from '../../src/base/diagnostic.ts';
import type { Device, DeviceBuffer, DeviceInfo, DeviceModule, LaunchRequest } from '../../src/device/device.ts';
import { validateLaunch } from '../../src/device/validate-launch.ts';
import type { Kernel, Parameter } from '../../src/runtime/index.ts';

export interface FakeBuffer extends DeviceBuffer {
  readonly memory: Uint8Array;
}

export type FakeKernel = (request: LaunchRequest, diagnostics: Diagnostics) => boolean;

export const pointer = (name: string, element: Parameter['element'], access: Parameter['access'] = 'read_write'): Parameter => ({
  name,
  slot: 0,
  kind: 'buffer',
  size: 4,
  align: 4,
  element,
  access,
});

export const scalar = (name: string, size: number, element: Parameter['element']): Parameter => ({
  name,
  slot: 0,
  kind: 'bytes',
  size,
  align: size,
  element,
  access: undefined,
});

export const kernel = (name: string, params: readonly Parameter[], more: Partial<Kernel> = {}): Kernel => ({
  name,
  params,
  staticSharedBytes: 0,
  usesDynamicShared: false,
  maxThreads: undefined,
  requiredThreads: undefined,
  ...more,
});

/** A device and a module on it; new memory is poisoned, so that unwritten elements show. */
export function fakeDevice(
  kernels: readonly Kernel[],
  run: FakeKernel,
): { device: Device; module: DeviceModule; requests: LaunchRequest[] } {
  const requests: LaunchRequest[] = [];
  const limits = { maxThreadsPerThreadgroup: 1024, maxThreadgroupBytes: 32768, maxBufferBytes: 2 ** 30, simdWidth: 32 };
  const info: DeviceInfo = { kind: 'cpu', name: 'fake', limits };
  const module: DeviceModule = {
    kernels,
    symbols: [],
    launch(request, diagnostics) {
      const kernel = kernels.find(({ name }) => name === request.kernel)!;
      if (!validateLaunch({ info }, kernel, request, diagnostics)) return undefined;
      requests.push(request);
      return run(request, diagnostics) ? { durationMs: 1.5 } : undefined;
    },
    close: () => {},
  };
  const device: Device = {
    info,
    allocate: fakeBuffer,
    load: () => module,
    close: () => {},
  };
  return { device, module, requests };
}

function fakeBuffer(size: number): FakeBuffer {
  const memory = new Uint8Array(size).fill(0xa5);
  return {
    size,
    memory,
    deviceAddress: () => 0n,
    write: (bytes, offset = 0) => memory.set(bytes, offset),
    read: () => memory.slice(),
    free: () => {},
  };
}

/** The memory of a buffer argument, as a kernel sees it. */
export function memoryOf(request: LaunchRequest, index: number): Uint8Array {
  const argument = request.args[index]!;
  if (argument.kind === 'null') throw new Error(`argument ${index} is null`);
  return argument.kind === 'buffer' ? (argument.buffer as FakeBuffer).memory : argument.bytes;
}
