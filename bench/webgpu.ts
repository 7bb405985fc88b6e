/**
 * The WebGPU device against the CUDA device where there is one, and the CPU device elsewhere: six kernels, the best of some launches of each in
 * alternation. `--large` launches what fills an NVIDIA GPU; `--fp=fast` takes the GPU's own floats.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Diagnostics } from '../src/base/diagnostic.ts';
import { SourceFile } from '../src/base/source.ts';
import { compile } from '../src/compile/index.ts';
import { type Device, type Dim3, type LaunchArgument, openDevice } from '../src/device/index.ts';
import { floats } from './cpu.ts';
import type { Bench, Row } from './report.ts';

const path = join(import.meta.dirname, 'kernels/webgpu/six.ptx');
const rounds = 8;

interface Shape {
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
function shapesOf(count: number): Shape[] {
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

export function webgpu(given: readonly string[] = []): Bench | undefined {
  const fp = given.includes('--fp=fast') ? 'fast' : 'exact';
  const count = given.includes('--large') ? 2 ** 26 : 2 ** 20;
  const diagnostics = new Diagnostics();
  const device = openDevice('webgpu', diagnostics, { fp });
  if (!device) {
    console.error(diagnostics.list.flatMap(({ message, notes }) => [message, ...notes]).join('; '));
    return undefined;
  }
  const cuda = openDevice('cuda', new Diagnostics());
  const peer = cuda ?? openDevice('cpu', diagnostics)!;
  const source = readFileSync(path, 'utf8');
  const shapes = shapesOf(count);
  const [mine, others] = [
    launchers(device, compiled(source), shapes, count),
    launchers(peer, cuda ? new TextEncoder().encode(source) : compiled(source), shapes, count),
  ];
  const rows = shapes.map(({ name }, i): Row => {
    const best = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
    for (let round = 0; round < rounds; round++)
      for (const [side, launch] of [mine[i]!, others[i]!].entries()) best[side] = Math.min(best[side]!, launch());
    return { name, ours: best[0]!, other: best[1]!, unit: 'ms', ratio: best[1]! / best[0]! };
  });
  const about = `${device.info.name}, floats ${fp} (ours), against ${peer.info.name}; milliseconds, best of ${rounds}`;
  device.close();
  peer.close();
  return { bench: 'webgpu', about, rows };
}

function compiled(source: string): Uint8Array {
  const diagnostics = new Diagnostics();
  const made = compile(new SourceFile(path, source), { target: 'cpu' }, diagnostics);
  if (!made) throw new Error(diagnostics.list.map(({ message }) => message).join('; '));
  return made.metallib;
}

/** A function for each shape, which launches it and gives the milliseconds. */
function launchers(device: Device, library: Uint8Array, shapes: readonly Shape[], count: number): (() => number)[] {
  const diagnostics = new Diagnostics();
  const module = device.load(library, diagnostics);
  const bytes = floats(count, 1, 0);
  const buffers = [0, 1, 2].map((at) => {
    const buffer = device.allocate(4 * count, diagnostics);
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
