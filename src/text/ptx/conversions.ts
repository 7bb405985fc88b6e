/** Conversions as PTX. */
import { bug } from '../../base/bug.ts';
import { bitsOf, isFloat, type Type, type Value } from '../../ir/index.ts';
import { asFloat, fromFloat } from './floats.ts';
import { integerOf } from './idioms.ts';
import type { Printer, Rules } from './printer.ts';
import { moveType } from './registers.ts';

type Converted = { readonly a: Value; readonly type: Type };

/** The bits of the register of an integer. */
const held = (type: Type): number => Math.max(16, bitsOf(type));

function truncate(p: Printer, { a, type }: Converted, value: Value): void {
  const [from, d] = [p.typeOf(a), p.reg(value)];
  if (type === 'i1') {
    const bit = p.temp(from);
    p.line(`and.b${held(from)} ${bit}, ${p.reg(a)}, 1;`);
    return p.line(`setp.ne.u${held(from)} ${d}, ${bit}, 0;`);
  }
  if (held(from) !== held(type)) p.line(`cvt.u${held(type)}.u${held(from)} ${d}, ${p.reg(a)};`);
  if (type === 'i8') p.line(`and.b16 ${d}, ${held(from) === 16 ? p.reg(a) : d}, 255;`);
}

const extend =
  (sign: 's' | 'u') =>
  (p: Printer, { a, type }: Converted, value: Value): void => {
    const [from, d] = [p.typeOf(a), p.reg(value)];
    if (from === 'i1') return p.line(`selp.b${held(type)} ${d}, ${sign === 's' ? (type === 'i8' ? 255 : -1) : 1}, 0, ${p.reg(a)};`);
    if (sign === 'u' && held(from) === held(type)) return p.line(`mov.b16 ${d}, ${p.reg(a)};`);
    p.line(`cvt.${sign}${held(type)}.${sign}${sign === 's' ? bitsOf(from) : held(from)} ${d}, ${p.reg(a)};`);
  };

function bitcast(p: Printer, { a, type }: Converted, value: Value): void {
  if (moveType(p.typeOf(a)) === moveType(type)) return p.line(`mov.${moveType(type)} ${p.reg(value)}, ${p.reg(a)};`);
  p.line(`mov.b${bitsOf(type)} ${p.reg(value)}, ${p.reg(a)};`);
}

/** To an integer: PTX saturates too, and a NaN in 64 bits is not 0 there. */
const toInteger =
  (sign: 's' | 'u') =>
  (p: Printer, { a, type }: Converted, value: Value): void => {
    const given = p.typeOf(a);
    const from = given === 'bf16' ? 'f32' : given;
    const { a: number, rounding } = type === 'i8' || type === 'i1' ? { a, rounding: 'rzi' } : integerOf(p.kernel, a);
    const source = given === 'bf16' ? asFloat(p, p.reg(a), given) : p.reg(number);
    const d = p.reg(value);
    if (type === 'i1') {
      const word = p.temp('i32');
      p.line(`cvt.rzi.${sign}32.${from} ${word}, ${source};`);
      return p.line(`setp.${sign === 's' ? 'lt' : 'gt'}.${sign}32 ${d}, ${word}, 0;`);
    }
    const isLate = from === 'f64' || type === 'i64';
    const found = isLate ? p.temp(type) : d;
    p.line(`cvt.${rounding}.${sign}${bitsOf(type)}.${from} ${found}, ${source};`);
    if (isLate) {
      const isNan = p.temp('i1');
      p.line(`setp.nan.${from} ${isNan}, ${source}, ${source};`);
      p.line(`selp.${moveType(type)} ${d}, 0, ${found}, ${isNan};`);
    }
    if (type === 'i8') p.line(`and.b16 ${d}, ${d}, 255;`);
  };

/** The conversion of a value to an integer of 64 bits or from a double, where NaN is the highest bit. */
export function convertWhole(p: Printer, value: Value, to: string): void {
  const inst = p.kernel.insts[value]!;
  if (inst.op !== 'fptosi' && inst.op !== 'fptoui') return bug(`${inst.op} makes no integer`);
  const { a, rounding } = integerOf(p.kernel, inst.a);
  p.line(`cvt.${rounding}.${inst.op === 'fptosi' ? 's' : 'u'}${bitsOf(inst.type)}.${p.typeOf(a)} ${to}, ${p.reg(a)};`);
}

