/**
 * One chunk of re-rolled code, for the few vectors of one iteration. Exact FMAs are computed in f64 and only collect whether any result is
 * in doubt. If one is, the chunk runs again with sums rounded to odd.
 */

import { bug } from '../../../base/bug.ts';
import { bytesOf, type InstOf, uniform, type Value } from '../../../ir/index.ts';
import type { Code } from '../../../wasm/index.ts';
import { newScratch } from '../../codegen/scratch.ts';
import { writeConstant } from '../../codegen/values.ts';
import { tuning } from '../../tuning.ts';
import { type LaneGroup, longOf, numberOf, shapeOf, splat } from '../lanes/lane-group.ts';
import { constantWords } from '../lanes/leaf-values.ts';
import { upperHalf } from '../lanes/vectors.ts';
import { isExactFma, splatF64 } from '../rules/fma-f32.ts';
import { exactFmaOfTile, type HardCases, type Tile, withHardCases } from '../rules/fma-f32-rerolled.ts';
import { partWriter } from '../rules/index.ts';
import { denseAt, denseVector, isDense } from './memory-access.ts';
import { loadStrided, stridedAddresses } from './strided-access.ts';

export interface Rerolled {
  readonly group: LaneGroup;
  /** Vectors of four lanes per iteration. */
  readonly tile: number;
  /** Offset in the spill area of values that one chunk passes to another. */
  readonly start: number;
  readonly chunks: readonly (readonly Value[])[];
  /** By value: the chunk that computes it. */
  readonly definingChunk: ReadonlyMap<Value, number>;
  /** By value that a chunk passes on: its slot. */
  readonly slots: ReadonlyMap<Value, number>;
  /** Values from before the stretch that chunks read from slots. */
  readonly inputs: ReadonlySet<Value>;
  /** Values with uses behind the stretch. */
  readonly outputs: readonly Value[];
  /** By uniform operand of FMAs: its offset in the spill area, as f64. */
  readonly uniformF64: ReadonlyMap<Value, number>;
  /** By uniform operand of other instructions: its offset in the spill area. */
  readonly uniforms: ReadonlyMap<Value, number>;
  /** By load: a local with the address of the first lane. */
  readonly addresses: ReadonlyMap<Value, number>;
  /** Locals: base address of the spill area, byte offset of this iteration's vectors in a group, and the sum of both. */
  readonly spillArea: number;
  readonly tileOffset: number;
  readonly base: number;
  /** Vector locals, reused from chunk to chunk. */
  readonly locals: number[];
}

/** Offset of one vector of a value: 64-bit lanes have the low halves of all packs first, then the high halves. */
export function placeOf({ group, slots, start }: Rerolled, value: Value, part: number): number {
  const { packs } = group.plan;
  const [pack, half] = longOf(group, value) ? [part >> 1, part & 1] : [part, 0];
  return start + 16 * (packs * (slots.get(value)! + half) + pack);
}

/** Whether all vectors of a value are equal. */
export const isUniformVector = (s: LaneGroup, value: Value): boolean =>
  s.kernel.insts[value]!.op === 'const' || shapeOf(s, value) === uniform;

/**
 * Emits one chunk for all vectors of a group. One of several chunks has a function of its own, because engines do not optimize long
 * functions.
 */
export function writeChunk(rerolled: Rerolled, chunk: readonly Value[]): void {
  if (rerolled.chunks.length === 1) return writeTileLoop(rerolled, chunk);
  const { own, call } = outlineChunk(rerolled, chunk);
  writeTileLoop(own, chunk);
  call(() => {});
}

/** Emits a loop over the vectors of a group. */
function writeTileLoop(rerolled: Rerolled, chunk: readonly Value[]): void {
  const { group, spillArea, base, tileOffset, tile } = rerolled;
  const { code } = group;
  code.i32(0);
  code.at('local.set', tileOffset);
  code.open('loop');
  code.at('local.get', spillArea);
  code.at('local.get', tileOffset);
  code.op('i32.add');
  code.at('local.set', base);
  spendFuel(rerolled, chunk);
  code.at('local.get', tileOffset);
  code.i32(16 * tile);
  code.op('i32.add');
  code.at('local.tee', tileOffset);
  code.i32(16 * group.plan.packs);
  code.op('i32.lt_u');
  code.at('br_if', 0);
  code.end();
}

/** Emits a chunk for the vectors of one iteration. */
function spendFuel(rerolled: Rerolled, chunk: readonly Value[]): void {
  const { group } = rerolled;
  if (chunk.filter((value) => isExactFma(group, value)).length < chunk.length / tuning.rareFmaRatio) return emitChunk(rerolled, chunk);
  withHardCases(group, (hardCases) => {
    emitChunk(rerolled, chunk, hardCases);
    hardCases.push();
  });
  group.code.openRare();
  callRoundToOdd(rerolled, chunk);
  group.code.end();
}

