/**
 * Numbers for everything a module refers to: types, values, metadata, attribute lists. Globals come first, then functions,
 * then constants; a function adds its arguments, its constants and its instructions behind those.
 */
import { bug } from '../base/bug.ts';
import type {
  Argument,
  Attribute,
  AttributeList,
  Block,
  Constant,
  Instruction,
  Function as LlvmFunction,
  Metadata,
  MetadataArgument,
  MetadataNode,
  Module,
  Value,
} from './model.ts';
import { metadataKinds } from './names.ts';
import { spell, type Type, types } from './types.ts';

/** Ids in order of first use. */
export interface Numbering<T> {
  readonly list: T[];
  idOf(item: T): number;
  has(item: T): boolean;
}

function numbering<T>(): Numbering<T> & { add(item: T): number } {
  const ids = new Map<T, number>();
  const list: T[] = [];
  return {
    list,
    has: (item) => ids.has(item),
    idOf: (item) => ids.get(item) ?? fail(item),
    add(item) {
      const known = ids.get(item);
      if (known !== undefined) return known;
      ids.set(item, list.length);
      return list.push(item) - 1;
    },
  };
}

function fail(item: unknown): never {
  const kind = typeof item === 'object' && item !== null && 'kind' in item ? String(item.kind) : typeof item;
  return bug(`bitcode: a ${kind} that the module does not hold is referred to`);
}

const keys = new WeakMap<Constant, unknown>();

/** Equal constants are one value; globals and functions are themselves. */
export function constantKey(constant: Constant): unknown {
  if (constant.kind !== 'constant') return constant;
  const known = keys.get(constant);
  if (known !== undefined) return known;
  const key = makeKey(constant);
  keys.set(constant, key);
  return key;
}

function makeKey(constant: Extract<Constant, { kind: 'constant' }>): unknown {
  const type = spell(constant.type);
  switch (constant.form) {
    case 'int':
      return `i ${type} ${constant.value}`;
    case 'float':
      return `f ${type} ${constant.bits}`;
    case 'null':
    case 'undef':
    case 'poison':
      return `${constant.form} ${type}`;
    default:
      return constant;
  }
}

const keyOf = (value: Value): unknown => (value.kind === 'argument' || value.kind === 'instruction' ? value : constantKey(value));

export interface ModuleNumbers {
  readonly types: Numbering<Type>;
  /** The id of a constant, global or function; none for what only a function knows. */
  findValue(value: Value): number | undefined;
  /** The same for what is certain to be there. */
  valueId(value: Value): number;
  /** Constants of the module in the order of their ids. */
  readonly constants: readonly Constant[];
  readonly valueCount: number;
  readonly metadata: MetadataNumbers;
  readonly attributes: AttributeNumbers;
}

export interface MetadataNumbers {
  readonly strings: readonly string[];
  readonly values: readonly Constant[];
  readonly nodes: readonly MetadataNode[];
  /** Ids are below this. */
  readonly count: number;
  /** What attachments are hung under, by the numbers of the kinds: LLVM's own, then others that this module has. */
  readonly kinds: readonly string[];
  idOf(metadata: Metadata): number;
}

export interface AttributeNumbers {
  readonly groups: readonly { readonly index: number; readonly attributes: readonly Attribute[] }[];
  readonly lists: readonly (readonly number[])[];
  /** 1-based; 0 for an empty list. */
  idOf(list: AttributeList): number;
}

