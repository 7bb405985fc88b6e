/** The short way: a library bound to a device, and launches that take arrays and give them back. */
import { type Arrays, bytesIn } from './arrays.ts';
import { type Buffer, partOf } from './buffer.ts';
import { Device, type DeviceOptions } from './device.ts';
import type { Extent } from './kernel.ts';
import type { ModuleOptions, ModuleSource } from './load.ts';
import type { Module } from './module.ts';
import type { KernelArgument } from './pack.ts';
import type { LaunchReport } from './work.ts';

export interface LibraryOptions extends ModuleOptions {
  /** An open device, which stays open, or the kind of one to be opened; `auto` where nothing is said. */
  readonly device?: Device | string;
  /** Of the device that is opened. */
  readonly deviceOptions?: DeviceOptions;
}

export interface NamedLaunch {
  /** The kernel; may be left out where there is one. */
  readonly name?: string;
  readonly grid: Extent;
  readonly block: Extent;
  /** For pointers typed arrays, which hold what the kernel left in them afterwards, or buffers; for values numbers, or bytes for structs. */
  readonly args: readonly KernelArgument[];
  readonly shared?: number;
  /** Milliseconds. */
  readonly timeout?: number;
  readonly print?: (text: Uint8Array) => void;
}

/** A library on a device. */
export interface BoundLibrary {
  readonly device: Device;
  readonly module: Module;
  /** Launches a kernel and waits for its end. Rejects with a `CumetalError` of the class that says what went wrong. */
  launchKernel(launch: NamedLaunch): Promise<LaunchReport>;
  /** Closes the module, and the device where it was opened here. */
  close(): void;
  [Symbol.dispose](): void;
}

/** Loads PTX or a metallib on a device. */
export function bindLibrary(source: ModuleSource, { device: on = 'auto', deviceOptions, ...options }: LibraryOptions = {}): BoundLibrary {
  const device = typeof on === 'string' ? Device.open(on, deviceOptions) : on;
  const isOurs = typeof on === 'string';
  let module: Module;
  try {
    module = device.load(source, options);
  } catch (error) {
    if (isOurs) device.close();
    throw error;
  }
  const close = (): void => {
    module.close();
    if (isOurs) device.close();
  };
  return { device, module, launchKernel: (launch) => launchOnce(device, module, launch), close, [Symbol.dispose]: close };
}

/** An array that stands for a buffer during one launch. */
interface Lent {
  readonly array: ArrayBufferView;
  readonly buffer: Buffer<'u8', 'device'>;
  readonly isWritten: boolean;
}

async function launchOnce(device: Device, module: Module, { name, args, timeout, ...shape }: NamedLaunch): Promise<LaunchReport> {
  const kernel = module.kernel(name);
  const lent = new Map<ArrayBufferView, Lent>();
  try {
    const given = args.map((arg, i): KernelArgument => {
      const parameter = kernel.reflection.params[i];
      if (parameter?.kind !== 'buffer' || !ArrayBuffer.isView(arg) || partOf(arg)) return arg;
      const known = lent.get(arg);
      const isWritten = parameter.access !== 'read' || known?.isWritten === true;
      const buffer = known?.buffer ?? device.bufferOf('u8', bytesIn(arg) as Arrays['u8']);
      lent.set(arg, { array: arg, buffer, isWritten });
      return buffer;
    });
    const report = await kernel.launch({ ...shape, args: given, ...(timeout === undefined ? {} : { timeoutMs: timeout }) }).ended();
    for (const { array, buffer, isWritten } of lent.values()) if (isWritten) bytesIn(array).set(await buffer.read());
    return report;
  } finally {
    for (const { buffer } of lent.values()) buffer.free();
  }
}
