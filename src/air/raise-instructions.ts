/** What each LLVM instruction is in the IR: element by element, exact where LLVM leaves freedom. */
import type { Instruction, InstructionOf, Predicate } from '../bitcode/model.ts';
import { type Type as LlvmType, spell } from '../bitcode/types.ts';
import {
  bytesOf,
  type FcmpPredicate,
  type IcmpPredicate,
  isPointer,
  type ScalarType,
  type Type,
  type Value,
  vectorOf,
} from '../ir/index.ts';
import { fenceOperands, intrinsicOf, isHint } from './intrinsics.ts';
import { alignOf, hasMemoryForm, sizeOf } from './layout.ts';
import { raiseAtomic } from './raise-atomics.ts';
import { applyOp, raiseElements } from './raise-elements.ts';
import { largestVariable } from './raise-params.ts';
import { addressOf, type Lanes, type RaiseState, Refused, scalarType } from './raise-state.ts';
import { raiseWarp } from './raise-warp.ts';

/** The IR values an instruction defines; nothing for those without result. */
export function raiseInstruction(state: RaiseState, inst: Instruction): Lanes | undefined {
  switch (inst.op) {
    case 'binary':
      return raiseBinary(state, inst);
    case 'fneg':
      return state.lanes(inst.value).map((v) => state.b.fneg(v));
    case 'cast':
      return raiseCast(state, inst);
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
      return [state.lanes(inst.vector)[laneIndex(inst.index)] ?? outOfRange()];
    case 'insertelement': {
      const lanes = [...state.lanes(inst.vector)];
      const lane = laneIndex(inst.index);
      if (lane >= lanes.length) outOfRange();
      lanes[lane] = state.scalar(inst.value);
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

function laneIndex(index: Instruction | { kind: string }): number {
  const of = index as { form?: string; value?: bigint };
  if (of.form !== 'int') throw new Refused('a vector element chosen at run time');
  return Number(of.value);
}

function outOfRange(): never {
  throw new Refused('a vector element out of range');
}

function raiseBinary({ b, lanes }: RaiseState, inst: InstructionOf<'binary'>): Lanes {
  if (inst.opcode === 'frem') throw new Refused('the instruction `frem`');
  const op = b[inst.opcode] as (x: Value, y: Value) => Value;
  const [xs, ys] = [lanes(inst.a), lanes(inst.b)];
  return xs.map((x, i) => op(x, ys[i]!));
}

function raiseCast(state: RaiseState, inst: InstructionOf<'cast'>): Lanes {
  const { b } = state;
  const to = inst.type;
  const from = state.lanes(inst.value);
  if (inst.opcode === 'addrspacecast') throw new Refused('a cast between address spaces');
  if (inst.opcode === 'bitcast') return raiseBitcast(state, from, to);
  return from.map((x) => {
    const type = scalarType(to.kind === 'vector' ? to.element : to);
    if (inst.opcode === 'ptrtoint') return resize(state, b.ptrtoint('i64', x), type, 'zext');
    if (inst.opcode === 'inttoptr') return b.inttoptr(type, resize(state, x, 'i64', 'zext'));
    return (b[inst.opcode as 'trunc'] as (type: Type, x: Value) => Value)(type, x);
  });
}

function resize({ b }: RaiseState, value: Value, type: Type, extend: 'zext' | 'sext'): Value {
  const from = b.typeOf(value);
  if (from === type) return value;
  return bytesOf(from) > bytesOf(type) ? b.trunc(type, value) : b[extend](type, value);
}

function raiseBitcast(state: RaiseState, from: Lanes, to: LlvmType): Lanes {
  if (to.kind === 'pointer') return from;
  const types = state.typesOf(to);
  if (types.length !== from.length && (types[0] === 'i1' || state.b.typeOf(from[0]!) === 'i1'))
    throw new Refused('a bitcast of bits to a mask');
  const bits = (type: Type): number => bytesOf(type) * 8;
  const source = state.b.typeOf(from[0]!);
  if (types.length === from.length) return from.map((x, i) => state.b.bitcast(types[i]!, x));
  if (from.length * bits(source) !== types.length * bits(types[0]!)) throw new Refused(`a bitcast to ${spell(to)}, which has other bits`);
  return bits(source) > bits(types[0]!) ? split(state, from, types) : join(state, from, types);
}

/** One wide element as several narrow ones, lowest first. */
function split({ b }: RaiseState, from: Lanes, types: readonly Type[]): Lanes {
  const each = types.length / from.length;
  return types.map((type, i) => {
    const wide = b.typeOf(from[0]!);
    const int = `i${bytesOf(wide) * 8}` as Type;
    const word = b.bitcast(int, from[Math.floor(i / each)]!);
    const part = b.trunc(`i${bytesOf(type) * 8}` as Type, b.lshr(word, b.const(int, (i % each) * bytesOf(type) * 8)));
    return b.bitcast(type, part);
  });
}

/** Several narrow elements as one wide one, lowest first. */
function join({ b }: RaiseState, from: Lanes, types: readonly Type[]): Lanes {
  const each = from.length / types.length;
  return types.map((type, i) => {
    const int = `i${bytesOf(type) * 8}` as Type;
    let word: Value | undefined;
    for (let n = 0; n < each; n++) {
      const part = from[i * each + n]!;
      const width = bytesOf(b.typeOf(part)) * 8;
      const wide = b.zext(int, b.bitcast(`i${width}` as Type, part));
      const placed = n === 0 ? wide : b.shl(wide, b.const(int, n * width));
      word = word === undefined ? placed : b.or(word, placed);
    }
    return b.bitcast(type, word!);
  });
}

function raiseIcmp(state: RaiseState, inst: InstructionOf<'icmp'>): Lanes {
  const { b } = state;
  const [xs, ys] = [state.lanes(inst.a), state.lanes(inst.b)].map((side) =>
    side.map((v) => (isPointer(b.typeOf(v)) ? b.ptrtoint('i64', v) : v)),
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
  const conditions = state.lanes(inst.condition);
  const [xs, ys] = [state.lanes(inst.a), state.lanes(inst.b)];
  return xs.map((x, i) => state.b.select(conditions.length === 1 ? conditions[0]! : conditions[i]!, x, ys[i]!));
}

function raiseShuffle(state: RaiseState, inst: InstructionOf<'shufflevector'>): Lanes {
  const all = [...state.lanes(inst.a), ...state.lanes(inst.b)];
  if (inst.mask.kind !== 'constant') throw new Refused('a shuffle mask that is no constant');
  const count = inst.mask.type.kind === 'vector' ? inst.mask.type.count : 0;
  const elements = inst.mask.form === 'aggregate' ? inst.mask.elements : undefined;
  return Array.from({ length: count }, (_, i) => {
    const element = elements?.[i];
    const index = element?.kind === 'constant' && element.form === 'int' ? Number(element.value) : 0;
    return all[index] ?? outOfRange();
  });
}

function raiseAlloca(state: RaiseState, inst: InstructionOf<'alloca'>): Value {
  const count = inst.count.kind === 'constant' && inst.count.form === 'int' ? Number(inst.count.value) : undefined;
  if (count === undefined || !hasMemoryForm(inst.allocated)) throw new Refused('stack memory of a size known only at run time');
  const name = `local.${state.kernel.variables.length}`;
  const align = Math.max(inst.align, alignOf(inst.allocated));
  const size = count * sizeOf(inst.allocated);
  if (size > largestVariable) throw new Refused(`stack memory of ${size} bytes`);
  state.kernel.variables.push({
    name,
    space: 'local',
    size,
    align,
    isDynamic: false,
    init: undefined,
    element: undefined,
  });
  return state.b.variable('ptr.local', { name });
}

/** Vectors of two and four move as one access, others element by element. */
function raiseLoad(state: RaiseState, inst: InstructionOf<'load'>): Lanes {
  const { b } = state;
  const addr = state.scalar(inst.pointer);
  const types = state.typesOf(inst.type);
  const of = memoryType(types[0]!);
  const align = inst.align || alignOf(inst.type);
  const attrs = { align, volatile: inst.isVolatile };
  if (inst.type.kind === 'vector' && (types.length === 2 || types.length === 4) && !isPointer(types[0]!)) {
    const whole = b.load(vectorOf(of as ScalarType, types.length), addr, attrs);
    return types.map((_, lane) => b.extract(of, whole, { lane }));
  }
  return types.map((type, i) => {
    const value = b.load(of, at(state, addr, i * bytesOf(of)), { ...attrs, align: Math.min(align, bytesOf(of)) });
    return isPointer(type) ? b.inttoptr(type, value) : value;
  });
}

function raiseStore(state: RaiseState, inst: InstructionOf<'store'>): void {
  const { b } = state;
  const addr = state.scalar(inst.pointer);
  const lanes = state.lanes(inst.value).map((v) => (isPointer(b.typeOf(v)) ? b.ptrtoint('i64', v) : v));
  const of = memoryType(b.typeOf(lanes[0]!));
  const align = inst.align || alignOf(inst.value.type);
  if (lanes.length === 2 || lanes.length === 4) {
    const [x, y, z, w] = lanes as [Value, Value, Value, Value];
    const type = vectorOf(of as ScalarType, lanes.length);
    const whole = lanes.length === 2 ? b.vec2(type, x, y) : b.vec4(type, x, y, z, w);
    return void b.store(addr, whole, { align, volatile: inst.isVolatile });
  }
  lanes.forEach(
    (v, i) => void b.store(at(state, addr, i * bytesOf(of)), v, { align: Math.min(align, bytesOf(of)), volatile: inst.isVolatile }),
  );
}

function memoryType(type: Type): Type {
  if (type === 'i1') throw new Refused('an i1 in memory');
  return isPointer(type) ? 'i64' : type;
}

const at = ({ b }: RaiseState, addr: Value, offset: number): Value => (offset === 0 ? addr : b.ptradd(addr, b.const('i64', offset)));

function raiseCall(state: RaiseState, inst: InstructionOf<'call'>): Lanes | undefined {
  if (inst.callee.kind !== 'function') throw new Refused('an indirect call');
  if (inst.callee.blocks.length > 0) return state.place.inline(state, inst, inst.callee);
  const { name } = inst.callee;
  if (isHint(name)) return undefined;
  const row = intrinsicOf(name);
  if (!row) return raiseElements(state, inst) ?? refuseFunction(name);
  if (inst.functionType !== row.type) throw new Refused(`the function \`${name}\` of type ${spell(inst.functionType)}`);
  if (row.atomic) return raiseAtomic(state, row, inst);
  if (row.warp) return raiseWarp(state, row, inst);
  if (row.clock) return [state.b.clock('i64', { name: row.clock })];
  if (row.op === 'fence') {
    raiseFence(state, inst);
    return undefined;
  }
  if (row.op === 'members') {
    state.b.members(state.scalar(valueArguments(inst)[0]!));
    return undefined;
  }
  if (row.op === 'barrier') {
    state.b.barrier();
    return undefined;
  }
  return [applyOp(state.b, row, valueArguments(inst).map(state.scalar))];
}

function refuseFunction(name: string): never {
  throw new Refused(`the function \`${name}\``);
}

const valueArguments = ({ args }: InstructionOf<'call'>) =>
  args.flatMap((arg) => (arg.kind === 'metadata' || arg.type.kind === 'metadata' ? [] : [arg]));

/** A fence of less than the device is taken for one of the block. */
function raiseFence({ b }: RaiseState, { args }: InstructionOf<'call'>): void {
  const scope = args[2];
  const isDevice = scope?.kind === 'constant' && scope.form === 'int' && Number(scope.value) === fenceOperands.scope.device;
  b.fence({ scope: isDevice ? 'device' : 'block' });
}
