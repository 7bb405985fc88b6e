/** What a kernel needs of a multiprocessor: registers, by line, and the blocks that run at a time on the GPUs of a table. */
import { errorOf } from '../api/failures.ts';
import { Diagnostics } from '../base/diagnostic.ts';
import { type Residency, registersOfKernels, residencies } from '../compile/index.ts';
import type { TypedKernel } from './kernel.ts';
import { placeOf } from './lines.ts';
import type { Place } from './place.ts';
import type { Target } from './targets.ts';

/** The resources of a multiprocessor, or of a core of an Apple GPU. */
export interface Multiprocessor {
  /** Registers of 32 bits. */
  readonly registers: number;
  /** The registers that a warp gets are a multiple of this. */
  readonly registerStep: number;
  /** The warps whose registers are allotted together. */
  readonly warpStep: number;
  readonly warps: number;
  readonly blocks: number;
  readonly sharedBytes: number;
  /** The shared memory that a block gets is a multiple of this. */
  readonly sharedStep: number;
  /** The bytes that every block takes besides its own. */
  readonly sharedOfBlock: number;
}

/** A multiprocessor, with how its shared memory and its registers are allotted. */
const allotting = (
  { threads, ...resident }: Residency,
  sharedStep: number,
  registers = { registers: 65536, registerStep: 256, warpStep: 4 },
): Multiprocessor => ({ ...registers, ...resident, warps: threads / 32, sharedStep });

/** By architecture, from the sources of `residencies`; the registers of a core of an Apple GPU are by the same measurements (208 KiB). */
export const multiprocessors = {
  sm_50: allotting(residencies.sm_50, 256),
  sm_60: allotting(residencies.sm_60, 256),
  sm_61: allotting(residencies.sm_61, 256),
  sm_70: allotting(residencies.sm_70, 256),
  sm_75: allotting(residencies.sm_75, 256),
  sm_80: allotting(residencies.sm_80, 128),
  sm_86: allotting(residencies.sm_86, 128),
  sm_89: allotting(residencies.sm_89, 128),
  sm_90: allotting(residencies.sm_90, 128),
  apple: allotting(residencies.apple, 16, { registers: (208 * 1024) / 4, registerStep: 32, warpStep: 1 }),
} as const satisfies Record<string, Multiprocessor>;

/** A line of TypeScript and the registers that are live at it. */
export interface LivePlaceOfLine extends Place {
  readonly live: number;
}

/** The registers of a kernel. */
export interface RegisterReport {
  /** The most registers of 32 bits that hold values at a time, in the order of the kernel's operations. */
  readonly maxLive: number;
  /** The most predicates that are live at a time. */
  readonly maxPredicates: number;
  /** An estimate of the registers that ptxas allots to a thread: docs/build.md says how near it is. */
  readonly estimate: number;
  /** The registers of the estimate that are above the limit of the kernel, and are then kept in memory. */
  readonly spilled: number;
  /** The lines where the most registers are live, the most first. */
  readonly lines: readonly LivePlaceOfLine[];
}

/** The registers that a kernel needs on an architecture, by default its target. Throws what is wrong with instructions that this compiler does not have. */
export function registersOf(kernel: TypedKernel, architecture: Target = kernel.target as Target): RegisterReport {
  const diagnostics = new Diagnostics();
  const found = registersOfKernels(kernel.source, Number(/\d+/.exec(architecture)![0]), diagnostics)?.[0];
  if (!found) throw errorOf(diagnostics);
  const { name: _, places, ...rest } = found;
  const byLine = new Map<string, LivePlaceOfLine>();
  for (const { span, live } of places) {
    const place = placeOf(kernel.source, span.start);
    if (place && !byLine.has(`${place.path}:${place.line}`)) byLine.set(`${place.path}:${place.line}`, { ...place, live });
  }
  return { ...rest, lines: [...byLine.values()] };
}

/** The most threads of a block. */
const maxThreads = 1024;

/** What a block needs. */
export interface BlockNeeds {
  /** Registers of a thread. */
  readonly registers: number;
  /** Threads of a block. */
  readonly threads: number;
  /** Bytes of shared memory of a block. */
  readonly shared?: number;
}

/** The blocks that run at a time on a multiprocessor. */
export interface Occupants {
  readonly blocks: number;
  /** The warps of them, of the most that there can be, 0 to 1. */
  readonly fraction: number;
  /** What there would have to be more of. */
  readonly limitedBy: 'registers' | 'shared memory' | 'warps' | 'blocks';
}

/** The blocks that run at a time on a multiprocessor of the table. */
export function occupantsOf({ registers, threads, shared = 0 }: BlockNeeds, on: keyof typeof multiprocessors): Occupants {
  const model: Multiprocessor = multiprocessors[on];
  const warps = Math.ceil(threads / 32);
  const ofWarp = Math.ceil((registers * 32) / model.registerStep) * model.registerStep;
  const withRegisters = Math.floor(model.registers / ofWarp / model.warpStep) * model.warpStep;
  const ofBlock = Math.ceil(shared / model.sharedStep) * model.sharedStep + model.sharedOfBlock;
  const bounds = [
    // No block is larger, whatever there is room for.
    ['warps', threads > maxThreads ? 0 : Math.floor(model.warps / warps)],
    ['registers', Math.floor(withRegisters / warps)],
    ['shared memory', ofBlock === 0 ? Number.POSITIVE_INFINITY : Math.floor(model.sharedBytes / ofBlock)],
    ['blocks', model.blocks],
  ] as const;
  const [limitedBy, blocks] = bounds.reduce((least, each) => (each[1] < least[1] ? each : least));
  return { blocks, fraction: (blocks * warps) / model.warps, limitedBy };
}
