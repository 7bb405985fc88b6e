/** Appends LLVM instructions to a block, with the few spellings that AIR emission needs. What is known or was computed before is not appended. */
import type {
  AttributeList,
  BinaryOpcode,
  Block,
  CastOpcode,
  Constant,
  Instruction,
  InstructionOf,
  Predicate,
  Value,
} from '../../bitcode/model.ts';
import { type Type, types } from '../../bitcode/types.ts';
import { foldedBinary, foldedCast } from './fold.ts';

export const noAttributes: AttributeList = { function: [], result: [], params: [] };

export const undef = (type: Type): Constant => ({ kind: 'constant', form: 'undef', type });

/** The value of an integer constant, unsigned. */
export const constantValue = (value: Value): bigint | undefined =>
  value.kind === 'constant' && value.form === 'int' ? value.value : undefined;

type Fields<O extends Instruction['op']> = Omit<InstructionOf<O>, 'kind' | 'op' | 'type'>;

/** A cursor at the end of a block. */
export interface FunctionBuilder {
  block: Block;
  /** The block of the IR that is emitted, for which values of its dominators are available. */
  home: number;
  emit<O extends Instruction['op']>(op: O, type: Type, fields: Fields<O>): InstructionOf<O>;
  binary(opcode: BinaryOpcode, a: Value, b: Value): Value;
  cast(opcode: CastOpcode, value: Value, type: Type): Value;
  icmp(predicate: Predicate, a: Value, b: Value): Value;
  select(condition: Value, a: Value, b: Value): Value;
}

/** Whether what block a computed is available in block b. */
export type Dominates = (a: number, b: number) => boolean;

/** A choice by a condition. */
const chosenBy = (condition: Value, value: Value): InstructionOf<'select'> | undefined =>
  value.kind === 'instruction' && value.op === 'select' && value.condition === condition ? value : undefined;

/** A builder; with `dominates` it gives an instruction of a dominating block in the place of an equal one. */
export function functionBuilder(block: Block, dominates?: Dominates): FunctionBuilder {
  const earlier = dominates && { dominates, keys: new Keys(), known: new Map<number, Made[]>() };
  // Instructions are numbered as they are made, which keys use; a writer numbers them again.
  let count = 0;
  const self: FunctionBuilder = {
    block,
    home: 0,
    emit(op, type, fields) {
      const inst = { kind: 'instruction', number: 0, op, type, ...fields } as unknown as InstructionOf<typeof op>;
      const found = earlier && reused(inst as Instruction, self.home, earlier);
      if (found) return found as InstructionOf<typeof op>;
      (inst as Instruction).number = ++count;
      self.block.body.push(inst as Instruction);
      return inst;
    },
    binary: (opcode, a, b) => foldedBinary(opcode, a, b) ?? self.emit('binary', a.type, { opcode, a, b, flags: 0 }),
    cast: (opcode, value, type) => {
      if (value.type === type) return value;
      const inner = opcode === 'bitcast' && value.kind === 'instruction' && value.op === 'cast' && value.opcode === 'bitcast';
      if (inner && value.kind === 'instruction' && value.op === 'cast') return self.cast('bitcast', value.value, type);
      // As Metal's compiler does, so that the address of a variable is no instruction.
      if (opcode === 'bitcast' && value.kind === 'global') return { kind: 'constant', form: 'cast', type, opcode, value };
      return foldedCast(opcode, value, type) ?? self.emit('cast', type, { opcode, value });
    },
    icmp: (predicate, a, b) => self.emit('icmp', types.i1, { predicate, a, b, flags: 0 }),
    select: (condition, a, b) => {
      // Of a choice by the same condition, one side is never taken.
      const [x, y] = [chosenBy(condition, a)?.a ?? a, chosenBy(condition, b)?.b ?? b];
      return x === y ? x : self.emit('select', x.type, { condition, a: x, b: y, flags: 0 });
    },
  };
  return self;
}

/** An instruction and the block of the IR that it is of. */
interface Made {
  readonly inst: Instruction;
  readonly home: number;
}

interface Earlier {
  readonly dominates: Dominates;
  readonly keys: Keys;
  /** By key. */
  readonly known: Map<number, Made[]>;
}

/** The equal instruction of a dominating block; notes this one if there is none. */
function reused(inst: Instruction, home: number, { dominates, keys, known }: Earlier): Instruction | undefined {
  const key = keyOf(inst, keys);
  if (key === undefined) return undefined;
  const all = known.get(key);
  if (!all) {
    known.set(key, [{ inst, home }]);
    return undefined;
  }
  for (const made of all) if (dominates(made.home, home)) return made.inst;
  all.push({ inst, home });
  return undefined;
}

const commutative: ReadonlySet<BinaryOpcode> = new Set(['add', 'mul', 'and', 'or', 'xor'] as const);