/** Numbers of everything at module level; those inside a function follow in `numberFunction`. */
export function numberModule(module: Module): ModuleNumbers {
  const typeNumbers = typeNumbering();
  for (const type of module.structs) typeNumbers.add(type);
  const ids = new Map<unknown, number>();
  const constants: Constant[] = [];
  const addValue = (value: Constant): void => {
    const key = constantKey(value);
    if (ids.has(key)) return;
    if (value.kind === 'constant') for (const part of partsOf(value)) addValue(part);
    typeNumbers.add(value.type);
    if (value.kind === 'constant') constants.push(value);
    ids.set(key, ids.size);
  };
  for (const global of module.globals) addValue(global);
  for (const fn of module.functions) addValue(fn);
  for (const global of module.globals) typeNumbers.add(global.valueType);
  for (const global of module.globals) if (global.init) addValue(global.init);
  const metadata = numberMetadata(module);
  for (const value of metadata.values) addValue(value);
  for (const fn of module.functions) addFunctionTypes(fn, typeNumbers);
  const findValue = (value: Value): number | undefined => ids.get(keyOf(value));
  return {
    types: typeNumbers,
    findValue,
    valueId: (value) => findValue(value) ?? fail(value),
    constants,
    valueCount: ids.size,
    metadata,
    attributes: numberAttributes(module),
  };
}

/** Constants that a constant is made of. */
export function partsOf(constant: Extract<Constant, { kind: 'constant' }>): readonly Constant[] {
  switch (constant.form) {
    case 'aggregate':
      return isData(constant) ? [] : constant.elements;
    case 'cast':
      return [constant.value];
    case 'gep':
      return [constant.base, ...constant.indices];
    case 'binary':
      return [constant.a, constant.b];
    default:
      return [];
  }
}

/** Arrays and vectors of plain numbers have a compact record. */
export function isData(constant: Extract<Constant, { form: 'aggregate' }>): boolean {
  const { type } = constant;
  if (type.kind !== 'array' && type.kind !== 'vector') return false;
  const { element } = type;
  const plain = element.kind === 'float' || (element.kind === 'int' && [8, 16, 32, 64].includes(element.bits));
  return plain && constant.elements.every((e) => e.kind === 'constant' && (e.form === 'int' || e.form === 'float'));
}

function typeNumbering(): Numbering<Type> & { add(type: Type): number } {
  const numbers = numbering<Type>();
  const inside = new Set<Type>();
  const add = (type: Type): number => {
    if (numbers.has(type)) return numbers.idOf(type);
    // A named struct may hold pointers to itself; its own number comes when its fields have theirs.
    if (inside.has(type)) return -1;
    inside.add(type);
    for (const part of typeParts(type)) add(part);
    inside.delete(type);
    return numbers.add(type);
  };
  return { ...numbers, add };
}

/** The types a type is made of. */
export function typeParts(type: Type): readonly Type[] {
  switch (type.kind) {
    case 'pointer':
      return [type.pointee];
    case 'array':
    case 'vector':
      return [type.element];
    case 'struct':
      return type.fields ?? [];
    case 'function':
      return [type.result, ...type.params];
    default:
      return [];
  }
}

function addFunctionTypes(fn: LlvmFunction, numbers: { add(type: Type): number }): void {
  for (const arg of fn.args) numbers.add(arg.type);
  for (const block of fn.blocks)
    for (const inst of block.body) {
      numbers.add(inst.type);
      for (const operand of operandsOf(inst)) addValueTypes(operand, numbers);
      if (inst.op === 'gep') numbers.add(inst.sourceType);
      if (inst.op === 'alloca') numbers.add(inst.allocated);
      if (inst.op === 'call') numbers.add(inst.functionType);
    }
  for (const list of [fn.attributes, ...callLists(fn)])
    for (const attribute of [...list.function, ...list.result, ...list.params.flat()])
      if (attribute.form === 'type' && attribute.type) numbers.add(attribute.type);
}

function addValueTypes(value: Value, numbers: { add(type: Type): number }): void {
  numbers.add(value.type);
  if (value.kind !== 'constant') return;
  for (const part of partsOf(value)) addValueTypes(part, numbers);
  if (value.form === 'gep') numbers.add(value.sourceType);
}

const callLists = (fn: LlvmFunction): AttributeList[] =>
  fn.blocks.flatMap((b) => b.body.flatMap((i) => (i.op === 'call' ? [i.attributes] : [])));

