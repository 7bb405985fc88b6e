/** Warp collectives on locals. In a kernel that has any, a lane group is a whole warp. */
import { type InstOf, isVector, lanesOf, mmaForm, neutralOf, uniform, type Value, varying } from '../../../ir/index.ts';
import { wordOps } from '../../codegen/lane-ops.ts';
import { stagingOf } from '../../codegen/mma-frame.ts';
import { withScratch } from '../../codegen/scratch.ts';
import { type LaneGroup, longOf, numberOf, shapeOf, typeOf } from '../lanes/lane-group.ts';
import { bitsAt } from '../lanes/lane-masks.ts';
import type { GroupValues } from '../lanes/values.ts';
import { laneLoad, shapeName, wordBytes, words } from '../lanes/vectors.ts';

/** Pops a uniform result. */
function putUniform(values: GroupValues, value: Value): void {
  const s = values.group;
  if (shapeOf(s, value) === uniform) return values.setScalar(value, 0);
  const number = numberOf(s, value);
  withScratch(s, number, 1, ([held]) => {
    s.code.at('local.set', held);
    for (let part = 0; part < values.parts(value); part++) {
      const isFlag = typeOf(s, value) === 'i1';
      if (isFlag) s.code.i32(0);
      s.code.at('local.get', held);
      if (isFlag) s.code.op('i32.sub');
      s.code.op(`${shapeName[number]}.splat`);
      values.put(value, 0, part);
    }
  });
}

/** The condition of each active lane, as a bit. */
export function ballot(values: GroupValues, inst: InstOf<'ballot'>, value: Value): void {
  const s = values.group;
  for (let pack = 0; pack < s.plan.packs; pack++) {
    s.part(inst.a, pack);
    if (s.mask) {
      s.code.at('local.get', s.mask[pack]!);
      s.code.op('v128.and');
    }
    bitsAt(s.code, pack);
  }
  putUniform(values, value);
}

/** The values of all active lanes, reduced to one. */
export function reduce(values: GroupValues, inst: InstOf<'reduce'>, value: Value): void {
  const s = values.group;
  const { code } = s;
  const op = wordOps[inst.fold];
  for (let pack = 0; pack < s.plan.packs; pack++) {
    s.part(inst.a, pack);
    if (s.mask) {
      code.v128(words(neutralOf[inst.fold]));
      code.at('local.get', s.mask[pack]!);
      code.op('v128.bitselect');
    }
    if (pack > 0) code.op(op);
  }
  withScratch(s, 'v128', 1, ([held]) => {
    for (const order of [
      [2, 3, 0, 1],
      [1, 0, 3, 2],
    ]) {
      code.at('local.tee', held);
      code.at('local.get', held);
      code.at('local.get', held);
      code.shuffle(wordBytes(order));
      code.op(op);
    }
  });
  code.lane('i32x4.extract_lane', 0);
  putUniform(values, value);
}

/** The value of another lane: by a static permutation, as a broadcast, or through memory. */
export function shuffle(values: GroupValues, inst: InstOf<'shuffle'>, value: Value): void {
  const s = values.group;
  if (shapeOf(s, inst.a) === uniform) {
    s.scalar(inst.a);
    return shapeOf(s, value) === varying ? putUniform(values, value) : values.setScalar(value, 0);
  }
  const known = s.plan.staticShuffles.get(value);
  if (known && shapeOf(s, value) === varying) return permute(values, inst.a, value, known);
  if (known) {
    s.lane(inst.a, 0, known[0]!);
    return putUniform(values, value);
  }
  storeScratch(values, inst.a);
  if (shapeOf(s, value) !== varying) {
    pushScratchAddress(s, () => s.scalar(inst.b), inst.a);
    s.code.access(`${numberOf(s, value)}.load`, 4, s.plan.scratch);
    return putUniform(values, value);
  }
  loadScratch(values, inst, value);
}

