/** Sanitized launches with and without the fast sanitizer, for specs that compare the two. */
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import { compile } from '../../src/compile/index.ts';
import { cpuInfo } from '../../src/device/cpu/index.ts';
import { runBlocking } from '../../src/device/cpu/launch/launch-blocking.ts';
import { loadLibrary } from '../../src/device/cpu/launch/library.ts';
import { prepareLaunch } from '../../src/device/cpu/launch/prepare.ts';
import { newMemory } from '../../src/device/cpu/memory.ts';
import { newAllocations } from '../../src/device/cpu/observe/allocations.ts';
import {
  type DeviceBuffer,
  type Dim3,
  type LaunchArgument,
  type Order,
  type SanitizeKind,
  sanitizeKinds,
} from '../../src/device/device.ts';
import { messages as messagesOf } from './examples.ts';

export interface SanitizedLaunch {
  readonly grid: Dim3;
  readonly block: Dim3;
  /** A buffer by its bytes, or by its size and the bytes written at its start; the index of an earlier buffer; or a 32-bit value. */
  readonly args: readonly (Uint8Array | { readonly bytes: number; readonly written: Uint8Array } | { readonly same: number } | number)[];
  readonly kinds?: readonly SanitizeKind[];
  readonly kernel?: string;
  /** Bytes of dynamic shared memory. */
  readonly shared?: number;
  /** The order of blocks, warps and threads. */
  readonly schedule?: Order;
  /** Blocks of a cluster along each axis. */
  readonly cluster?: Dim3;
  /** Whether all blocks run together. */
  readonly cooperative?: boolean;
}

export interface SanitizedRun {
  /** The diagnostics with their notes and labels. */
  readonly messages: readonly string[];
  /** The line of the PTX that each names: of its first label, or of its text. */
  readonly lines: readonly (number | undefined)[];
  readonly buffers: readonly Uint8Array[];
  /** Whether the fast sanitizer was used, and whether it fell back to the precise one. */
  readonly isFast: boolean;
  readonly isFallback: boolean;
}

const libraries = new Map<string, { source: SourceFile; metallib: Uint8Array }>();

function libraryOf(text: string): { source: SourceFile; metallib: Uint8Array } {
  const known = libraries.get(text);
  if (known) return known;
  const source = new SourceFile('kernel.ptx', text);
  const diagnostics = new Diagnostics(source);
  const compiled = compile(source, { target: 'cpu', sanitize: true }, diagnostics);
  if (!compiled) throw new Error(messagesOf(diagnostics).join('; '));
  const library = { source, metallib: compiled.metallib };
  libraries.clear();
  libraries.set(text, library);
  return library;
}

/** Launches the first kernel of a PTX text, or the named one, on memory of its own; `isPrecise` skips the fast sanitizer. */
export function runSanitized(
  text: string,
  { grid, block, args, kernel: name, kinds = sanitizeKinds, shared = 0, schedule, cluster, cooperative }: SanitizedLaunch,
  isExact: boolean,
): SanitizedRun {
  const { source, metallib } = libraryOf(text);
  const diagnostics = new Diagnostics();
  const { kernels } = loadLibrary(metallib, diagnostics)!;
  const kernel = kernels.find((each) => each.reflection.name === name) ?? kernels[0]!;
  const memory = newMemory();
  const allocations = newAllocations(memory);
  const buffers: DeviceBuffer[] = [];
  const bufferOf = (size: number, bytes: Uint8Array): DeviceBuffer => {
    const address = memory.take(size)!;
    const allocation = allocations.add(address, size, 'a buffer', 'none');
    memory.view(address, size).fill(0);
    memory.view(address, size).set(bytes);
    allocations.write(allocation, 0, bytes.length);
    const read = (): Uint8Array => memory.view(address, size).slice();
    const buffer = {
      owner: memory,
      address,
      size,
      isFree: false,
      write: () => {},
      read,
      deviceAddress: () => BigInt(address),
      free: () => {},
    };
    buffers.push(buffer as unknown as DeviceBuffer);
    return buffer as unknown as DeviceBuffer;
  };
  const given = args.map((arg): LaunchArgument => {
    if (typeof arg === 'number') return { kind: 'bytes', bytes: new Uint8Array(Uint32Array.of(arg).buffer) };
    if ('same' in arg) return { kind: 'buffer', buffer: buffers[arg.same]! };
    if ('written' in arg) return { kind: 'buffer', buffer: bufferOf(arg.bytes, arg.written) };
    return { kind: 'buffer', buffer: bufferOf(arg.length, arg) };
  });
  const sanitize = { kinds: new Set(kinds), source };
  const request = {
    kernel: kernel.reflection.name,
    grid,
    block,
    dynamicSharedBytes: shared,
    args: given,
    timeoutMs: 20_000,
    sanitize,
    ...(schedule ? { schedule } : {}),
    ...(cluster ? { cluster } : {}),
    ...(cooperative ? { cooperative } : {}),
  };
  const preparation = prepareLaunch(memory, { info: cpuInfo, ownMemory: 0, allocations, isPrecise: isExact }, kernel, request, diagnostics);
  const prepared = 'launch' in preparation ? preparation.launch : undefined;
  let isFallback = false;
  if (prepared) {
    const fallBack = (to: Diagnostics) => {
      isFallback = true;
      return prepared.fallBack!(to);
    };
    runBlocking({ ...prepared, fallBack: prepared.fallBack && fallBack }, diagnostics);
  }
  const messages = diagnostics.list.map(({ code, message, notes, labels }) =>
    [code, message, ...notes, ...labels.map(({ text }) => text ?? '')].join('\n'),
  );
  const lines = diagnostics.list.map(({ labels, message }) => {
    const named = /kernel\.ptx:(\d+)/.exec(message)?.[1];
    return labels[0] ? source.position(labels[0].span.start).line : named === undefined ? undefined : Number(named);
  });
  const isFast = prepared?.fallBack !== undefined;
  return { messages, lines, buffers: buffers.map((buffer) => buffer.read()), isFast, isFallback };
}
