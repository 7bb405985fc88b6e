/** Loads, stores and stack memory: values of any shape, moved scalar by scalar where no access of the IR moves them whole. */
import type { InstructionOf } from '../../bitcode/model.ts';
import { type Type as LlvmType, spell } from '../../bitcode/types.ts';
import { bytesOf, isPointer, type ScalarType, type Type, type Value, vectorOf } from '../../ir/index.ts';
import { alignOf, fieldOffset, hasMemoryForm, sizeOf } from '../layout.ts';
import { isMatrixType } from '../matrix-functions.ts';
import { type Lanes, Refused, scalarType } from '../types.ts';
import { largestVariable } from './constant-bytes.ts';
import type { RaiseState } from './state.ts';

/** Stack memory is a variable of the kernel, made once. */
export function raiseAlloca(state: RaiseState, inst: InstructionOf<'alloca'>): Value {
  const count = inst.count.kind === 'constant' && inst.count.form === 'int' ? Number(inst.count.value) : undefined;
  if (count === undefined || !hasMemoryForm(inst.allocated)) throw new Refused('stack memory of a size known only at run time');
  const name = `local.${state.kernel.variables.length}`;
  const align = Math.max(inst.align, alignOf(inst.allocated));
  const size = count * sizeOf(inst.allocated);
  if (size > largestVariable) throw new Refused(`stack memory of ${size} bytes`);
  const common = { name, size, align, isDynamic: false, init: undefined, element: undefined };
  state.kernel.variables.push({ ...common, space: 'local' });
  return state.b.variable('ptr.local', { name });
}

/** A scalar of a value, and where it lies in its memory. */
interface Leaf {
  readonly type: LlvmType;
  /** Bytes from the start. */
  readonly offset: number;
}

function leavesOf(type: LlvmType, offset = 0): Leaf[] {
  switch (type.kind) {
    case 'vector':
    case 'array': {
      if (type.kind === 'vector' && type.element.kind === 'int' && type.element.bits % 8 !== 0)
        throw new Refused(`${spell(type)} in memory`);
      const size = sizeOf(type.element);
      // In a thread's own memory a matrix is its two elements.
      return Array.from({ length: isMatrixType(type) ? 2 : type.count }, (_, i) => leavesOf(type.element, offset + i * size)).flat();
    }
    case 'struct':
      return (type.fields ?? []).flatMap((field, i) => leavesOf(field, offset + fieldOffset(type, i)));
    default:
      return [{ type, offset }];
  }
}

/** What a scalar is held as in memory: pointers as addresses, an i1 as a byte. */
function memoryType(type: LlvmType): Type {
  if (type.kind === 'int' && type.bits !== 1 && ![8, 16, 32, 64].includes(type.bits)) throw new Refused(`${spell(type)} in memory`);
  const held = scalarType(type);
  return held === 'i1' ? 'i8' : isPointer(held) ? 'i64' : held;
}

/** Whether one access of the IR moves a value whole. */
const isWide = (type: LlvmType): boolean =>
  type.kind === 'vector' && (type.count === 2 || type.count === 4) && type.element.kind !== 'pointer' && scalarType(type.element) !== 'i1';

/** The largest power of two that divides both: how an access at an offset from an aligned address is aligned. */
function alignAt(align: number, offset: number): number {
  let at = align;
  while (offset % at !== 0) at /= 2;
  return at;
}

const at = ({ b }: RaiseState, addr: Value, offset: number): Value => (offset === 0 ? addr : b.ptradd(addr, b.const('i64', offset)));

/** What a load gives, scalar by scalar. */
export function raiseLoad(state: RaiseState, { type, pointer, align, isVolatile }: InstructionOf<'load'>): Lanes {
  return loadLanes(state, { type, addr: state.scalar(pointer), align, volatile: isVolatile });
}

interface Access {
  readonly type: LlvmType;
  readonly addr: Value;
  /** Bytes; 0 for that of the type. */
  readonly align: number;
  readonly volatile: boolean;
}

/** The scalars of a value of a type that is in memory. */
export function loadLanes(state: RaiseState, { type, addr, align: stated, volatile }: Access): Lanes {
  const { b } = state;
  refuseMatrixOutside(state, addr, type);
  const align = stated || alignOf(type);
  if (isWide(type) && type.kind === 'vector') {
    const of = memoryType(type.element);
    const whole = b.load(vectorOf(of as ScalarType, type.count as 2 | 4), addr, { align, volatile });
    return state.typesOf(type).map((_, lane) => b.extract(of, whole, { lane }));
  }
  // Refuses what is too large to be a value.
  state.typesOf(type);
  return leavesOf(checked(type)).map((leaf) => {
    const of = memoryType(leaf.type);
    const access = { align: Math.min(alignAt(align, leaf.offset), bytesOf(of)), volatile };
    return asHeld(state, b.load(of, at(state, addr, leaf.offset), access), leaf.type);
  });
}

/** Moves a value to memory. */
export function raiseStore(state: RaiseState, { pointer, value, align, isVolatile }: InstructionOf<'store'>): void {
  storeLanes(state, { type: value.type, lanes: state.lanes(value), addr: state.scalar(pointer), align, volatile: isVolatile });
}

interface Stored extends Access {
  readonly lanes: Lanes;
}

/** Moves the scalars of a value of a type to memory. */
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
    const value = asStored(state, lanes[i]!);
    const access = { align: Math.min(alignAt(align, leaf.offset), bytesOf(memoryType(leaf.type))), volatile };
    b.store(at(state, addr, leaf.offset), value, access);
  });
}

function refuseMatrixOutside({ b }: RaiseState, addr: Value, type: LlvmType): void {
  if (isMatrixType(type) && b.typeOf(addr) !== 'ptr.local') throw new Refused(`memory of all threads that holds ${spell(type)}`);
}

function checked(type: LlvmType): LlvmType {
  if (!hasMemoryForm(type)) throw new Refused(`${spell(type)} in memory`);
  return type;
}

function asHeld({ b }: RaiseState, value: Value, type: LlvmType): Value {
  const held = scalarType(type);
  if (held === 'i1') return b.trunc('i1', value);
  // What is in memory is an address of the device. As constant memory it may be a buffer's, whose addresses are those of global memory.
  return isPointer(held) ? b.inttoptr(held === 'ptr.constant' ? 'ptr.global' : held, value) : value;
}

function asStored({ b }: RaiseState, value: Value): Value {
  const type = b.typeOf(value);
  if (type === 'i1') return b.zext('i8', value);
  if (type === 'ptr.constant') throw new Refused('an address of constant memory in memory');
  return isPointer(type) ? b.ptrtoint('i64', value) : value;
}
