/** Kernels with one planted fault each (`fixtures/sanitize`), launched with the sanitizer: the launches recorded with `compute-sanitizer`. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Diagnostic, Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import { compile } from '../../src/compile/index.ts';
import type { DeviceBuffer, DeviceModule, LaunchArgument, SanitizeKind } from '../../src/device/device.ts';
import { openCpuDevice } from '../../src/device/index.ts';

export interface BufferSpec {
  readonly type: 'f32' | 'i32' | 'u8' | 'u64';
  readonly count: number;
  /** `none` and `half` leave it, or its second half, as it was allocated. */
  readonly init: 'iota' | 'ones' | 'zeros' | 'none' | 'half';
}

export interface Planted {
  readonly file: SanitizeKind;
  readonly kernel: string;
  readonly grid: number;
  readonly block: number;
  readonly shared: number;
  readonly args: readonly (BufferSpec | number)[];
  /** A launch before it, of a kernel that stores the address of a buffer; then the buffer is freed. */
  readonly before?: { readonly kernel: string; readonly frees: BufferSpec; readonly into: number };
  readonly expect: { readonly code: string; readonly thread: number; readonly block: number };
}

const folder = join(import.meta.dirname, '../../fixtures/sanitize');
export const planted = JSON.parse(readFileSync(join(folder, 'launches.json'), 'utf8')) as readonly Planted[];

/** The lines of a kernel's source that must be reported. */
export function markedLines({ file, kernel }: Planted): number[] {
  const lines = readFileSync(join(folder, `${file}.cu`), 'utf8').split('\n');
  const start = lines.findIndex((line) => line.includes(`__global__ void ${kernel}(`));
  const length = lines.slice(start).indexOf('}');
  return Array.from({ length }, (_, i) => start + i + 1).filter((line) => lines[line - 1]!.includes('// here'));
}

const arrays = { f32: Float32Array, i32: Int32Array, u8: Uint8Array, u64: BigInt64Array } as const;

/** The initial contents of a buffer. */
export function contentsOf({ type, count, init }: BufferSpec): Uint8Array {
  const number = (i: number): number => (init === 'zeros' ? 0 : init === 'ones' ? 1 : i);
  const values = Array.from({ length: init === 'half' ? count / 2 : count }, (_, i) => number(i));
  const made = type === 'u64' ? BigInt64Array.from(values.map(BigInt)) : arrays[type].from(values);
  return new Uint8Array(made.buffer);
}

const compiled = new Map<string, { source: SourceFile; metallib: Uint8Array }>();

/** The metallib of a file of planted faults, with lines. */
export function plantedLibrary(file: string): { source: SourceFile; metallib: Uint8Array } {
  const known = compiled.get(file);
  if (known) return known;
  const source = new SourceFile(`${file}.ptx`, readFileSync(join(folder, `${file}.ptx`), 'utf8'));
  const diagnostics = new Diagnostics(source);
  const made = compile(source, { target: 'cpu', sanitize: true }, diagnostics);
  if (!made) throw new Error(diagnostics.list.map((d) => d.message).join('; '));
  compiled.set(file, { source, metallib: made.metallib });
  return compiled.get(file)!;
}

/** The reports of a sanitized launch of a planted fault. */
export function runPlanted(planted: Planted, kinds: readonly SanitizeKind[], limit = 20): readonly Diagnostic[] {
  const { source, metallib } = plantedLibrary(planted.file);
  const device = openCpuDevice();
  const diagnostics = new Diagnostics();
  const module = device.load(metallib, diagnostics)!;
  const bufferOf = (spec: BufferSpec): DeviceBuffer => {
    const buffer = device.allocate(spec.count * arrays[spec.type].BYTES_PER_ELEMENT, diagnostics)!;
    if (spec.init !== 'none') buffer.write(contentsOf(spec));
    return buffer;
  };
  const args = planted.args.map(
    (arg): LaunchArgument =>
      typeof arg === 'number'
        ? { kind: 'bytes', bytes: new Uint8Array(Int32Array.of(arg).buffer) }
        : { kind: 'buffer', buffer: bufferOf(arg) },
  );
  const sanitize = { kinds: new Set(kinds), limit, source };
  const start = (kernel: string, given: readonly LaunchArgument[], to: DeviceModule): void => {
    const shape = { grid: [planted.grid, 1, 1], block: [planted.block, 1, 1], dynamicSharedBytes: planted.shared } as const;
    to.launch({ kernel, ...shape, args: given, timeoutMs: 20_000, sanitize }, diagnostics);
  };
  if (planted.before) {
    const buffer = bufferOf(planted.before.frees);
    start(planted.before.kernel, [{ kind: 'buffer', buffer }, args[planted.before.into]!], module);
    buffer.free();
  }
  start(planted.kernel, args, module);
  device.close();
  return diagnostics.list;
}
