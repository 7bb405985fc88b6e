/**
 * Loop re-rolling: emits long straight-line code once, for one or a few vectors, in a loop over the vectors of a group and in chunks. A
 * chunk passes values to another one through the spill area. Unrolled for every vector such code exceeds the processor's cache of decoded
 * instructions, and has more live values than registers. An exact FMA counts as long code (`reroll-chunk.ts`).
 */

import {
  type Block,
  type InstOf,
  isAddressCheck,
  isVector,
  operandsOf,
  specOf,
  terminatorOperands,
  uniform,
  type Value,
  varying,
} from '../../../ir/index.ts';
import { isLeaf } from '../../codegen/plan.ts';
import { withScratch } from '../../codegen/scratch.ts';
import { tuning } from '../../tuning.ts';
import { isLongStretch } from '../analysis/long-blocks.ts';
import { type LaneGroup, longOf, numberOf, shapeOf } from '../lanes/lane-group.ts';
import type { GroupValues } from '../lanes/values.ts';
import { isExactFma, isScaledFma } from '../rules/fma-f32.ts';
import { partWriter } from '../rules/index.ts';
import { writeAddressCheck } from './address-checks.ts';
import { isDense, isStridedInPadding, pushFirstAddress } from './memory-access.ts';
import { isUniformVector, placeOf, type Rerolled, withUniformsInMemory, writeChunk } from './reroll-chunk.ts';

/** A stretch of a block's body, as a half-open interval of positions. */
interface Stretch {
  readonly from: number;
  readonly to: number;
}

/** The stretches of a block that are re-rolled: none of native code, whose wide registers hold several vectors. */
export function rerolledStretches(s: LaneGroup, { body }: Block): Stretch[] {
  // This test alone settles most blocks.
  if (s.host.target || s.plan.packs === 1 || (body.length < tuning.minRerolledInstructions && !isFmaStretch(s, body))) return [];
  const runs: Stretch[] = [];
  let [from, values]: [number, Value[]] = [0, []];
  for (let at = 0; at <= body.length; at++) {
    const value = body[at];
    if (value !== undefined && mayReroll(s, value)) {
      if (isRerolled(s, value)) values.push(value);
      continue;
    }
    if (isLongStretch(s.kernel, values) || isFmaStretch(s, values)) runs.push({ from, to: at });
    [from, values] = [at + 1, []];
  }
  return runs;
}

const isFmaStretch = (s: LaneGroup, values: readonly Value[]): boolean =>
  values.filter((value) => isExactFma(s, value)).length >= tuning.minRerolledFmas;

/** Whether a value is computed for each vector; uniform values are computed before the loop. */
const isRerolled = (s: LaneGroup, value: Value): boolean => {
  const inst = s.kernel.insts[value]!;
  return shapeOf(s, value) === varying && !isAddressCheck(inst) && !isLeaf(inst);
};

function mayReroll(s: LaneGroup, value: Value): boolean {
  const inst = s.kernel.insts[value]!;
  if (isLeaf(inst) || (inst.op === 'load' && isReorderableLoad(s, inst, value))) return true;
  // The check of such a load precedes the loop.
  if (isAddressCheck(inst)) return operandsOf(inst).every((operand) => shapeOf(s, operand) !== varying);
  const isDead = [value, ...operandsOf(inst)].every((each) => !isVector(s.kernel.insts[each]!.type));
  if (specOf(inst.op).effect !== 'pure' || !isDead) return false;
  return shapeOf(s, value) !== varying || isExactFma(s, value) || partWriter(s, value) !== undefined;
}

/** Loads that are uniform, dense or strided. A stretch has no stores, so they may be reordered. */
const isReorderableLoad = (s: LaneGroup, inst: InstOf<'load'>, value: Value): boolean =>
  !inst.volatile &&
  !isVector(inst.type) &&
  (shapeOf(s, value) !== varying || isDense(s, inst.addr, value) || isStridedInPadding(s, inst.addr));

/** Emits a stretch. Returns the bytes of the spill area that it uses, from `start` on. */
export function writeRerolled(values: GroupValues, block: Block, stretch: Stretch, start: number): number {
  return withScratch(values.group, 'i32', 3, ([tileOffset, base, spillArea]) =>
    writeStretch(values, block, stretch, start, { tileOffset, base, spillArea }),
  );
}

type LoopLocals = Pick<Rerolled, 'tileOffset' | 'base' | 'spillArea'>;

function writeStretch(values: GroupValues, block: Block, { from, to }: Stretch, start: number, locals: LoopLocals): number {
  const { group } = values;
  const { code } = group;
  const body = block.body.slice(from, to);
  for (const value of body) if (!isRerolled(group, value)) writeBefore(values, value);
  const { rerolled, bytes } = planStretch(values, block, { from, to }, start, locals);
  const spillArea = (): void => code.at('local.get', rerolled.spillArea);
  code.at('global.get', group.host.globals.records);
  code.at('local.set', rerolled.spillArea);
  for (const value of rerolled.inputs)
    for (let part = 0; part < values.parts(value); part++) {
      spillArea();
      group.part(value, part);
      code.access('v128.store', 4, placeOf(rerolled, value, part));
    }
  for (const [value, place] of rerolled.uniformF64) {
    spillArea();
    group.scalar(value);
    code.op('f64.promote_f32');
    code.access('f64.store', 8, place);
  }
  for (const [value, place] of rerolled.uniforms) {
    spillArea();
    group.scalar(value);
    code.access(`${numberOf(group, value)}.store`, 4, place);
  }
  for (const [load, local] of rerolled.addresses) {
    pushFirstAddress(group, (group.kernel.insts[load] as InstOf<'load'>).addr);
    code.at('local.set', local);
  }
  for (const chunk of rerolled.chunks) writeChunk(rerolled, chunk);
  for (const value of rerolled.outputs)
    for (let part = 0; part < values.parts(value); part++) {
      spillArea();
      code.access('v128.load', 4, placeOf(rerolled, value, part));
      values.put(value, 0, part);
    }
  for (const value of body) if (isRerolled(group, value)) values.finish(operandsOf(group.kernel.insts[value]!));
  return bytes;
}

