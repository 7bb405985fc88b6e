/** One instruction record to one instruction, with the type of its result worked out. */

import type { BodyReader } from './body-reader.ts';
import type { CastOpcode, Instruction, InstructionOf, MetadataArgument, Value } from './model.ts';
import { alignOfCode } from './read-symbols.ts';
import { allocaExplicitType, binaryOpcode, blocks, callFlags, castOpcodes, predicates } from './records.ts';
import { fromSignedVbr } from './signed-vbr.ts';
import { Malformed, type RawRecord } from './stream-reader.ts';
import { bitWidth, types as llvm, spell, type Type } from './types.ts';

const codes = blocks.function.records;

/** Walks the operands of a record. */
interface Cursor {
  readonly reader: BodyReader;
  readonly record: RawRecord;
  at: number;
}

function raw(c: Cursor): number {
  const value = c.record.ops[c.at++];
  if (value === undefined) return fault(c, 'operands are missing');
  return Number(value);
}

const left = (c: Cursor): number => c.record.ops.length - c.at;

function fault(c: Cursor, why: string): never {
  throw new Malformed(c.record.bit, 'function', why);
}

/** A distance back, as 32 bits: those that would point forward are huge. */
const idAt = (c: Cursor): number => (c.reader.next() - raw(c)) >>> 0;

/** An operand that brings its type along when it is defined later. */
function typed(c: Cursor): Value {
  const id = idAt(c);
  const type = id >= c.reader.next() ? c.reader.tables.types.at(raw(c), c.record.bit) : undefined;
  return c.reader.absolute(id, type, c.record.bit);
}

/** An operand whose type is known from elsewhere. */
function value(c: Cursor, type: Type): Value {
  const found = c.reader.absolute(idAt(c), type, c.record.bit);
  if (found.type !== type) fault(c, `an operand of type ${spell(found.type)} where ${spell(type)} belongs`);
  return found;
}

const typeAt = (c: Cursor): Type => c.reader.tables.types.at(raw(c), c.record.bit);
const optional = (c: Cursor): number => (left(c) > 0 ? raw(c) : 0);
/** Fast-math flags. Before LLVM 6 their lowest bit said that all of them are meant. */
const fastFlags = (c: Cursor): number => upgradedFast(optional(c));
const upgradedFast = (flags: number): number => (flags & 1 ? 0xfe : flags);

type Fields<O extends Instruction['op']> = Omit<InstructionOf<O>, 'kind' | 'op' | 'type'>;
/** Takes the fields for the instruction itself: there are many, and copies take long. */
function make<O extends Instruction['op']>(op: O, type: Type, fields: Fields<O>): Instruction {
  const made = fields as unknown as { kind: string; op: string; type: Type };
  made.kind = 'instruction';
  made.op = op;
  made.type = type;
  return made as unknown as Instruction;
}

/** The instruction that a record is. */
export function readInstruction(reader: BodyReader, record: RawRecord): Instruction {
  const c: Cursor = { reader, record, at: 0 };
  const read = readers[record.code];
  if (!read) return fault(c, `instruction record ${record.code} is not known`);
  return read(c);
}

