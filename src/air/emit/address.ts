/**
 * Converts the IR's opaque pointers with byte offsets to typed LLVM pointers. An access gets one GEP with an index in units of the accessed
 * type if the offset is divisible, as in the output of Apple's compiler; drivers miscompiled chained byte-wise GEPs (GPUCompiler.jl issue
 * 862). Pointers from block parameters and selects are represented as i64.
 */
import { bug } from '../../base/bug.ts';
import type { Constant, Value as LlvmValue } from '../../bitcode/model.ts';
import { type Type, types } from '../../bitcode/types.ts';
import {
  bytesOf,
  elementOf,
  type Type as IrType,
  isPointer,
  isVector,
  lanesOf,
  type PointerType,
  spaceOf,
  type Value,
} from '../../ir/index.ts';
import { i64Constant } from '../constants.ts';
import { llvmScalar } from '../llvm-scalar.ts';
import { spaces } from '../targets.ts';
import type { KernelEmitter, Offset, Root } from './emitter.ts';
import { constantValue } from './function-builder.ts';
import { quotientOf } from './quotient.ts';

/** LLVM's type for an IR value that is not a pointer. */
export function llvmType(type: IrType): Type {
  if (isPointer(type)) return types.i64;
  if (isVector(type)) return types.vector(llvmScalar[elementOf(type)], lanesOf(type));
  return type === 'void' ? types.void : llvmScalar[type];
}

/** A typed pointer for an access of `type` at `pointer`, with instructions appended as needed. */
export function addressFor(e: KernelEmitter, pointer: Value, type: IrType, align: number): LlvmValue {
  const offset: Offset = { terms: [], constant: 0n, isBounded: true };
  const root = rootOf(e, collect(e, pointer, offset), offset);
  offset.constant += root.base;
  const target = types.pointer(llvmType(type), root.space);
  if (root.pointer.type === types.i64) return e.b.cast('inttoptr', addOffset(e, root.pointer, offset), target);
  const element = llvmScalar[elementOf(type)];
  const whole = bytesOf(type);
  return (
    indexed(e, root, offset, llvmType(type), whole, align) ??
    castTo(e, indexed(e, root, offset, element, bytesOf(elementOf(type)), align) ?? byteIndexed(e, root, offset), target)
  );
}

/** An IR pointer as i64: the address in device memory, the offset in the window elsewhere. */
export function asInteger(e: KernelEmitter, pointer: Value): LlvmValue {
  const offset: Offset = { terms: [], constant: 0n, isBounded: true };
  const start = collect(e, pointer, offset);
  return addOffset(e, rootInteger(e, start, offset), offset);
}

/** Follows `ptradd` to the root and sums the offsets. */
function collect(e: KernelEmitter, pointer: Value, offset: Offset): Value {
  let at = pointer;
  for (;;) {
    const inst = e.kernel.insts[at]!;
    if (inst.op !== 'ptradd') return at;
    addTerm(e, inst.b, 1n, offset);
    at = inst.a;
  }
}

/** Splits an i64 sum into scaled terms. An expression that is neither a sum nor a product with a constant is a term. */
function addTerm(e: KernelEmitter, value: Value, scale: bigint, offset: Offset): void {
  const inst = e.kernel.insts[value]!;
  const constant = (v: Value): bigint | undefined => {
    const of = e.kernel.insts[v]!;
    return of.op === 'const' ? BigInt.asIntN(64, of.bits) : undefined;
  };
  if (inst.op === 'const') {
    offset.constant += scale * BigInt.asIntN(64, inst.bits);
  } else if (inst.op === 'add' || inst.op === 'sub') {
    addTerm(e, inst.a, scale, offset);
    addTerm(e, inst.b, inst.op === 'add' ? scale : -scale, offset);
  } else if (inst.op === 'mul' && constant(inst.b) !== undefined) {
    addTerm(e, inst.a, scale * constant(inst.b)!, offset);
  } else if (inst.op === 'shl' && constant(inst.b) !== undefined && constant(inst.b)! >= 0n && constant(inst.b)! < 64n) {
    addTerm(e, inst.a, scale << constant(inst.b)!, offset);
  } else {
    const narrow = (inst.op === 'sext' || inst.op === 'zext') && scale < 1n << 30n && scale > -(1n << 30n);
    offset.terms.push({ value, scale });
    offset.isBounded &&= narrow && offset.terms.length < 4;
  }
}

function rootOf(e: KernelEmitter, start: Value, offset: Offset): Root {
  const inst = e.kernel.insts[start]!;
  const space = spaceOf(inst.type as PointerType);
  if (inst.op === 'param') return e.paramRoot(inst.index);
  if (inst.op === 'variable') return e.variableRoot(space, inst.name);
  if (space === 'global') return { pointer: rootInteger(e, start, offset), space: spaces.device, base: 0n, align: 1, isObject: false };
  if (space === 'param' || space === 'generic') return bug(`an address in ${space} space reached AIR emission`);
  offset.terms.unshift({ value: inst.op === 'inttoptr' ? inst.a : start, scale: 1n });
  offset.isBounded = false;
  return e.windowRootAt(space, offset, () => addOffset(e, i64Constant(0), offset), e.variableOf(start));
}

