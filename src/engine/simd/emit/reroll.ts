/**
 * Long straight code: written once for one vector of four lanes, or for a few, in a loop over the vectors of the strip, chunk by chunk. What one
 * chunk hands on to another stands in the record area of memory. Written out for every vector such code is larger than what a processor keeps
 * decoded, so that fetching it takes longer than running it, and has more live values than there are registers. Exact fused operations are long code
 * each (`reroll-chunk.ts`).
 */

import { type Block, type InstOf, isVector, operandsOf, specOf, terminatorOperands, type Value } from '../../../ir/index.ts';
import { isLeaf } from '../../codegen/plan.ts';
import { withScratch } from '../../codegen/scratch.ts';
import { isLongStretch, minRerolledInstructions } from '../analysis/long-blocks.ts';
import { type LaneGroup, longOf, numberOf, shapeOf } from '../lanes/lane-group.ts';
import type { GroupValues } from '../lanes/values.ts';
import { isExactFma } from '../rules/fma-f32.ts';
import { partWriter } from '../rules/index.ts';
import { firstAddress, isDense, isNear } from './memory-access.ts';
import { isAlike, placeOf, type Rerolled, withNumbers, writeChunk } from './reroll-chunk.ts';

/** Vector instructions of a chunk. */
const instructionsPerChunk = 96;

/** A stretch of a block's body: from one place to before another. */
interface Run {
  readonly from: number;
  readonly to: number;
}

/** The stretches of a block that are to be rolled. */
export function rerolledStretches(s: LaneGroup, { body }: Block): Run[] {
  // Most blocks are told by that alone.
  if (s.plan.packs === 1 || (body.length < minRerolledInstructions && !isFusedRun(s, body))) return [];
  const runs: Run[] = [];
  let [from, values]: [number, Value[]] = [0, []];
  for (let at = 0; at <= body.length; at++) {
    const value = body[at];
    if (value !== undefined && mayReroll(s, value)) {
      if (isRerolled(s, value)) values.push(value);
      continue;
    }
    if (isLongStretch(s.kernel, values) || isFusedRun(s, values)) runs.push({ from, to: at });
    [from, values] = [at + 1, []];
  }
  return runs;
}

/** Exact fused operations from which on a stretch is rolled: they are looked at together, and what is seldom needed is written once. */
const fewestFused = 8;

const isFusedRun = (s: LaneGroup, values: readonly Value[]): boolean =>
  values.filter((value) => isExactFma(s, value)).length >= fewestFused;

/** What is written for each vector; what lanes share is worked out before. */
const isRerolled = (s: LaneGroup, value: Value): boolean => shapeOf(s, value) === 2 && !isLeaf(s.kernel.insts[value]!);

function mayReroll(s: LaneGroup, value: Value): boolean {
  const inst = s.kernel.insts[value]!;
  if (isLeaf(inst) || (inst.op === 'load' && isEvenLoad(s, inst, value))) return true;
  const isPlain = [value, ...operandsOf(inst)].every((each) => !isVector(s.kernel.insts[each]!.type));
  if (specOf(inst.op).effect !== 'pure' || !isPlain) return false;
  return shapeOf(s, value) < 2 || isExactFma(s, value) || partWriter(s, value) !== undefined;
}

/** Loads of one number, or of numbers in even steps. They read alike before and behind each other, for nothing of a stretch writes. */
const isEvenLoad = (s: LaneGroup, inst: InstOf<'load'>, value: Value): boolean =>
  !inst.volatile && !isVector(inst.type) && (shapeOf(s, value) < 2 || isDense(s, inst.addr, value) || isNear(s, inst.addr));

/** Writes a stretch. Gives the bytes of the record area that it takes, from `start` on. */
export function writeRerolled(values: GroupValues, block: Block, run: Run, start: number): number {
  return withScratch(values.strip, 'i32', 3, ([ahead, base, records]) => writeRun(values, block, run, start, { ahead, base, records }));
}

type LoopLocals = Pick<Rerolled, 'ahead' | 'base' | 'records'>;

function writeRun(values: GroupValues, block: Block, { from, to }: Run, start: number, locals: LoopLocals): number {
  const { strip } = values;
  const { code } = strip;
  const body = block.body.slice(from, to);
  for (const value of body) if (!isRerolled(strip, value)) values.define(value);
  const { rerolled, bytes } = planned(values, block, { from, to }, start, locals);
  const records = (): void => code.at('local.get', rerolled.records);
  code.at('global.get', strip.host.globals.records);
  code.at('local.set', rerolled.records);
  for (const value of rerolled.inputs)
    for (let part = 0; part < values.parts(value); part++) {
      records();
      strip.part(value, part);
      code.access('v128.store', 4, placeOf(rerolled, value, part));
    }
  for (const [value, place] of rerolled.alike) {
    records();
    strip.scalar(value);
    code.op('f64.promote_f32');
    code.access('f64.store', 8, place);
  }
  for (const [value, place] of rerolled.numbers) {
    records();
    strip.scalar(value);
    code.access(`${numberOf(strip, value)}.store`, 4, place);
  }
  for (const [load, local] of rerolled.addresses) {
    firstAddress(strip, (strip.kernel.insts[load] as InstOf<'load'>).addr);
    code.at('local.set', local);
  }
  for (const chunk of rerolled.chunks) writeChunk(rerolled, chunk);
  for (const value of rerolled.outputs)
    for (let part = 0; part < values.parts(value); part++) {
      records();
      code.access('v128.load', 4, placeOf(rerolled, value, part));
      values.put(value, 0, part);
    }
  for (const value of body) if (isRerolled(strip, value)) values.finish(operandsOf(strip.kernel.insts[value]!));
  return bytes;
}

