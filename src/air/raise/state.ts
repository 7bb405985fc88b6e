/** The state of raising one kernel: the builder, and the IR values of each LLVM value. */

import { fieldOffset, hasMemoryForm, sizeOf } from '../../bitcode/layout.ts';
import type { Argument, Constant, Instruction, InstructionOf, Function as LlvmFunction, Value as LlvmValue } from '../../bitcode/model.ts';
import { type Type as LlvmType, spell } from '../../bitcode/types.ts';
import type { Block, Builder, Kernel, Type, Value } from '../../ir/index.ts';
import { isMatrixType } from '../matrix-functions.ts';
import { type Lanes, Refused, scalarType, typesOf } from '../types.ts';
import { raiseBinary, raiseCast, resized, withSign } from './casts.ts';
import { wordOffset } from './word-offset.ts';

export interface RaiseState {
  readonly kernel: Kernel;
  readonly b: Builder;
  define(value: LlvmValue, lanes: Lanes): void;
  lanes(value: LlvmValue): Lanes;
  /** The single scalar or pointer of a value. */
  scalar(value: LlvmValue): Value;
  typesOf(type: LlvmType): Type[];
  readonly place: Place;
}

/** The function that is being raised. */
export interface Place {
  /** The call stack, from the kernel on. */
  readonly within: readonly LlvmFunction[];
  /** The block that a return jumps to with its result; a kernel's return ends the thread. */
  readonly returned: Block | undefined;
  /** The number of instructions that may still be raised for the kernel. */
  readonly budget: { left: number };
  /** Whether a function constant has a value, by the name of its variable; undefined for other variables. */
  readonly isDefined: (variable: string) => boolean | undefined;
  /** Inlines a function at a call. */
  readonly inline: (state: RaiseState, call: InstructionOf<'call'>, callee: LlvmFunction) => Lanes | undefined;
}

/** An empty state. */
export function raiseState(kernel: Kernel, b: Builder, place: Place): RaiseState {
  const known = new Map<LlvmValue, Lanes>();
  const state: RaiseState = {
    kernel,
    b,
    place,
    define: (value, lanes) => void known.set(value, lanes),
    lanes: (value) => known.get(value) ?? constantLanes(state, value),
    scalar: (value) => {
      const lanes = state.lanes(value);
      if (lanes.length !== 1) throw new Refused(`a vector where a scalar was expected (${spell(value.type)})`);
      return lanes[0]!;
    },
    typesOf,
  };
  return state;
}

/** Undefined and poison values are 0, because the IR has no undefined values. */
function constantLanes(state: RaiseState, value: LlvmValue): Lanes {
  if (value.kind === 'global') return globalAddress(state, value);
  if (value.kind !== 'constant') throw new Refused(`a use of ${describe(value)} before its definition`);
  switch (value.form) {
    case 'int':
      return [state.b.const(scalarType(value.type), value.value)];
    case 'float':
      return [state.b.const(scalarType(value.type), value.bits)];
    case 'aggregate': {
      const own = isMatrixType(value.type) ? value.elements.slice(0, 2) : value.elements;
      return own.flatMap((element) => state.lanes(element));
    }
    case 'null':
    case 'undef':
    case 'poison':
      return typesOf(value.type).map((type) =>
        type.startsWith('ptr.') ? state.b.inttoptr(type, state.b.const('i64', 0n)) : state.b.const(type, 0n),
      );
    case 'asm':
      throw new Refused('inline assembly');
    case 'gep':
      return [addressOf(state, value.sourceType, state.scalar(value.base), value.indices)];
    case 'cast':
      return raiseCast(state.b, value.opcode, state.lanes(value.value), [value.value.type, value.type]);
    case 'binary':
      return raiseBinary(state.b, value.opcode, [state.lanes(value.a), state.lanes(value.b)], value.type);
  }
}

function globalAddress(state: RaiseState, global: Extract<Constant, { kind: 'global' }>): Lanes {
  if (!state.kernel.variables.some((v) => v.name === global.name)) throw new Refused(`the variable \`${global.name}\``);
  return [state.b.variable(scalarType(global.type), { name: global.name })];
}