/** Equal keys, equal results; nothing for an instruction that is more than its result. */
function keyOf(inst: Instruction, keys: Keys): number | undefined {
  switch (inst.op) {
    case 'binary': {
      const [x, y] = [keys.ofValue(inst.a), keys.ofValue(inst.b)];
      const isTurned = x > y && commutative.has(inst.opcode);
      const form = keys.form('binary', inst.opcode, inst.flags, inst.type);
      return isTurned ? keys.with(keys.with(form, y), x) : keys.with(keys.with(form, x), y);
    }
    case 'cast':
      return keys.with(keys.form('cast', inst.opcode, 0, inst.type), keys.ofValue(inst.value));
    case 'icmp':
    case 'fcmp':
      return keys.with(keys.with(keys.form(inst.op, inst.predicate, inst.flags, inst.type), keys.ofValue(inst.a)), keys.ofValue(inst.b));
    case 'select': {
      const chosen = keys.with(keys.form('select', '', inst.flags, inst.type), keys.ofValue(inst.condition));
      return keys.with(keys.with(chosen, keys.ofValue(inst.a)), keys.ofValue(inst.b));
    }
    case 'gep': {
      const form = keys.with(keys.form('gep', '', inst.inbounds ? 1 : 0, inst.type), typeKey(inst.sourceType));
      return keys.ofValues(keys.with(form, keys.ofValue(inst.base)), inst.indices);
    }
    case 'extractelement':
      return keys.with(keys.with(keys.form('extractelement', '', 0, inst.type), keys.ofValue(inst.vector)), keys.ofValue(inst.index));
    default:
      return undefined;
  }
}

const typeNumbers = new WeakMap<Type, number>();
let typeCount = 0;

/** Types are interned, so that each has a number. */
function typeKey(type: Type): number {
  let number = typeNumbers.get(type);
  if (number === undefined) {
    number = ++typeCount;
    typeNumbers.set(type, number);
  }
  return number;
}

/** Keys are below this number, so that two of them are one exact number. */
const manyKeys = 2 ** 26;

/** Numbers of forms, of values, and of either with values behind it: equal ones have one number, so that no instruction is made a text. */
class Keys {
  #count = 0;
  readonly #forms = new Map<string, Map<string, Map<number, number>>>();
  readonly #steps = new Map<number, number>();
  /** By number of an instruction, and by index of an argument. */
  readonly #instructions: number[] = [];
  readonly #args: number[] = [];
  /** By type: those of the integers. */
  readonly #integers = new Map<number, Map<bigint, number>>();
  readonly #others = new Map<object, number>();

  /** The number of an op with what it is and its type. */
  form(op: string, what: string | Predicate, flags: number, type: Type): number {
    const byWhat = inner(this.#forms, op, newMap<string, Map<number, number>>);
    const numbers = inner(byWhat, what as string, newMap<number, number>);
    return this.#numberIn(numbers, typeKey(type) * 256 + flags);
  }

  /** The number of a key with another one behind it. */
  with(key: number, next: number): number {
    return this.#numberIn(this.#steps, key * manyKeys + next);
  }

  ofValues(key: number, values: readonly Value[]): number {
    let all = key;
    for (const value of values) all = this.with(all, this.ofValue(value));
    return all;
  }

  ofValue(value: Value): number {
    if (value.kind === 'instruction') return this.#numberAt(this.#instructions, value.number!);
    if (value.kind === 'argument') return this.#numberAt(this.#args, value.index);
    if (value.kind !== 'constant') return this.#numberIn(this.#others, value);
    switch (value.form) {
      case 'int':
        return this.#numberIn(inner(this.#integers, typeKey(value.type), newMap<bigint, number>), value.value);
      case 'float':
        return this.#numberIn(inner(this.#integers, typeKey(value.type), newMap<bigint, number>), value.bits);
      case 'cast':
        return this.with(this.form('constant cast', value.opcode, 0, value.type), this.ofValue(value.value));
      case 'gep': {
        const form = this.form('constant gep', '', value.inbounds ? 1 : 0, value.type);
        return this.ofValues(this.with(form, this.ofValue(value.base)), value.indices);
      }
      default:
        return this.#numberIn(this.#others, value);
    }
  }

  #numberAt(numbers: number[], index: number): number {
    numbers[index] ??= ++this.#count;
    return numbers[index];
  }

  #numberIn<K>(numbers: Map<K, number>, key: K): number {
    let number = numbers.get(key);
    if (number === undefined) {
      number = ++this.#count;
      numbers.set(key, number);
    }
    return number;
  }
}

const newMap = <K, V>(): Map<K, V> => new Map();

function inner<K, V>(maps: Map<K, V>, key: K, make: () => V): V {
  let found = maps.get(key);
  if (found === undefined) {
    found = make();
    maps.set(key, found);
  }
  return found;
}
