/** Constants in LLVM text. */
import { binaryCodes, castCodes, predicateCodes } from '../codes.ts';
import type { BinaryOpcode, CastOpcode, Constant, Predicate } from '../model.ts';
import { type Type, type TypeOf, types } from '../types.ts';
import type { Symbols } from './symbols.ts';
import type { TextReader } from './text-reader.ts';
import { readType } from './types.ts';

export const isCast = (word: string): word is CastOpcode => Object.hasOwn(castCodes, word);
export const isBinary = (word: string): word is BinaryOpcode => Object.hasOwn(binaryCodes, word);
export const isPredicate = (word: string): word is Predicate => Object.hasOwn(predicateCodes, word);

/** A type and a constant of it. */
export function readTypedConstant(reader: TextReader, symbols: Symbols): Constant {
  return readConstant(reader, symbols, readType(reader, symbols));
}

/** A constant of a type. */
export function readConstant(reader: TextReader, symbols: Symbols, type: Type): Constant {
  const next = reader.peek();
  if (next === '@') return readSymbol(reader, symbols);
  if (next === '[' || next === '<' || next === '{') return readAggregate(reader, symbols, type);
  if (/[-\d]/.test(next)) return readNumber(reader, type);
  const start = reader.at;
  if (reader.take('c"')) {
    reader.at--;
    return readBytes(reader, type);
  }
  const word = reader.word();
  if (word === 'null' || word === 'zeroinitializer') return { kind: 'constant', form: 'null', type };
  if (word === 'undef' || word === 'poison') return { kind: 'constant', form: word, type };
  if ((word === 'true' || word === 'false') && type === types.i1)
    return { kind: 'constant', form: 'int', type: types.i1, value: word === 'true' ? 1n : 0n };
  if (word === 'getelementptr') return readGep(reader, symbols, type);
  if (isCast(word)) {
    reader.expect('(');
    const value = readTypedConstant(reader, symbols);
    if (!reader.takeWord('to')) reader.fail('expected `to`');
    const to = readType(reader, symbols);
    reader.expect(')');
    return { kind: 'constant', form: 'cast', type: to, opcode: word, value };
  }
  if (isBinary(word)) {
    reader.expect('(');
    const a = readTypedConstant(reader, symbols);
    reader.expect(',');
    const b = readTypedConstant(reader, symbols);
    reader.expect(')');
    return { kind: 'constant', form: 'binary', type, opcode: word, a, b, flags: 0 };
  }
  reader.at = start;
  return reader.fail(`\`${word}\` is no constant`);
}

function readSymbol(reader: TextReader, { globals, functions }: Symbols): Constant {
  const name = reader.name('@');
  return globals.get(name) ?? functions.get(name) ?? reader.fail(`the module has no symbol \`@${name}\``);
}

function readGep(reader: TextReader, symbols: Symbols, type: Type): Constant {
  const inbounds = reader.takeWord('inbounds');
  reader.expect('(');
  const sourceType = readType(reader, symbols);
  reader.expect(',');
  const [base, ...indices] = reader.list(')', () => readTypedConstant(reader, symbols));
  return { kind: 'constant', form: 'gep', type, sourceType, inbounds, base: base ?? reader.fail('expected an address'), indices };
}

function readAggregate(reader: TextReader, symbols: Symbols, type: Type): Constant {
  const open = reader.take('<{') ? '<{' : reader.peek();
  if (open !== '<{') reader.at++;
  const close = { '[': ']', '<': '>', '{': '}', '<{': '}>' }[open] ?? reader.fail('expected a list of constants');
  const elements = reader.list(close, () => readTypedConstant(reader, symbols));
  return { kind: 'constant', form: 'aggregate', type, elements };
}

function readBytes(reader: TextReader, type: Type): Constant {
  const elements = [...reader.quotedBytes()].map(
    (byte): Constant => ({ kind: 'constant', form: 'int', type: types.i8, value: BigInt(byte) }),
  );
  return { kind: 'constant', form: 'aggregate', type, elements };
}

function readNumber(reader: TextReader, type: Type): Constant {
  const word = reader.match(/0x[HR]?[0-9A-Fa-f]+|-?\d+\.\d+(?:e[-+]?\d+)?|-?\d+/y)?.[0] ?? reader.fail('expected a number');
  if (type.kind === 'int') {
    if (!/^-?\d+$/.test(word)) reader.fail(`\`${word}\` is no integer`);
    return { kind: 'constant', form: 'int', type, value: BigInt.asUintN(type.bits, BigInt(word)) };
  }
  if (type.kind !== 'float') reader.fail(`\`${word}\` is a number, and the type is none`);
  return { kind: 'constant', form: 'float', type, bits: floatBits(word, type.name) ?? reader.fail(`\`${word}\` is no ${type.name}`) };
}

/** The bits in the type's own width. The text of a float has those of the double of the same value. */
function floatBits(word: string, name: TypeOf<'float'>['name']): bigint | undefined {
  const [, kind = '', digits] = /^0x([HR]?)([0-9A-Fa-f]+)$/.exec(word) ?? [];
  if (name === 'half' || name === 'bfloat')
    return digits !== undefined && kind === (name === 'half' ? 'H' : 'R') ? BigInt(`0x${digits}`) : undefined;
  if (kind !== '') return undefined;
  const view = new DataView(new ArrayBuffer(8));
  if (digits === undefined) view.setFloat64(0, Number(word));
  else view.setBigUint64(0, BigInt(`0x${digits}`));
  const wide = view.getBigUint64(0);
  return name === 'double' ? wide : narrowed(view, wide);
}

/** The float of a double's bits; undefined if it is not exact. NaN payloads are kept, which a conversion need not do. */
function narrowed(view: DataView, wide: bigint): bigint | undefined {
  const value = view.getFloat64(0);
  if (Number.isNaN(value)) return ((wide >> 63n) << 31n) | (0xffn << 23n) | ((wide >> 29n) & 0x7fffffn);
  view.setFloat32(0, value);
  return view.getFloat32(0) === value ? BigInt(view.getUint32(0)) : undefined;
}
