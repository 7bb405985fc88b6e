/** Constants of a module or function. They may refer to later ones, so each is made when it is first used. */

import { binaryOpcode, castOpcodes } from '../codes.ts';
import { slotsOf } from '../fields.ts';
import { Malformed } from '../malformed.ts';
import type { Constant } from '../model.ts';
import { partsOf } from '../operands.ts';
import { blocks } from '../records.ts';
import { fromSignedVbr } from '../signed-vbr.ts';
import { bitWidth, types as llvm, spell, type Type, type TypeOf } from '../types.ts';
import { constantLimits } from './limits.ts';
import { fieldsOf } from './record-fields.ts';
import { type OpenRecord, type RawRecord, textOf } from './record-reader.ts';
import type { Stream, UnreadBlock } from './stream-reader.ts';
import type { TypeTable } from './types.ts';

export interface ConstantSource {
  /** Ids are below this. */
  readonly count: number;
  /** The constant, global or function of an id. */
  at(id: number | bigint | undefined, bit: number): Constant;
  /** The constants of these blocks in order. */
  all(bit: number): Constant[];
}

/** The first id of these constants, and the source of those before. */
export interface Before {
  readonly first: number;
  readonly outer: { at(id: number | bigint | undefined, bit: number): Constant };
}

const codes = blocks.constants.records;
/** Levels of constants that are being made. */
const maxDepth = 200;
/** Shared by all blocks, since constants of a function hold those of its module. */
const limits = constantLimits();

/** A constant that is not made yet. */
interface Pending {
  readonly type: Type;
  readonly record: RawRecord;
}

export function readConstants(
  stream: Stream,
  constantBlocks: readonly UnreadBlock[],
  types: TypeTable,
  { first, outer }: Before,
): ConstantSource {
  // Each constant is in one of the two.
  const made: (Constant | undefined)[] = [];
  const pending: (Pending | undefined)[] = [];
  for (const block of constantBlocks) {
    let type: Type = llvm.i32;
    stream.walk(block, {
      block: () => {},
      record(record, copy) {
        if (record.code === codes.setType.code) {
          type = types.at(record.count > setType ? record.ops[setType] : undefined, record.bit);
          return;
        }
        const simple = simpleConstant(type, record);
        made.push(simple);
        pending.push(simple ? undefined : { type, record: copy() });
      },
    });
  }
  const open = new Set<number>();
  const source: ConstantSource = {
    count: first + pending.length,
    at(id, bit) {
      const n = Number(id);
      if (n < first) return outer.at(id, bit);
      const known = made[n - first];
      if (known) return known;
      const next = pending[n - first];
      if (!next || open.has(n)) throw new Malformed(bit, 'constants', `constant ${id} ${next ? 'holds itself' : 'does not exist'}`);
      if (open.size > maxDepth) throw new Malformed(bit, 'constants', 'constants that are nested too deep');
      open.add(n);
      const constant = makeConstant(next.type, next.record, source, types);
      open.delete(n);
      if (constant.kind === 'constant') limits.check(constant, partsOf(constant), next.record.bit);
      made[n - first] = constant;
      return constant;
    },
    all: (bit) => pending.map((_, i) => source.at(first + i, bit)),
  };
  return source;
}

/** In records whose fields all take one operand, the slot of a field is the index of its operand. */
const { type: setType } = slotsOf(codes.setType);
const { value: integerValue } = slotsOf(codes.integer);
const { bits: floatBits } = slotsOf(codes.float);

/** Makes the common constants, which are plain numbers, without a copy of the record; undefined for others. */
function simpleConstant(type: Type, { code, ops, count }: OpenRecord): Constant | undefined {
  const isExact = count === 1 && ops[integerValue]! <= Number.MAX_SAFE_INTEGER;
  if (code === codes.null.code) return nullOf(type);
  if (!isExact) return undefined;
  if (code === codes.integer.code && type.kind === 'int')
    return { kind: 'constant', form: 'int', type, value: bitsOf(type.bits, ops[integerValue]!) };
  if (code === codes.float.code && type.kind === 'float') return number(type, BigInt(ops[floatBits]!), 0);
  return undefined;
}

/** The low bits of a number whose sign is the lowest bit. Bigints are slow, so small numbers become one only at the end. */
function bitsOf(bits: number, word: number): bigint {
  const size = Math.floor(word / 2);
  if (bits > 52 || size >= 2 ** bits) return BigInt.asUintN(bits, fromSignedVbr(word));
  return BigInt(word % 2 === 0 || size === 0 ? size : 2 ** bits - size);
}

function makeConstant(type: Type, record: RawRecord, source: ConstantSource, types: TypeTable): Constant {
  const { code, bit } = record;
  const at = (id: number | bigint): Constant => source.at(id, bit);
  switch (code) {
    case codes.null.code:
      return nullOf(type);
    case codes.undef.code:
      return { kind: 'constant', form: 'undef', type };
    case codes.poison.code:
      return { kind: 'constant', form: 'poison', type };
    case codes.integer.code:
      return integer(type, [fieldsOf(codes.integer, record).value], bit);
    case codes.wideInteger.code:
      return integer(type, fieldsOf(codes.wideInteger, record).words, bit);
    case codes.float.code:
      return number(type, BigInt(fieldsOf(codes.float, record).bits), bit);
    case codes.aggregate.code:
      return aggregate(type, fieldsOf(codes.aggregate, record).elements.map(at), bit);
    case codes.string.code:
      return data(type, fieldsOf(codes.string, record).elements, bit);
    case codes.data.code:
      return data(type, fieldsOf(codes.data, record).elements, bit);
    case codes.cstring.code:
      return data(type, [...fieldsOf(codes.cstring, record).elements, 0], bit);
    case codes.cast.code: {
      const { opcode, value } = fieldsOf(codes.cast, record);
      return { kind: 'constant', form: 'cast', type, opcode: castOpcodes.get(Number(opcode)) ?? unknown(bit, 'cast'), value: at(value) };
    }
    case codes.binop.code: {
      const { opcode: number, a, b, flags = 0 } = fieldsOf(codes.binop, record);
      const opcode = binaryOpcode(Number(number), type.kind === 'float') ?? unknown(bit, 'operation');
      return { kind: 'constant', form: 'binary', type, opcode, a: at(a), b: at(b), flags: Number(flags) };
    }
    case codes.gep.code:
    case codes.inboundsGep.code:
      return gep(type, record, source, types);
    default:
      return (types.dialect === 'latest' ? latestConstant(type, record, source, types) : undefined) ?? notKnown(record);
  }
}

