/** The short form: a library bound to a device, with launches that take typed arrays and update them. */
import type { DeviceKind } from '../device/index.ts';
import { type Arrays, bytesIn } from './arrays.ts';
import { type Buffer, partOf } from './buffer.ts';
import type { Print } from './context.ts';
import { Device, type DeviceOptions } from './device.ts';
import type { Extent } from './kernel.ts';
import type { ModuleOptions, ModuleSource } from './load.ts';
import type { Module } from './module.ts';
import type { KernelArgument } from './pack.ts';
import type { LaunchReport } from './work.ts';

/** The options of `bindLibrary`. */
export interface LibraryOptions extends ModuleOptions {
  /** An open device, which stays open, or the kind of device to open; `auto` by default. */
  readonly device?: Device | DeviceKind;
  /** The options of the opened device. */
  readonly deviceOptions?: DeviceOptions;
}

/** A launch of a bound library. */
export interface NamedLaunch {
  /** The kernel; optional if there is only one. */
  readonly name?: string;
  readonly grid: Extent;
  readonly block: Extent;
  /** Typed arrays, which receive the results, or buffers for pointers; numbers for values; bytes for structs. */
  readonly args: readonly KernelArgument[];
  readonly shared?: number;
  /** The time limit in milliseconds. */
  readonly timeout?: number;
  /** Receives the output of the kernel; the default is that of the device. */
  readonly print?: Print;
}

/** A library on a device. */
export interface BoundLibrary {
  readonly device: Device;
  readonly module: Module;
  /** Launches a kernel and waits for its completion. Rejects with a subclass of `CumetalError`. */
  launchKernel(launch: NamedLaunch): Promise<LaunchReport>;
  /** Closes the module, and the device if it was opened here. */
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

/** A typed array with its temporary buffer during one launch. */
interface Borrowed {
  readonly array: ArrayBufferView;
  readonly buffer: Buffer<'u8', 'device'>;
  readonly isWritten: boolean;
}

async function launchOnce(device: Device, module: Module, { name, args, timeout, ...shape }: NamedLaunch): Promise<LaunchReport> {
  const kernel = module.kernel(name);
  const borrowed = new Map<ArrayBufferView, Borrowed>();
  try {
    const given = args.map((arg, i): KernelArgument => {
      const parameter = kernel.reflection.params[i];
      if (parameter?.kind !== 'buffer' || !ArrayBuffer.isView(arg) || partOf(arg)) return arg;
      const known = borrowed.get(arg);
      const isWritten = parameter.access !== 'read' || known?.isWritten === true;
      const buffer = known?.buffer ?? device.bufferOf('u8', bytesIn(arg) as Arrays['u8']);
      borrowed.set(arg, { array: arg, buffer, isWritten });
      return buffer;
    });
    const report = await kernel.launch({ ...shape, args: given, ...(timeout === undefined ? {} : { timeoutMs: timeout }) }).ended();
    for (const { array, buffer, isWritten } of borrowed.values()) if (isWritten) bytesIn(array).set(await buffer.read());
    return report;
  } finally {
    for (const { buffer } of borrowed.values()) buffer.free();
  }
}
