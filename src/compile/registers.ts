/**
 * The registers that kernels need on NVIDIA's GPUs: those of live values, and an estimate of what an assembler takes. The estimate is a line
 * through what ptxas 13.0 says of 768 kernels (HeCBench as nvcc compiles it, the examples, the benchmarks) for sm_80: half of the estimates are
 * within 12.5 %. `scripts/pressure.ts` compares it with ptxas again.
 */
import { Diagnostics } from '../base/diagnostic.ts';
import type { SourceFile, Span } from '../base/source.ts';
import { type Kernel, loadsFirst, pressureOf, type Value } from '../ir/index.ts';
import { toPtxIr } from './pipeline.ts';

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
const file = { registers: 65536, most: 255, step: 8, least: 6 } as const;

/** The line: by registers live, loads that are scheduled early, loads of a loop that is unrolled, and the code of divisions and calls. */
const line = {
  base: 4,
  live: 0.77,
  early: 0.3,
  unrolled: 0.14,
  call: 9.6,
  division: 2.7,
  doubleDivision: 4.8,
  integerDivision: 2.35,
  size: 0.58,
  maxEarly: 24,
  maxUnrolled: 24,
  minOfCalls: 24,
} as const;

/** The registers of each kernel of a source; undefined after reporting errors. `sm` is the architecture whose instructions count. */
export function registersOfKernels(source: SourceFile, sm: number, diagnostics: Diagnostics): readonly KernelRegisters[] | undefined {
  const own = new Diagnostics(source);
  const made = toPtxIr(source, sm, {}, own);
  diagnostics.addAll(own.list);
  return made?.ir.kernels.map((kernel) => registersOf(kernel, made.declared.get(kernel.name)?.directives ?? []));
}

function registersOf(kernel: Kernel, directives: readonly string[]): KernelRegisters {
  const { maxLive, maxPredicates, liveAt } = pressureOf(kernel);
  const wanted = estimateFor(kernel, maxLive);
  const allowed = allowedBy(directives);
  const estimate = Math.min(wanted, allowed);
  return { name: kernel.name, maxLive, maxPredicates, estimate, spilled: wanted - estimate, places: placesOf(kernel, liveAt) };
}

function estimateFor(kernel: Kernel, maxLive: number): number {
  const { insts } = kernel;
  const has = (test: (op: string, type: string) => boolean): number => Number(insts.some(({ op, type }) => test(op, type)));
  const early = Math.min(line.maxEarly, pressureOf(kernel, (body) => loadsFirst(kernel, body)).maxLive - maxLive);
  const calls = kernel.params.some(({ formats, faults }) => formats !== undefined || faults !== undefined);
  const sum =
    line.base +
    line.live * maxLive +
    line.early * Math.max(0, early) +
    line.unrolled * Math.min(line.maxUnrolled, unrolledLoads(kernel)) +
    line.call * Number(calls) +
    line.division * has((op) => op === 'fdiv' || op === 'fsqrt') +
    line.doubleDivision * has((op, type) => (op === 'fdiv' || op === 'fsqrt') && type === 'f64') +
    line.integerDivision * has((op) => ['sdiv', 'udiv', 'srem', 'urem'].includes(op)) +
    line.size * Math.log2(1 + insts.length);
  return Math.max(calls ? line.minOfCalls : file.least, Math.round(sum));
}

const isWaiting = (op: string): boolean => ['barrier', 'atomic', 'shuffle', 'cas'].includes(op);

/** Three times the registers that a loop of one block loads, if it is one that an assembler unrolls four times. */
function unrolledLoads({ blocks, insts }: Kernel): number {
  const loads = (body: readonly Value[]): number => {
    if (body.some((value) => isWaiting(insts[value]!.op))) return 0;
    return 3 * body.reduce((sum, value) => sum + (insts[value]!.op === 'load' ? (insts[value]!.type.includes('64') ? 2 : 1) : 0), 0);
  };
  const isLoop = (block: (typeof blocks)[number]): boolean =>
    block.end.op === 'condbr' && (block.end.then.block === block || block.end.else.block === block);
  return Math.max(0, ...blocks.filter(isLoop).map(({ body }) => loads(body)));
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
