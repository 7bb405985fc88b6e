/** Instructions in LLVM text, as the disassembler of this room writes them. */
import type { Attribute, Constant, Instruction, InstructionOf, Metadata, MetadataArgument, Value } from '../model.ts';
import { conventionText } from '../names.ts';
import { type Type, types } from '../types.ts';
import { readAttributes, readGroup } from './attributes.ts';
import type { Body } from './body.ts';
import { isBinary, isCast, isPredicate, readConstant } from './constants.ts';
import { readMetadata } from './metadata.ts';
import { readType } from './types.ts';

const fastBits: Readonly<Record<string, number>> = {
  reassoc: 128,
  nnan: 2,
  ninf: 4,
  nsz: 8,
  arcp: 16,
  contract: 32,
  afn: 64,
  fast: 254,
};
const wrapBits: Readonly<Record<string, number>> = { nuw: 1, nsw: 2, exact: 1 };

function readFlags({ reader }: Body, bits: Readonly<Record<string, number>>): number {
  let flags = 0;
  for (;;) {
    const word = reader.peekWord();
    if (!Object.hasOwn(bits, word)) return flags;
    reader.word();
    flags |= bits[word]!;
  }
}

/** Any instruction that follows `%x =`, or stands alone. */
export function readInstruction(body: Body): Instruction {
  const { reader } = body;
  const word = reader.word();
  if (isBinary(word)) return readBinary(body, word);
  if (isCast(word)) {
    const value = body.typed();
    if (!reader.takeWord('to')) reader.fail('expected `to`');
    return { kind: 'instruction', op: 'cast', type: body.type(), opcode: word, value };
  }
  const read = Object.hasOwn(readers, word) ? readers[word] : undefined;
  return read ? read(body, word) : reader.fail(`the instruction \`${word}\` is not supported`);
}

function readBinary(body: Body, opcode: InstructionOf<'binary'>['opcode']): Instruction {
  const flags = readFlags(body, opcode.startsWith('f') ? fastBits : wrapBits);
  const a = body.typed();
  body.reader.expect(',');
  return { kind: 'instruction', op: 'binary', type: a.type, opcode, a, b: body.value(a.type), flags };
}

const readers: Readonly<Record<string, (body: Body, word: string) => Instruction>> = {
  fneg(body) {
    const flags = readFlags(body, fastBits);
    const value = body.typed();
    return { kind: 'instruction', op: 'fneg', type: value.type, value, flags };
  },
  icmp: (body) => readCompare(body, 'icmp'),
  fcmp: (body) => readCompare(body, 'fcmp'),
  select(body) {
    const flags = readFlags(body, fastBits);
    const condition = body.typed();
    body.reader.expect(',');
    const a = body.typed();
    body.reader.expect(',');
    return { kind: 'instruction', op: 'select', type: a.type, condition, a, b: body.typed(), flags };
  },
  phi: readPhi,
  call: (body) => readCall(body, 'none'),
  tail: (body, word) => readTailCall(body, word as 'tail'),
  musttail: (body, word) => readTailCall(body, word as 'musttail'),
  notail: (body, word) => readTailCall(body, word as 'notail'),
  alloca: readAlloca,
  load(body) {
    const isVolatile = body.reader.takeWord('volatile');
    const type = body.type();
    body.reader.expect(',');
    const pointer = body.typed();
    return { kind: 'instruction', op: 'load', type, pointer, isVolatile, align: readAlign(body) };
  },
  store(body) {
    const isVolatile = body.reader.takeWord('volatile');
    const value = body.typed();
    body.reader.expect(',');
    const pointer = body.typed();
    return { kind: 'instruction', op: 'store', type: types.void, value, pointer, isVolatile, align: readAlign(body) };
  },
  getelementptr: readGep,
  extractvalue(body) {
    const aggregate = body.typed();
    const path = readPath(body);
    return { kind: 'instruction', op: 'extractvalue', type: partAt(body, aggregate.type, path), aggregate, path };
  },
  insertvalue(body) {
    const aggregate = body.typed();
    body.reader.expect(',');
    const value = body.typed();
    return { kind: 'instruction', op: 'insertvalue', type: aggregate.type, aggregate, value, path: readPath(body) };
  },
  extractelement(body) {
    const vector = body.typed();
    body.reader.expect(',');
    const type = vector.type.kind === 'vector' ? vector.type.element : body.reader.fail('expected a vector');
    return { kind: 'instruction', op: 'extractelement', type, vector, index: body.typed() };
  },
  insertelement(body) {
    const vector = body.typed();
    body.reader.expect(',');
    const value = body.typed();
    body.reader.expect(',');
    return { kind: 'instruction', op: 'insertelement', type: vector.type, vector, value, index: body.typed() };
  },
  shufflevector(body) {
    const a = body.typed();
    body.reader.expect(',');
    const b = body.typed();
    body.reader.expect(',');
    const mask = body.typed();
    if (a.type.kind !== 'vector' || mask.type.kind !== 'vector') return body.reader.fail('expected vectors');
    return { kind: 'instruction', op: 'shufflevector', type: types.vector(a.type.element, mask.type.count), a, b, mask };
  },
  freeze(body) {
    const value = body.typed();
    return { kind: 'instruction', op: 'freeze', type: value.type, value };
  },
  br: readBranch,
  switch: readSwitch,
  ret(body) {
    const type = body.type();
    return { kind: 'instruction', op: 'ret', type: types.void, value: type === types.void ? undefined : body.value(type) };
  },
  unreachable: () => ({ kind: 'instruction', op: 'unreachable', type: types.void }),
};