/** 1.0 or -1.0 where a predicate holds. */
function predicateToFloat(p: Printer, { a, type }: Converted, isNegative: boolean, d: string): void {
  const sign = isNegative ? 'B' : '3';
  if (type === 'f64') return p.line(`selp.f64 ${d}, 0d${sign}FF0000000000000, 0d0000000000000000, ${p.reg(a)};`);
  const float = type === 'f32' ? d : p.temp('f32');
  p.line(`selp.f32 ${float}, 0f${sign}F800000, 0f00000000, ${p.reg(a)};`);
  if (float !== d) fromFloat(p, d, type, float);
}

const toFloat =
  (sign: 's' | 'u') =>
  (p: Printer, { a, type }: Converted, value: Value): void => {
    const [from, d] = [p.typeOf(a), p.reg(value)];
    if (from === 'i1') return predicateToFloat(p, { a, type }, sign === 's', d);
    const width = `${sign}${bitsOf(from)}`;
    if (type !== 'bf16') return p.line(`cvt.rn.${type}.${width} ${d}, ${p.reg(a)};`);
    if (bitsOf(from) <= 16) {
      const float = p.temp('f32');
      p.line(`cvt.rn.f32.${width} ${float}, ${p.reg(a)};`);
      return fromFloat(p, d, type, float);
    }
    if (p.module.sm < 90) return fromFloat(p, d, type, toOdd(p, a, width));
    p.needs(7.8);
    p.line(`cvt.rn.bf16.${width} ${d}, ${p.reg(a)};`);
  };

/** A number as a float, rounded towards zero with an odd last bit if that is inexact: rounding it once more is as rounding once. */
function toOdd(p: Printer, a: Value, from: string): string {
  const type = p.typeOf(a);
  const [cut, back, isInexact, last, bits, odd] = [p.temp('f32'), p.temp(type), p.temp('i1'), p.temp('i32'), p.temp('i32'), p.temp('f32')];
  p.line(`cvt.rz.f32.${from} ${cut}, ${p.reg(a)};`);
  p.line(from === 'f64' ? `cvt.f64.f32 ${back}, ${cut};` : `cvt.rzi.${from}.f32 ${back}, ${cut};`);
  p.line(`setp.ne.${from} ${isInexact}, ${back}, ${p.reg(a)};`);
  p.line(`selp.b32 ${last}, 1, 0, ${isInexact};`);
  p.line(`mov.b32 ${bits}, ${cut};`);
  p.line(`or.b32 ${bits}, ${bits}, ${last};`);
  p.line(`mov.b32 ${odd}, ${bits};`);
  return odd;
}

function widen(p: Printer, { a, type }: Converted, value: Value): void {
  const from = p.typeOf(a);
  if (from === 'bf16') {
    const float = asFloat(p, p.reg(a), from);
    return p.line(type === 'f64' ? `cvt.f64.f32 ${p.reg(value)}, ${float};` : `mov.f32 ${p.reg(value)}, ${float};`);
  }
  p.line(`cvt.${type}.${from} ${p.reg(value)}, ${p.reg(a)};`);
}

function narrow(p: Printer, { a, type }: Converted, value: Value): void {
  const from = p.typeOf(a);
  if (!isFloat(from)) bug(`a conversion of ${from}`);
  if (type === 'bf16' && from === 'f64') {
    if (p.module.sm < 90) return fromFloat(p, p.reg(value), type, toOdd(p, a, 'f64'));
    p.needs(7.8);
    return p.line(`cvt.rn.bf16.f64 ${p.reg(value)}, ${p.reg(a)};`);
  }
  if (type === 'f32' || from === 'f64') return p.line(`cvt.rn.${type}.${from} ${p.reg(value)}, ${p.reg(a)};`);
  fromFloat(p, p.reg(value), type, asFloat(p, p.reg(a), from));
}

export const conversionRules = {
  trunc: truncate,
  zext: extend('u'),
  sext: (p, inst, value) => {
    extend('s')(p, inst, value);
    if (inst.type === 'i8' && p.typeOf(inst.a) !== 'i1') p.line(`and.b16 ${p.reg(value)}, ${p.reg(value)}, 255;`);
  },
  bitcast,
  fptosi: toInteger('s'),
  fptoui: toInteger('u'),
  sitofp: toFloat('s'),
  uitofp: toFloat('u'),
  fpext: widen,
  fptrunc: narrow,
} satisfies Partial<Rules>;
