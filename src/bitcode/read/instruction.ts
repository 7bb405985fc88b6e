/** One instruction record to one instruction, with the type of its result computed. */

import { Malformed } from '../malformed.ts';
import type { CastOpcode, Instruction, InstructionOf, MetadataArgument, Value } from '../model.ts';
import { allocaExplicitType, binaryOpcode, blocks, callFlags, castOpcodes, predicates } from '../records.ts';
import { bitWidth, types as llvm, scalarOf, spell, type Type } from '../types.ts';
import { type BodyReader, valueAt } from './body-reader.ts';
import { alignOfCode } from './symbols.ts';

const codes = blocks.function.records;

/** Walks the operands of a record. */
type Cursor = BodyReader;

function raw(c: Cursor): number {
  if (c.at >= c.record.count) return fault(c, 'operands are missing');
  return c.record.ops[c.at++]!;
}

const left = (c: Cursor): number => c.record.count - c.at;

function fault(c: Cursor, why: string): never {
  throw new Malformed(c.record.bit, 'function', why);
}

/** A distance back, as 32 bits: those that would point forward are huge. */
const idAt = (c: Cursor): number => (c.next - raw(c)) >>> 0;

/** An operand that brings its type along when it is defined later. */
function typed(c: Cursor): Value {
  const id = idAt(c);
  return valueAt(c, id, id >= c.next ? typeAt(c) : undefined);
}

/** An operand whose type is known from elsewhere. */
function value(c: Cursor, type: Type): Value {
  const found = valueAt(c, idAt(c), type);
  if (found.type !== type) fault(c, `an operand of type ${spell(found.type)} where ${spell(type)} belongs`);
  return found;
}

const typeAt = (c: Cursor): Type => c.tables.types.at(raw(c), c.record.bit);
const optional = (c: Cursor): number => (left(c) > 0 ? raw(c) : 0);
/** Fast-math flags. Before LLVM 6 their lowest bit said that all of them are meant. */
const fastFlags = (c: Cursor): number => upgradedFast(optional(c));
const upgradedFast = (flags: number): number => (flags & 1 ? 0xfe : flags);

/** The instruction that the record at hand is. */
export function readInstruction(c: BodyReader): Instruction {
  c.at = 0;
  const read = readers[c.record.code];
  if (!read) return fault(c, `instruction record ${c.record.code} is not known`);
  return read(c);
}

const readers: Readonly<Record<number, (c: Cursor) => Instruction>> = {
  [codes.binop.code]: readBinary,
  [codes.unop.code]: (c) => {
    const of = typed(c);
    if (raw(c) !== 0) fault(c, 'an unknown operation');
    return { kind: 'instruction', number: 0, op: 'fneg', type: of.type, value: of, flags: fastFlags(c) };
  },
  [codes.cast.code]: (c) => {
    const of = typed(c);
    const type = typeAt(c);
    const cast = casts[raw(c)] ?? fault(c, 'an unknown cast');
    if (!canCast(cast, of.type, type)) fault(c, `${cast.opcode} of ${spell(of.type)} to ${spell(type)}`);
    return { kind: 'instruction', number: 0, op: 'cast', type, opcode: cast.opcode, value: of };
  },
  [codes.cmp2.code]: readCompare,
  [codes.select.code]: (c) => {
    const a = typed(c);
    const b = value(c, a.type);
    const condition = typed(c);
    if (condition.type !== llvm.i1 && condition.type !== boolFor(a.type)) fault(c, `a condition of type ${spell(condition.type)}`);
    return { kind: 'instruction', number: 0, op: 'select', type: a.type, condition, a, b, flags: fastFlags(c) };
  },
  [codes.phi.code]: readPhi,
  [codes.call.code]: readCall,
  [codes.alloca.code]: readAlloca,
  [codes.load.code]: (c) => {
    const pointer = typed(c);
    const type = left(c) > 2 ? typeAt(c) : pointee(c, pointer);
    if (type !== pointee(c, pointer)) fault(c, `${spell(type)} through ${spell(pointer.type)}`);
    return {
      kind: 'instruction',
      number: 0,
      op: 'load',
      type,
      pointer,
      align: alignOfCode(raw(c), c.record.bit),
      isVolatile: raw(c) !== 0,
    };
  },
  [codes.store.code]: (c) => {
    const pointer = typed(c);
    const stored = typed(c);
    if (stored.type !== pointee(c, pointer)) fault(c, `${spell(stored.type)} through ${spell(pointer.type)}`);
    return {
      kind: 'instruction',
      number: 0,
      op: 'store',
      type: llvm.void,
      pointer,
      value: stored,
      align: alignOfCode(raw(c), c.record.bit),
      isVolatile: raw(c) !== 0,
    };
  },
  [codes.gep.code]: readGep,
  [codes.extractValue.code]: (c) => {
    const aggregate = typed(c);
    const path = pathAt(c);
    return { kind: 'instruction', number: 0, op: 'extractvalue', type: elementType(c, aggregate.type, path), aggregate, path };
  },
  [codes.insertValue.code]: (c) => {
    const aggregate = typed(c);
    const inserted = typed(c);
    const path = pathAt(c);
    if (inserted.type !== elementType(c, aggregate.type, path)) fault(c, `${spell(inserted.type)} into ${spell(aggregate.type)}`);
    return { kind: 'instruction', number: 0, op: 'insertvalue', type: aggregate.type, aggregate, value: inserted, path };
  },
  [codes.extractElement.code]: (c) => {
    const vector = typed(c);
    return { kind: 'instruction', number: 0, op: 'extractelement', type: vectorElement(c, vector.type), vector, index: typed(c) };
  },
  [codes.insertElement.code]: (c) => {
    const vector = typed(c);
    const inserted = value(c, vectorElement(c, vector.type));
    return { kind: 'instruction', number: 0, op: 'insertelement', type: vector.type, vector, value: inserted, index: typed(c) };
  },
  [codes.shuffleVector.code]: (c) => {
    const a = typed(c);
    const b = value(c, a.type);
    const mask = typed(c);
    const count = mask.type.kind === 'vector' ? mask.type.count : fault(c, 'a shuffle mask that is no vector');
    return { kind: 'instruction', number: 0, op: 'shufflevector', type: llvm.vector(vectorElement(c, a.type), count), a, b, mask };
  },
  [codes.freeze.code]: (c) => {
    const of = typed(c);
    return { kind: 'instruction', number: 0, op: 'freeze', type: of.type, value: of };
  },
  [codes.br.code]: (c) => {
    const target = c.block(raw(c));
    if (left(c) === 0) return { kind: 'instruction', number: 0, op: 'br', type: llvm.void, target };
    const ifFalse = c.block(raw(c));
    return { kind: 'instruction', number: 0, op: 'condbr', type: llvm.void, condition: value(c, llvm.i1), ifTrue: target, ifFalse };
  },
  [codes.switch.code]: readSwitch,
  [codes.ret.code]: (c) => ({ kind: 'instruction', number: 0, op: 'ret', type: llvm.void, value: left(c) > 0 ? typed(c) : undefined }),
  [codes.unreachable.code]: () => ({ kind: 'instruction', number: 0, op: 'unreachable', type: llvm.void }),
};

