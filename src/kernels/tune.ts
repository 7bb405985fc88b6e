/** Measures the kernels of the library on a device, for the tables by which launches choose. */
import type { Device } from '../api/index.ts';
import { bf16, f16, f32, f64, type Type } from '../build/index.ts';
import { capabilityOf, type GemmCandidate, gemmCandidates, type PlainGemm } from './choice.ts';
import { gemm } from './gemm.ts';
import type { GemmType } from './gemm-plan.ts';
import { refuse } from './refuse.ts';
import type { TuningTable } from './tables.ts';
import { type TunedType, tunedTypes } from './tuned-types.ts';

/** The speed of a kernel. */
export interface Measured {
  /** The type of the elements. */
  readonly type: string;
  readonly kernel: string;
  /** TFLOP/s of the fastest run. */
  readonly speed: number;
}

const elements = { f32, f16, bf16, tf32: f32, f64 } as const satisfies Readonly<Record<TunedType, unknown>>;

/** Options of `tune`. */
export interface TuneOptions {
  /**
   * The rows, columns and depth of the products that are measured: by default 4096 on a GPU of NVIDIA, of which a large device has some tiles for each
   * multiprocessor, and 256 elsewhere.
   */
  readonly size?: number;
  /** The runs of each kernel, of which the fastest counts: 5 by default. */
  readonly runs?: number;
  /** The types of the elements whose kernels are measured: all by default. */
  readonly types?: readonly TunedType[];
  /** Receives each kernel when it was measured. */
  readonly onMeasured?: (measured: Measured) => void;
}

/**
 * Measures every kernel that the device has the instructions of, and gives their speeds. `useTable` has launches use them; a program keeps them as JSON, and
 * `cumetal tune` keeps them for all programs. Throws CM5093 for sizes and runs that are not whole numbers from 1 on, or a device that says no times.
 */
export async function tune(device: Device, options: TuneOptions = {}): Promise<TuningTable> {
  const capability = capabilityOf(device);
  const { size = capability ? 4096 : 256, runs = 5, types = tunedTypes } = options;
  for (const [name, value] of Object.entries({ size, runs }))
    if (!Number.isInteger(value) || value < 1 || value > 32768)
      refuse('tune', `\`${name}\` is ${value}, and has to be a whole number from 1 to 32768`);
  const { sm } = capability ?? { sm: 0 };
  const speeds: Record<string, Record<string, number>> = {};
  for (const type of types) {
    const able = gemmCandidates.filter((each) => each.types.includes(type) && each.fits(sm, device.info.kind === 'cpu'));
    const own: Record<string, number> = {};
    for (const [kernel, speed] of await speedsOf(device, able, { type, size, runs })) {
      own[kernel] = speed;
      options.onMeasured?.({ type, kernel, speed });
    }
    speeds[type] = own;
  }
  return { version: 1, device: device.info.name, sm, gemm: speeds };
}

interface Product {
  readonly type: TunedType;
  readonly size: number;
  readonly runs: number;
}

/** The speeds of kernels for products of a type, in rounds: a device that becomes warm or busy slows all of them. */
async function speedsOf(device: Device, able: readonly GemmCandidate[], { type, size, runs }: Product): Promise<[string, number][]> {
  const [a, b, c] = [0, 1, 2].map(() => device.allocate(elements[type].name, size * size)) as [Matrix, Matrix, Matrix];
  try {
    a.fill(1);
    b.fill(1);
    const routines = able.map((each) => each.make({ type: elements[type] as Type<GemmType>, tf32: type === 'tf32' }, gemm as PlainGemm));
    const best = able.map(() => Number.POSITIVE_INFINITY);
    for (let run = 0; run <= runs; run++)
      for (const [i, routine] of routines.entries()) {
        const report = await routine.launch(device, { a, b, c, m: size, n: size, k: size } as never)?.ended();
        const time = report?.durationMs ?? refuse('tune', `${device.info.name} does not say how long a launch took`);
        // The first run loads the module.
        if (run > 0) best[i] = Math.min(best[i]!, time);
      }
    return able.map(({ name }, i) => [name, Number(((2 * size ** 3) / best[i]! / 1e9).toPrecision(3))]);
  } finally {
    for (const each of [a, b, c]) each.free();
  }
}

type Matrix = ReturnType<typeof matrixOf>;
const matrixOf = (device: Device) => device.allocate('f32', 1);