function planned(
  values: GroupValues,
  block: Block,
  { from, to }: Run,
  start: number,
  { ahead, base, records }: LoopLocals,
): { rerolled: Rerolled; bytes: number } {
  const { strip } = values;
  const all = block.body.slice(from, to).filter((value) => isRerolled(strip, value));
  const count = Math.ceil(all.length / instructionsPerChunk);
  const each = Math.ceil(all.length / count);
  const chunks = Array.from({ length: count }, (_, i) => all.slice(i * each, (i + 1) * each));
  const made = new Map(chunks.flatMap((chunk, i) => chunk.map((value) => [value, i] as const)));
  const inputs = new Set<Value>();
  /** By value: the last chunk that uses it from its place. */
  const last = new Map<Value, number>();
  chunks.forEach((chunk, i) => {
    for (const value of chunk)
      for (const operand of vectorsTaken(strip, value)) {
        if (!made.has(operand) && isAlike(strip, operand)) continue;
        if (!made.has(operand)) inputs.add(operand);
        if (made.get(operand) !== i) last.set(operand, i);
      }
  });
  const behind = usedBehind(strip, block, to);
  const outputs = all.filter((value) => strip.plan.crosses[value] === 1 || behind.has(value));
  for (const value of outputs) last.set(value, count);
  const { slots, most } = placed(strip, { inputs, chunks, last });
  const addresses = new Map(
    all.filter((value) => strip.kernel.insts[value]!.op === 'load').map((value) => [value, strip.code.local('i32')]),
  );
  const shared = sharedBy(strip, all, start + 16 * strip.plan.packs * most);

  const own = withNumbers(strip, strip.code, { ...shared, records });
  return {
    rerolled: {
      strip: own,
      tile: tileOf(strip, all),
      start,
      chunks,
      made,
      slots,
      inputs,
      outputs,
      ...shared,
      addresses,
      records,
      ahead,
      base,
      locals: [],
    },
    bytes: 16 * strip.plan.packs * most + 8 * (shared.alike.size + shared.numbers.size),
  };
}

/** Places of numbers that lanes share, as doubles for fused operations: what engines hold in registers throughout they would take from all else. */
function sharedBy(s: LaneGroup, values: readonly Value[], start: number): Pick<Rerolled, 'alike' | 'numbers'> {
  const operandsFor = (users: readonly Value[]): Value[] => [
    ...new Set(
      users.flatMap((value) => vectorsTaken(s, value)).filter((value) => shapeOf(s, value) === 0 && s.kernel.insts[value]!.op !== 'const'),
    ),
  ];
  const placed = (operands: readonly Value[], from: number): Map<Value, number> =>
    new Map(operands.map((value, i) => [value, start + 8 * (from + i)]));
  const alike = operandsFor(values.filter((value) => isExactFma(s, value)));
  const numbers = operandsFor(values.filter((value) => !isExactFma(s, value)));
  return { alike: placed(alike, 0), numbers: placed(numbers, alike.length) };
}

/** Operands that a rolled instruction takes as vectors. */
const vectorsTaken = ({ kernel }: LaneGroup, value: Value): readonly Value[] => {
  const inst = kernel.insts[value]!;
  return inst.op === 'load' ? [] : operandsOf(inst);
};

/** Vectors of one turn where fused operations are done, whose chains leave a processor idle unless there are some side by side. */
const [tileOfFused, tileOfFew] = [2, 4];
/** Values of a stretch live at once, but for loads, up to which more vectors have room in the registers. */
const fewLive = 2;

function tileOf(s: LaneGroup, values: readonly Value[]): number {
  if (!isFusedRun(s, values) || isLongStretch(s.kernel, values)) return 1;
  const isMade = new Set(values);
  const live = new Set<Value>();
  let most = 0;
  for (const value of [...values].reverse()) {
    live.delete(value);
    for (const operand of vectorsTaken(s, value)) if (isMade.has(operand) && s.kernel.insts[operand]!.op !== 'load') live.add(operand);
    most = Math.max(most, live.size);
  }
  return Math.min(s.plan.packs, most <= fewLive ? tileOfFew : tileOfFused);
}

/** What the rest of a block uses. */
const usedBehind = ({ kernel }: LaneGroup, { body, end }: Block, to: number): ReadonlySet<Value> =>
  new Set([...body.slice(to).flatMap((value) => operandsOf(kernel.insts[value]!)), ...terminatorOperands(end)]);

/** Places, each given to another value when the last chunk that needs it is through. */
function placed(
  s: LaneGroup,
  { inputs, chunks, last }: Pick<Rerolled, 'inputs' | 'chunks'> & { readonly last: ReadonlyMap<Value, number> },
): { readonly slots: Map<Value, number>; readonly most: number } {
  const slots = new Map<Value, number>();
  const spare: Record<1 | 2, number[]> = { 1: [], 2: [] };
  let most = 0;
  const width = (value: Value): 1 | 2 => (longOf(s, value) ? 2 : 1);
  const give = (value: Value): void => {
    const known = spare[width(value)].pop();
    slots.set(value, known ?? most);
    if (known === undefined) most += width(value);
  };
  const ending = new Map<number, Value[]>();
  for (const [value, chunk] of last) ending.set(chunk, [...(ending.get(chunk) ?? []), value]);
  inputs.forEach(give);
  chunks.forEach((chunk, i) => {
    for (const value of chunk) if (last.has(value)) give(value);
    for (const value of ending.get(i) ?? []) spare[width(value)].push(slots.get(value)!);
  });
  return { slots, most };
}
