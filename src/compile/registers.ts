/**
 * The registers that kernels need on NVIDIA's GPUs: those of live values, and an estimate of what an assembler allots. `scripts/pressure.ts` compares it
 * with ptxas, and docs/build.md says how near it is.
 */
import { Diagnostics } from '../base/diagnostic.ts';
import type { SourceFile, Span } from '../base/source.ts';
import { accessesFirst, type Inst, type Kernel, type LiveWords, liveWordsOf, type Packing, packingOf, pressureOf } from '../ir/index.ts';
import { toPtxIr } from './pipeline.ts';
import { residencies } from './residency.ts';

/** Live registers at an instruction of the source. */
export interface LivePlace {
  readonly span: Span;
  readonly live: number;
}

/** The registers of a kernel. */
export interface KernelRegisters {
  readonly name: string;
  /** The most registers of 32 bits that hold values at a time, in the order of the source's instructions. */
  readonly maxLive: number;
  /** The most predicates that are live at a time. */
  readonly maxPredicates: number;
  /** An estimate of the registers that ptxas allots to a thread, at most 255 and what `.maxntid` and `.minnctapersm` leave. */
  readonly estimate: number;
  /** The registers by which the estimate is above what is allowed, which are then kept in memory. */
  readonly spilled: number;
  /** Where the most registers are live, the most first. */
  readonly places: readonly LivePlace[];
}

/** Registers of a multiprocessor, of a thread, and the steps in which a thread gets them. */
const file = { registers: 65536, most: 255, step: 8 } as const;

/** The registers with which a multiprocessor still has all of its threads: fewer gain nothing. */
function registersOfAll(sm: number): number {
  const { threads } = residencies[`sm_${sm}` as keyof typeof residencies] ?? residencies.sm_80;
  return Math.floor(file.registers / threads / file.step) * file.step;
}

/**
 * What a thread has besides live values: R1, the stack pointer; two registers that are counted and that no instruction names; and what is free between
 * pairs of 64 bits and ahead of reuse, which is two or three. A function that a kernel calls has the first 24 registers.
 */
const besides = { stackPointer: 1, reserved: 2, free: 2.5, ofCalls: 4, minOfCalls: 24 } as const;
/** The registers of a kernel without instructions. */
const minOfAll = 4;

/** The first architecture whose instructions take parameters of 64 bits from registers alone. */
const firstToLoadBases = 90;

/**
 * The registers of a sequence besides its operands and its result, by its operation. `packed` is what ptxas 13.0 adds for one among few values;
 * `scratch` is what is above the registers that are free beside live values, and `min` counts all live registers where a function is called.
 */
const sequences: Readonly<Record<string, { readonly packed: number; readonly scratch: number; readonly min?: number }>> = {
  'fdiv f32': { packed: 9, scratch: 2 },
  'fsqrt f32': { packed: 4, scratch: 2 },
  'fdiv f64': { packed: 14, scratch: 8, min: 18 },
  'fsqrt f64': { packed: 12, scratch: 8 },
  'division i32': { packed: 5, scratch: 2 },
  'division i64': { packed: 12, scratch: 2, min: 24 },
};

/** The sequence of an instruction, if it is one. */
function sequenceOf({ op, type }: Inst): (typeof sequences)[string] | undefined {
  const isDivision = op === 'sdiv' || op === 'udiv' || op === 'srem' || op === 'urem';
  return sequences[`${isDivision ? 'division' : op} ${type}`];
}

/** The registers of each kernel of a source; undefined after reporting errors. `sm` is the architecture whose instructions count. */
export function registersOfKernels(source: SourceFile, sm: number, diagnostics: Diagnostics): readonly KernelRegisters[] | undefined {
  const own = new Diagnostics(source);
  const made = toPtxIr(source, `sm_${sm}`, {}, own);
  diagnostics.addAll(own.list);
  return made?.ir.kernels.map((kernel) => registersOf(kernel, made.declared.get(kernel.name)?.directives ?? [], sm));
}

function registersOf(kernel: Kernel, directives: readonly string[], sm: number): KernelRegisters {
  const live = liveWordsOf(kernel);
  const { maxLive, maxPredicates, liveAt } = pressureOf(kernel, live);
  const wanted = estimateFor(kernel, { maxLive, live }, sm);
  const allowed = allowedBy(directives);
  const estimate = Math.min(wanted, allowed);
  return { name: kernel.name, maxLive, maxPredicates, estimate, spilled: wanted - estimate, places: placesOf(kernel, liveAt) };
}

