/** LLVM modules from a tape of choices: any tape gives a valid module, a shorter tape a smaller one. */
import type {
  Argument,
  AttributeList,
  Block,
  Constant,
  Instruction,
  Metadata,
  MetadataNode,
  Module,
  Value,
} from '../../src/bitcode/index.ts';
import { type Type, types } from '../../src/bitcode/index.ts';

const noAttributes: AttributeList = { function: [], result: [], params: [] };

export const emptyModule = (): Module => ({
  identification: '',
  sourceFilename: 'spec.ll',
  triple: 'arm64-apple-macosx14.0.0',
  dataLayout: '',
  structs: [],
  globals: [],
  functions: [],
  namedMetadata: [],
  sections: [],
});

interface Tape {
  /** A number below `n`; 0 where the tape has ended. */
  pick(n: number): number;
  bits(width: number): bigint;
  of<T>(list: readonly T[]): T;
  readonly isEmpty: boolean;
}

function tapeOf(choices: readonly number[]): Tape {
  let at = 0;
  const pick = (n: number): number => (at < choices.length ? choices[at++]! % n : 0);
  return {
    pick,
    of: (list) => list[pick(list.length)]!,
    bits: (width) => {
      let value = 0n;
      for (let got = 0; got < width; got += 16) value = (value << 16n) | BigInt(pick(0x10000));
      // Numbers at the ends of the range are where encodings differ.
      const special = [0n, 1n, (1n << BigInt(width)) - 1n, 1n << BigInt(width - 1), value];
      return BigInt.asUintN(width, special[pick(special.length)]!);
    },
    get isEmpty() {
      return at >= choices.length;
    },
  };
}

const ints = [1, 8, 16, 32, 64, 7, 128].map(types.int);
const floats = [types.half, types.bfloat, types.float, types.double];
const scalars: readonly Type[] = [...ints, ...floats];

function typeFrom(tape: Tape, module: Module, depth = 0): Type {
  const inner = (): Type => (depth > 2 ? tape.of(scalars) : typeFrom(tape, module, depth + 1));
  switch (tape.pick(7)) {
    case 3:
      return types.pointer(inner(), tape.pick(4));
    case 4:
      return types.array(inner(), 1 + tape.pick(4));
    case 5:
      return types.struct([inner(), inner()], tape.pick(2) === 1);
    case 6:
      return tape.pick(2) === 1 && module.structs.length > 0 ? tape.of(module.structs) : named(tape, module, inner());
    case 2:
      return types.vector(tape.of(scalars), 2 + tape.pick(3));
    default:
      return tape.of(scalars);
  }
}

function named(tape: Tape, module: Module, field: Type): Type {
  const struct = types.namedStruct(`struct ${module.structs.length}`, [field, types.i32], tape.pick(2) === 1);
  module.structs.push(struct);
  return struct;
}

function constantFrom(tape: Tape, type: Type): Constant {
  const elements = (parts: readonly Type[]): Constant => ({
    kind: 'constant',
    form: 'aggregate',
    type,
    elements: parts.map((part) => constantFrom(tape, part)),
  });
  const odd = tape.pick(8);
  if (odd === 7 && type.kind !== 'struct') return { kind: 'constant', form: tape.of(['undef', 'poison']), type };
  switch (type.kind) {
    case 'int':
      return { kind: 'constant', form: 'int', type, value: tape.bits(type.bits) };
    case 'float':
      return { kind: 'constant', form: 'float', type, bits: tape.bits({ half: 16, bfloat: 16, float: 32, double: 64 }[type.name]) };
    case 'array':
    case 'vector':
      return odd === 6 ? { kind: 'constant', form: 'null', type } : elements(Array.from({ length: type.count }, () => type.element));
    case 'struct':
      return elements(type.fields ?? []);
    default:
      return { kind: 'constant', form: 'null', type };
  }
}

/** A module of the choices on a tape. */
export function moduleFrom(choices: readonly number[]): Module {
  const tape = tapeOf(choices);
  const module = emptyModule();
  for (let n = tape.pick(4); n > 0; n--) addGlobal(tape, module);
  do addFunction(tape, module);
  while (!tape.isEmpty && module.functions.length < 4);
  addMetadata(tape, module);
  return module;
}