function readCompare(body: Body, op: 'icmp' | 'fcmp'): Instruction {
  const flags = readFlags(body, fastBits);
  const word = body.reader.word();
  // Unordered comparisons of floats share their names with unsigned ones of integers.
  const predicate = op === 'fcmp' && isPredicate(`f${word}`) ? `f${word}` : word;
  if (!isPredicate(predicate)) return body.reader.fail(`\`${word}\` is no comparison`);
  const a = body.typed();
  body.reader.expect(',');
  const type = a.type.kind === 'vector' ? types.vector(types.i1, a.type.count) : types.i1;
  return { kind: 'instruction', op, type, predicate, a, b: body.value(a.type), flags };
}

function readPhi(body: Body): Instruction {
  const { reader } = body;
  const flags = readFlags(body, fastBits);
  const type = body.type();
  const incoming: InstructionOf<'phi'>['incoming'] = [];
  do {
    reader.expect('[');
    const value = body.value(type);
    reader.expect(',');
    incoming.push({ value, block: body.block(reader.name('%')) });
    reader.expect(']');
  } while (reader.take(','));
  return { kind: 'instruction', op: 'phi', type, incoming, flags };
}

function readTailCall(body: Body, tail: InstructionOf<'call'>['tail']): Instruction {
  if (!body.reader.takeWord('call')) body.reader.fail('expected `call`');
  return readCall(body, tail);
}

const conventions: ReadonlyMap<string, number> = new Map(
  Array.from({ length: 128 }, (_, number) => [conventionText(number).trim(), number] as const).filter(([name]) => name !== ''),
);

/** A calling convention; undefined for that of C. */
export function readConvention({ reader }: Pick<Body, 'reader'>): number | undefined {
  const number = conventions.get(reader.peekWord());
  if (number !== undefined) reader.word();
  return number;
}

function readCall(body: Body, tail: InstructionOf<'call'>['tail']): Instruction {
  const { reader, symbols } = body;
  const flags = readFlags(body, fastBits);
  const convention = readConvention(body);
  const result = readAttributes(reader, symbols);
  const written = readType(reader, symbols);
  const before = reader.at;
  // The type of a function value is that of its arguments, which follow.
  const name = reader.peek() === '%' ? reader.name('%') : undefined;
  const constant = name === undefined ? readConstant(reader, symbols, written) : undefined;
  const params: Attribute[][] = [];
  reader.expect('(');
  const args = readArguments(body, params);
  const given = types.function(
    written.kind === 'function' ? written.result : written,
    args.map((arg) => (arg.kind === 'metadata' ? types.metadata : arg.type)),
  );
  const functionType = written.kind === 'function' ? written : given;
  const callee = constant ?? body.named(name!, types.pointer(functionType));
  if (callee.type.kind !== 'pointer' || callee.type.pointee !== functionType) {
    reader.at = before;
    reader.fail('the function has another type');
  }
  const attributes = { function: readGroup(reader, symbols), result, params };
  const own = convention === undefined ? {} : { convention };
  return { kind: 'instruction', op: 'call', type: functionType.result, functionType, callee, args, attributes, tail, flags, ...own };
}

