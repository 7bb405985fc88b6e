/**
 * Numbers for everything a module refers to: types, values, metadata, attribute lists. Globals come first, then functions,
 * then constants; a function adds its arguments, its constants and its instructions behind those.
 */
import type { Constant, Function as LlvmFunction, Module, Value } from '../model.ts';
import { partsOf, typeParts } from '../operands.ts';
import type { Type } from '../types.ts';
import { type AttributeNumbers, numberAttributes } from './number-attributes.ts';
import { type MetadataNumbers, numberMetadata } from './number-metadata.ts';
import { constantKey, fail, keyOf, type Numbering, numbering } from './numbering.ts';
import { scanModule } from './scan.ts';
import type { Numbers, Tape } from './tape.ts';
import type { FunctionScan } from './walk.ts';

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
  /** The records of all functions, and the numbers that are the same in all of them. */
  readonly tape: Tape;
  readonly tapeNumbers: Pick<Numbers, 'types' | 'attributes' | 'metadataId' | 'firstLocal'>;
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
  for (const type of scan.types.keys()) typeNumbers.add(type);
  const attributes = numberAttributes(module, scan);
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
    attributes,
    scanOf: (fn) => scan.functions.get(fn) ?? fail(fn),
    tape: scan.tape,
    tapeNumbers: {
      types: Int32Array.from(scan.types.keys(), typeNumbers.idOf),
      attributes: Int32Array.from(scan.attributes.keys(), attributes.idOf),
      metadataId: (index) => metadata.idOf(scan.metadata[index]!),
      firstLocal: metadata.count,
    },
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
  /** The id of the first argument, and that of the first instruction. */
  readonly firstArgument: number;
  readonly firstInstruction: number;
  /** Of the values that the scan found. */
  readonly ids: Int32Array;
  /** The id of a constant, global or function. */
  valueId(value: Value): number;
}

/** Numbers of arguments, constants and instructions of a function. */
export function numberFunction({ values }: FunctionScan, { slots, module, valueCount }: ModuleNumbers): FunctionNumbers {
  const ids = new Int32Array(values.size);
  const constants: Constant[] = [];
  let next = valueCount;
  // Equal constants share an id. A slot is this function's while its owner is `ids`.
  const known = (value: Constant): number | undefined => {
    const slot = slots.get(constantKey(value));
    return slot && (slot.owner === ids || slot.owner === module) ? slot.id : undefined;
  };
  const idOf = (value: Constant): number => {
    const before = known(value);
    if (before !== undefined) return before;
    if (value.kind !== 'constant') return fail(value);
    for (const part of partsOf(value)) idOf(part);
    constants.push(value);
    slots.set(constantKey(value), { owner: ids, id: next });
    return next++;
  };
  for (const [value, index] of values) {
    if (value.kind === 'argument') ids[index] = next++;
    else if (value.kind !== 'instruction') ids[index] = idOf(value);
  }
  return {
    constants,
    firstArgument: valueCount,
    firstInstruction: next,
    ids,
    valueId: (value) => (value.kind === 'instruction' || value.kind === 'argument' ? fail(value) : (known(value) ?? fail(value))),
  };
}
