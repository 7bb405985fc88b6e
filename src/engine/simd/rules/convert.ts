/** Conversions on vectors. A vector of long lanes is one of two for each of short ones. */
import { bitsOf, type InstOf, isPointer, spaceOf, type Value } from '../../../ir/index.ts';
import { addStride, cut, type LaneGroup, longOf, type PartWriter, partSigned, typeOf } from '../lanes/lane-group.ts';
import { pushWindow } from '../lanes/leaf-values.ts';
import { evenWords, joinHalves, longs, upperHalf, words } from '../lanes/vectors.ts';
import { isShortFloat, narrowShort, widenShort } from './f16-conversions.ts';

/** The low bits. */
export function truncate(s: LaneGroup, inst: InstOf<'trunc'>, value: Value): PartWriter {
  const isWide = longOf(s, inst.a);
  return (part) => {
    s.part(inst.a, isWide && !longOf(s, value) ? 2 * part : part);
    if (isWide && !longOf(s, value)) {
      s.part(inst.a, 2 * part + 1);
      s.code.shuffle(evenWords);
    }
    if (inst.type !== 'i1') return cut(s, inst.type);
    if (typeOf(s, inst.a) === 'i1') return;
    for (const op of ['i32x4.shl', 'i32x4.shr_s']) {
      s.code.i32(31);
      s.code.op(op);
    }
  };
}

/** The vector of short lanes that a long one comes from, and which half of it that is. */
const half = (part: number): 'low' | 'high' => (part % 2 === 0 ? 'low' : 'high');

/** Zero extension; conditions become 0 or 1. */
export function zeroExtend(s: LaneGroup, inst: InstOf<'zext'>, value: Value): PartWriter {
  const isWide = longOf(s, value) && !longOf(s, inst.a);
  return (part) => {
    s.part(inst.a, isWide ? part >> 1 : part);
    if (typeOf(s, inst.a) === 'i1') {
      s.code.v128(words(1));
      s.code.op('v128.and');
    }
    if (isWide) s.code.op(`i64x2.extend_${half(part)}_i32x4_u`);
  };
}

/** Sign extension; conditions are so already. */
export function signExtend(s: LaneGroup, inst: InstOf<'sext'>, value: Value): PartWriter {
  const isWide = longOf(s, value) && !longOf(s, inst.a);
  return (part) => {
    partSigned(s, inst.a, isWide ? part >> 1 : part);
    if (isWide) s.code.op(`i64x2.extend_${half(part)}_i32x4_s`);
    cut(s, inst.type);
  };
}

/** The same bits. */
export function bitcast(s: LaneGroup, inst: InstOf<'bitcast'>): PartWriter {
  return (part) => s.part(inst.a, part);
}

/** Towards zero and saturating; narrower integers are bounded afterwards. */
export const floatToInt =
  (sign: 's' | 'u') =>
  (s: LaneGroup, inst: InstOf<'fptosi'> | InstOf<'fptoui'>, value: Value): PartWriter | undefined => {
    const from = typeOf(s, inst.a);
    if (longOf(s, value) || inst.type === 'i1') return undefined;
    return (part) => {
      if (from !== 'f64') {
        s.part(inst.a, part);
        if (isShortFloat(from)) widenShort(s, from);
        s.code.op(`i32x4.trunc_sat_f32x4_${sign}`);
      } else {
        for (const which of [0, 1]) {
          s.part(inst.a, 2 * part + which);
          s.code.op(`i32x4.trunc_sat_f64x2_${sign}_zero`);
        }
        joinHalves(s);
      }
      bound(s, inst.type, sign);
    };
  };

function bound(s: LaneGroup, type: 'i8' | 'i16' | string, sign: 's' | 'u'): void {
  if (type !== 'i8' && type !== 'i16') return;
  const most = 2 ** bitsOf(type) - 1;
  s.code.v128(words(sign === 's' ? most >> 1 : most));
  s.code.op(`i32x4.min_${sign}`);
  if (sign === 'u') return;
  s.code.v128(words(-(most >> 1) - 1));
  s.code.op('i32x4.max_s');
  cut(s, type);
}

/** Words of 32 bits behind the point of a double of 2^52, and of one of 2^84. */
const [lowWord, highWord] = [0x4330n << 48n, 0x4530n << 48n];

/**
 * Long integers on the stack as doubles: both words are put where they are bits of a double of known size, and what that is too much is taken away;
 * the sum of both is rounded once.
 */
