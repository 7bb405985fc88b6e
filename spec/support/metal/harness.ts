/**
 * The fake Metal for specs: our reader reads libraries, the CPU device runs kernels, and the fake records calls and violations.
 * A launch moves memory as a GPU without page faults would need it: buffers that are bound or declared resident are copied to the addresses
 * that kernels use; all others hold poison there, and writes to those are recorded.
 */
import { CString, dlopen, JSCallback, type Pointer, ptr, toArrayBuffer } from 'bun:ffi';
import { Diagnostics } from '../../../src/base/diagnostic.ts';
import type { CpuBuffer } from '../../../src/device/cpu/buffer.ts';
import { cpuInfo } from '../../../src/device/cpu/index.ts';
import { launchKernel } from '../../../src/device/cpu/launch/launch-blocking.ts';
import { type LoadedKernel, type LoadedLibrary, loadLibrary } from '../../../src/device/cpu/launch/library.ts';
import { type DeviceMemory, newMemory } from '../../../src/device/cpu/memory.ts';
import type { Dim3, LaunchArgument } from '../../../src/device/device.ts';
import { printBufferBytes } from '../../../src/ir/index.ts';
import { readMetallib, validateMetallib } from '../../../src/metallib/index.ts';

export interface Fake {
  /** Sets a number of the fake by name (`setting` and `take_setting` in its sources). */
  set(name: string, value: number): void;
  /** The recorded calls, a line each. */
  record(): string[];
  /** Violations of Metal's rules. */
  violations(): string[];
  /** Unreleased objects. */
  live(): number;
  openPools(): number;
  /** Ends whatever still runs, as the system does after some seconds. */
  endAll(): void;
  /** Forgets record, violations and settings. */
  reset(): void;
  /** A kernel that runs longer on the CPU is stopped, as a GPU's watchdog does it, or never ends. */
  limitMs: number;
  whenOver: 'stopped' | 'never ends';
  /** The metallib that a source is compiled to: the fake knows no Metal Shading Language. */
  libraryOfSource: (text: string) => Uint8Array | undefined;
  /** Messages of faults on the CPU device. */
  readonly faults: string[];
}

const slots = 31;
const poison = 0xdb;
/** `MTLCommandBufferError`. */
const errors = { timeout: 2, pageFault: 3, outOfMemory: 8 } as const;

/** Loads a fake that was built. */
export function loadFake(path: string): Fake {
  const { symbols } = dlopen(path, {
    fake_hooks: { args: ['ptr'], returns: 'void' },
    fake_set: { args: ['ptr', 'f64'], returns: 'void' },
    fake_record: { args: [], returns: 'cstring' },
    fake_violations: { args: [], returns: 'cstring' },
    fake_live: { args: [], returns: 'i32' },
    fake_open_pools: { args: [], returns: 'i32' },
    fake_reset: { args: [], returns: 'void' },
    fake_end_all: { args: [], returns: 'void' },
  });
  const noted: string[] = [];
  const lines = (text: unknown): string[] =>
    String(text ?? '')
      .split('\n')
      .filter((line) => line !== '');
  const fake: Fake = {
    set: (name, value) => symbols.fake_set(cText(name), value),
    record: () => lines(symbols.fake_record()),
    violations: () => [...lines(symbols.fake_violations()), ...noted],
    live: () => symbols.fake_live(),
    openPools: () => symbols.fake_open_pools(),
    endAll: () => symbols.fake_end_all(),
    reset() {
      symbols.fake_reset();
      noted.length = 0;
      fake.faults.length = 0;
      fake.libraryOfSource = () => undefined;
      fake.limitMs = 2000;
      fake.whenOver = 'stopped';
    },
    limitMs: 2000,
    whenOver: 'stopped',
    libraryOfSource: () => undefined,
    faults: [],
  };
  const gpu = newGpu(fake, noted);
  // The order of `struct hooks`.
  const hooks = [
    new JSCallback(gpu.openLibrary, { args: ['ptr', 'f64', 'ptr', 'i32', 'ptr'], returns: 'i32' }),
    new JSCallback(gpu.openSource, { args: ['ptr', 'ptr', 'i32', 'ptr'], returns: 'i32' }),
    new JSCallback(gpu.hasFunction, { args: ['i32', 'ptr'], returns: 'i32' }),
    new JSCallback(gpu.describe, { args: ['i32', 'ptr', 'ptr', 'ptr', 'i32'], returns: 'i32' }),
    new JSCallback(gpu.newMemory, { args: ['f64'], returns: 'f64' }),
    new JSCallback(gpu.freeMemory, { args: ['f64'], returns: 'void' }),
    new JSCallback(gpu.execute, { args: ['ptr'], returns: 'i32' }),
  ];
  kept.push(hooks);
  symbols.fake_hooks(ptr(BigUint64Array.from(hooks, (hook) => BigInt(hook.ptr!))));
  return fake;
}

