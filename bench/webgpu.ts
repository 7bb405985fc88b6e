/**
 * The WebGPU device against the CUDA device where there is one, and the CPU device elsewhere: six kernels, the best of some launches of each in
 * alternation. `--large` launches what fills an NVIDIA GPU; `--fp=fast` takes the GPU's own floats.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Diagnostics } from '../src/base/diagnostic.ts';
import { SourceFile } from '../src/base/source.ts';
import { compile } from '../src/compile/index.ts';
import { openDevice } from '../src/device/index.ts';
import { floats } from './cpu.ts';
import type { Bench, Row } from './report.ts';
import { launchers, shapesOf } from './webgpu-launches.ts';

const path = join(import.meta.dirname, 'kernels/webgpu/six.ptx');
const rounds = 8;

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
  const bytes = floats(count, 1, 0);
  const [mine, others] = [
    launchers(device, compiled(source), shapes, bytes),
    launchers(peer, cuda ? new TextEncoder().encode(source) : compiled(source), shapes, bytes),
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
