/** Vector rules of conversions. Four lanes are one vector of 32-bit lanes and two vectors of 64-bit lanes. */
import { bitsOf, type InstOf, isPointer, spaceOf, type Value } from '../../../ir/index.ts';
import { withScratch } from '../../codegen/scratch.ts';
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
    for (const op of ['i32x4.shl', 'i32x4.shr_s'] as const) {
      s.code.i32(31);
      s.code.op(op);
    }
  };
}

/** The half of the vector of 32-bit lanes from which a part of 64-bit lanes is converted. */
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

/** Sign extension; conditions are masks, which are sign-extended already. */
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

/** Float to integer, toward zero and saturating; narrow integers are clamped afterwards. */
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
      clampNarrow(s, inst.type, sign);
    };
  };

function clampNarrow(s: LaneGroup, type: 'i8' | 'i16' | string, sign: 's' | 'u'): void {
  if (type !== 'i8' && type !== 'i16') return;
  const unsignedMax = 2 ** bitsOf(type) - 1;
  s.code.v128(words(sign === 's' ? unsignedMax >> 1 : unsignedMax));
  s.code.op(`i32x4.min_${sign}`);
  if (sign === 'u') return;
  s.code.v128(words(-(unsignedMax >> 1) - 1));
  s.code.op('i32x4.max_s');
  cut(s, type);
}

/** The bits of 2^52 and of 2^84 as f64: their low 32 bits count units of 1 and of 2^32. */
const [twoTo52, twoTo84] = [0x4330n << 48n, 0x4530n << 48n];

/**
 * Converts the 64-bit integers on the stack to f64: each 32-bit half becomes the low bits of 2^52 or 2^84, the excess is subtracted exactly, and
 * the sum of both is rounded once.
 */
function int64ToF64(s: LaneGroup, sign: 's' | 'u'): void {
  const { code } = s;
  // Signed: flipping the sign bit adds 2^31 units of the upper half.
  const signBias = sign === 's' ? 1n << 31n : 0n;
  withScratch(s, 'v128', 1, ([given]) => {
    code.at('local.tee', given);
    code.i32(32);
    code.op('i64x2.shr_u');
    code.v128(longs(twoTo84 | signBias));
    code.op('v128.xor');
    // 2^84 + 2^52, and 2^63 more for signed integers.
    code.v128(longs(twoTo84 | signBias | (1n << 20n)));
    code.op('f64x2.sub');
    code.at('local.get', given);
  });
  code.v128(longs(0xffff_ffffn));
  code.op('v128.and');
  code.v128(longs(twoTo52));
  code.op('v128.or');
  code.op('f64x2.add');
}

/** Integer to float: from 32 bits and fewer, and from 64 bits to f64. Conversions from 64 bits to narrower floats are emitted per lane. */
export const intToFloat =
  (sign: 's' | 'u') =>
  (s: LaneGroup, inst: InstOf<'sitofp'> | InstOf<'uitofp'>): PartWriter | undefined => {
    const from = typeOf(s, inst.a);
    if (inst.type === 'f64' && longOf(s, inst.a) && !isPointer(from))
      return (part) => {
        s.part(inst.a, part);
        int64ToF64(s, sign);
      };
    // An integer within the range of f16 converts to f32 without rounding, so rounding to f16 is the only one; not so for bf16.
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

/** Conversion to f32 or f64: exact. */
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

/** Conversion to f32 and narrower floats. f64 to f16 or bf16 is emitted per lane, since going through f32 would round twice. */
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

/** Converts between pointers and integers: as an integer, an address of shared, constant or local memory is its offset in the window. */
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

/** Adds the offsets of the lanes' local memory for a part; each thread's follows that of the thread before. */
function addLocal(s: LaneGroup, part: number, isWide: boolean): void {
  const bytes = s.plan.windows.local;
  if (!isWide) return addStride(s, bytes, part);
  s.code.v128(longs(0n).map((_, i) => (i % 2 === 0 ? (2 * part + i / 2) * bytes : 0)));
  s.code.op('i64x2.add');
}
