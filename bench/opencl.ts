/**
 * The OpenCL C that we print against OpenCL C written by hand, both by PoCL on one thread, in alternation: the kernels of `cpu.ts`. PoCL compiles the
 * peer with relaxed mathematics and contraction, ours without, and ours keeps the order of warps.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { folder, type Kernel, kernels, peersIn, rateOf, rounds } from './cpu.ts';
import { type Bench, geomean, type Row } from './report.ts';

export function opencl(given: readonly string[] = []): Bench | undefined {
  const only = given.find((word) => word.startsWith('--only='))?.slice('--only='.length);
  const at = mkdtempSync(join(tmpdir(), 'cumetal-bench-'));
  try {
    const peer = peersIn(at)?.opencl;
    if (peer === undefined) return undefined;
    const chosen = kernels.filter(({ name }) => only === undefined || name === only);
    const rows = chosen.flatMap((kernel) => compared(kernel, peer) ?? []);
    return {
      bench: 'opencl',
      about: `PoCL on one thread, best of many launches in ${rounds} rounds`,
      rows,
      bars: [{ name: 'of OpenCL C by hand, geometric mean', value: geomean(rows.map(({ ratio }) => ratio)), bar: 0.9 }],
    };
  } finally {
    rmSync(at, { recursive: true, force: true });
  }
}

/** A kernel by both; nothing, said on the way, where one of them has none. */
function compared({ name, unit }: Kernel, peer: string): Row | undefined {
  const commands = {
    ours: [process.execPath, join(import.meta.dirname, 'in-opencl.ts'), join(folder, 'eleven.ptx'), name],
    other: [peer, 'opencl', name, join(folder, 'eleven.cu')],
  };
  const best = { ours: 0, other: 0 };
  for (let round = 0; round < rounds; round++)
    for (const side of ['other', 'ours'] as const) {
      const rate = rateOf(commands[side], '');
      if (rate === undefined) {
        console.log(`${name}: ${side === 'ours' ? 'ours has no result in time' : 'there is none by hand'}`);
        return undefined;
      }
      best[side] = Math.max(best[side], rate);
    }
  return { name, ours: best.ours / 1e6, other: best.other / 1e6, unit: `M${unit}/s`, ratio: best.ours / best.other };
}