function longsToDoubles({ code, temp }: LaneGroup, sign: 's' | 'u'): void {
  const given = temp('v128', 44);
  // What is negative is more by 2^31 units of the upper word.
  const above = sign === 's' ? 1n << 31n : 0n;
  code.at('local.tee', given);
  code.i32(32);
  code.op('i64x2.shr_u');
  code.v128(longs(highWord | above));
  code.op('v128.xor');
  // 2^84 + 2^52, and 2^63 where there is a sign.
  code.v128(longs(highWord | above | (1n << 20n)));
  code.op('f64x2.sub');
  code.at('local.get', given);
  code.v128(longs(0xffff_ffffn));
  code.op('v128.and');
  code.v128(longs(lowWord));
  code.op('v128.or');
  code.op('f64x2.add');
}

/** From words and less, and from long integers to doubles; to floats of less these are converted lane by lane. */
export const intToFloat =
  (sign: 's' | 'u') =>
  (s: LaneGroup, inst: InstOf<'sitofp'> | InstOf<'uitofp'>): PartWriter | undefined => {
    const from = typeOf(s, inst.a);
    // A word that a half can hold is a single without rounding; of bfloats that is not so.
    if (inst.type === 'f64' && longOf(s, inst.a) && !isPointer(from))
      return (part) => {
        s.part(inst.a, part);
        longsToDoubles(s, sign);
      };
    if (inst.type === 'bf16' || longOf(s, inst.a) || from === 'i1') return undefined;
    const push = (part: number): void => (sign === 's' ? partSigned(s, inst.a, part) : s.part(inst.a, part));
    return (part) => {
      if (inst.type !== 'f64') {
        push(part);
        s.code.op(`f32x4.convert_i32x4_${sign}`);
        return isShortFloat(inst.type) ? narrowShort(s, inst.type) : undefined;
      }
      push(part >> 1);
      if (part % 2 === 1) upperHalf(s);
      s.code.op(`f64x2.convert_low_i32x4_${sign}`);
    };
  };

/** To singles or doubles. */
export function widenFloat(s: LaneGroup, inst: InstOf<'fpext'>): PartWriter | undefined {
  const from = typeOf(s, inst.a);
  if (inst.type !== 'f64')
    return (part) => {
      s.part(inst.a, part);
      if (isShortFloat(from)) widenShort(s, from);
    };
  return (part) => {
    s.part(inst.a, part >> 1);
    if (isShortFloat(from)) widenShort(s, from);
    if (part % 2 === 1) upperHalf(s);
    s.code.op('f64x2.promote_low_f32x4');
  };
}

/** To singles and less; doubles are made halves lane by lane, for that is one rounding. */
export function narrowFloat(s: LaneGroup, inst: InstOf<'fptrunc'>): PartWriter | undefined {
  const { type } = inst;
  if (isShortFloat(type)) {
    if (typeOf(s, inst.a) !== 'f32') return undefined;
    return (part) => {
      s.part(inst.a, part);
      narrowShort(s, type);
    };
  }
  return (part) => {
    for (const which of [0, 1]) {
      s.part(inst.a, 2 * part + which);
      s.code.op('f32x4.demote_f64x2_zero');
    }
    joinHalves(s);
  };
}

/** An address of shared, constant or local memory is, as an integer, its offset in the window. */
export function windowed(s: LaneGroup, operand: Value, pointer: Value, op: 'add' | 'sub'): PartWriter {
  const type = typeOf(s, pointer);
  const space = isPointer(type) ? spaceOf(type) : 'global';
  const isWide = longOf(s, pointer);
  return (part) => {
    s.part(operand, part);
    if (space !== 'shared' && space !== 'constant' && space !== 'local') return;
    pushWindow(s, space);
    if (isWide) s.code.op('i64.extend_i32_u');
    s.code.op(isWide ? 'i64x2.splat' : 'i32x4.splat');
    if (space === 'local' && s.plan.windows.local > 0) addLocal(s, part, isWide);
    s.code.op(isWide ? `i64x2.${op}` : `i32x4.${op}`);
  };
}

/** Local memory of the lanes of a part, one thread's behind the other's. */
function addLocal(s: LaneGroup, part: number, isWide: boolean): void {
  const bytes = s.plan.windows.local;
  if (!isWide) return addStride(s, bytes, part);
  s.code.v128(longs(0n).map((_, i) => (i % 2 === 0 ? (2 * part + i / 2) * bytes : 0)));
  s.code.op('i64x2.add');
}