/** The root alone as i64. */
function rootInteger(e: KernelEmitter, start: Value, offset: Offset): LlvmValue {
  const inst = e.kernel.insts[start]!;
  switch (inst.op) {
    case 'inttoptr':
      return e.value(inst.a);
    case 'variable': {
      offset.constant += BigInt(e.windowOffset(spaceOf(inst.type as PointerType), inst.name));
      return i64Constant(0);
    }
    case 'param': {
      const root = e.paramRoot(inst.index);
      if (root.space === spaces.threadgroup) {
        offset.constant += root.base;
        return i64Constant(0);
      }
      return e.b.cast('ptrtoint', root.pointer, types.i64);
    }
    default:
      return e.value(start);
  }
}

/** `start` plus the offset, as i64 arithmetic. */
function addOffset(e: KernelEmitter, start: LlvmValue, offset: Omit<Offset, 'isBounded'>): LlvmValue {
  let sum: LlvmValue | undefined = constantValue(start) === 0n ? undefined : start;
  if (offset.start) sum = sum ? e.b.binary('add', sum, offset.start) : offset.start;
  for (const term of offset.terms) {
    const scaled = scaledTerm(e, term.value, term.scale);
    sum = sum ? e.b.binary('add', sum, scaled) : scaled;
  }
  if (offset.constant === 0n) return sum ?? i64Constant(0);
  return sum ? e.b.binary('add', sum, i64Constant(offset.constant)) : i64Constant(offset.constant);
}

function scaledTerm(e: KernelEmitter, value: Value, scale: bigint): LlvmValue {
  const of = e.value(value);
  return scale === 1n ? of : e.b.binary('mul', of, i64Constant(scale));
}

/** A GEP in units of `element` if the offset is divisible by its size, or if the alignment of access and root implies it. */
function indexed(e: KernelEmitter, root: Root, offset: Offset, element: Type, size: number, align: number): LlvmValue | undefined {
  const quotient = quotientOfOffset(e, offset, size);
  if (!quotient && !(root.align >= size && align >= size)) return undefined;
  const index = quotient ?? exactQuotient(e, addOffset(e, i64Constant(0), offset), size);
  return gep(e, root, element, index, root.isObject && offset.isBounded);
}

/** An offset in units of a size, where each of its terms is a multiple. */
function quotientOfOffset(e: KernelEmitter, { start, terms, constant }: Offset, size: number): LlvmValue | undefined {
  const unit = BigInt(size);
  if (start || constant % unit !== 0n) return undefined;
  let sum: LlvmValue | undefined;
  for (const { value, scale } of terms) {
    const part = scale % unit === 0n ? scaledTerm(e, value, scale / unit) : scale === 1n ? wordQuotient(e, value, size) : undefined;
    if (part === undefined) return undefined;
    sum = sum ? e.b.binary('add', sum, part) : part;
  }
  const rest = i64Constant(constant / unit);
  return sum ? e.b.binary('add', sum, rest) : rest;
}

/** A word of 32 bits that is extended, in units of a size. */
function wordQuotient(e: KernelEmitter, value: Value, size: number): LlvmValue | undefined {
  const inst = e.kernel.insts[value]!;
  if (inst.op !== 'zext') return undefined;
  return e.behind(value, () => {
    const quotient = quotientOf(e, inst.a, Math.log2(size));
    return quotient && e.b.cast('zext', quotient, types.i64);
  });
}

/** An offset in units of a power of two. `exact` says that it is divisible: the CPU device takes the offset itself, and sees if it is not. */
const exactQuotient = (e: KernelEmitter, offset: LlvmValue, size: number): LlvmValue =>
  size === 1 ? offset : e.b.emit('binary', offset.type, { opcode: 'lshr', a: offset, b: i64Constant(Math.log2(size)), flags: 1 });

function byteIndexed(e: KernelEmitter, root: Root, offset: Offset): LlvmValue {
  return gep(e, root, types.i8, addOffset(e, i64Constant(0), offset), false);
}

function gep(e: KernelEmitter, root: Root, element: Type, index: LlvmValue, inbounds: boolean): LlvmValue {
  const type = types.pointer(element, root.space);
  const at = constantValue(index);
  const pointee = root.pointer.type.kind === 'pointer' ? root.pointer.type.pointee : bug('a root without pointer type');
  if (pointee.kind === 'array' && pointee.element === element) {
    const base = root.pointer;
    // As Metal's compiler does, so that the address is no instruction.
    if (isConstant(base) && at !== undefined)
      return { kind: 'constant', form: 'gep', type, sourceType: pointee, inbounds, base, indices: [i64Constant(0), i64Constant(at)] };
    return e.b.emit('gep', type, { sourceType: pointee, inbounds, base, indices: [i64Constant(0), index] });
  }
  const base = castTo(e, root.pointer, type);
  if (at === 0n) return base;
  if (isConstant(base) && at !== undefined)
    return { kind: 'constant', form: 'gep', type, sourceType: element, inbounds, base, indices: [i64Constant(at)] };
  return e.b.emit('gep', type, { sourceType: element, inbounds, base, indices: [index] });
}

const isConstant = (value: LlvmValue): value is Constant => value.kind === 'global' || value.kind === 'constant';

const castTo = (e: KernelEmitter, pointer: LlvmValue, type: Type): LlvmValue => e.b.cast('bitcast', pointer, type);