/** The values an instruction uses, blocks left out. */
export function operandsOf(inst: Instruction): Value[] {
  switch (inst.op) {
    case 'phi':
      return inst.incoming.map((each) => each.value);
    case 'call':
      return [inst.callee, ...inst.args.filter((arg): arg is Value => arg.kind !== 'metadata')];
    case 'gep':
      return [inst.base, ...inst.indices];
    case 'switch':
      return [inst.condition, ...inst.cases.map((each) => each.value)];
    case 'alloca':
      return [inst.count];
    case 'ret':
      return inst.value ? [inst.value] : [];
    default: {
      const fields = inst as unknown as Record<string, Value>;
      return plainOperands[inst.op].map((name) => fields[name]!);
    }
  }
}

type ListedOp = 'phi' | 'call' | 'gep' | 'switch' | 'alloca' | 'ret';

/** The fields of each other op that hold its operands. */
const plainOperands: Record<Exclude<Instruction['op'], ListedOp>, readonly string[]> = {
  binary: ['a', 'b'],
  fneg: ['value'],
  cast: ['value'],
  icmp: ['a', 'b'],
  fcmp: ['a', 'b'],
  select: ['condition', 'a', 'b'],
  load: ['pointer'],
  store: ['pointer', 'value'],
  extractvalue: ['aggregate'],
  insertvalue: ['aggregate', 'value'],
  extractelement: ['vector', 'index'],
  insertelement: ['vector', 'value', 'index'],
  shufflevector: ['a', 'b', 'mask'],
  freeze: ['value'],
  br: [],
  condbr: ['condition'],
  unreachable: [],
};

// ── metadata ──

/** Metadata that a call has among its arguments. */
export const metadataArguments = (inst: Instruction): MetadataArgument[] =>
  inst.op === 'call' ? inst.args.filter((arg): arg is MetadataArgument => arg.kind === 'metadata') : [];

/** What of a function alone can be metadata: one of its values. */
type LocalMetadata = { readonly kind: 'value'; readonly value: Argument | Instruction };

const isLocal = (metadata: Metadata): metadata is LocalMetadata =>
  metadata.kind === 'value' && (metadata.value.kind === 'argument' || metadata.value.kind === 'instruction');

function numberMetadata(module: Module): MetadataNumbers {
  const strings = numbering<string>();
  const values = numbering<unknown>();
  const constants: Constant[] = [];
  const nodes = numbering<MetadataNode>();
  const visit = (metadata: Metadata): void => {
    if (metadata.kind === 'string') strings.add(metadata.value);
    else if (metadata.kind === 'value') {
      const constant = metadata.value as Constant;
      if (!values.has(constantKey(constant))) constants.push(constant);
      values.add(constantKey(constant));
    } else visitNode(metadata);
  };
  // Operands before the node that has them, on a stack of our own: chains of nodes are of any length.
  const visitNode = (root: MetadataNode): void => {
    if (seen.has(root)) return;
    seen.add(root);
    const open = [{ node: root, next: 0 }];
    for (let top = open[0]; top; top = open[open.length - 1]) {
      const operand = top.node.operands[top.next++];
      if (top.next > top.node.operands.length) nodes.add(open.pop()!.node);
      else if (operand?.kind !== 'node') operand && visit(operand);
      else if (!seen.has(operand)) {
        seen.add(operand);
        open.push({ node: operand, next: 0 });
      }
    }
  };
  const seen = new Set<MetadataNode>();
  for (const named of module.namedMetadata) for (const node of named.nodes) visit(node);
  for (const fn of module.functions) {
    for (const attachment of fn.metadata) visit(attachment.node);
    for (const block of fn.blocks)
      for (const inst of block.body) {
        for (const { metadata } of metadataArguments(inst)) if (!isLocal(metadata)) visit(metadata);
        for (const attachment of inst.metadata ?? []) visit(attachment.node);
      }
  }
  return {
    strings: strings.list,
    values: constants,
    nodes: nodes.list,
    kinds: kindsOf(module),
    count: strings.list.length + constants.length + nodes.list.length,
    idOf: (m) =>
      m.kind === 'string'
        ? strings.idOf(m.value)
        : m.kind === 'value'
          ? strings.list.length + values.idOf(constantKey(m.value as Constant))
          : strings.list.length + values.list.length + nodes.idOf(m),
  };
}