/** Arguments up to the closing parenthesis. A `musttail` call in a variadic function ends with `...`. */
function readArguments(body: Body, params: Attribute[][]): (Value | MetadataArgument)[] {
  const { reader } = body;
  const args = reader.list(')', () => (reader.take('...') ? undefined : readArgument(body, params)));
  return args.filter((arg) => arg !== undefined);
}

function readArgument(body: Body, params: Attribute[][]): Value | MetadataArgument {
  const { reader, symbols } = body;
  if (reader.takeWord('metadata')) {
    params.push([]);
    return { kind: 'metadata', metadata: readLocalMetadata(body) };
  }
  const type = body.type();
  params.push(readAttributes(reader, symbols));
  return body.value(type);
}

function readLocalMetadata(body: Body): Metadata {
  if (body.reader.peek() === '!') return readMetadata(body.reader, body.symbols);
  const value = body.typed();
  return { kind: 'value', value: value as Constant };
}

function readAlloca(body: Body): Instruction {
  const { reader } = body;
  const allocated = body.type();
  let count = body.one();
  let align = 0;
  while (reader.take(',')) {
    if (reader.takeWord('align')) {
      align = body.integer();
      break;
    }
    count = body.typed();
  }
  return { kind: 'instruction', op: 'alloca', type: types.pointer(allocated), allocated, count, align };
}

function readAlign({ reader }: Body): number {
  reader.expect(',');
  if (!reader.takeWord('align')) reader.fail('expected `align`');
  return reader.number();
}

function readGep(body: Body): Instruction {
  const { reader } = body;
  const inbounds = reader.takeWord('inbounds');
  const sourceType = body.type();
  reader.expect(',');
  const base = body.typed();
  const indices: Value[] = [];
  let before = reader.at;
  while (reader.take(',')) {
    // Metadata follows the indices.
    if (reader.peek() === '!') {
      reader.at = before;
      break;
    }
    indices.push(body.typed());
    before = reader.at;
  }
  if (base.type.kind !== 'pointer') return reader.fail('expected a pointer');
  const reached = indices.slice(1).reduce<Type>((type, index) => elementAt(body, type, index), sourceType);
  return { kind: 'instruction', op: 'gep', type: types.pointer(reached, base.type.space), sourceType, inbounds, base, indices };
}

/** The type that an index of a `getelementptr` leads to. */
function elementAt({ reader }: Body, type: Type, index: Value): Type {
  if (type.kind === 'array' || type.kind === 'vector') return type.element;
  if (type.kind !== 'struct') return reader.fail('the type has no parts');
  const number = index.kind === 'constant' && index.form === 'int' ? Number(index.value) : -1;
  return type.fields?.[number] ?? reader.fail('the struct has no such field');
}

function readPath({ reader }: Body): number[] {
  const path: number[] = [];
  let before = reader.at;
  while (reader.take(',')) {
    if (reader.peek() === '!') {
      reader.at = before;
      return path;
    }
    path.push(reader.number());
    before = reader.at;
  }
  return path;
}

function partAt({ reader }: Body, type: Type, path: readonly number[]): Type {
  return path.reduce<Type>((at, index) => {
    if (at.kind === 'array') return at.element;
    return (at.kind === 'struct' ? at.fields?.[index] : undefined) ?? reader.fail('the type has no such part');
  }, type);
}

function readBranch(body: Body): Instruction {
  const { reader } = body;
  if (reader.peekWord() === 'label') return { kind: 'instruction', op: 'br', type: types.void, target: body.label() };
  const condition = body.typed();
  reader.expect(',');
  const ifTrue = body.label();
  reader.expect(',');
  return { kind: 'instruction', op: 'condbr', type: types.void, condition, ifTrue, ifFalse: body.label() };
}

function readSwitch(body: Body): Instruction {
  const { reader } = body;
  const condition = body.typed();
  reader.expect(',');
  const defaultBlock = body.label();
  reader.expect('[');
  const cases: InstructionOf<'switch'>['cases'] = [];
  while (!reader.take(']')) {
    const value = body.typed();
    if (value.kind !== 'constant') return reader.fail('expected a constant');
    reader.expect(',');
    cases.push({ value, block: body.label() });
  }
  return { kind: 'instruction', op: 'switch', type: types.void, condition, defaultBlock, cases };
}
