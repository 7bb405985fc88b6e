/** Instructions from their records, with the types of their results. */

import { allocaExplicitType, binaryOpcode, callFlags, castOpcodes, predicates } from '../codes.ts';
import { type Plan, planOf, type Slots } from '../fields.ts';
import type { CastOpcode, Instruction, InstructionOf, MetadataArgument, Value } from '../model.ts';
import { blocks } from '../records.ts';
import { bitWidth, types as llvm, scalarOf, spell, type Type } from '../types.ts';
import { atomicReaders } from './atomics.ts';
import {
  absolute,
  type BodyReader,
  blockIn,
  fault,
  has,
  metadataAt,
  openFields,
  operand,
  optional,
  startOf,
  typed,
  typedFrom,
  typeIn,
  value,
  valueAt,
  valueWith,
  word,
} from './body-reader.ts';
import type { OpenRecord } from './record-reader.ts';
import { alignOfCode } from './symbols.ts';

type Rows = typeof blocks.function.records;
type Cursor = BodyReader;
type Reader = (c: Cursor) => Instruction;

/** The fields of each record of the function block by their names. */
const fields = Object.fromEntries(Object.entries(blocks.function.records).map(([name, row]) => [name, planOf(row).slots])) as {
  readonly [N in keyof Rows]: Slots<Rows[N]['fields']>;
};

/** Fast-math flags. Before LLVM 6 their lowest bit meant all of them. */
const upgradedFast = (flags: number): number => (flags & 1 ? 0xfe : flags);

/** The instruction that a record is. */
export function readInstruction(c: BodyReader, record: OpenRecord): Instruction {
  const reader = byCode[record.code];
  if (!reader || (reader.isAtomic && c.tables.types.dialect !== 'latest')) {
    c.record = record;
    return fault(c, `instruction record ${record.code} is not known`);
  }
  openFields(c, record, reader.plan);
  return reader.read(c);
}

const atomics = atomicReaders(fields);