/** Emits what precedes the loop: uniform and affine values, and the checks of their addresses. */
function writeBefore(values: GroupValues, value: Value): void {
  const inst = values.group.kernel.insts[value]!;
  if (!writeAddressCheck(values.group, inst)) return values.define(value);
  values.finish(operandsOf(inst));
}

function planStretch(
  values: GroupValues,
  block: Block,
  { from, to }: Stretch,
  start: number,
  { tileOffset, base, spillArea }: LoopLocals,
): { rerolled: Rerolled; bytes: number } {
  const { group } = values;
  const all = block.body.slice(from, to).filter((value) => isRerolled(group, value));
  const count = Math.ceil(all.length / tuning.instructionsPerChunk);
  const each = Math.ceil(all.length / count);
  const chunks = Array.from({ length: count }, (_, i) => all.slice(i * each, (i + 1) * each));
  const definingChunk = new Map(chunks.flatMap((chunk, i) => chunk.map((value) => [value, i] as const)));
  const inputs = new Set<Value>();
  /** By value: the last chunk that reads it from its slot. */
  const last = new Map<Value, number>();
  chunks.forEach((chunk, i) => {
    for (const value of chunk)
      for (const operand of vectorOperands(group, value)) {
        if (!definingChunk.has(operand) && isUniformVector(group, operand)) continue;
        if (!definingChunk.has(operand)) inputs.add(operand);
        if (definingChunk.get(operand) !== i) last.set(operand, i);
      }
  });
  const behind = usedAfter(group, block, to);
  const outputs = all.filter((value) => group.plan.crosses[value] === 1 || behind.has(value));
  for (const value of outputs) last.set(value, count);
  const { slots, most } = assignSlots(group, { inputs, chunks, last });
  const addresses = new Map(
    all.filter((value) => group.kernel.insts[value]!.op === 'load').map((value) => [value, group.code.local('i32')]),
  );
  const shared = uniformOffsets(group, all, start + 16 * group.plan.packs * most);

  const own = withUniformsInMemory(group, group.code, { ...shared, spillArea });
  return {
    rerolled: {
      group: own,
      tile: tileOf(group, all),
      start,
      chunks,
      definingChunk,
      slots,
      inputs,
      outputs,
      ...shared,
      addresses,
      spillArea,
      tileOffset,
      base,
      locals: [],
    },
    bytes: 16 * group.plan.packs * most + 8 * (shared.uniformF64.size + shared.uniforms.size),
  };
}

/** Offsets of uniform operands, those of FMAs as f64, or in both forms. In locals they would occupy registers throughout the loop. */
function uniformOffsets(s: LaneGroup, values: readonly Value[], start: number): Pick<Rerolled, 'uniformF64' | 'uniforms'> {
  const operandsFor = (users: readonly Value[]): Value[] => [
    ...new Set(
      users
        .flatMap((value) => vectorOperands(s, value))
        .filter((value) => shapeOf(s, value) === uniform && s.kernel.insts[value]!.op !== 'const'),
    ),
  ];
  const assignSlots = (operands: readonly Value[], from: number): Map<Value, number> =>
    new Map(operands.map((value, i) => [value, start + 8 * (from + i)]));
  const uniformF64 = operandsFor(values.filter((value) => isExactFma(s, value)));
  // An FMA with a power of two is computed in f32, and in f64 only in hard cases.
  const uniforms = operandsFor(values.filter((value) => !isExactFma(s, value) || isScaledFma(s, value)));
  return { uniformF64: assignSlots(uniformF64, 0), uniforms: assignSlots(uniforms, uniformF64.length) };
}

/** Operands that a re-rolled instruction reads as vectors. */
const vectorOperands = ({ kernel }: LaneGroup, value: Value): readonly Value[] => {
  const inst = kernel.insts[value]!;
  return inst.op === 'load' ? [] : operandsOf(inst);
};

function tileOf(s: LaneGroup, values: readonly Value[]): number {
  if (!isFmaStretch(s, values) || isLongStretch(s.kernel, values)) return 1;
  const isMade = new Set(values);
  const live = new Set<Value>();
  let most = 0;
  for (const value of [...values].reverse()) {
    live.delete(value);
    for (const operand of vectorOperands(s, value)) if (isMade.has(operand) && s.kernel.insts[operand]!.op !== 'load') live.add(operand);
    most = Math.max(most, live.size);
  }
  return Math.min(s.plan.packs, most <= tuning.maxFewLive ? tuning.tileForFewLive : tuning.tileForFma);
}

/** Values that the rest of a block uses. */
const usedAfter = ({ kernel }: LaneGroup, { body, end }: Block, to: number): ReadonlySet<Value> =>
  new Set([...body.slice(to).flatMap((value) => operandsOf(kernel.insts[value]!)), ...terminatorOperands(end)]);

/** Assigns slots. A slot is reused after the last chunk that reads its value. */
function assignSlots(
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
