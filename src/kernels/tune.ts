/** Measures the kernels of the library on a device, for the tables by which launches choose. */
import type { Device } from '../api/index.ts';
import { bf16, f16, f32 } from '../build/index.ts';
import { capabilityOf, gemmCandidates, type TuningTable } from './choice.ts';
import { refuse } from './refuse.ts';

/** Options of `tune`. */
export interface TuneOptions {
  /** The rows, columns and depth of the products that are measured: 4096 by default, of which a large device has some tiles for each multiprocessor. */
  readonly size?: number;
  /** The runs of each kernel, of which the fastest counts: 5 by default. */
  readonly runs?: number;
}

const types = { f32, f16, bf16 } as const;

/**
 * Measures every kernel that the device has the instructions of, and gives their speeds. `useTable` has launches use them; a program keeps them as JSON. Throws
 * CM5093 for a device that is not of NVIDIA, which has one kernel for each routine.
 */
export async function tune(device: Device, { size = 4096, runs = 5 }: TuneOptions = {}): Promise<TuningTable> {
  const capability = capabilityOf(device);
  if (!capability) return refuse('tune', `${device.info.name} has one kernel for each routine`);
  const gemm: Record<string, Record<string, number>> = {};
  for (const [name, type] of Object.entries(types)) {
    const element = name as keyof typeof types;
    const [a, b, c] = [0, 1, 2].map(() => device.allocate(element, size * size)) as [Matrix, Matrix, Matrix];
    a.fill(1);
    b.fill(1);
    const speeds: Record<string, number> = {};
    for (const candidate of gemmCandidates.filter((each) => each.types.includes(element) && each.fits(capability.sm))) {
      const routine = candidate.make({ type });
      let best = Number.POSITIVE_INFINITY;
      for (let run = 0; run <= runs; run++) {
        const report = await routine.launch(device, { a, b, c, m: size, n: size, k: size } as never)?.ended();
        // The first run loads the module.
        if (run > 0) best = Math.min(best, report?.durationMs ?? best);
      }
      speeds[candidate.name] = Math.round((2 * size ** 3) / best / 1e8) / 10;
    }
    for (const each of [a, b, c]) each.free();
    gemm[name] = speeds;
  }
  return { version: 1, device: device.info.name, sm: capability.sm, gemm };
}
type Matrix = ReturnType<typeof matrixOf>;
const matrixOf = (device: Device) => device.allocate('f32', 1);
