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
import type { Type } from './types.ts';

export interface ModuleNumbers {
  readonly types: Numbering<Type>;
  /** Ids of constants, globals and functions, by what equal ones have in common. */
  readonly slots: Map<unknown, Slot>;
  readonly module: Module;
  /** The id of a constant, global or function of the module. */
  valueId(value: Value): number;
  /** Constants of the module in the order of their ids. */
  readonly constants: readonly Constant[];
  readonly valueCount: number;
  readonly metadata: MetadataNumbers;
  readonly attributes: AttributeNumbers;
  scanOf(fn: LlvmFunction): FunctionScan;
}

/** An id and whose it is: the module's, or that of the function which was numbered last of those that have the constant. */
interface Slot {
  owner: object;
  id: number;
}

/** Numbers of everything at module level; those inside a function follow in `numberFunction`. */
export function numberModule(module: Module): ModuleNumbers {
  const typeNumbers = typeNumbering();
  for (const type of module.structs) typeNumbers.add(type);
  const slots = new Map<unknown, Slot>();
  const constants: Constant[] = [];
  const addValue = (value: Constant): void => {
    const key = constantKey(value);
    if (slots.has(key)) return;
    if (value.kind === 'constant') for (const part of partsOf(value)) addValue(part);
    typeNumbers.add(value.type);
    if (value.kind === 'constant') constants.push(value);
    slots.set(key, { owner: module, id: slots.size });
  };
  for (const global of module.globals) addValue(global);
  for (const fn of module.functions) addValue(fn);
  for (const global of module.globals) typeNumbers.add(global.valueType);
  for (const global of module.globals) if (global.init) addValue(global.init);
  const scan = scanModule(module);
  const metadata = numberMetadata(module, scan);
  for (const value of metadata.values) addValue(value);
  for (const type of scan.types) typeNumbers.add(type);
  const valueCount = slots.size;
  return {
    types: typeNumbers,
    slots,
    module,
    valueId(value) {
      const slot = slots.get(keyOf(value));
      return slot?.owner === module ? slot.id : fail(value);
    },
    constants,
    valueCount,
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
  const { slots } = module;
  let next = module.valueCount;
  for (const arg of fn.args) ids.set(arg, next++);
  const constants: Constant[] = [];
  // Equal constants share an id; each object of them is looked up by what they have in common once.
  const sharedId = (slot: Slot | undefined): number | undefined =>
    slot && (slot.owner === scan || slot.owner === module.module) ? slot.id : undefined;
  const known = (value: Value): number | undefined => {
    const id = ids.get(value) ?? noNumber;
    if (id !== noNumber) return id;
    if (value.kind === 'instruction' || value.kind === 'argument') return undefined;
    const shared = sharedId(slots.get(constantKey(value)));
    if (shared !== undefined) ids.set(value, shared);
    return shared;
  };
  const addConstant = (value: Value): void => {
    if (value.kind !== 'constant' || (ids.get(value) ?? noNumber) !== noNumber) return;
    const key = constantKey(value);
    const slot = slots.get(key);
    const shared = sharedId(slot);
    if (shared !== undefined) return void ids.set(value, shared);
    for (const part of partsOf(value)) addConstant(part);
    constants.push(value);
    if (slot) {
      slot.owner = scan;
      slot.id = next;
    } else slots.set(key, { owner: scan, id: next });
    ids.set(value, next++);
  };
  for (const value of [...ids.keys()]) addConstant(value);
  const firstInstruction = next;
  const { instructions } = scan;
  const blockIds = new Map(fn.blocks.map((block, id) => [block, id]));
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