/** Callbacks that native code has the addresses of. */
const kept: JSCallback[][] = [];

const cText = (text: string): Uint8Array => new TextEncoder().encode(`${text}\0`);
const wordsAt = (at: Pointer, count: number): BigUint64Array => new BigUint64Array(toArrayBuffer(at, 0, 8 * count));
const bytesAt = (at: number | Pointer, count: number): Uint8Array =>
  count === 0 ? new Uint8Array(0) : new Uint8Array(toArrayBuffer(at as Pointer, 0, count));

const textAt = (at: Pointer): string => new CString(at).toString();

function say(at: Pointer, room: number, text: string): void {
  const bytes = cText(text.slice(0, room - 1));
  bytesAt(at, room).set(bytes);
}

interface Gpu {
  openLibrary(bytes: Pointer, length: number, why: Pointer, room: number, count: Pointer): number;
  openSource(text: Pointer, why: Pointer, room: number, count: Pointer): number;
  hasFunction(library: number, name: Pointer): number;
  describe(library: number, name: Pointer, needs: Pointer, why: Pointer, room: number): number;
  newMemory(length: number): number;
  freeMemory(address: number): void;
  execute(what: Pointer): number;
}

interface Opened {
  readonly names: readonly string[];
  readonly loaded: LoadedLibrary | undefined;
}