const readers: { readonly [N in keyof Rows]?: Reader } = {
  binop: readBinary,
  unop(c) {
    const f = fields.unop;
    const of = typed(c, f.value);
    if (word(c, f.opcode) !== 0) fault(c, 'an unknown operation');
    return { kind: 'instruction', number: 0, op: 'fneg', type: of.type, value: of, flags: upgradedFast(optional(c, f.flags)) };
  },
  cast(c) {
    const f = fields.cast;
    const of = typed(c, f.value);
    const type = typeIn(c, f.type);
    const cast = casts[word(c, f.opcode)] ?? fault(c, 'an unknown cast');
    if (!canCast(cast, of.type, type)) fault(c, `${cast.opcode} of ${spell(of.type)} to ${spell(type)}`);
    return { kind: 'instruction', number: 0, op: 'cast', type, opcode: cast.opcode, value: of };
  },
  cmp2: readCompare,
  select(c) {
    const f = fields.select;
    const a = typed(c, f.true);
    const b = value(c, f.false, a.type);
    const condition = typed(c, f.condition);
    if (condition.type !== llvm.i1 && condition.type !== boolFor(a.type)) fault(c, `a condition of type ${spell(condition.type)}`);
    return { kind: 'instruction', number: 0, op: 'select', type: a.type, condition, a, b, flags: upgradedFast(optional(c, f.flags)) };
  },
  phi: readPhi,
  call: readCall,
  alloca: readAlloca,
  load(c) {
    const f = fields.load;
    const pointer = typed(c, f.pointer);
    const type = has(c, f.type) ? typeIn(c, f.type) : pointee(c, pointer);
    checkAccess(c, pointer, type);
    const align = alignOfCode(word(c, f.align), c.record.bit);
    return { kind: 'instruction', number: 0, op: 'load', type, pointer, align, isVolatile: word(c, f.volatile) !== 0 };
  },
  store(c) {
    const f = fields.store;
    const pointer = typed(c, f.pointer);
    const stored = typed(c, f.value);
    checkAccess(c, pointer, stored.type);
    const align = alignOfCode(word(c, f.align), c.record.bit);
    const isVolatile = word(c, f.volatile) !== 0;
    return { kind: 'instruction', number: 0, op: 'store', type: llvm.void, pointer, value: stored, align, isVolatile };
  },
  gep: readGep,
  extractValue(c) {
    const f = fields.extractValue;
    const aggregate = typed(c, f.aggregate);
    const path = pathFrom(c, startOf(c, f.path));
    return { kind: 'instruction', number: 0, op: 'extractvalue', type: elementType(c, aggregate.type, path), aggregate, path };
  },
  insertValue(c) {
    const f = fields.insertValue;
    const aggregate = typed(c, f.aggregate);
    const inserted = typed(c, f.value);
    const path = pathFrom(c, startOf(c, f.path));
    if (inserted.type !== elementType(c, aggregate.type, path)) fault(c, `${spell(inserted.type)} into ${spell(aggregate.type)}`);
    return { kind: 'instruction', number: 0, op: 'insertvalue', type: aggregate.type, aggregate, value: inserted, path };
  },
  extractElement(c) {
    const f = fields.extractElement;
    const vector = typed(c, f.vector);
    const type = vectorElement(c, vector.type);
    return { kind: 'instruction', number: 0, op: 'extractelement', type, vector, index: typed(c, f.index) };
  },
  insertElement(c) {
    const f = fields.insertElement;
    const vector = typed(c, f.vector);
    const inserted = value(c, f.value, vectorElement(c, vector.type));
    return { kind: 'instruction', number: 0, op: 'insertelement', type: vector.type, vector, value: inserted, index: typed(c, f.index) };
  },
  shuffleVector(c) {
    const f = fields.shuffleVector;
    const a = typed(c, f.a);
    const b = value(c, f.b, a.type);
    const mask = typed(c, f.mask);
    const count = mask.type.kind === 'vector' ? mask.type.count : fault(c, 'a shuffle mask that is not a vector');
    return { kind: 'instruction', number: 0, op: 'shufflevector', type: llvm.vector(vectorElement(c, a.type), count), a, b, mask };
  },
  freeze(c) {
    const f = fields.freeze;
    const of = typed(c, f.value);
    return { kind: 'instruction', number: 0, op: 'freeze', type: of.type, value: of };
  },
  br(c) {
    const f = fields.br;
    const target = blockIn(c, f.then);
    if (!has(c, f.else)) return { kind: 'instruction', number: 0, op: 'br', type: llvm.void, target };
    const ifFalse = blockIn(c, f.else);
    const condition = value(c, f.condition, llvm.i1);
    return { kind: 'instruction', number: 0, op: 'condbr', type: llvm.void, condition, ifTrue: target, ifFalse };
  },
  switch: readSwitch,
  ...atomics,
  ret(c) {
    const f = fields.ret;
    return { kind: 'instruction', number: 0, op: 'ret', type: llvm.void, value: has(c, f.value) ? typed(c, f.value) : undefined };
  },
  unreachable: () => ({ kind: 'instruction', number: 0, op: 'unreachable', type: llvm.void }),
};

interface PlannedReader {
  /** AIR modules have calls in place of the records of atomic accesses. */
  readonly isAtomic: boolean;
  readonly plan: Plan;
  readonly read: Reader;
}

const byCode: (PlannedReader | undefined)[] = [];
for (const name of Object.keys(readers) as (keyof Rows)[]) {
  const row = blocks.function.records[name];
  byCode[row.code] = { isAtomic: Object.hasOwn(atomics, name), plan: planOf(row), read: readers[name]! };
}

/** The type of a comparison of such operands. */
const boolFor = (type: Type): Type => (type.kind === 'vector' ? llvm.vector(llvm.i1, type.count) : llvm.i1);

/** The kinds of types that a cast converts between. */
interface Cast {
  readonly opcode: CastOpcode;
  readonly from: Type['kind'];
  readonly to: Type['kind'];
}

