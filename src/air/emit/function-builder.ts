/** Appends LLVM instructions to a block, with the few spellings that AIR emission needs. */
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

export const noAttributes: AttributeList = { function: [], result: [], params: [] };

export const undef = (type: Type): Constant => ({ kind: 'constant', form: 'undef', type });

/** The value of an integer constant, unsigned. */
export const constantValue = (value: Value): bigint | undefined =>
  value.kind === 'constant' && value.form === 'int' ? value.value : undefined;

type Fields<O extends Instruction['op']> = Omit<InstructionOf<O>, 'kind' | 'op' | 'type'>;

/** A cursor at the end of a block. */
export interface FunctionBuilder {
  block: Block;
  emit<O extends Instruction['op']>(op: O, type: Type, fields: Fields<O>): InstructionOf<O>;
  binary(opcode: BinaryOpcode, a: Value, b: Value): Value;
  cast(opcode: CastOpcode, value: Value, type: Type): Value;
  icmp(predicate: Predicate, a: Value, b: Value): Value;
  select(condition: Value, a: Value, b: Value): Value;
}

export function functionBuilder(block: Block): FunctionBuilder {
  const self: FunctionBuilder = {
    block,
    emit(op, type, fields) {
      const inst = { kind: 'instruction', number: 0, op, type, ...fields } as unknown as InstructionOf<typeof op>;
      self.block.body.push(inst as Instruction);
      return inst;
    },
    binary: (opcode, a, b) => self.emit('binary', a.type, { opcode, a, b, flags: 0 }),
    cast: (opcode, value, type) => (value.type === type ? value : self.emit('cast', type, { opcode, value })),
    icmp: (predicate, a, b) => self.emit('icmp', types.i1, { predicate, a, b, flags: 0 }),
    select: (condition, a, b) => self.emit('select', a.type, { condition, a, b, flags: 0 }),
  };
  return self;
}
