/** Raises casts and arithmetic of values and constants, including integers of widths that the IR does not have. */
import type { BinaryOpcode, CastOpcode } from '../../bitcode/model.ts';
import { bitWidth, type Type as LlvmType, scalarOf, spell } from '../../bitcode/types.ts';
import { type Builder, bitsOf, isPointer, type Type, type Value } from '../../ir/index.ts';
import { remainder } from '../functions/remainder.ts';
import { type Lanes, Refused, scalarType, typesOf } from '../types.ts';

/** The difference between the IR width and the LLVM width of an integer. It is stored zero-extended in the next wider IR type. */
function paddingBits(b: Builder, type: LlvmType, value: Value): number {
  return type.kind === 'int' && type.bits > 1 ? bitsOf(b.typeOf(value)) - type.bits : 0;
}

/** Clears the high bits of an odd-width integer after an operation on the wider type. */
export function masked(b: Builder, type: LlvmType, value: Value): Value {
  if (type.kind !== 'int' || paddingBits(b, type, value) === 0) return value;
  return b.and(value, b.const(b.typeOf(value), (1n << BigInt(type.bits)) - 1n));
}

/** Sign-extends an odd-width integer in the wider type. */
export function withSign(b: Builder, type: LlvmType, value: Value): Value {
  const missing = paddingBits(b, type, value);
  if (missing === 0) return value;
  const count = b.const(b.typeOf(value), missing);
  return b.ashr(b.shl(value, count), count);
}

/** Casts values to another LLVM type. */
export function raiseCast(b: Builder, opcode: CastOpcode, from: Lanes, [source, to]: readonly [LlvmType, LlvmType]): Lanes {
  if (opcode === 'addrspacecast') {
    if (source === to) return from;
    throw new Refused('a cast between address spaces');
  }
  if (opcode === 'bitcast') return raiseBitcast(b, from, [source, to]);
  const [inner, outer] = [scalarOf(source), scalarOf(to)];
  return from.map((x) => castScalar(b, opcode, x, [inner, outer]));
}

function castScalar(b: Builder, opcode: CastOpcode, x: Value, [from, to]: readonly [LlvmType, LlvmType]): Value {
  const type = scalarType(to);
  switch (opcode) {
    case 'trunc':
    case 'zext':
      return masked(b, to, resized(b, x, type, 'zext'));
    case 'sext':
      return masked(b, to, resized(b, withSign(b, from, x), type, 'sext'));
    case 'ptrtoint':
      return masked(b, to, resized(b, b.ptrtoint('i64', x), type, 'zext'));
    case 'inttoptr':
      return b.inttoptr(type, resized(b, x, 'i64', 'zext'));
    case 'fptosi':
    case 'fptoui':
      return masked(b, to, b[opcode](type, x));
    case 'sitofp':
      return b.sitofp(type, withSign(b, from, x));
    default:
      return (b[opcode as 'fpext'] as (type: Type, x: Value) => Value)(type, x);
  }
}

/** Truncates or extends an integer to another type. */
export function resized(b: Builder, value: Value, type: Type, extend: 'zext' | 'sext'): Value {
  const from = b.typeOf(value);
  if (from === type) return value;
  return bitsOf(from) > bitsOf(type) ? b.trunc(type, value) : b[extend](type, value);
}

function raiseBitcast(b: Builder, from: Lanes, [of, to]: readonly [LlvmType, LlvmType]): Lanes {
  if (of === to) return from;
  const types = typesOf(to);
  if (from.length === 0 || types.length === 0) throw new Refused(`a bitcast to ${spell(to)}`);
  if (types.length === 1 && from.length === 1 && isPointer(types[0]!)) return from;
  if (isPointer(b.typeOf(from[0]!)) || isPointer(types[0]!)) throw new Refused(`a bitcast to ${spell(to)}`);
  const [before, after] = [bitWidth(scalarOf(of)), bitWidth(scalarOf(to))];
  if (before === 0 || from.length * before !== types.length * after) throw new Refused(`a bitcast to ${spell(to)}, which has another size`);
  if (before === after) return from.map((x, i) => b.bitcast(types[i]!, x));
  return before > after ? split(b, from, types) : join(b, from, types);
}

const intOf = (type: Type): Type => `i${bitsOf(type)}` as Type;

/** Splits one wide element into several narrow ones, lowest first. */
function split(b: Builder, from: Lanes, types: readonly Type[]): Lanes {
  const each = types.length / from.length;
  if (!Number.isInteger(each)) throw new Refused('a bitcast between elements whose sizes do not divide');
  return types.map((type, i) => {
    const int = intOf(b.typeOf(from[0]!));
    const word = b.bitcast(int, from[Math.floor(i / each)]!);
    return b.bitcast(type, b.trunc(intOf(type), b.lshr(word, b.const(int, (i % each) * bitsOf(type)))));
  });
}

/** Joins several narrow elements into one wide one, lowest first. */
function join(b: Builder, from: Lanes, types: readonly Type[]): Lanes {
  const each = from.length / types.length;
  if (!Number.isInteger(each)) throw new Refused('a bitcast between elements whose sizes do not divide');
  return types.map((type, i) => {
    const int = intOf(type);
    let word: Value | undefined;
    for (let n = 0; n < each; n++) {
      const part = from[i * each + n]!;
      const width = bitsOf(b.typeOf(part));
      const wide = b.zext(int, b.bitcast(intOf(b.typeOf(part)), part));
      const placed = n === 0 ? wide : b.shl(wide, b.const(int, n * width));
      word = word === undefined ? placed : b.or(word, placed);
    }
    return b.bitcast(type, word!);
  });
}

const signedOps: ReadonlySet<string> = new Set(['sdiv', 'srem', 'ashr']);

/** Applies a binary operation elementwise. */
export function raiseBinary(b: Builder, opcode: BinaryOpcode, [xs, ys]: readonly [Lanes, Lanes], type: LlvmType): Lanes {
  const of = scalarOf(type);
  const make = (x: Value, y: Value): Value => {
    if (opcode === 'frem') return remainder(b, x, y);
    if (!signedOps.has(opcode)) return b[opcode](x, y);
    return b[opcode](withSign(b, of, x), opcode === 'ashr' ? y : withSign(b, of, y));
  };
  return xs.map((x, i) => masked(b, of, make(x, ys[i]!)));
}