/**
 * Runs a chunk again, vector by vector, with every sum rounded to odd. It is a separate function: inline it would take registers from the
 * common path and dominate compile time.
 */
function callRoundToOdd(rerolled: Rerolled, chunk: readonly Value[]): void {
  const { group, tile, base, tileOffset } = rerolled;
  const { own, call } = outlineChunk(rerolled, chunk, ['base', 'ahead']);
  emitChunk({ ...own, tile: 1 }, chunk);
  for (let pack = 0; pack < tile; pack++)
    call(() => {
      for (const local of [base, tileOffset]) {
        group.code.at('local.get', local);
        group.code.i32(16 * pack);
        group.code.op('i32.add');
      }
    });
}

/**
 * A function for a chunk that reads its operands from memory. `call` pushes the given parameters; loads get their addresses as parameters
 * too.
 */
function outlineChunk(
  { group, ...rerolled }: Rerolled,
  chunk: readonly Value[],
  given: readonly ('base' | 'ahead')[] = [],
): { readonly own: Rerolled; readonly call: (pushGiven: () => void) => void } {
  const loads = chunk.filter((value) => rerolled.addresses.has(value));
  const { index, code } = group.newFunction([...given, ...loads].map(() => 'i32'));
  const wordOf = (name: 'base' | 'ahead'): number => (given.includes(name) ? given.indexOf(name) : code.local('i32'));
  const spillArea = code.local('i32');
  code.at('global.get', group.host.globals.records);
  code.at('local.set', spillArea);
  const own: Rerolled = {
    ...rerolled,
    group: withUniformsInMemory(group, code, { uniforms: rerolled.uniforms, spillArea }),
    spillArea,
    addresses: new Map(loads.map((load, i) => [load, given.length + i])),
    base: wordOf('base'),
    tileOffset: wordOf('ahead'),
    locals: [],
  };
  const call = (pushGiven: () => void): void => {
    pushGiven();
    for (const load of loads) group.code.at('local.get', rerolled.addresses.get(load)!);
    group.code.at('call', index);
  };
  return { own, call };
}

/** A lane group for chunks, whose uniform operands are in memory. */
export function withUniformsInMemory(
  group: LaneGroup,
  code: Code,
  { uniforms, spillArea }: Pick<Rerolled, 'uniforms' | 'spillArea'>,
): LaneGroup {
  const scalar = (value: Value): void => {
    const inst = group.kernel.insts[value]!;
    if (inst.op === 'const') return writeConstant(code, numberOf(group, value), inst.bits);
    code.at('local.get', spillArea);
    code.access(`${numberOf(group, value)}.load`, 4, uniforms.get(value) ?? bug(`value ${value} is not passed to a chunk`));
  };
  const part = (value: Value): void => {
    const inst = group.kernel.insts[value]!;
    if (inst.op === 'const') return code.v128(constantWords(group, value, inst));
    splat(own, value, () => scalar(value));
  };
  const scratch = code === group.code ? group.scratch : newScratch(code);
  const own: LaneGroup = { ...group, code, mask: undefined, scalar, part, scratch };
  return own;
}

/** Emits the chunk, collecting doubt or with every sum rounded to odd. */
function emitChunk(rerolled: Rerolled, chunk: readonly Value[], hardCases?: HardCases): void {
  const { group, base, tile: packs } = rerolled;
  const { code } = group;
  const vectors = localsOf(rerolled, chunk);
  const inner: LaneGroup = {
    ...group,
    plan: { ...group.plan, packs },
    mask: undefined,
    isRerolled: true,
    part: vectors.part,
    element: (value, _, part) => vectors.part(value, part),
    lane: () => bug('a single lane in re-rolled code'),
    isDeferred: () => false,
  };
  const tile: Tile = { group: inner, packs, ...vectors };
  for (const value of chunk) {
    group.pool.begin();
    const inst = group.kernel.insts[value]!;
    if (inst.op === 'fma' && isExactFma(group, value)) exactFmaOfTile(tile, inst, value, hardCases);
    else if (inst.op !== 'load') {
      const write = partWriter(inner, value) ?? bug('an instruction without a vector form in re-rolled code');
      for (let part = 0; part < packs * (longOf(group, value) ? 2 : 1); part++) {
        write(part, 0);
        code.at('local.set', vectors.own(value, part));
      }
    }
    if (!rerolled.slots.has(value)) continue;
    for (let part = 0; part < packs * (longOf(group, value) ? 2 : 1); part++) {
      code.at('local.get', base);
      vectors.part(value, part);
      code.access('v128.store', 4, placeOf(rerolled, value, part));
    }
  }
}

