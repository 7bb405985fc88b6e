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

/** A builder; with `dominates` it gives an instruction of a dominating block in the place of an equal one. */
export function functionBuilder(block: Block, dominates?: Dominates): FunctionBuilder {
  const earlier = dominates && { dominates, known: new Map<string, Made[]>() };
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
    select: (condition, a, b) => (a === b ? a : self.emit('select', a.type, { condition, a, b, flags: 0 })),
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
  readonly known: Map<string, Made[]>;
}

/** The equal instruction of a dominating block; notes this one if there is none. */
function reused(inst: Instruction, home: number, { dominates, known }: Earlier): Instruction | undefined {
  const key = keyOf(inst);
  if (key === undefined) return undefined;
  const all = known.get(key);
  const found = all?.find((each) => dominates(each.home, home));
  if (found) return found.inst;
  if (all) all.push({ inst, home });
  else known.set(key, [{ inst, home }]);
  return undefined;
}

/** Equal keys, equal results; nothing for an instruction that is more than its result. */
function keyOf(inst: Instruction): string | undefined {
  const type = typeKey(inst.type);
  switch (inst.op) {
    case 'binary':
      return `${inst.opcode} ${inst.flags} ${type} ${keysOfOperands(inst)}`;
    case 'cast':
      return `${inst.opcode} ${type} ${keyOfValue(inst.value)}`;
    case 'icmp':
    case 'fcmp':
      return `${inst.op} ${inst.predicate} ${inst.flags} ${keyOfValue(inst.a)} ${keyOfValue(inst.b)}`;
    case 'select':
      return `select ${inst.flags} ${keyOfValue(inst.condition)} ${keyOfValue(inst.a)} ${keyOfValue(inst.b)}`;
    case 'gep':
      return `gep ${typeKey(inst.sourceType)} ${inst.inbounds} ${type} ${keyOfValue(inst.base)} ${inst.indices.map(keyOfValue).join(' ')}`;
    case 'extractelement':
      return `element ${keyOfValue(inst.vector)} ${keyOfValue(inst.index)}`;
    default:
      return undefined;
  }
}

const commutative: ReadonlySet<BinaryOpcode> = new Set(['add', 'mul', 'and', 'or', 'xor'] as const);

function keysOfOperands({ opcode, a, b }: InstructionOf<'binary'>): string {
  const [x, y] = [keyOfValue(a), keyOfValue(b)];
  return commutative.has(opcode) && x > y ? `${y} ${x}` : `${x} ${y}`;
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

const constantNumbers = new WeakMap<object, number>();
let constantCount = 0;

function keyOfValue(value: Value): string {
  if (value.kind === 'instruction') return `%${value.number}`;
  if (value.kind === 'argument') return `$${value.index}`;
  if (value.kind === 'constant' && value.form === 'int') return `${value.value}:${value.type.bits}`;
  // Not as an integer's, since the number of a type may be a width.
  if (value.kind === 'constant' && value.form === 'float') return `${value.bits}f${typeKey(value.type)}`;
  if (value.kind === 'constant' && value.form === 'cast') return `(${value.opcode} ${typeKey(value.type)} ${keyOfValue(value.value)})`;
  if (value.kind === 'constant' && value.form === 'gep')
    return `(gep ${value.inbounds} ${typeKey(value.type)} ${keyOfValue(value.base)} ${value.indices.map(keyOfValue).join(' ')})`;
  let number = constantNumbers.get(value);
  if (number === undefined) {
    number = ++constantCount;
    constantNumbers.set(value, number);
  }
  return `@${number}`;
}
