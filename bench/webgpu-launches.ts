/** The launches of `webgpu.ts`, which a page makes as well. */
import { Diagnostics } from '../src/base/diagnostic.ts';
import type { Device, Dim3, LaunchArgument } from '../src/device/index.ts';

export interface Shape {
  readonly name: string;
  readonly grid: Dim3;
  readonly block: Dim3;
  /** Buffers by number, and values. */
  readonly args: readonly (readonly ['buffer', number] | readonly ['int', number] | readonly ['float', number])[];
}

const [a, b, c] = [0, 1, 2].map((at) => ['buffer', at] as const) as [
  readonly ['buffer', number],
  readonly ['buffer', number],
  readonly ['buffer', number],
];

/** The launches, over three buffers of so many floats. */
export function shapesOf(count: number): Shape[] {
  const line: Dim3 = [256, 1, 1];
  const side = 2 ** Math.floor(Math.log2(count) / 2 - 2);
  const bodies = 2 ** Math.floor(Math.log2(count) / 2 + 3);
  const rows = count / 8192;
  return [
    { name: 'saxpy', grid: [count / 256, 1, 1], block: line, args: [['float', 2], a, b, ['int', count]] },
    { name: 'matmul', grid: [side / 16, side / 16, 1], block: [16, 16, 1], args: [a, b, c, ['int', side]] },
    { name: 'reduce', grid: [1024, 1, 1], block: line, args: [a, c, ['int', count]] },
    { name: 'nbody', grid: [bodies / 256, 1, 1], block: line, args: [a, c, ['int', bodies]] },
    { name: 'softmax', grid: [rows, 1, 1], block: line, args: [a, c, ['int', 4096]] },
    { name: 'histogram', grid: [1024, 1, 1], block: line, args: [a, c, ['int', count]] },
  ];
}

/** A function for each shape, which launches it over buffers with these bytes and gives the milliseconds. */
export function launchers(device: Device, library: Uint8Array, shapes: readonly Shape[], bytes: Uint8Array): (() => number)[] {
  const diagnostics = new Diagnostics();
  const module = device.load(library, diagnostics);
  const buffers = [0, 1, 2].map((at) => {
    const buffer = device.allocate(bytes.length, diagnostics);
    if (at < 2) buffer?.write(bytes);
    return buffer;
  });
  const bytesOfValue = (kind: 'int' | 'float', value: number): Uint8Array =>
    new Uint8Array((kind === 'int' ? Int32Array.of(value) : Float32Array.of(value)).buffer);
  return shapes.map(({ name, grid, block, args: given }) => () => {
    const args = given.map(
      ([kind, value]): LaunchArgument =>
        kind === 'buffer' ? { kind: 'buffer', buffer: buffers[value]! } : { kind: 'bytes', bytes: bytesOfValue(kind, value) },
    );
    const done = module?.launch({ kernel: name, grid, block, args, dynamicSharedBytes: 0, timeoutMs: 20_000 }, diagnostics);
    if (!done) throw new Error(diagnostics.list.map(({ message }) => message).join('; '));
    return done.durationMs;
  });
}
