/**
 * Numbers for everything a module refers to: types, values, metadata, attribute lists. Globals come first, then functions,
 * then constants; a function adds its arguments, its constants and its instructions behind those.
 */
import type { Argument, Block, Constant, Instruction, Function as LlvmFunction, Metadata, Module, Value } from './model.ts';
import { type AttributeNumbers, numberAttributes } from './number-attributes.ts';
import { type MetadataNumbers, numberMetadata } from './number-metadata.ts';
import { constantKey, fail, keyOf, type Numbering, numbering } from './numbering.ts';
import { isLocal, partsOf, typeParts } from './operands.ts';
import { type FunctionScan, noNumber, scanModule } from './scan.ts';
import { type Type, types } from './types.ts';

export interface ModuleNumbers {
  readonly types: Numbering<Type>;
  /** The id of a constant, global or function; none for what only a function knows. */
  findValue(value: Value): number | undefined;
  /** The same by what equal constants have in common. */
  findKey(key: unknown): number | undefined;
  /** The same for what is certain to be there. */
  valueId(value: Value): number;
  /** Constants of the module in the order of their ids. */
  readonly constants: readonly Constant[];
  readonly valueCount: number;
  readonly metadata: MetadataNumbers;
  readonly attributes: AttributeNumbers;
  scanOf(fn: LlvmFunction): FunctionScan;
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
  const scan = scanModule(module);
  const metadata = numberMetadata(module, scan);
  for (const value of metadata.values) addValue(value);
  for (const type of scan.types) typeNumbers.add(type);
  const findValue = (value: Value): number | undefined => ids.get(keyOf(value));
  return {
    types: typeNumbers,
    findValue,
    findKey: (key) => ids.get(key),
    valueId: (value) => findValue(value) ?? fail(value),
    constants,
    valueCount: ids.size,
    metadata,
    attributes: numberAttributes(module, scan),
    scanOf: (fn) => scan.functions.get(fn) ?? fail(fn),
  };
}

function typeNumbering(): Numbering<Type> & { add(type: Type): number } {
  const numbers = numbering<Type>();
  const inside = new Set<Type>();
  const add = (type: Type): number => {
    const known = numbers.find(type);
    if (known !== undefined) return known;
    // A named struct may hold pointers to itself; its own number comes when its fields have theirs.
    if (inside.has(type)) return -1;
    inside.add(type);
    for (const part of typeParts(type)) add(part);
    inside.delete(type);
    return numbers.add(type);
  };
  return { ...numbers, add };
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
  const scan = module.scanOf(fn);
  const { ids } = scan;
  // Equal constants share an id, by what they have in common; each object of them is looked up by that once.
  const byKey = new Map<unknown, number>();
  let next = module.valueCount;
  for (const arg of fn.args) ids.set(arg, next++);
  const constants: Constant[] = [];
  const sharedId = (key: unknown): number | undefined => byKey.get(key) ?? module.findKey(key);
  const known = (value: Value): number | undefined => {
    const id = ids.get(value) ?? noNumber;
    if (id !== noNumber) return id;
    if (value.kind === 'instruction' || value.kind === 'argument') return undefined;
    const shared = sharedId(constantKey(value));
    if (shared !== undefined) ids.set(value, shared);
    return shared;
  };
  const addConstant = (value: Value): void => {
    if (value.kind !== 'constant' || (ids.get(value) ?? noNumber) !== noNumber) return;
    const key = constantKey(value);
    const shared = sharedId(key);
    if (shared !== undefined) return void ids.set(value, shared);
    for (const part of partsOf(value)) addConstant(part);
    constants.push(value);
    byKey.set(key, next);
    ids.set(value, next++);
  };
  for (const value of [...ids.keys()]) addConstant(value);
  const firstInstruction = next;
  const instructions: Instruction[] = [];
  const blockIds = new Map(fn.blocks.map((block, id) => [block, id]));
  for (const { body } of fn.blocks) for (const inst of body) if (inst.type !== types.void) inst.number = instructions.push(inst) - 1;
  const local = numbering<Argument | Instruction>();
  for (const value of scan.locals) local.add(value);
  return {
    constants,
    firstInstruction,
    valueId(value) {
      const { number } = value as Instruction;
      // The number may be of another time: it counts if it leads back.
      if (number !== undefined && instructions[number] === value) return firstInstruction + number;
      return known(value) ?? fail(value);
    },
    blockId: (block) => blockIds.get(block) ?? fail('a block of another function'),
    metadata: local.list,
    metadataId: (metadata) => (isLocal(metadata) ? module.metadata.count + local.idOf(metadata.value) : module.metadata.idOf(metadata)),
  };
}