function notKnown({ bit, code }: RawRecord): never {
  throw new Malformed(bit, 'constants', `constant record ${code} is not known`);
}

/** Constants of the records that LLVM has since its version 19. */
function latestConstant(type: Type, record: RawRecord, source: ConstantSource, types: TypeTable): Constant | undefined {
  const { code, bit } = record;
  switch (code) {
    case codes.inlineAsm.code: {
      const { flags, text } = fieldsOf(codes.inlineAsm, record);
      const length = Number(text[0]);
      const constraints = 1 + length;
      return {
        kind: 'constant',
        form: 'asm',
        type,
        text: textOf({ ops: text, bit }, 1, constraints),
        constraints: textOf({ ops: text, bit }, constraints + 1),
        hasSideEffects: (Number(flags) & 1) !== 0,
      };
    }
    case codes.gepInRange.code:
    case codes.gepWithFlags.code: {
      const { sourceType, flags, operands } =
        code === codes.gepInRange.code ? fieldsOf(codes.gepInRange, record) : fieldsOf(codes.gepWithFlags, record);
      const values = operands.filter((_, i) => i % 2 === 1).map((id) => source.at(id, bit));
      const [base, ...indices] = values;
      if (base?.type.kind !== 'pointer') return unknown(bit, 'base of an address');
      const inbounds = (Number(flags) & 1) !== 0;
      return { kind: 'constant', form: 'gep', type, sourceType: types.at(sourceType, bit), inbounds, base, indices };
    }
    default:
      return undefined;
  }
}

function unknown(bit: number, what: string): never {
  throw new Malformed(bit, 'constants', `an unknown ${what}`);
}

/** The null of a number is the number 0. */
function nullOf(type: Type): Constant {
  if (type.kind === 'int') return { kind: 'constant', form: 'int', type, value: 0n };
  if (type.kind === 'float') return { kind: 'constant', form: 'float', type, bits: 0n };
  return { kind: 'constant', form: 'null', type };
}

function integer(type: Type, ops: readonly (number | bigint)[], bit: number): Constant {
  if (type.kind !== 'int') return unknown(bit, 'integer type');
  const value =
    ops.length === 1
      ? fromSignedVbr(ops[0]!)
      : ops.reduce<bigint>((sum, word, i) => sum + (BigInt.asUintN(64, fromSignedVbr(word)) << BigInt(64 * i)), 0n);
  return { kind: 'constant', form: 'int', type, value: BigInt.asUintN(type.bits, value) };
}

function number(type: Type, bits: bigint, bit: number): Constant {
  if (type.kind === 'float') return { kind: 'constant', form: 'float', type, bits: BigInt.asUintN(bitWidth(type), bits) };
  return unknown(bit, 'float type');
}

function data(type: Type, ops: readonly (number | bigint)[], bit: number): Constant {
  if (type.kind !== 'array' && type.kind !== 'vector') return unknown(bit, 'array type');
  const { element } = type;
  const elements = ops.map((word): Constant => {
    const bits = BigInt.asUintN(bitWidth(element), BigInt(word));
    return element.kind === 'int'
      ? { kind: 'constant', form: 'int', type: element as TypeOf<'int'>, value: bits }
      : number(element, bits, bit);
  });
  return aggregate(type, elements, bit);
}

function aggregate(type: Type, elements: Constant[], bit: number): Constant {
  const count = type.kind === 'array' || type.kind === 'vector' ? type.count : type.kind === 'struct' ? (type.fields?.length ?? 0) : -1;
  const typeAt = (i: number): Type | undefined =>
    type.kind === 'struct' ? type.fields?.[i] : type.kind === 'array' || type.kind === 'vector' ? type.element : undefined;
  if (elements.length !== count || elements.some((element, i) => element.type !== typeAt(i)))
    throw new Malformed(bit, 'constants', `${elements.length} elements that do not make ${spell(type)}`);
  return { kind: 'constant', form: 'aggregate', type, elements };
}

/** An address: operands are pairs of a type and a value. */
function gep(type: Type, record: RawRecord, source: ConstantSource, types: TypeTable): Constant {
  const { code, bit } = record;
  const inbounds = code === codes.inboundsGep.code;
  const { sourceType, operands } = fieldsOf(inbounds ? codes.inboundsGep : codes.gep, record);
  const values: Constant[] = [];
  for (let i = 1; i < operands.length; i += 2) values.push(source.at(operands[i], bit));
  const [base, ...indices] = values;
  if (base?.type.kind !== 'pointer') return unknown(bit, 'base of an address');
  const reached = sourceType === undefined ? base.type.pointee : types.at(sourceType, bit);
  return { kind: 'constant', form: 'gep', type, sourceType: reached, inbounds, base, indices };
}