function describe(value: Argument | Instruction | Constant): string {
  if (value.kind !== 'instruction') return value.kind;
  return value.op === 'call' && value.callee.kind === 'function' ? `what \`${value.callee.name}\` gives` : `\`${value.op}\``;
}

/** A GEP as a single byte offset from the base. */
export function addressOf(state: RaiseState, sourceType: LlvmType, base: Value, indices: readonly LlvmValue[]): Value {
  const { b } = state;
  let type = sourceType;
  let constant = 0n;
  let sum: Value | undefined;
  indices.forEach((index, depth) => {
    const known = constantIndex(index);
    if (depth > 0 && type.kind === 'struct') {
      if (known === undefined) throw new Refused('a struct index that is not constant');
      constant += BigInt(structOffset(type, Number(known)));
      type = type.fields?.[Number(known)] ?? refuseType(type);
      return;
    }
    if (depth > 0) type = type.kind === 'array' || type.kind === 'vector' ? type.element : refuseType(type);
    const size = BigInt(hasMemoryForm(type) && Number.isSafeInteger(sizeOf(type)) ? sizeOf(type) : refuseSize(type));
    if (known !== undefined) constant += known * size;
    else {
      const scaled = scaledIndex(state, index, size, base);
      sum = sum === undefined ? scaled : b.add(sum, scaled);
    }
  });
  const offset = sum === undefined ? b.const('i64', constant) : constant === 0n ? sum : b.add(sum, b.const('i64', constant));
  return sum === undefined && constant === 0n ? base : b.ptradd(base, offset);
}

/** The value of a constant index, signed. */
const constantIndex = (index: LlvmValue): bigint | undefined =>
  index.kind === 'constant' && index.form === 'int' ? BigInt.asIntN(bitsOfIndex(index.type), index.value) : undefined;
const bitsOfIndex = (type: LlvmType): number => (type.kind === 'int' ? type.bits : 64);
const scale = (b: Builder, value: Value, size: bigint): Value => (size === 1n ? value : b.mul(value, b.const('i64', size)));

/** The offset in bytes of an index. */
const scaledIndex = (state: RaiseState, index: LlvmValue, size: bigint, base: Value): Value =>
  exactOffset(state, index, size, base) ?? scale(state.b, asI64(state, index), size);

/** The offset in bytes of an index that is a word, or an exact quotient of its offset. */
function exactOffset(state: RaiseState, index: LlvmValue, size: bigint, base: Value): Value | undefined {
  const word = size === 1n || (size & (size - 1n)) !== 0n ? undefined : wordOf(index);
  const offset = word && wordOffset(state.b, state.scalar(word), size, state.b.typeOf(base) !== 'ptr.global');
  if (offset !== undefined) return offset;
  if (index.kind !== 'instruction' || index.op !== 'binary' || index.opcode !== 'lshr' || (index.flags & 1) === 0) return undefined;
  const { a, b: count } = index;
  const bits = count.kind === 'constant' && count.form === 'int' ? count.value : 64n;
  const unit = bits < 64n && bitsOfIndex(index.type) === 64 ? 1n << bits : 0n;
  return unit > 0n && size % unit === 0n ? scale(state.b, state.scalar(a), size / unit) : undefined;
}

/** The word of 32 bits that an index is. */
const wordOf = (index: LlvmValue): LlvmValue | undefined =>
  index.kind === 'instruction' && index.op === 'cast' && index.opcode === 'zext' && bitsOfIndex(index.value.type) === 32
    ? index.value
    : undefined;

/** GEP indices are sign-extended to the width of a pointer. */
function asI64(state: RaiseState, index: LlvmValue): Value {
  const value = state.scalar(index);
  return resized(state.b, withSign(state.b, index.type, value), 'i64', 'sext');
}

function structOffset(type: Extract<LlvmType, { kind: 'struct' }>, index: number): number {
  if (!hasMemoryForm(type) || index >= (type.fields?.length ?? 0)) refuseType(type);
  return fieldOffset(type, index);
}

function refuseType(type: LlvmType): never {
  throw new Refused(`an address inside ${spell(type)}`);
}

function refuseSize(type: LlvmType): never {
  throw new Refused(`an address of ${spell(type)}`);
}