const readers: Readonly<Record<number, (c: Cursor) => Instruction>> = {
  [codes.binop.code]: readBinary,
  [codes.unop.code]: (c) => {
    const of = typed(c);
    if (raw(c) !== 0) fault(c, 'an unknown operation');
    return make('fneg', of.type, { value: of, flags: fastFlags(c) });
  },
  [codes.cast.code]: (c) => {
    const of = typed(c);
    const type = typeAt(c);
    const opcode = castOpcodes.get(raw(c)) ?? fault(c, 'an unknown cast');
    if (!canCast(opcode, of.type, type)) fault(c, `${opcode} of ${spell(of.type)} to ${spell(type)}`);
    return make('cast', type, { opcode, value: of });
  },
  [codes.cmp2.code]: readCompare,
  [codes.select.code]: (c) => {
    const a = typed(c);
    const b = value(c, a.type);
    const condition = typed(c);
    if (condition.type !== llvm.i1 && condition.type !== shapedAs(a.type, llvm.i1))
      fault(c, `a condition of type ${spell(condition.type)}`);
    return make('select', a.type, { condition, a, b, flags: fastFlags(c) });
  },
  [codes.phi.code]: readPhi,
  [codes.call.code]: readCall,
  [codes.alloca.code]: readAlloca,
  [codes.load.code]: (c) => {
    const pointer = typed(c);
    const type = left(c) > 2 ? typeAt(c) : pointee(c, pointer);
    if (type !== pointee(c, pointer)) fault(c, `${spell(type)} through ${spell(pointer.type)}`);
    return make('load', type, { pointer, align: alignOfCode(raw(c), c.record.bit), isVolatile: raw(c) !== 0 });
  },
  [codes.store.code]: (c) => {
    const pointer = typed(c);
    const stored = typed(c);
    if (stored.type !== pointee(c, pointer)) fault(c, `${spell(stored.type)} through ${spell(pointer.type)}`);
    return make('store', llvm.void, { pointer, value: stored, align: alignOfCode(raw(c), c.record.bit), isVolatile: raw(c) !== 0 });
  },
  [codes.gep.code]: readGep,
  [codes.extractValue.code]: (c) => {
    const aggregate = typed(c);
    const path = rest(c);
    return make('extractvalue', elementType(c, aggregate.type, path), { aggregate, path });
  },
  [codes.insertValue.code]: (c) => {
    const aggregate = typed(c);
    const inserted = typed(c);
    const path = rest(c);
    if (inserted.type !== elementType(c, aggregate.type, path)) fault(c, `${spell(inserted.type)} into ${spell(aggregate.type)}`);
    return make('insertvalue', aggregate.type, { aggregate, value: inserted, path });
  },
  [codes.extractElement.code]: (c) => {
    const vector = typed(c);
    return make('extractelement', vectorElement(c, vector.type), { vector, index: typed(c) });
  },
  [codes.insertElement.code]: (c) => {
    const vector = typed(c);
    const inserted = value(c, vectorElement(c, vector.type));
    return make('insertelement', vector.type, { vector, value: inserted, index: typed(c) });
  },
  [codes.shuffleVector.code]: (c) => {
    const a = typed(c);
    const b = value(c, a.type);
    const mask = typed(c);
    const count = mask.type.kind === 'vector' ? mask.type.count : fault(c, 'a shuffle mask that is no vector');
    return make('shufflevector', llvm.vector(vectorElement(c, a.type), count), { a, b, mask });
  },
  [codes.freeze.code]: (c) => {
    const of = typed(c);
    return make('freeze', of.type, { value: of });
  },
  [codes.br.code]: (c) => {
    const target = c.reader.block(raw(c), c.record.bit);
    if (left(c) === 0) return make('br', llvm.void, { target });
    const ifFalse = c.reader.block(raw(c), c.record.bit);
    return make('condbr', llvm.void, { condition: value(c, llvm.i1), ifTrue: target, ifFalse });
  },
  [codes.switch.code]: readSwitch,
  [codes.ret.code]: (c) => make('ret', llvm.void, { value: left(c) > 0 ? typed(c) : undefined }),
  [codes.unreachable.code]: () => make('unreachable', llvm.void, {}),
};

/** A type with as many elements as another. */
const shapedAs = (shape: Type, element: Type): Type => (shape.kind === 'vector' ? llvm.vector(element, shape.count) : element);

/** Casts go element by element, but for those of the whole bits. */
function canCast(opcode: CastOpcode, from: Type, to: Type): boolean {
  const scalar = (type: Type): Type => (type.kind === 'vector' ? type.element : type);
  if (opcode === 'bitcast' && scalar(from).kind !== 'pointer' && scalar(to).kind !== 'pointer')
    return bitWidth(from) > 0 && bitWidth(from) === bitWidth(to);
  const kinds = castKinds[opcode] ?? ['pointer', 'pointer'];
  return shapedAs(from, llvm.i1) === shapedAs(to, llvm.i1) && scalar(from).kind === kinds[0] && scalar(to).kind === kinds[1];
}

const castKinds: Partial<Record<CastOpcode, readonly [Type['kind'], Type['kind']]>> = {
  trunc: ['int', 'int'],
  zext: ['int', 'int'],
  sext: ['int', 'int'],
  fptoui: ['float', 'int'],
  fptosi: ['float', 'int'],
  uitofp: ['int', 'float'],
  sitofp: ['int', 'float'],
  fptrunc: ['float', 'float'],
  fpext: ['float', 'float'],
  ptrtoint: ['pointer', 'int'],
  inttoptr: ['int', 'pointer'],
};

const rest = (c: Cursor): number[] => c.record.ops.slice(c.at).map(Number);

function pointee(c: Cursor, pointer: Value): Type {
  return pointer.type.kind === 'pointer' ? pointer.type.pointee : fault(c, 'an access through what is no pointer');
}

function vectorElement(c: Cursor, type: Type): Type {
  return type.kind === 'vector' ? type.element : fault(c, `an element of ${spell(type)}`);
}

/** What a path leads to inside an aggregate. */
function elementType(c: Cursor, type: Type, path: readonly number[]): Type {
  return path.reduce((of, index) => {
    if (of.kind === 'struct') return of.fields?.[index] ?? fault(c, `field ${index} of ${spell(of)}`);
    return of.kind === 'array' || of.kind === 'vector' ? of.element : fault(c, `an element of ${spell(of)}`);
  }, type);
}