/** A product of matrices: registers go to the staging area vector by vector, and the result comes from there. */
export function mma(values: GroupValues, inst: InstOf<'mma'>, value: Value): void {
  const s = values.group;
  const { code, plan, kernel } = s;
  const form = mmaForm(inst.form);
  const staging = stagingOf(form);
  const vectors = (8 * staging.wordBytes) / 4;
  const base = (): void => code.at('global.get', s.host.globals.records);
  const at = (place: number, register: number, vector: number): number =>
    plan.scratch + place + register * 32 * staging.wordBytes + 16 * vector;
  const bring = (operand: Value, place: number, count = vectors): void => {
    const { type } = kernel.insts[operand]!;
    for (let register = 0; register < lanesOf(type); register++)
      for (let vector = 0; vector < count; vector++) {
        base();
        if (isVector(type)) s.element(operand, register, vector);
        else s.part(operand, vector);
        code.access('v128.store', 16, at(place, register, vector));
      }
  };
  bring(inst.a, staging.a);
  bring(inst.b, staging.b);
  bring(inst.c, staging.c);
  if (form.selector !== undefined) bring(inst.d, staging.d, 8);
  base();
  code.i32(plan.scratch);
  code.op('i32.add');
  code.at('call', s.mma(inst.form));
  for (let register = 0; register < lanesOf(inst.type); register++)
    for (let vector = 0; vector < vectors; vector++) {
      base();
      code.access('v128.load', 16, at(staging.c, register, vector));
      values.put(value, register, vector);
    }
}

function permute(values: GroupValues, from: Value, value: Value, lanes: readonly number[]): void {
  const s = values.group;
  const each = longOf(s, value) ? 2 : 4;
  for (let part = 0; part < values.parts(value); part++) {
    const wanted = lanes.slice(part * each, part * each + each);
    const sources = [...new Set(wanted.map((lane) => Math.floor(lane / each)))];
    s.part(from, sources[0]!);
    const isSame = sources.length === 1 && wanted.every((lane, i) => lane % each === i);
    // Each further source is merged with what was gathered before.
    for (const [step, source] of (isSame ? [] : sources.length === 1 ? [sources[0]!] : sources.slice(1)).entries()) {
      s.part(from, source);
      s.code.shuffle(
        wanted.flatMap((lane, i) => {
          const [at, within] = [Math.floor(lane / each), lane % each];
          const place = at === source ? each + within : at === sources[0] && step === 0 ? within : i;
          return bytesAt(place, 16 / each);
        }),
      );
    }
    values.put(value, 0, part);
  }
}

const bytesAt = (place: number, size: number): number[] => Array.from({ length: size }, (_, byte) => place * size + byte);

/** Pushes the address of a lane's value in the scratch memory of a warp; `push` gives the lane. */
function pushScratchAddress(s: LaneGroup, push: () => void, value: Value): void {
  push();
  s.code.i32(31);
  s.code.op('i32.and');
  s.code.i32(longOf(s, value) ? 3 : 2);
  s.code.op('i32.shl');
  s.code.at('global.get', s.host.globals.records);
  s.code.op('i32.add');
}

function storeScratch(values: GroupValues, value: Value): void {
  const s = values.group;
  for (let part = 0; part < values.parts(value); part++) {
    s.code.at('global.get', s.host.globals.records);
    s.part(value, part);
    s.code.access('v128.store', 4, s.plan.scratch + 16 * part);
  }
}

function loadScratch(values: GroupValues, inst: InstOf<'shuffle'>, value: Value): void {
  const s = values.group;
  const { code } = s;
  const each = longOf(s, value) ? 2 : 4;
  const bits = 128 / each;
  for (let part = 0; part < values.parts(value); part++) {
    for (let i = each - 1; i >= 0; i--) pushScratchAddress(s, () => s.lane(inst.b, 0, part * each + i), value);
    code.access(each === 2 ? 'v128.load64_zero' : 'v128.load32_zero', 4, s.plan.scratch);
    for (let i = 1; i < each; i++) code.accessLane(laneLoad(bits / 8), 4, s.plan.scratch, i);
    values.put(value, 0, part);
  }
}
