/** Constants blocks, of a module or of a function. */

import { binaryCodes, castCodes } from '../codes.ts';
import type { Constant, Value } from '../model.ts';
import { isData } from '../operands.ts';
import { signedVbr } from '../signed-vbr.ts';
import type { Type } from '../types.ts';
import type { Numbering } from './numbering.ts';
import type { StreamWriter } from './stream-writer.ts';

/** Writes constants in the order of their ids; nothing where there are none. */
export function writeConstants(
  out: StreamWriter,
  constants: readonly Constant[],
  types: Numbering<Type>,
  valueId: (value: Value) => number,
): void {
  if (constants.length === 0) return;
  out.block('constants', () => {
    let current: Type | undefined;
    for (const constant of constants) {
      if (constant.kind !== 'constant') continue;
      if (constant.type !== current) out.record('constants', 'setType', { type: types.idOf(constant.type) });
      current = constant.type;
      writeConstant(out, constant, types, valueId);
    }
  });
}

type Plain = Extract<Constant, { kind: 'constant' }>;

function writeConstant(out: StreamWriter, constant: Plain, types: Numbering<Type>, valueId: (value: Value) => number): void {
  switch (constant.form) {
    case 'int':
      return writeInteger(out, constant);
    case 'float':
      return out.record('constants', 'float', { bits: small(constant.bits) });
    case 'null':
    case 'undef':
    case 'poison':
      return out.record('constants', constant.form, {});
    case 'aggregate':
      return isData(constant)
        ? writeData(out, constant)
        : out.record('constants', 'aggregate', { elements: constant.elements.map(valueId) });
    case 'cast':
      return out.record('constants', 'cast', {
        opcode: castCodes[constant.opcode],
        type: types.idOf(constant.value.type),
        value: valueId(constant.value),
      });
    case 'binary':
      return out.record('constants', 'binop', {
        opcode: binaryCodes[constant.opcode],
        a: valueId(constant.a),
        b: valueId(constant.b),
        flags: constant.flags || undefined,
      });
    case 'gep': {
      const operands = [constant.base, ...constant.indices].flatMap((v) => [types.idOf(v.type), valueId(v)]);
      return out.record('constants', constant.inbounds ? 'inboundsGep' : 'gep', { sourceType: types.idOf(constant.sourceType), operands });
    }
  }
}

/** The same value, as a number where that is exact: writing bigints takes long. */
function small(value: bigint): number | bigint {
  const near = Number(value);
  return near > Number.MAX_SAFE_INTEGER ? value : near;
}

/** Numbers below hold their double and a sign exactly. */
const smallBits = 52;

function writeInteger(out: StreamWriter, { type, value }: Extract<Plain, { form: 'int' }>): void {
  // Zero is the null of its type, as LLVM has it.
  if (value === 0n) return out.record('constants', 'null', {});
  const near = Number(value);
  if (near < 2 ** smallBits) {
    const isNegative = type.bits <= smallBits && near >= 2 ** (type.bits - 1);
    return out.record('constants', 'integer', { value: isNegative ? 2 * (2 ** type.bits - near) + 1 : 2 * near });
  }
  const signed = BigInt.asIntN(type.bits, value);
  if (type.bits <= 64) return out.record('constants', 'integer', { value: small(signedWord(signed)) });
  const words = Array.from({ length: Math.ceil(type.bits / 64) }, (_, i) => BigInt.asIntN(64, signed >> BigInt(64 * i)));
  out.record('constants', 'wideInteger', { words: words.map(signedWord) });
}

/** The least number of 64 bits is written as minus zero. */
const signedWord = (word: bigint): bigint => (word === -(1n << 63n) ? 1n : signedVbr(word));

function writeData(out: StreamWriter, constant: Extract<Plain, { form: 'aggregate' }>): void {
  const bits = constant.elements.map((e) =>
    e.kind === 'constant' && e.form === 'int' ? e.value : e.kind === 'constant' && e.form === 'float' ? e.bits : 0n,
  );
  const isString = constant.type.kind === 'array' && constant.type.element.kind === 'int' && constant.type.element.bits === 8;
  out.record('constants', isString ? 'string' : 'data', { elements: bits });
}