const isSameShape = (a: Type, b: Type): boolean => (a.kind === 'vector' ? b.kind === 'vector' && a.count === b.count : b.kind !== 'vector');

/** Casts work element by element, except bitcasts. */
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

/** The indices into an aggregate, which are all operands from one on. */
function pathFrom(c: Cursor, start: number): number[] {
  const path = [...c.record.ops.subarray(start, c.record.count)];
  return path.every((index) => index < 2 ** 32) ? path : fault(c, 'an index of more than 32 bits');
}

function pointee(c: Cursor, pointer: Value): Type {
  return pointer.type.kind === 'pointer' ? pointer.type.pointee : fault(c, 'an access through a value that is not a pointer');
}

function checkAccess(c: Cursor, pointer: Value, type: Type): void {
  const to = pointee(c, pointer);
  if (to !== type && to !== llvm.opaque) fault(c, `${spell(type)} through ${spell(pointer.type)}`);
}

function vectorElement(c: Cursor, type: Type): Type {
  return type.kind === 'vector' ? type.element : fault(c, `an element of ${spell(type)}`);
}

/** The type at a path inside an aggregate. */
const elementType = (c: Cursor, type: Type, path: readonly number[]): Type => path.reduce((of, index) => partType(c, of, index), type);

function partType(c: Cursor, of: Type, index: number): Type {
  if (of.kind === 'struct') return of.fields?.[index] ?? fault(c, `field ${index} of ${spell(of)}`);
  return of.kind === 'array' || of.kind === 'vector' ? of.element : fault(c, `an element of ${spell(of)}`);
}

function readBinary(c: Cursor): Instruction {
  const f = fields.binop;
  const a = typed(c, f.a);
  const b = value(c, f.b, a.type);
  const { type } = a;
  const scalar = scalarOf(type);
  if (scalar.kind !== 'int' && scalar.kind !== 'float') fault(c, `arithmetic on ${spell(type)}`);
  const isFloat = scalar.kind === 'float';
  const opcode = binaryOpcode(word(c, f.opcode), isFloat) ?? fault(c, 'an unknown operation');
  const flags = optional(c, f.flags);
  return { kind: 'instruction', number: 0, op: 'binary', type, opcode, a, b, flags: isFloat ? upgradedFast(flags) : flags };
}

function readCompare(c: Cursor): Instruction {
  const f = fields.cmp2;
  const a = typed(c, f.a);
  const b = value(c, f.b, a.type);
  const code = word(c, f.predicate);
  const predicate = predicates.get(code) ?? fault(c, `predicate ${code}`);
  const flags = upgradedFast(optional(c, f.flags));
  return { kind: 'instruction', number: 0, op: code >= 32 ? 'icmp' : 'fcmp', type: boolFor(a.type), predicate, a, b, flags };
}

function readPhi(c: Cursor): Instruction {
  const f = fields.phi;
  const type = typeIn(c, f.type);
  const incoming: InstructionOf<'phi'>['incoming'] = [];
  for (let at = startOf(c, f.incoming); at + 1 < c.record.count; at += 2) {
    const of = valueAt(c, c.next - signed(operand(c, at)), type);
    if (of.type !== type) fault(c, 'a phi with a value of another type');
    incoming.push({ value: of, block: c.block(operand(c, at + 1)) });
  }
  return { kind: 'instruction', number: 0, op: 'phi', type, incoming, flags: upgradedFast(optional(c, f.flags)) };
}

/** A number with its sign in the lowest bit. */
const signed = (coded: number): number => (coded % 2 === 0 ? coded / 2 : -(coded - 1) / 2);