/** The vector locals of a chunk. Values of other chunks and loads enter a local on first use. */
function localsOf(rerolled: Rerolled, chunk: readonly Value[]): Pick<Tile, 'part' | 'own' | 'double' | 'ownDouble'> {
  const { group, base } = rerolled;
  const { code, kernel } = group;
  const isOfChunk = new Set(chunk);
  const [f32Locals, doubles] = [new Map<Value, number[]>(), new Map<Value, number[]>()];
  let usedLocals = 0;
  const localIn = (locals: Map<Value, number[]>, value: Value, part: number): number => {
    const own = locals.get(value) ?? [];
    locals.set(value, own);
    own[part] ??= rerolled.locals[usedLocals++] ??= code.local('v128');
    return own[part];
  };
  const own = (value: Value, part: number): number => localIn(f32Locals, value, part);
  const ownDouble = (value: Value, half: number): number => localIn(doubles, value, half);
  const isMade = (value: Value): boolean => rerolled.definingChunk.has(value) || rerolled.inputs.has(value);
  const loadOf = (value: Value): InstOf<'load'> | undefined => {
    const inst = kernel.insts[value]!;
    return inst.op === 'load' && isOfChunk.has(value) ? inst : undefined;
  };
  const part = (value: Value, which: number): void => {
    if (!isMade(value)) return group.part(value, which);
    const known = f32Locals.get(value)?.[which];
    if (known !== undefined) return code.at('local.get', known);
    const load = loadOf(value);
    if (load) loadPart(rerolled, load, value, which);
    else {
      code.at('local.get', base);
      code.access('v128.load', 4, placeOf(rerolled, value, which));
    }
    code.at('local.tee', own(value, which));
  };
  /** Pushes two of a vector's four lanes as f64: from its local, or straight from memory. */
  const widen = (value: Value, half: number): void => {
    const isThere = f32Locals.get(value)?.[half >> 1] !== undefined;
    const load = loadOf(value);
    if (!isThere && load && isDense(group, load.addr, value)) {
      pushAddress(rerolled, load, value);
      code.access('v128.load', 1, denseAt(8 * half));
    } else if (!isThere && !load) {
      code.at('local.get', base);
      code.access('v128.load', 4, placeOf(rerolled, value, half >> 1) + 8 * (half % 2));
    } else {
      part(value, half >> 1);
      if (half % 2 === 1) upperHalf(group);
    }
    code.op('f64x2.promote_low_f32x4');
  };
  const double = (value: Value, half: number): void => {
    const place = rerolled.uniformF64.get(value);
    if (place !== undefined) {
      code.at('local.get', rerolled.spillArea);
      code.access('f64.load', 8, place);
      return code.op('f64x2.splat');
    }
    if (!isMade(value)) return splatF64(group, value);
    const known = doubles.get(value)?.[half];
    if (known !== undefined) return code.at('local.get', known);
    widen(value, half);
    // Values of other chunks stay in memory: a chunk may read more of them than there are registers.
    if (!isOfChunk.has(value)) return;
    code.at('local.tee', ownDouble(value, half));
  };
  return { part, own, double, ownDouble };
}

/** Pushes one vector of a load. */
function loadPart(rerolled: Rerolled, inst: InstOf<'load'>, value: Value, which: number): void {
  const { group } = rerolled;
  const push = (): void => pushAddress(rerolled, inst, value);
  if (isDense(group, inst.addr, value)) return denseVector(group, inst, push, which);
  const isLong = bytesOf(inst.type) === 8;
  loadStrided(group, inst.type, stridedAddresses(group, inst.addr, push, isLong ? which >> 1 : which), which & 1);
}

/** Pushes the address of the first lane of this iteration; the byte offset is that of 32-bit lanes. */
function pushAddress({ group, addresses, tileOffset }: Rerolled, inst: InstOf<'load'>, value: Value): void {
  const { code } = group;
  const stride = group.plan.shapes.stride[inst.addr]!;
  code.at('local.get', addresses.get(value)!);
  code.at('local.get', tileOffset);
  if (stride % 4 !== 0) {
    code.i32(2);
    code.op('i32.shr_u');
  }
  const factor = stride % 4 === 0 ? stride / 4 : stride;
  if (factor !== 1) {
    code.i32(factor);
    code.op('i32.mul');
  }
  code.op('i32.add');
}