function newGpu(fake: Fake, noted: string[]): Gpu {
  const memory = newMemory();
  const libraries: Opened[] = [];
  const sizes = new Map<number, number>();
  const kernelOf = (library: number, name: string): LoadedKernel | undefined =>
    libraries[library - 1]?.loaded?.kernels.find((kernel) => kernel.reflection.name === name);
  const open = (bytes: Uint8Array, why: Pointer, room: number, count: Pointer): number => {
    const diagnostics = new Diagnostics();
    const read = validateMetallib(bytes, diagnostics) ? readMetallib(bytes, diagnostics) : undefined;
    if (!read) {
      say(why, room, `Invalid library file: ${diagnostics.list[0]?.message}`);
      return 0;
    }
    libraries.push({ names: read.functions.map(({ name }) => name), loaded: loadLibrary(bytes, diagnostics) });
    wordsAt(count, 1)[0] = BigInt(read.functions.length);
    return libraries.length;
  };
  return {
    openLibrary: (at, length, why, room, count) =>
      // The fake releases the bytes.
      open(bytesAt(at, length).slice(), why, room, count),
    openSource(at, why, room, count) {
      const text = textAt(at);
      const bytes = fake.libraryOfSource(text);
      const names = bytes && readMetallib(bytes, new Diagnostics())!.functions.map(({ name }) => name);
      const found = [...text.matchAll(/^kernel void (\w+)\(/gm)].map(([, name]) => name!);
      if (!bytes || names!.join() !== found.join()) {
        say(why, room, `program_source: the source has the kernels ${found.join()}`);
        return 0;
      }
      return open(bytes, why, room, count);
    },
    hasFunction: (library, name) => (libraries[library - 1]?.names.includes(textAt(name)) ? 1 : 0),
    describe(library, name, needs, why, room) {
      const kernel = kernelOf(library, textAt(name));
      if (!kernel) {
        say(why, room, 'Compiler encountered an internal error');
        return 2;
      }
      const words = wordsAt(needs, 2 + 2 * slots);
      words.fill(0n);
      words[0] = BigInt(kernel.reflection.staticSharedBytes);
      words[1] = kernel.reflection.usesDynamicShared ? 1n : 0n;
      for (const { kind, slot, size, memory: own, formats } of kernel.params) {
        if (kind === 'threadgroup') continue;
        words[2 + 2 * slot] = kind === 'value' ? 2n : 1n;
        words[3 + 2 * slot] = BigInt(own?.size ?? (formats ? printBufferBytes : size));
      }
      return 0;
    },
    newMemory(length) {
      const address = memory.take(length);
      if (address === undefined) return 0;
      memory.view(address, length).fill(poison);
      sizes.set(address, length);
      return address;
    },
    freeMemory(address) {
      sizes.delete(address);
      memory.give(address);
    },
    execute(at) {
      const what = readDispatch(at);
      const kernel = kernelOf(what.library, what.name)!;
      const reached = new Map(what.reached.map((each) => [each.address, each]));
      for (const { address, host } of reached.values()) memory.view(address, host.length).set(host);
      const code = run(memory, kernel, what, fake);
      for (const { address, host } of reached.values()) {
        host.set(memory.view(address, host.length));
        memory.view(address, host.length).fill(poison);
      }
      for (const [address, size] of sizes)
        if (size <= largestLooked && memory.view(address, size).some((byte) => byte !== poison)) {
          noted.push(`${what.name} wrote to a buffer that was not made resident`);
          memory.view(address, size).fill(poison);
        }
      return code;
    },
  };
}

/** The size in bytes above which searching for writes would take too long. */
const largestLooked = 2 ** 16;

interface Slot {
  readonly kind: 'nothing' | 'buffer' | 'bytes';
  readonly address: number;
  readonly host: Uint8Array;
}

interface Dispatch {
  readonly library: number;
  readonly name: string;
  readonly groups: Dim3;
  readonly threads: Dim3;
  readonly slots: readonly Slot[];
  readonly threadgroup: number;
  readonly reached: readonly { readonly address: number; readonly host: Uint8Array }[];
}

/** The words that `dispatch` of queue.c writes. */
function readDispatch(at: Pointer): Dispatch {
  const words = wordsAt(at, 8 + 5 * slots + 1 + 3 * 128);
  let next = 0;
  const word = (): number => Number(words[next++]);
  const [library, name] = [word(), word()];
  const groups = [word(), word(), word()] as const;
  const threads = [word(), word(), word()] as const;
  const bound = Array.from({ length: slots }, (): Slot => {
    const [kind, address, host, length] = [word(), word(), word(), word()];
    return {
      kind: (['nothing', 'buffer', 'bytes'] as const)[kind]!,
      address,
      host: kind === 2 ? bytesAt(host, length) : new Uint8Array(0),
    };
  });
  const threadgroup = Array.from({ length: slots }, word)[0]!;
  const reached = Array.from({ length: word() }, () => {
    const [address, host, length] = [word(), word(), word()];
    return { address, host: bytesAt(host, length) };
  });
  return { library, name: textAt(name as Pointer), groups, threads, slots: bound, threadgroup, reached };
}

/** Runs a kernel with the bound slots; returns 0, the error code of the commands, or -1. */
function run(memory: DeviceMemory, kernel: LoadedKernel, what: Dispatch, fake: Fake): number {
  const values = what.slots.map(({ kind, host }) => (kind === 'bytes' ? place(memory, host) : undefined));
  const diagnostics = new Diagnostics();
  const request = {
    kernel: what.name,
    grid: what.groups,
    block: what.threads,
    dynamicSharedBytes: what.threadgroup,
    args: kernel.reflection.params.map((param): LaunchArgument => {
      if (param.kind === 'bytes') return { kind: 'bytes', bytes: new Uint8Array(param.size) };
      return { kind: 'buffer', buffer: { owner: memory, address: 0, isFree: false, size: 0 } as unknown as CpuBuffer };
    }),
    timeoutMs: fake.limitMs,
  };
  const bound = (slot: number): bigint => BigInt(values[slot] ?? what.slots[slot]!.address);
  const result = launchKernel(memory, { info: cpuInfo, ownMemory: 0, bound }, kernel, request, diagnostics);
  for (const value of values) if (value !== undefined) memory.give(value);
  if (result) return 0;
  const [first] = diagnostics.list;
  fake.faults.push(`${first?.code} ${first?.message}`);
  if (first?.code === 'CM6011') return errors.pageFault;
  if (first?.code !== 'CM6010') return errors.outOfMemory;
  if (fake.whenOver === 'stopped') return errors.timeout;
  fake.set('hang', 1);
  return -1;
}

function place(memory: DeviceMemory, bytes: Uint8Array): number {
  const address = memory.take(bytes.length)!;
  memory.view(address, bytes.length).set(bytes);
  return address;
}