/** The type of a comparison of such operands. */
const boolFor = (type: Type): Type => (type.kind === 'vector' ? llvm.vector(llvm.i1, type.count) : llvm.i1);

/** What a cast goes from and to. */
interface Cast {
  readonly opcode: CastOpcode;
  readonly from: Type['kind'];
  readonly to: Type['kind'];
}

const isSameShape = (a: Type, b: Type): boolean => (a.kind === 'vector' ? b.kind === 'vector' && a.count === b.count : b.kind !== 'vector');

/** Casts go element by element, but for those of the whole bits. */
function canCast({ opcode, from, to }: Cast, source: Type, target: Type): boolean {
  const a = scalarOf(source).kind;
  const b = scalarOf(target).kind;
  if (opcode === 'bitcast' && a !== 'pointer' && b !== 'pointer') return bitWidth(source) > 0 && bitWidth(source) === bitWidth(target);
  return a === from && b === to && isSameShape(source, target);
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

/** Casts by their numbers. */
const casts: readonly Cast[] = [...castOpcodes.values()].map((opcode) => {
  const [from, to] = castKinds[opcode] ?? ['pointer', 'pointer'];
  return { opcode, from, to };
});

/** The way into an aggregate that the rest of a record says. */
function pathAt(c: Cursor): number[] {
  const path = [...c.record.ops.subarray(c.at, c.record.count)];
  return path.every((index) => index < 2 ** 32) ? path : fault(c, 'an index of more than 32 bits');
}

function pointee(c: Cursor, pointer: Value): Type {
  return pointer.type.kind === 'pointer' ? pointer.type.pointee : fault(c, 'an access through what is no pointer');
}

function vectorElement(c: Cursor, type: Type): Type {
  return type.kind === 'vector' ? type.element : fault(c, `an element of ${spell(type)}`);
}

/** What a path leads to inside an aggregate. */
const elementType = (c: Cursor, type: Type, path: readonly number[]): Type => path.reduce((of, index) => partType(c, of, index), type);

function partType(c: Cursor, of: Type, index: number): Type {
  if (of.kind === 'struct') return of.fields?.[index] ?? fault(c, `field ${index} of ${spell(of)}`);
  return of.kind === 'array' || of.kind === 'vector' ? of.element : fault(c, `an element of ${spell(of)}`);
}

function readBinary(c: Cursor): Instruction {
  const a = typed(c);
  const b = value(c, a.type);
  const scalar = scalarOf(a.type);
  if (scalar.kind !== 'int' && scalar.kind !== 'float') fault(c, `arithmetic on ${spell(a.type)}`);
  const opcode = binaryOpcode(raw(c), scalar.kind === 'float') ?? fault(c, 'an unknown operation');
  return {
    kind: 'instruction',
    number: 0,
    op: 'binary',
    type: a.type,
    opcode,
    a,
    b,
    flags: scalar.kind === 'float' ? fastFlags(c) : optional(c),
  };
}

function readCompare(c: Cursor): Instruction {
  const a = typed(c);
  const b = value(c, a.type);
  const code = raw(c);
  const predicate = predicates.get(code) ?? fault(c, `predicate ${code}`);
  const flags = fastFlags(c);
  return { kind: 'instruction', number: 0, op: code >= 32 ? 'icmp' : 'fcmp', type: boolFor(a.type), predicate, a, b, flags };
}

function readPhi(c: Cursor): Instruction {
  const type = typeAt(c);
  const incoming: InstructionOf<'phi'>['incoming'] = [];
  // An odd rest ends in fast-math flags.
  while (left(c) > 1) {
    const of = valueAt(c, c.next - signed(raw(c)), type);
    if (of.type !== type) fault(c, 'a phi of another type');
    incoming.push({ value: of, block: c.block(raw(c)) });
  }
  return { kind: 'instruction', number: 0, op: 'phi', type, incoming, flags: fastFlags(c) };
}

/** A number with its sign in the lowest bit. */
const signed = (word: number): number => (word % 2 === 0 ? word / 2 : -(word - 1) / 2);

function readAlloca(c: Cursor): Instruction {
  const allocated = typeAt(c);
  typeAt(c);
  const count = valueAt(c, raw(c), undefined);
  const code = raw(c);
  if ((code & allocaExplicitType) === 0) fault(c, 'an alloca without explicit type');
  if ((code & ~(allocaExplicitType | 31)) !== 0) fault(c, `an alloca with the flags ${code}`);
  return {
    kind: 'instruction',
    number: 0,
    op: 'alloca',
    type: llvm.pointer(allocated),
    allocated,
    count,
    align: alignOfCode(code & 31, c.record.bit),
  };
}

function readGep(c: Cursor): Instruction {
  const inbounds = raw(c) !== 0;
  const sourceType = typeAt(c);
  const base = typed(c);
  const indices: Value[] = [];
  while (left(c) > 0) indices.push(typed(c));
  if (base.type.kind !== 'pointer' || base.type.pointee !== sourceType) return fault(c, `an address in ${spell(base.type)}`);
  for (const index of indices) if (index.type.kind !== 'int') fault(c, `an index of type ${spell(index.type)}`);
  let reached = sourceType;
  for (let i = 1; i < indices.length; i++) reached = partType(c, reached, reached.kind === 'struct' ? fieldOf(c, indices[i]!) : 0);
  const type = reached === sourceType ? base.type : llvm.pointer(reached, base.type.space);
  return { kind: 'instruction', number: 0, op: 'gep', type, sourceType, inbounds, base, indices };
}

function fieldOf(c: Cursor, index: Value): number {
  return index.kind === 'constant' && index.form === 'int' ? Number(index.value) : fault(c, 'a struct index that is no constant');
}

function readSwitch(c: Cursor): Instruction {
  const type = typeAt(c);
  const condition = value(c, type);
  const defaultBlock = c.block(raw(c));
  const cases: InstructionOf<'switch'>['cases'] = [];
  while (left(c) > 1) {
    const of = valueAt(c, raw(c), undefined);
    if (of.kind !== 'constant' || of.type !== type) return fault(c, 'a case that is no constant of the right type');
    cases.push({ value: of, block: c.block(raw(c)) });
  }
  return { kind: 'instruction', number: 0, op: 'switch', type: llvm.void, condition, defaultBlock, cases };
}

function readCall(c: Cursor): Instruction {
  const attributes = c.tables.attributes.at(raw(c), c.record.bit);
  const flags = raw(c);
  const fast = (flags & callFlags.fastMath) !== 0 ? upgradedFast(raw(c)) : 0;
  const explicit = (flags & callFlags.explicitType) !== 0 ? typeAt(c) : undefined;
  const callee = typed(c);
  const functionType = explicit ?? pointee(c, callee);
  if (functionType.kind !== 'function' || pointee(c, callee) !== functionType) return fault(c, 'a call of what is no such function');
  const args: InstructionOf<'call'>['args'] = [];
  for (const type of functionType.params) args.push(type.kind === 'metadata' ? metadataArgument(c) : value(c, type));
  while (left(c) > 0 && functionType.vararg) args.push(typed(c));
  const tail = flags & callFlags.mustTail ? 'musttail' : flags & callFlags.noTail ? 'notail' : flags & callFlags.tail ? 'tail' : 'none';
  const convention = (flags >>> callFlags.conventionShift) & callFlags.conventionMask;
  const type = functionType.result;
  if (convention === 0)
    return { kind: 'instruction', number: 0, op: 'call', type, functionType, callee, args, attributes, tail, flags: fast };
  return { kind: 'instruction', number: 0, op: 'call', type, functionType, callee, args, attributes, tail, flags: fast, convention };
}

function metadataArgument(c: Cursor): MetadataArgument {
  return { kind: 'metadata', metadata: c.metadata(idAt(c), c.record.bit) };
}
