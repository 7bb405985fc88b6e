/** Raises LLVM instructions: elementwise, with a definite result where LLVM allows several. */
import type { Instruction, InstructionOf, Value as LlvmValue, Predicate } from '../../bitcode/model.ts';
import { type Type as LlvmType, scalarOf, spell } from '../../bitcode/types.ts';
import { type FcmpPredicate, type IcmpPredicate, isPointer, type Value } from '../../ir/index.ts';
import { flushedBy } from '../flush-to-zero.ts';
import { isMatrixType } from '../matrix-functions.ts';
import { isReciprocal } from '../reciprocal.ts';
import { type Lanes, Refused, typesOf } from '../types.ts';
import { raiseCall } from './calls.ts';
import { raiseBinary, raiseCast, withSign } from './casts.ts';
import { laneInMatrices } from './matrices.ts';
import { raiseAlloca, raiseLoad, raiseStore } from './memory.ts';
import { addressOf, type RaiseState } from './state.ts';

/** The IR values that an instruction defines; undefined if it has no result. */
export function raiseInstruction(state: RaiseState, inst: Instruction): Lanes | undefined {
  switch (inst.op) {
    case 'binary':
      if (isReciprocal(inst)) return state.lanes(inst.b).map((v) => state.b.frcp(v));
      return raiseBinary(state.b, inst.opcode, [state.lanes(inst.a), state.lanes(inst.b)], inst.type);
    case 'fneg':
      return state.lanes(inst.value).map((v) => state.b.fneg(v));
    case 'cast':
      return raiseCast(state.b, inst.opcode, state.lanes(inst.value), [inst.value.type, inst.type]);
    case 'icmp':
      return raiseIcmp(state, inst);
    case 'fcmp':
      return raiseFcmp(state, inst);
    case 'select':
      return raiseSelect(state, inst);
    case 'call':
      return raiseCall(state, inst);
    case 'alloca':
      return [raiseAlloca(state, inst)];
    case 'load':
      return raiseLoad(state, inst);
    case 'store':
      raiseStore(state, inst);
      return undefined;
    case 'gep':
      return [addressOf(state, inst.sourceType, state.scalar(inst.base), inst.indices)];
    case 'extractelement':
      return [extractElement(state, inst)];
    case 'insertelement':
      return insertElement(state, inst);
    case 'extractvalue':
      return state.lanes(inst.aggregate).slice(...lanesAt(inst.aggregate.type, inst.path));
    case 'insertvalue': {
      const lanes = [...state.lanes(inst.aggregate)];
      const [start, end] = lanesAt(inst.aggregate.type, inst.path);
      lanes.splice(start, end - start, ...state.lanes(inst.value));
      return lanes;
    }
    case 'shufflevector':
      return raiseShuffle(state, inst);
    case 'freeze':
      return state.lanes(inst.value);
    default:
      throw new Refused(`the instruction \`${inst.op}\``);
  }
}

/** The vector index of an operand, if it is constant. */
function constantLane(index: LlvmValue): number | undefined {
  return index.kind === 'constant' && index.form === 'int' ? Number(index.value) : undefined;
}

/** For each lane, whether a run-time index selects it. No lane is selected by an index out of range, which is poison in LLVM. */
function isSelected({ b, scalar }: RaiseState, index: LlvmValue, count: number): Value[] {
  const at = scalar(index);
  return Array.from({ length: count }, (_, lane) => b.icmp(at, b.const(b.typeOf(at), lane), { pred: 'eq' }));
}

function extractElement(state: RaiseState, inst: InstructionOf<'extractelement'>): Value {
  const lanes = state.lanes(inst.vector);
  const lane = constantLane(inst.index);
  if (lane !== undefined) return lanes[lane] ?? outOfRange();
  const isAt = isSelected(state, inst.index, lanes.length);
  return lanes.slice(1).reduce((other, value, i) => state.b.select(isAt[i + 1]!, value, other), lanes[0]!);
}

function insertElement(state: RaiseState, inst: InstructionOf<'insertelement'>): Lanes {
  const lanes = [...state.lanes(inst.vector)];
  const value = state.scalar(inst.value);
  const lane = constantLane(inst.index);
  if (lane === undefined) {
    const isAt = isSelected(state, inst.index, lanes.length);
    return lanes.map((old, i) => state.b.select(isAt[i]!, value, old));
  }
  if (lane >= lanes.length) outOfRange();
  lanes[lane] = value;
  return lanes;
}

/** The range of scalars of a struct or array at an index path. */
function lanesAt(type: LlvmType, path: readonly number[]): [start: number, end: number] {
  let [start, of] = [0, type];
  for (const step of path) {
    const parts: readonly LlvmType[] =
      of.kind === 'struct' ? (of.fields ?? []) : of.kind === 'array' ? Array(of.count).fill(of.element) : [];
    const part = parts[step];
    if (!part) throw new Refused(`a part of ${spell(of)} that does not exist`);
    start += parts.slice(0, step).flatMap(typesOf).length;
    of = part;
  }
  return [start, start + typesOf(of).length];
}

function outOfRange(): never {
  throw new Refused('a vector element out of range');
}

function raiseIcmp(state: RaiseState, inst: InstructionOf<'icmp'>): Lanes {
  const { b } = state;
  const of = scalarOf(inst.a.type);
  const [xs, ys] = [state.lanes(inst.a), state.lanes(inst.b)].map((side) =>
    side.map((v) => (isPointer(b.typeOf(v)) ? b.ptrtoint('i64', v) : inst.predicate.startsWith('s') ? withSign(b, of, v) : v)),
  );
  return xs!.map((x, i) => b.icmp(x, ys![i]!, { pred: inst.predicate as IcmpPredicate }));
}

const fcmpNames: Partial<Record<Predicate, FcmpPredicate>> = { fugt: 'ugt', fuge: 'uge', fult: 'ult', fule: 'ule' };

function raiseFcmp(state: RaiseState, inst: InstructionOf<'fcmp'>): Lanes {
  const { b } = state;
  const [xs, ys] = [state.lanes(inst.a), state.lanes(inst.b)];
  if (inst.predicate === 'true' || inst.predicate === 'false') return xs.map(() => b.const('i1', inst.predicate === 'true' ? 1n : 0n));
  const pred = fcmpNames[inst.predicate] ?? (inst.predicate as FcmpPredicate);
  return xs.map((x, i) => b.fcmp(x, ys[i]!, { pred }));
}

function raiseSelect(state: RaiseState, inst: InstructionOf<'select'>): Lanes {
  const flushed = flushedBy(inst);
  if (flushed) return [state.b.ftz(state.scalar(flushed))];
  const conditions = state.lanes(inst.condition);
  const [xs, ys] = [state.lanes(inst.a), state.lanes(inst.b)];
  return xs.map((x, i) => state.b.select(conditions.length === 1 ? conditions[0]! : conditions[i]!, x, ys[i]!));
}

function raiseShuffle(state: RaiseState, inst: InstructionOf<'shufflevector'>): Lanes {
  const all = [...state.lanes(inst.a), ...state.lanes(inst.b)];
  if (inst.mask.kind !== 'constant') throw new Refused('a shuffle mask that is not constant');
  const isElement = inst.mask.form === 'aggregate' ? inst.mask.elements : undefined;
  return state.typesOf(inst.type).map((_, i) => {
    const element = isElement?.[i];
    const index = element?.kind === 'constant' && element.form === 'int' ? Number(element.value) : 0;
    return all[isMatrixType(inst.a.type) ? laneInMatrices(index) : index] ?? outOfRange();
  });
}