function readAlloca(c: Cursor): Instruction {
  const f = fields.alloca;
  const allocated = typeIn(c, f.type);
  typeIn(c, f.sizeType);
  const count = absolute(c, f.size);
  const code = word(c, f.align);
  if ((code & allocaExplicitType) === 0) fault(c, 'an alloca without explicit type');
  const isLatest = c.tables.types.dialect === 'latest';
  if ((code & ~(allocaExplicitType | 31)) !== 0) fault(c, `an alloca with the flags ${code}`);
  const align = alignOfCode(code & 31, c.record.bit);
  return { kind: 'instruction', number: 0, op: 'alloca', type: llvm.pointer(isLatest ? llvm.opaque : allocated), allocated, count, align };
}

function readGep(c: Cursor): Instruction {
  const f = fields.gep;
  const inbounds = (word(c, f.inbounds) & 1) !== 0;
  const sourceType = typeIn(c, f.type);
  const base = typed(c, f.base);
  const indices = typedFrom(c, startOf(c, f.indices));
  if (base.type.kind !== 'pointer') return fault(c, `an address in ${spell(base.type)}`);
  checkAccess(c, base, sourceType);
  for (const index of indices) if (index.type.kind !== 'int') fault(c, `an index of type ${spell(index.type)}`);
  let reached = sourceType;
  for (let i = 1; i < indices.length; i++) reached = partType(c, reached, reached.kind === 'struct' ? fieldOf(c, indices[i]!) : 0);
  const type = reached === sourceType || base.type.pointee === llvm.opaque ? base.type : llvm.pointer(reached, base.type.space);
  return { kind: 'instruction', number: 0, op: 'gep', type, sourceType, inbounds, base, indices };
}

function fieldOf(c: Cursor, index: Value): number {
  return index.kind === 'constant' && index.form === 'int' ? Number(index.value) : fault(c, 'a struct index that is not a constant');
}

function readSwitch(c: Cursor): Instruction {
  const f = fields.switch;
  const type = typeIn(c, f.type);
  const condition = value(c, f.condition, type);
  const defaultBlock = blockIn(c, f.default);
  const cases: InstructionOf<'switch'>['cases'] = [];
  for (let at = startOf(c, f.cases); at + 1 < c.record.count; at += 2) {
    const of = valueAt(c, operand(c, at), undefined);
    if (of.kind !== 'constant' || of.type !== type) return fault(c, 'a case that is not a constant of the type of the condition');
    cases.push({ value: of, block: c.block(operand(c, at + 1)) });
  }
  return { kind: 'instruction', number: 0, op: 'switch', type: llvm.void, condition, defaultBlock, cases };
}

const tailOf = (flags: number): InstructionOf<'call'>['tail'] =>
  flags & callFlags.mustTail ? 'musttail' : flags & callFlags.noTail ? 'notail' : flags & callFlags.tail ? 'tail' : 'none';

function readCall(c: Cursor): Instruction {
  const f = fields.call;
  const attributes = c.tables.attributes.at(operand(c, startOf(c, f.attributes)), c.record.bit);
  const bits = word(c, f.cc);
  const flags = upgradedFast(optional(c, f.flags));
  const callee = typed(c, f.callee);
  const functionType = has(c, f.type) ? typeIn(c, f.type) : pointee(c, callee);
  if (functionType.kind !== 'function') return fault(c, 'a call of a value that is not a function of that type');
  checkAccess(c, callee, functionType);
  const args: InstructionOf<'call'>['args'] = [];
  let at = startOf(c, f.args);
  for (const type of functionType.params) args.push(type.kind === 'metadata' ? metadataArgument(c, at++) : valueWith(c, at++, type));
  if (functionType.vararg) args.push(...typedFrom(c, at));
  const tail = tailOf(bits);
  const convention = (bits >>> callFlags.conventionShift) & callFlags.conventionMask;
  const type = functionType.result;
  if (convention === 0) return { kind: 'instruction', number: 0, op: 'call', type, functionType, callee, args, attributes, tail, flags };
  return { kind: 'instruction', number: 0, op: 'call', type, functionType, callee, args, attributes, tail, flags, convention };
}

const metadataArgument = (c: Cursor, at: number): MetadataArgument => ({ kind: 'metadata', metadata: metadataAt(c, at) });