function kindsOf(module: Module): readonly string[] {
  const kinds = new Set<string>(metadataKinds);
  for (const fn of module.functions) {
    for (const { kind } of fn.metadata) kinds.add(kind);
    for (const block of fn.blocks) for (const inst of block.body) for (const { kind } of inst.metadata ?? []) kinds.add(kind);
  }
  return [...kinds];
}

// ── attributes ──

const functionIndex = 0xffffffff;

function numberAttributes(module: Module): AttributeNumbers {
  const groups = numbering<string>();
  const lists = numbering<string>();
  const groupList: { index: number; attributes: readonly Attribute[] }[] = [];
  const listList: (readonly number[])[] = [];
  const key = (value: unknown): string => JSON.stringify(value, (_, v) => (typeof v === 'bigint' ? `${v}n` : v));
  const groupId = (index: number, attributes: readonly Attribute[]): number => {
    const name = key([index, attributes]);
    if (!groups.has(name)) groupList.push({ index, attributes });
    return groups.add(name) + 1;
  };
  const groupsOf = (list: AttributeList): number[] =>
    [[functionIndex, list.function] as const, [0, list.result] as const, ...list.params.map((p, i) => [i + 1, p] as const)]
      .filter(([, attributes]) => attributes.length > 0)
      .map(([index, attributes]) => groupId(index, attributes));
  const idOf = (list: AttributeList): number => {
    const of = groupsOf(list);
    if (of.length === 0) return 0;
    if (!lists.has(key(of))) listList.push(of);
    return lists.add(key(of)) + 1;
  };
  for (const fn of module.functions) idOf(fn.attributes);
  for (const fn of module.functions) for (const list of callLists(fn)) idOf(list);
  return { groups: groupList, lists: listList, idOf };
}

// ── inside a function ──

export interface FunctionNumbers {
  /** Constants that only this function uses, in the order of their ids. */
  readonly constants: readonly Constant[];
  readonly firstInstruction: number;
  valueId(value: Value): number;
  blockId(block: Block): number;
  /** Values of this function that are metadata, in the order of their ids. */
  readonly metadata: readonly (Argument | Instruction)[];
  metadataId(metadata: Metadata): number;
}

/** Numbers of arguments, constants, instructions and blocks of a function. */
export function numberFunction(fn: LlvmFunction, module: ModuleNumbers): FunctionNumbers {
  const ids = new Map<unknown, number>();
  let next = module.valueCount;
  const constants: Constant[] = [];
  const known = (value: Value): number | undefined => ids.get(keyOf(value)) ?? module.findValue(value);
  const addConstant = (value: Value): void => {
    if (value.kind !== 'constant' || known(value) !== undefined) return;
    for (const part of partsOf(value)) addConstant(part);
    constants.push(value);
    ids.set(constantKey(value), next++);
  };
  for (const arg of fn.args) ids.set(arg, next++);
  for (const block of fn.blocks) for (const inst of block.body) for (const operand of operandsOf(inst)) addConstant(operand);
  const firstInstruction = next;
  for (const block of fn.blocks) for (const inst of block.body) if (inst.type !== types.void) ids.set(inst, next++);
  const blockIds = new Map(fn.blocks.map((block, id) => [block, id]));
  const local = numbering<Argument | Instruction>();
  for (const block of fn.blocks)
    for (const inst of block.body) for (const { metadata } of metadataArguments(inst)) if (isLocal(metadata)) local.add(metadata.value);
  return {
    constants,
    firstInstruction,
    valueId: (value) => known(value) ?? fail(value),
    blockId: (block) => blockIds.get(block) ?? fail('a block of another function'),
    metadata: local.list,
    metadataId: (metadata) => (isLocal(metadata) ? module.metadata.count + local.idOf(metadata.value) : module.metadata.idOf(metadata)),
  };
}
