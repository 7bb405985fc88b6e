/**
 * Vector rules of shifts by varying counts; WebAssembly's shifts take one count for all lanes. 32-bit lanes are multiplied by powers of two, which
 * are built as f32 values with the count as exponent. A count of the width or more gives 0, or copies of the sign. 64-bit lanes are shifted per
 * lane, which takes no longer.
 */
import type { Value } from '../../../ir/index.ts';
import type { Binary } from '../../codegen/emitter.ts';
import { withScratch } from '../../codegen/scratch.ts';
import { unsignedMax } from '../analysis/value-range.ts';
import { cut, type LaneGroup, longOf, type PartWriter, partSigned } from '../lanes/lane-group.ts';
import { oddWords, words } from '../lanes/vectors.ts';

type Shift = 'shl' | 'shr_u' | 'shr_s';

/** A shift by a varying count; undefined for 64-bit lanes. */
export function shiftEach(s: LaneGroup, name: Shift, inst: Binary, value: Value): PartWriter | undefined {
  if (longOf(s, value)) return undefined;
  return name === 'shl' ? shiftUp(s, inst) : shiftDown(s, name, inst);
}

/** One in the exponent field of an f32. */
const exponentUnit = 2 ** 23;
/** The bits of -1 as an f32. */
const minusOne = 0xbf80_0000;

/** Whether value-range analysis bounds a count below 32. */
const isBelow32 = ({ kernel }: LaneGroup, count: Value): boolean => (unsignedMax(kernel, count) ?? 32n) < 32n;

/** Converts -(2^n) on the stack from f32 to i32; the powers are negative since -(2^31) is an i32 and 2^31 is not. */
const powersOfTwo = (s: LaneGroup): void => s.code.op('i32x4.trunc_sat_f32x4_s');

function shiftUp(s: LaneGroup, inst: Binary): PartWriter {
  const { code } = s;
  const isBounded = isBelow32(s, inst.b);
  return (part) => {
    s.part(inst.a, part);
    s.part(inst.b, part);
    withScratch(s, 'v128', 1, ([count]) => {
      if (!isBounded) code.at('local.tee', count);
      code.v128(words(exponentUnit));
      code.op('i32x4.mul');
      code.v128(words(minusOne));
      code.op('i32x4.add');
      powersOfTwo(s);
      code.op('i32x4.mul');
      code.op('i32x4.neg');
      if (!isBounded) dropWhereLarge(s, count);
    });
    cut(s, inst.type);
  };
}

/** A shift right by n: the upper half of the 64-bit product a * 2^(31 - n), doubled. */
function shiftDown(s: LaneGroup, name: 'shr_u' | 'shr_s', inst: Binary): PartWriter {
  const { code } = s;
  const isBounded = isBelow32(s, inst.b);
  return (part) => {
    if (name === 'shr_s') partSigned(s, inst.a, part);
    else s.part(inst.a, part);
    s.part(inst.b, part);
    if (name === 'shr_s' && !isBounded) {
      code.v128(words(31));
      code.op('i32x4.min_u');
    }
    writeShiftDown(s, name, isBounded);
    cut(s, inst.type);
  };
}

/** Replaces the integers and counts on the stack by the shifted integers. */
function writeShiftDown(s: LaneGroup, name: 'shr_u' | 'shr_s', isBounded: boolean): void {
  const { code } = s;
  const get = (...locals: number[]): void => locals.forEach((local) => void code.at('local.get', local));
  withScratch(s, 'v128', 4, ([count, factor, power, product]) => {
    code.at('local.set', count);
    code.at('local.set', factor);
    code.v128(words(minusOne + 31 * exponentUnit));
    get(count);
    code.v128(words(exponentUnit));
    code.op('i32x4.mul');
    code.op('i32x4.sub');
    powersOfTwo(s);
    if (name === 'shr_u') code.op('i32x4.neg');
    code.at('local.set', power);
    for (const half of ['low', 'high'] as const) {
      get(factor, power);
      code.op(`i64x2.extmul_${half}_i32x4_${name === 'shr_u' ? 'u' : 's'}`);
      code.at('local.tee', product);
      get(product);
      code.op('i64x2.add');
      if (name === 'shr_s') code.op('i64x2.neg');
    }
    code.shuffle(oddWords);
    if (name === 'shr_u' && !isBounded) dropWhereLarge(s, count);
  });
}

function dropWhereLarge({ code }: LaneGroup, count: number): void {
  code.at('local.get', count);
  code.v128(words(32));
  code.op('i32x4.lt_u');
  code.op('v128.and');
}