function addGlobal(tape: Tape, module: Module): void {
  const valueType = typeFrom(tape, module);
  const section = tape.pick(4) === 3 ? 'a section' : undefined;
  if (section && !module.sections.includes(section)) module.sections.push(section);
  module.globals.push({
    kind: 'global',
    name: `global.${module.globals.length}`,
    type: types.pointer(valueType, tape.pick(4)),
    valueType,
    isConstant: tape.pick(2) === 1,
    init: constantFrom(tape, valueType),
    linkage: tape.of(['external', 'internal', 'private', 'weak_odr']),
    align: 2 ** tape.pick(5),
    section,
    unnamedAddr: tape.of(['none', 'unnamed_addr', 'local_unnamed_addr']),
    externallyInitialized: false,
    dsoLocal: false,
  });
}

interface Body {
  readonly tape: Tape;
  readonly module: Module;
  readonly args: readonly Argument[];
  readonly values: Value[];
  block: Block;
}

const newBlock = (): Block => ({ kind: 'block', name: undefined, body: [] });

function emit(body: Body, inst: Record<string, unknown>): Instruction {
  const made = { kind: 'instruction', ...inst } as unknown as Instruction;
  body.block.body.push(made);
  if (made.type !== types.void) body.values.push(made);
  return made;
}

/** A value of a type: one that is there, or a constant. */
function someValue({ tape, values }: Body, type: Type): Value {
  const fitting = values.filter((value) => value.type === type);
  return fitting.length > 0 && tape.pick(4) > 0 ? tape.of(fitting) : constantFrom(tape, type);
}

function addFunction(tape: Tape, module: Module): void {
  const params = Array.from({ length: tape.pick(4) }, () => typeFrom(tape, module));
  const functionType = types.function(types.void, params);
  const args = params.map((type, index): Argument => ({ kind: 'argument', type, index, name: undefined }));
  const body: Body = { tape, module, args, values: [...args, ...module.globals], block: newBlock() };
  const blocks = [body.block];
  for (let n = 1 + tape.pick(4); n > 0; n--) {
    for (let i = tape.pick(6); i > 0; i--) addInstruction(body);
    addBranch(body, blocks);
  }
  emit(body, { op: 'ret', type: types.void, value: undefined });
  module.functions.push({
    kind: 'function',
    name: `function.${module.functions.length}`,
    functionType,
    type: types.pointer(functionType),
    linkage: tape.of(['external', 'internal']),
    attributes: tape.pick(2) === 1 ? noAttributes : { function: [{ form: 'enum', kind: 18 }], result: [], params: [] },
    unnamedAddr: 'none',
    dsoLocal: false,
    section: undefined,
    args,
    blocks,
    metadata: [],
  });
}

const intOps = ['add', 'sub', 'mul', 'udiv', 'sdiv', 'urem', 'srem', 'shl', 'lshr', 'ashr', 'and', 'or', 'xor'] as const;
const floatOps = ['fadd', 'fsub', 'fmul', 'fdiv', 'frem'] as const;
const fastFlags = [0, 2, 4, 8, 16, 32, 64, 128, 254] as const;
const intPredicates = ['eq', 'ne', 'ugt', 'uge', 'ult', 'ule', 'sgt', 'sge', 'slt', 'sle'] as const;
const floatPredicates = [
  'false',
  'oeq',
  'ogt',
  'oge',
  'olt',
  'ole',
  'one',
  'ord',
  'uno',
  'ueq',
  'fugt',
  'fuge',
  'fult',
  'fule',
  'une',
  'true',
] as const;

function addInstruction(body: Body): void {
  const { tape, module } = body;
  const makers = [arithmetic, compare, select, cast, stack, vector, aggregate, call];
  tape.of(makers)(body, tape.pick(4) === 0 ? types.vector(tape.of(scalars), 2) : tape.of(scalars), module);
}

const elementOf = (type: Type): Type => (type.kind === 'vector' ? type.element : type);

