/** Raises loads, stores and stack memory. Aggregates are accessed scalar by scalar, unless one IR access covers the whole value. */

import { alignOf, fieldOffset, hasMemoryForm, sizeOf } from '../../bitcode/layout.ts';
import type { InstructionOf } from '../../bitcode/model.ts';
import { type Type as LlvmType, spell } from '../../bitcode/types.ts';
import { bytesOf, isPointer, type ScalarType, type Type, type Value, vectorOf } from '../../ir/index.ts';
import { isMatrixType } from '../matrix-functions.ts';
import { type Lanes, Refused, scalarType } from '../types.ts';
import { maxVariableBytes } from './constant-bytes.ts';
import type { RaiseState } from './state.ts';

/** Stack memory becomes a variable of the kernel. */
export function raiseAlloca(state: RaiseState, inst: InstructionOf<'alloca'>): Value {
  const count = inst.count.kind === 'constant' && inst.count.form === 'int' ? Number(inst.count.value) : undefined;
  if (count === undefined || !hasMemoryForm(inst.allocated)) throw new Refused('stack memory of a size that is not constant');
  const name = `local.${state.kernel.variables.length}`;
  const align = Math.max(inst.align, alignOf(inst.allocated));
  const size = count * sizeOf(inst.allocated);
  if (size > maxVariableBytes) throw new Refused(`stack memory of ${size} bytes`);
  const common = { name, size, align, isDynamic: false, init: undefined, element: undefined };
  state.kernel.variables.push({ ...common, space: 'local' });
  return state.b.variable('ptr.local', { name });
}

/** A scalar of a value, and its position in memory. */
interface Leaf {
  readonly type: LlvmType;
  /** Byte offset. */
  readonly offset: number;
}

function leavesOf(type: LlvmType, offset = 0): Leaf[] {
  switch (type.kind) {
    case 'vector':
    case 'array': {
      if (type.kind === 'vector' && type.element.kind === 'int' && type.element.bits % 8 !== 0)
        throw new Refused(`${spell(type)} in memory`);
      const size = sizeOf(type.element);
      // In thread memory a matrix has only the lane's two elements.
      return Array.from({ length: isMatrixType(type) ? 2 : type.count }, (_, i) => leavesOf(type.element, offset + i * size)).flat();
    }
    case 'struct':
      return (type.fields ?? []).flatMap((field, i) => leavesOf(field, offset + fieldOffset(type, i)));
    default:
      return [{ type, offset }];
  }
}

/** The memory type of a scalar: pointers are addresses, an i1 is a byte. */
function memoryType(type: LlvmType): Type {
  if (type.kind === 'int' && type.bits !== 1 && ![8, 16, 32, 64].includes(type.bits)) throw new Refused(`${spell(type)} in memory`);
  const memoryScalar = scalarType(type);
  return memoryScalar === 'i1' ? 'i8' : isPointer(memoryScalar) ? 'i64' : memoryScalar;
}

/** Whether one IR access covers the whole value. */
const isWide = (type: LlvmType): boolean =>
  type.kind === 'vector' && (type.count === 2 || type.count === 4) && type.element.kind !== 'pointer' && scalarType(type.element) !== 'i1';

/** The alignment at an offset from an aligned address: the largest power of two that divides both. */
function alignAt(align: number, offset: number): number {
  let at = align;
  while (offset % at !== 0) at /= 2;
  return at;
}

const at = ({ b }: RaiseState, addr: Value, offset: number): Value => (offset === 0 ? addr : b.ptradd(addr, b.const('i64', offset)));

/** The scalars that a load defines. */
export function raiseLoad(state: RaiseState, { type, pointer, align, isVolatile }: InstructionOf<'load'>): Lanes {
  return loadLanes(state, { type, addr: state.scalar(pointer), align, volatile: isVolatile });
}

interface Access {
  readonly type: LlvmType;
  readonly addr: Value;
  /** In bytes; 0 for the type's natural alignment. */
  readonly align: number;
  readonly volatile: boolean;
}

/** Loads the scalars of a value of a given type. */
export function loadLanes(state: RaiseState, { type, addr, align: stated, volatile }: Access): Lanes {
  const { b } = state;
  refuseMatrixOutside(state, addr, type);
  const align = stated || alignOf(type);
  if (isWide(type) && type.kind === 'vector') {
    const of = memoryType(type.element);
    const whole = b.load(vectorOf(of as ScalarType, type.count as 2 | 4), addr, { align, volatile });
    return state.typesOf(type).map((_, lane) => b.extract(of, whole, { lane }));
  }
  // Refuses types that are too large for a value.
  state.typesOf(type);
  return leavesOf(checked(type)).map((leaf) => {
    const of = memoryType(leaf.type);
    const access = { align: Math.min(alignAt(align, leaf.offset), bytesOf(of)), volatile };
    return fromMemory(state, b.load(of, at(state, addr, leaf.offset), access), leaf.type);
  });
}

/** Stores a value. */
export function raiseStore(state: RaiseState, { pointer, value, align, isVolatile }: InstructionOf<'store'>): void {
  storeLanes(state, { type: value.type, lanes: state.lanes(value), addr: state.scalar(pointer), align, volatile: isVolatile });
}

interface Stored extends Access {
  readonly lanes: Lanes;
}

/** Stores the scalars of a value of a given type. */
export function storeLanes(state: RaiseState, { type, lanes, addr, align: stated, volatile }: Stored): void {
  const { b } = state;
  refuseMatrixOutside(state, addr, type);
  const align = stated || alignOf(type);
  if (isWide(type) && type.kind === 'vector') {
    const [x, y, z, w] = lanes as [Value, Value, Value, Value];
    const of = vectorOf(memoryType(type.element) as ScalarType, type.count as 2 | 4);
    return void b.store(addr, type.count === 2 ? b.vec2(of, x, y) : b.vec4(of, x, y, z, w), { align, volatile });
  }
  leavesOf(checked(type)).forEach((leaf, i) => {
    const value = toMemory(state, lanes[i]!);
    const access = { align: Math.min(alignAt(align, leaf.offset), bytesOf(memoryType(leaf.type))), volatile };
    b.store(at(state, addr, leaf.offset), value, access);
  });
}

function refuseMatrixOutside({ b }: RaiseState, addr: Value, type: LlvmType): void {
  if (isMatrixType(type) && b.typeOf(addr) !== 'ptr.local') throw new Refused(`memory of all threads that contains ${spell(type)}`);
}

function checked(type: LlvmType): LlvmType {
  if (!hasMemoryForm(type)) throw new Refused(`${spell(type)} in memory`);
  return type;
}

function fromMemory({ b }: RaiseState, value: Value, type: LlvmType): Value {
  const held = scalarType(type);
  if (held === 'i1') return b.trunc('i1', value);
  // A loaded address is a device address. Constant memory may be a buffer, whose addresses are those of global memory.
  return isPointer(held) ? b.inttoptr(held === 'ptr.constant' ? 'ptr.global' : held, value) : value;
}

function toMemory({ b }: RaiseState, value: Value): Value {
  const type = b.typeOf(value);
  if (type === 'i1') return b.zext('i8', value);
  if (type === 'ptr.constant') throw new Refused('an address of constant memory in memory');
  return isPointer(type) ? b.ptrtoint('i64', value) : value;
}
