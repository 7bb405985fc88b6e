/**
 * Numbers for everything a module refers to: types, values, metadata, attribute lists. Globals come first, then functions,
 * then constants; a function adds its arguments, its constants and its instructions behind those.
 */
import type { Argument, Block, Constant, Instruction, Function as LlvmFunction, Metadata, Module, Value } from './model.ts';
import { type AttributeNumbers, callLists, numberAttributes } from './number-attributes.ts';
import { isLocal, type MetadataNumbers, numberMetadata } from './number-metadata.ts';
import { constantKey, fail, keyOf, type Numbering, numbering } from './numbering.ts';
import { type Type, types } from './types.ts';

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
  const seen = new Set<Value>();
  for (const block of fn.blocks)
    for (const inst of block.body) {
      numbers.add(inst.type);
      // Arguments and instructions have added their own.
      eachOperand(inst, (operand) => {
        if (operand.kind === 'instruction' || operand.kind === 'argument' || seen.has(operand)) return;
        seen.add(operand);
        addValueTypes(operand, numbers);
      });
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

/** The values an instruction uses, blocks left out. */
export function operandsOf(inst: Instruction): Value[] {
  const found: Value[] = [];
  eachOperand(inst, (value) => void found.push(value));
  return found;
}

/** The same one by one, without a list. */
export function eachOperand(inst: Instruction, visit: (value: Value) => void): void {
  switch (inst.op) {
    case 'phi':
      for (const each of inst.incoming) visit(each.value);
      return;
    case 'call':
      visit(inst.callee);
      for (const arg of inst.args) if (arg.kind !== 'metadata') visit(arg);
      return;
    case 'gep':
      visit(inst.base);
      for (const index of inst.indices) visit(index);
      return;
    case 'switch':
      visit(inst.condition);
      for (const each of inst.cases) visit(each.value);
      return;
    case 'alloca':
      return visit(inst.count);
    case 'ret':
      if (inst.value) visit(inst.value);
      return;
    default: {
      const fields = inst as unknown as Record<string, Value>;
      for (const name of plainOperands[inst.op]) visit(fields[name]!);
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
  const ids = new Map<Value, number>();
  // Equal constants share an id, by what they have in common; each object of them is looked up by that once.
  const byKey = new Map<unknown, number>();
  let next = module.valueCount;
  const constants: Constant[] = [];
  const known = (value: Value): number | undefined => {
    const id = ids.get(value);
    if (id !== undefined || value.kind === 'instruction' || value.kind === 'argument') return id;
    const shared = byKey.get(constantKey(value)) ?? module.findValue(value);
    if (shared !== undefined) ids.set(value, shared);
    return shared;
  };
  const addConstant = (value: Value): void => {
    if (value.kind !== 'constant' || known(value) !== undefined) return;
    for (const part of partsOf(value)) addConstant(part);
    constants.push(value);
    byKey.set(constantKey(value), next);
    ids.set(value, next++);
  };
  for (const arg of fn.args) ids.set(arg, next++);
  for (const block of fn.blocks) for (const inst of block.body) eachOperand(inst, addConstant);
  const firstInstruction = next;
  for (const block of fn.blocks) for (const inst of block.body) if (inst.type !== types.void) ids.set(inst, next++);
  const blockIds = new Map(fn.blocks.map((block, id) => [block, id]));
  const local = numbering<Argument | Instruction>();
  for (const block of fn.blocks)
    for (const inst of block.body)
      if (inst.op === 'call')
        for (const arg of inst.args) if (arg.kind === 'metadata' && isLocal(arg.metadata)) local.add(arg.metadata.value);
  return {
    constants,
    firstInstruction,
    valueId: (value) => known(value) ?? fail(value),
    blockId: (block) => blockIds.get(block) ?? fail('a block of another function'),
    metadata: local.list,
    metadataId: (metadata) => (isLocal(metadata) ? module.metadata.count + local.idOf(metadata.value) : module.metadata.idOf(metadata)),
  };
}
