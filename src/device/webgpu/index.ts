/**
 * The WebGPU device: it runs metallibs on a GPU by WebGPU, as WGSL that `src/text` prints. All memory is one buffer, the arena, so that pointers
 * are offsets. WebGPU answers by promises, so that a worker has the GPU and the calling thread waits for it. Start at `library.ts`, then `launch.ts`.
 */
import { Diagnostics } from '../../base/diagnostic.ts';
import { maxBlockThreads } from '../../ir/index.ts';
import { type Exactness, fast } from '../../text/index.ts';
import type { Device, DeviceInfo, Fp } from '../device.ts';
import { commonProperties } from '../properties.ts';
import { newArena } from './arena.ts';
import { allocate, reserve } from './buffer.ts';
import { type Connection, connect, connectLater } from './connection.ts';
import type { Context } from './context.ts';
import { loadModule } from './library.ts';
import { measure } from './measure.ts';
import { findPackage, isPage } from './package.ts';

/** Threads of a warp, which the printed code forms itself. */
const warpSize = 32;
const largestArena = 2 ** 32 - 256;

/** Name and limits of the GPU of a connection. */
export function webgpuInfo({ opened: { name, limits: of } }: Connection): DeviceInfo {
  const limits = {
    // An invocation runs several threads of a block that is larger than a workgroup.
    maxThreadsPerThreadgroup: maxBlockThreads,
    maxThreadgroupBytes: of.maxComputeWorkgroupStorageSize!,
    maxBufferBytes: arenaLimit(of) - 256,
    simdWidth: warpSize,
  };
  const maxThreadsDim = [maxBlockThreads, maxBlockThreads, maxBlockThreads];
  const more = { name: `${name} (WebGPU)`, totalGlobalMem: arenaLimit(of), multiProcessorCount: undefined, maxThreadsDim };
  return { kind: 'webgpu', name: more.name, limits, properties: commonProperties(limits, more) };
}

const arenaLimit = (of: Readonly<Record<string, number>>): number =>
  Math.floor(Math.min(of.maxBufferSize!, of.maxStorageBufferBindingSize!, largestArena) / 256) * 256;

/** The GPU of a page, once it is connected. */
let ofPage: Connection | undefined;

/**
 * Connects to the GPU of a page, so that a device can be opened: in a worker, whose thread may wait. A text if that fails. Elsewhere it does nothing,
 * since a device is opened without it.
 */
export async function prepareWebgpu(): Promise<string | undefined> {
  if (!isPage()) return undefined;
  const found = await connectLater(undefined);
  if (typeof found === 'string') return found;
  ofPage?.close();
  ofPage = found;
  return undefined;
}

/** Opens the GPU: in a page that of `prepareWebgpu`, elsewhere that of an installed package. A text if that fails. `fp` is which floats are exact. */
export function openWebgpuDevice(fp: Fp = 'exact'): Device | string {
  if (ofPage) {
    const own = ofPage;
    ofPage = undefined;
    return working(own, fp);
  }
  const found = findPackage();
  if ('why' in found) return found.why;
  const connection = connect(found.url);
  return typeof connection === 'string' ? connection : working(connection, fp);
}

/** The device of a connection, or a text if its memory does not keep what is written: Dawn's null back end takes every command and does nothing. */
export function working(connection: Connection, fp: Fp = 'exact'): Device | string {
  const device = deviceOf(connection, fp);
  const diagnostics = new Diagnostics();
  const written = Uint8Array.from({ length: 1024 }, (_, i) => (i * 167 + 13) & 255);
  const buffer = device.allocate(written.length, diagnostics);
  buffer?.write(written);
  const read = buffer?.read();
  buffer?.free();
  if (read && !diagnostics.hasErrors && read.every((byte, i) => byte === written[i])) return device;
  device.close();
  return `\`${connection.opened.name}\` does not keep what is written to its memory: it is no GPU, or there is no driver for Vulkan, Metal or Direct3D 12`;
}

/** The device of a connection. */
export function deviceOf(connection: Connection, fp: Fp = 'exact'): Device {
  let exact: Exactness | undefined = fp === 'fast' ? fast : undefined;
  const context: Context = {
    connection,
    info: webgpuInfo(connection),
    arena: newArena(connection, arenaLimit(connection.opened.limits)),
    exact: () => {
      exact ??= measure(connection, context.arena, context.nextProgram++);
      return exact;
    },
    nextProgram: 0,
    heap: undefined,
    isClosed: false,
    lost: undefined,
  };
  return {
    info: context.info,
    allocate: (size, diagnostics) => allocate(context, size, diagnostics),
    reserve: (size, diagnostics) => reserve(context, size, diagnostics),
    load: (metallib, diagnostics, options = {}) => loadModule(context, metallib, options, diagnostics),
    close() {
      if (context.isClosed) return;
      context.isClosed = true;
      connection.close();
    },
  };
}
