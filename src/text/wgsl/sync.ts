/**
 * Barriers and warp operations in WGSL. Where all of them are uniform over the block, and WGSL can prove it, a barrier is itself, and a warp
 * operation passes values through workgroup memory between two barriers. Other kernels are cut into regions, for the scheduler of `rounds.ts`.
 */
import { type Regions, syncPointsOf } from '../../engine/index.ts';
import type { Block, Edge, Fold, Inst, MaskedInst, Type, Value } from '../../ir/index.ts';
import type { Body, Part } from '../body.ts';
import type { Expression } from '../expression.ts';
import type { Printer } from '../language.ts';
import { type Collective, type Exchange, kindOf, publishedBy } from '../opencl/warps.ts';
import type { Store } from './helpers/memory.ts';
import { typeName } from './types.ts';

/** States of threads; those of regions and collectives are numbers below. */
export const flags = { yielded: 0x1000_0000, barrier: 0x4000_0000 } as const;
export const exited = '0xffffffffu';
export const hex = (n: number): string => `0x${n.toString(16)}u`;

/** A value as the contents of a cell, through which threads of a warp exchange values. */
function intoCell(type: Type, { text }: Expression): string {
  if (typeName(type) === 'u64') return text;
  return `u64(${type === 'f32' ? `bitcast<u32>(${text})` : type === 'i1' ? `u32(${text})` : text}, 0u)`;
}

/** The contents of a cell as a value. */
function fromCell(type: Type, text: string): string {
  if (typeName(type) === 'u64') return text;
  if (type === 'f32') return `bitcast<f32>(${text}.x)`;
  return type === 'i1' ? `(${text}.x != 0u)` : `${text}.x`;
}

const signedFold = (name: string) => (a: string, b: string) => `bitcast<u32>(${name}(bitcast<i32>(${a}), bitcast<i32>(${b})))`;
const folded: Readonly<Record<Fold, (a: string, b: string) => string>> = {
  add: (a, b) => `${a} + ${b}`,
  and: (a, b) => `${a} & ${b}`,
  or: (a, b) => `${a} | ${b}`,
  xor: (a, b) => `${a} ^ ${b}`,
  smin: signedFold('min'),
  smax: signedFold('max'),
  umin: (a, b) => `min(${a}, ${b})`,
  umax: (a, b) => `max(${a}, ${b})`,
};
const neutral: Readonly<Record<Fold, string>> = {
  add: '0u',
  and: '0xffffffffu',
  or: '0u',
  xor: '0u',
  smin: '0x7fffffffu',
  smax: '0x80000000u',
  umin: '0xffffffffu',
  umax: '0u',
};

/** How a kernel waits. */
export interface Sync {
  readonly p: Printer;
  readonly body: () => Body;
  readonly regions: Regions;
  /** By region number: its part. */
  readonly parts: ReadonlyMap<number, Part>;
  /** Threads that an invocation runs. */
  readonly threads: number;
  readonly sharedStore: Store;
  /** The states in which one thread of the block goes on at a time. */
  readonly turns: readonly number[];
  /** Whether a block runs without the others, so that what it waits for may never come. */
  readonly isAlone: boolean;
  /** A workgroup variable of the kernel. */
  shared(name: string): string;
}

export const barrier = (p: Printer): string => `${p.helper('block_barrier')}();`;

const cell = ({ shared }: Pick<Sync, 'shared'>, slot: number, thread: string): string =>
  `${shared('cells')}[${slot === 0 ? '' : `${slot}u * block_threads + `}${thread}]`;

/** Writes a uniform warp operation, a barrier or a fence, in place. */
export function writeUniform(p: Printer, sync: Pick<Sync, 'shared'>, inst: Inst, value: Value): void {
  const { lines } = p;
  const [published] = publishedBy(inst);
  if (published === undefined) return lines.add(barrier(p));
  lines.add(`${cell(sync, 0, 'thread_number')} = ${intoCell(p.typeOf(published), p.use(published))};`);
  lines.add(barrier(p));
  writeResult(p, sync, inst as Collective, value, { slot: 0, takesPart: undefined });
  lines.add(barrier(p));
}

/** Writes the result of an exchange to the variable of its value. */
export function writeResult(
  p: Printer,
  sync: Pick<Sync, 'shared'>,
  inst: Collective | MaskedInst,
  value: Value,
  { slot, takesPart }: Exchange,
): void {
  const { lines } = p;
  if ((inst as Inst).op === 'mma')
    return void p.refuse(
      value,
      'a product of matrices by a warp (`mma.sync`, `wmma`)',
      'it was compiled for the CPU device; other targets expand it',
    );
  if (inst.op === 'warpsync') return;
  const name = p.variable(value);
  if (inst.op === 'shuffle')
    return lines.add(`${name} = ${fromCell(inst.type, cell(sync, slot, `warp_first + ((${p.use(inst.b).text}) & 31u)`))};`);
  if (inst.op === 'shufflesync') {
    const from = `(${p.use(inst.b).text})`;
    lines.add(`${name} = 0u;`);
    lines.add(`if (${from} < 32u && ((named >> (${from} & 31u)) & 1u) != 0u) { ${name} = ${cell(sync, slot, `warp_first + ${from}`)}.x; }`);
    return;
  }
  const step = (text: string): string => (takesPart === undefined ? text : `if (${takesPart}) { ${text} }`);
  const isBallot = inst.op === 'ballot' || inst.op === 'ballotsync';
  lines.add(`${name} = ${isBallot ? '0u' : neutral[inst.fold]};`);
  lines.add('for (var other = warp_first; other < warp_last; other++) {');
  const own = `${cell(sync, slot, 'other')}.x`;
  lines.indent(() => lines.add(step(isBallot ? `${name} |= ${own} << (other & 31u);` : `${name} = ${folded[inst.fold](name, own)};`)));
  lines.add('}');
}

/** Sets the state in which a thread leaves a region, and publishes what it brings. */
export function writeLeave(sync: Sync, block: Block, edge: Edge | undefined): void {
  const { p, body, regions, shared } = sync;
  const { lines, kernel } = p;
  if (edge) {
    body().transfer(edge);
    lines.add(`state = ${regions.byEntry.get(edge.block.id)!.id}u;`);
    return;
  }
  const points = syncPointsOf(kernel, block);
  const inst = kernel.insts[points[0]!]!;
  const to = block.end.op === 'br' ? regions.byEntry.get(block.end.to.block.id)!.id : 0;
  const arrives = (state: string): void => {
    // What the block behind a sync point is passed is set here: it has no other way in.
    if (block.end.op === 'br') body().transfer(block.end.to);
    lines.add(`state = ${state};`);
  };
  if (inst.op === 'barrier') return arrives(hex(flags.barrier + to));
  if (inst.op === 'yield') return arrives(hex(flags.yielded + to));
  points.forEach((value, slot) => {
    for (const published of publishedBy(kernel.insts[value]!))
      lines.add(`${cell(sync, slot, 'thread_number')} = ${intoCell(p.typeOf(published), p.use(published))};`);
  });
  const rendezvous = regions.rendezvous.find(({ value }) => value === points[0]);
  if (rendezvous) {
    lines.add(`${shared('masks')}[thread_number] = ${p.use((inst as MaskedInst).members).text};`);
    lines.add(`${shared('kinds')}[thread_number] = ${kindOf(inst as MaskedInst)}u;`);
    lines.add(`state = ${rendezvous.id}u;`);
  } else lines.add(`state = ${regions.byBlock.get(block.id)!.id}u;`);
}