function readBinary(c: Cursor): Instruction {
  const a = typed(c);
  const b = value(c, a.type);
  const scalar = a.type.kind === 'vector' ? a.type.element : a.type;
  if (scalar.kind !== 'int' && scalar.kind !== 'float') fault(c, `arithmetic on ${spell(a.type)}`);
  const opcode = binaryOpcode(raw(c), scalar.kind === 'float') ?? fault(c, 'an unknown operation');
  return make('binary', a.type, { opcode, a, b, flags: scalar.kind === 'float' ? fastFlags(c) : optional(c) });
}

function readCompare(c: Cursor): Instruction {
  const a = typed(c);
  const b = value(c, a.type);
  const code = raw(c);
  const predicate = predicates.get(code) ?? fault(c, `predicate ${code}`);
  const type = a.type.kind === 'vector' ? llvm.vector(llvm.i1, a.type.count) : llvm.i1;
  return make(code >= 32 ? 'icmp' : 'fcmp', type, { predicate, a, b, flags: fastFlags(c) });
}

function readPhi(c: Cursor): Instruction {
  const type = typeAt(c);
  // An odd rest ends in fast-math flags.
  const pairs = Math.floor(left(c) / 2);
  const incoming = Array.from({ length: pairs }, () => {
    const distance = Number(fromSignedVbr(c.record.ops[c.at++]!));
    const of = c.reader.absolute(c.reader.next() - distance, type, c.record.bit);
    if (of.type !== type) fault(c, 'a phi of another type');
    return { value: of, block: c.reader.block(raw(c), c.record.bit) };
  });
  return make('phi', type, { incoming, flags: fastFlags(c) });
}

function readAlloca(c: Cursor): Instruction {
  const allocated = typeAt(c);
  typeAt(c);
  const count = c.reader.absolute(raw(c), undefined, c.record.bit);
  const code = raw(c);
  if ((code & allocaExplicitType) === 0) fault(c, 'an alloca without explicit type');
  if ((code & ~(allocaExplicitType | 31)) !== 0) fault(c, `an alloca with the flags ${code}`);
  return make('alloca', llvm.pointer(allocated), { allocated, count, align: alignOfCode(code & 31, c.record.bit) });
}

function readGep(c: Cursor): Instruction {
  const inbounds = raw(c) !== 0;
  const sourceType = typeAt(c);
  const base = typed(c);
  const indices: Value[] = [];
  while (left(c) > 0) indices.push(typed(c));
  if (base.type.kind !== 'pointer' || base.type.pointee !== sourceType) return fault(c, `an address in ${spell(base.type)}`);
  for (const index of indices) if (index.type.kind !== 'int') fault(c, `an index of type ${spell(index.type)}`);
  const reached = indices.slice(1).reduce<Type>((of, index) => {
    if (of.kind !== 'struct') return elementType(c, of, [0]);
    const known = index.kind === 'constant' && index.form === 'int' ? Number(index.value) : fault(c, 'a struct index that is no constant');
    return elementType(c, of, [known]);
  }, sourceType);
  return make('gep', llvm.pointer(reached, base.type.space), { sourceType, inbounds, base, indices });
}

function readSwitch(c: Cursor): Instruction {
  const type = typeAt(c);
  const condition = value(c, type);
  const defaultBlock = c.reader.block(raw(c), c.record.bit);
  const cases: InstructionOf<'switch'>['cases'] = [];
  while (left(c) > 1) {
    const of = c.reader.absolute(raw(c), undefined, c.record.bit);
    if (of.kind !== 'constant' || of.type !== type) return fault(c, 'a case that is no constant of the right type');
    cases.push({ value: of, block: c.reader.block(raw(c), c.record.bit) });
  }
  return make('switch', llvm.void, { condition, defaultBlock, cases });
}

function readCall(c: Cursor): Instruction {
  const attributes = c.reader.tables.attributes.at(raw(c), c.record.bit);
  const flags = raw(c);
  const fast = (flags & callFlags.fastMath) !== 0 ? upgradedFast(raw(c)) : 0;
  const explicit = (flags & callFlags.explicitType) !== 0 ? typeAt(c) : undefined;
  const callee = typed(c);
  const functionType = explicit ?? pointee(c, callee);
  if (functionType.kind !== 'function' || pointee(c, callee) !== functionType) return fault(c, 'a call of what is no such function');
  const args: InstructionOf<'call'>['args'] = functionType.params.map((type) =>
    type.kind === 'metadata' ? metadataArgument(c) : value(c, type),
  );
  while (left(c) > 0 && functionType.vararg) args.push(typed(c));
  const tail = flags & callFlags.mustTail ? 'musttail' : flags & callFlags.noTail ? 'notail' : flags & callFlags.tail ? 'tail' : 'none';
  const convention = (flags >>> callFlags.conventionShift) & callFlags.conventionMask;
  return make('call', functionType.result, {
    functionType,
    callee,
    args,
    attributes,
    tail,
    flags: fast,
    ...(convention ? { convention } : {}),
  });
}

function metadataArgument(c: Cursor): MetadataArgument {
  return { kind: 'metadata', metadata: c.reader.metadata(idAt(c), c.record.bit) };
}