function arithmetic(body: Body, type: Type): void {
  const { tape } = body;
  const isFloat = elementOf(type).kind === 'float';
  const flags = isFloat ? tape.of(fastFlags) : 0;
  if (isFloat && tape.pick(6) === 5) return void emit(body, { op: 'fneg', type, value: someValue(body, type), flags });
  const opcode = isFloat ? tape.of(floatOps) : tape.of(intOps);
  emit(body, { op: 'binary', type, opcode, a: someValue(body, type), b: someValue(body, type), flags });
}

const truth = (type: Type): Type => (type.kind === 'vector' ? types.vector(types.i1, type.count) : types.i1);

function compare(body: Body, type: Type): void {
  const isFloat = elementOf(type).kind === 'float';
  const predicate = isFloat ? body.tape.of(floatPredicates) : body.tape.of(intPredicates);
  emit(body, { op: isFloat ? 'fcmp' : 'icmp', type: truth(type), predicate, a: someValue(body, type), b: someValue(body, type), flags: 0 });
}

function select(body: Body, type: Type): void {
  const condition = someValue(body, body.tape.pick(2) === 1 ? truth(type) : types.i1);
  emit(body, { op: 'select', type, condition, a: someValue(body, type), b: someValue(body, type), flags: 0 });
  emit(body, { op: 'freeze', type, value: someValue(body, type) });
}

function cast(body: Body): void {
  const rows: [string, Type, Type][] = [
    ['trunc', types.i64, types.i8],
    ['zext', types.i1, types.int(128)],
    ['sext', types.i16, types.i64],
    ['fptoui', types.float, types.i32],
    ['fptosi', types.half, types.i16],
    ['uitofp', types.i8, types.bfloat],
    ['sitofp', types.i64, types.double],
    ['fptrunc', types.double, types.half],
    ['fpext', types.half, types.float],
    ['inttoptr', types.i64, types.pointer(types.float, 1)],
    ['ptrtoint', types.pointer(types.float, 1), types.i64],
    ['bitcast', types.i32, types.vector(types.half, 2)],
    ['addrspacecast', types.pointer(types.float, 1), types.pointer(types.float)],
  ];
  const [opcode, from, to] = body.tape.of(rows);
  emit(body, { op: 'cast', type: to, opcode, value: someValue(body, from) });
}

function stack(body: Body, type: Type): void {
  const { tape } = body;
  const array = types.array(type, 1 + tape.pick(5));
  const align = 2 ** tape.pick(5);
  const one: Constant = { kind: 'constant', form: 'int', type: types.i32, value: 1n };
  const pointer = emit(body, { op: 'alloca', type: types.pointer(array), allocated: array, count: one, align });
  const indices = [someValue(body, types.i64), someValue(body, types.i32)];
  const inbounds = tape.pick(2) === 1;
  const address = emit(body, { op: 'gep', type: types.pointer(type), sourceType: array, inbounds, base: pointer, indices });
  const isVolatile = tape.pick(2) === 1;
  emit(body, { op: 'store', type: types.void, pointer: address, value: someValue(body, type), align, isVolatile });
  emit(body, { op: 'load', type, pointer: address, align, isVolatile });
}

function vector(body: Body, type: Type): void {
  const element = elementOf(type);
  const whole = types.vector(element, 4);
  const a = someValue(body, whole);
  emit(body, { op: 'extractelement', type: element, vector: a, index: someValue(body, types.i32) });
  emit(body, { op: 'insertelement', type: whole, vector: a, value: someValue(body, element), index: someValue(body, types.i64) });
  const lane = (): Constant => ({ kind: 'constant', form: 'int', type: types.i32, value: BigInt(body.tape.pick(8)) });
  const maskType = types.vector(types.i32, 3);
  const mask: Constant = { kind: 'constant', form: 'aggregate', type: maskType, elements: [lane(), lane(), lane()] };
  emit(body, { op: 'shufflevector', type: types.vector(element, 3), a, b: someValue(body, whole), mask });
}