/** The live registers of a kernel, in the order of its instructions. */
interface Counted {
  readonly maxLive: number;
  readonly live: LiveWords;
}

/**
 * What the assembler allots: halfway between what live values need and what their packing takes, whose errors are of different kinds. ptxas's numbers
 * are even with few exceptions, for the highest register is mostly the upper half of a pair.
 */
function estimateFor(kernel: Kernel, counted: Counted, sm: number): number {
  if (kernel.blocks.every(({ body }) => body.length === 0)) return minOfAll;
  const ofAll = registersOfAll(sm);
  const isCaller = kernel.params.some(({ formats, faults }) => formats !== undefined || faults !== undefined);
  const ofCalls = isCaller ? besides.ofCalls : 0;
  const model = { loadsBases: sm >= firstToLoadBases, scratchOf: (inst: Inst) => sequenceOf(inst)?.packed ?? 0 };
  const packing = packingOf(kernel, model, counted.live);
  const least = isCaller ? besides.minOfCalls : 0;
  const alive = Math.max(least, ofLive(kernel, counted, { ofAll, ofCalls }));
  const packed = Math.max(
    least,
    ofPacking((budget, order) => packing(budget - besides.reserved - 1, order) + besides.reserved + ofCalls, ofAll),
  );
  return even((even(alive) + packed) / 2);
}

const even = (count: number): number => 2 * Math.round(count / 2);

/** What live values need: accesses are moved ahead as far as all threads still have their registers. */
function ofLive(
  kernel: Kernel,
  { maxLive, live }: Counted,
  { ofAll, ofCalls }: { readonly ofAll: number; readonly ofCalls: number },
): number {
  let [scratch, min] = [0, 0];
  for (const { body } of kernel.blocks)
    for (const value of body) {
      const sequence = sequenceOf(kernel.insts[value]!);
      scratch = Math.max(scratch, sequence?.scratch ?? 0);
      min = Math.max(min, sequence?.min ?? 0);
    }
  const others = besides.stackPointer + besides.reserved + besides.free + ofCalls;
  const need = (count: number): number => Math.max(count + scratch, min) + others;
  const early = pressureOf(kernel, live, (body) => accessesFirst(kernel, body)).maxLive;
  return Math.max(need(maxLive), Math.min(ofAll, need(early)));
}

/** What a packing takes where all threads have their registers, or else with as many as the next step leaves, which cost nothing more. */
function ofPacking(packing: Packing, ofAll: number): number {
  const count = packing(ofAll, 'issue');
  if (count <= ofAll) return count;
  const least = Math.min(count, packing(ofAll, 'source'));
  const allotted = Math.max(ofAll, Math.ceil(least / file.step) * file.step);
  return Math.min(Math.max(packing(allotted, 'issue'), least), allotted);
}

/** The most registers of a thread that let a block, or as many as a directive wants, run at a time. */
function allowedBy(directives: readonly string[]): number {
  const numbersOf = (name: RegExp): number[] | undefined =>
    directives
      .find((each) => name.test(each))
      ?.match(/\d+/g)
      ?.map(Number);
  const most = numbersOf(/^\.maxnreg/)?.[0] ?? file.most;
  const threads = numbersOf(/^\.(?:maxntid|reqntid)/)?.reduce((product, each) => product * each, 1);
  if (threads === undefined) return Math.min(file.most, most);
  const blocks = numbersOf(/^\.minnctapersm/)?.[0] ?? 1;
  return Math.min(file.most, most, Math.max(file.step, Math.floor(file.registers / (threads * blocks) / file.step) * file.step));
}

/** The instructions where the most registers are live: one for each place of the source. */
function placesOf({ locs }: Kernel, liveAt: Int32Array): LivePlace[] {
  const byStart = new Map<number, LivePlace>();
  liveAt.forEach((live, value) => {
    const span = locs[value];
    if (span && live > (byStart.get(span.start)?.live ?? 0)) byStart.set(span.start, { span, live });
  });
  return [...byStart.values()].sort((a, b) => b.live - a.live || a.span.start - b.span.start);
}