function aggregate(body: Body, type: Type): void {
  const inner = types.array(type, 2);
  const whole = types.struct([types.i8, inner]);
  const value = someValue(body, whole);
  emit(body, { op: 'extractvalue', type: inner, aggregate: value, path: [1] });
  emit(body, { op: 'insertvalue', type: whole, aggregate: value, value: someValue(body, type), path: [1, body.tape.pick(2)] });
}

function call(body: Body, type: Type, module: Module): void {
  const functionType = types.function(type, [type, types.i32]);
  const name = `callee.${module.functions.length}`;
  const callee = { kind: 'function' as const, name, functionType, type: types.pointer(functionType), linkage: 'external' as const };
  const declared = {
    ...callee,
    attributes: noAttributes,
    unnamedAddr: 'none' as const,
    dsoLocal: false,
    section: undefined,
    args: [] as Argument[],
  };
  const fn = { ...declared, blocks: [], metadata: [] };
  fn.args.push(...functionType.params.map((of, index): Argument => ({ kind: 'argument', type: of, index, name: undefined })));
  module.functions.push(fn);
  const flags = elementOf(type).kind === 'float' ? body.tape.of(fastFlags) : 0;
  const args = [someValue(body, type), someValue(body, types.i32)];
  emit(body, {
    op: 'call',
    type,
    functionType,
    callee: fn,
    args,
    attributes: noAttributes,
    tail: body.tape.of(['none', 'tail', 'notail']),
    flags,
  });
}

/** Ends the block: on to the next, a loop whose phi looks ahead, or a switch that joins in a phi. */
function addBranch(body: Body, blocks: Block[]): void {
  const { tape } = body;
  const from = body.block;
  const next = newBlock();
  const condition = someValue(body, types.i1);
  const type = tape.of(scalars);
  const first = someValue(body, type);
  if (tape.pick(3) === 0) {
    emit(body, { op: 'br', type: types.void, target: next });
  } else if (tape.pick(2) === 0) {
    const loop = newBlock();
    emit(body, { op: 'br', type: types.void, target: loop });
    body.block = loop;
    blocks.push(loop);
    const incoming = [{ value: first, block: from }];
    emit(body, { op: 'phi', type, incoming, flags: 0 });
    const later = emit(body, { op: 'freeze', type, value: someValue(body, type) });
    incoming.push({ value: later, block: loop });
    emit(body, { op: 'condbr', type: types.void, condition, ifTrue: loop, ifFalse: next });
  } else {
    const other = newBlock();
    const value: Constant = { kind: 'constant', form: 'int', type: types.i64, value: tape.bits(64) };
    emit(body, {
      op: 'switch',
      type: types.void,
      condition: someValue(body, types.i64),
      defaultBlock: next,
      cases: [{ value, block: other }],
    });
    body.block = other;
    blocks.push(other);
    emit(body, { op: 'br', type: types.void, target: next });
    body.block = next;
    emit(body, {
      op: 'phi',
      type,
      flags: 0,
      incoming: [
        { value: first, block: from },
        { value: constantFrom(tape, type), block: other },
      ],
    });
  }
  body.block = next;
  blocks.push(next);
}

function addMetadata(tape: Tape, module: Module): void {
  const nodes: MetadataNode[] = [];
  const leaf = (): Metadata | undefined => {
    const kind = tape.pick(5);
    if (kind === 0) return undefined;
    if (kind === 1) return { kind: 'string', value: tape.of(['', 'air.buffer', 'quote " \\ \u0001', 'é']) };
    if (kind === 2) return { kind: 'value', value: constantFrom(tape, types.i32) };
    if (kind === 3 && module.functions.length > 0) return { kind: 'value', value: tape.of(module.functions) };
    return nodes[tape.pick(nodes.length)];
  };
  // Distinct nodes alone: equal ones that are not would be one node in LLVM.
  for (let n = tape.pick(5); n > 0; n--) nodes.push({ kind: 'node', distinct: true, operands: Array.from({ length: tape.pick(4) }, leaf) });
  if (nodes.length > 0) module.namedMetadata.push({ name: 'some.nodes', nodes: nodes.slice(0, 1 + tape.pick(nodes.length)) });
}
