/**
 * What bulk copies do, at once: until a thread has waited for a copy, no thread may read its destination or write its source, so that the
 * difference is not observable. Source: PTX ISA 9.0, 9.7.9.25.4.
 */
import type { AtomicOp, ScalarType, Value } from '../../../ir/index.ts';
import type { RowBuilder } from '../../model/row.ts';
import { isSignedType } from '../../model/types.ts';
import { type HalfOperation, joinHalves, updateShort } from '../atomic-half.ts';
import { flush } from '../compose.ts';

const byte = { align: 1, volatile: false } as const;

/** Stops unless a number of bytes is a multiple of 16. */
export function stopUnlessWhole(ir: RowBuilder, size: Value): void {
  const isPart = ir.icmp(ir.and(size, ir.const('i32', 15)), ir.const('i32', 0), { pred: 'ne' });
  ir.when(isPart, () => ir.stop('a bulk copy of a number of bytes that 16 does not divide'));
}

/** Stops unless an address is a multiple of a power of two. */
export function stopUnlessAligned(ir: RowBuilder, pointer: Value, bytes: number, what: string): void {
  const isOff = ir.icmp(ir.and(ir.ptrtoint('i64', pointer), ir.const('i64', bytes - 1)), ir.const('i64', 0), { pred: 'ne' });
  ir.when(isOff, () => ir.stop(`${what} at an address that ${bytes} does not divide`));
}

const checked = (ir: RowBuilder, to: Value, from: Value, size: Value): void => {
  stopUnlessWhole(ir, size);
  stopUnlessAligned(ir, to, 16, 'a bulk copy to memory');
  stopUnlessAligned(ir, from, 16, 'a bulk copy of memory');
};

/** Emits `body` for the places of parts of a size. */
function eachPart(ir: RowBuilder, size: Value, bytes: number, body: (offset: Value) => void): void {
  const count = ir.lshr(size, ir.const('i32', Math.log2(bytes)));
  ir.repeat(count, [], (i) => {
    body(ir.mul(ir.zext('i64', i), ir.const('i64', bytes)));
    return [];
  });
}

/** Copies a multiple of 16 bytes. */
export function copyBytes(ir: RowBuilder, to: Value, from: Value, size: Value): void {
  checked(ir, to, from, size);
  const whole = { align: 16, volatile: false } as const;
  eachPart(ir, size, 16, (at) => ir.store(ir.ptradd(to, at), ir.load('v4.i32', ir.ptradd(from, at), whole), whole));
}

/** Copies a multiple of 16 bytes, of each 16 those in a mask of 16 bits. */
export function copyMasked(ir: RowBuilder, [to, from, size]: readonly [Value, Value, Value], mask: Value): void {
  checked(ir, to, from, size);
  eachPart(ir, size, 1, (at) => {
    const bit = ir.and(ir.trunc('i32', at), ir.const('i32', 15));
    const isCopied = ir.icmp(ir.and(ir.lshr(ir.zext('i32', mask), bit), ir.const('i32', 1)), ir.const('i32', 1), { pred: 'eq' });
    ir.when(isCopied, () => ir.store(ir.ptradd(to, at), ir.load('i8', ir.ptradd(from, at), byte), byte));
  });
}

/** Sets a multiple of 8 bytes to 0; the size is an i64. */
export function clearBytes(ir: RowBuilder, to: Value, size: Value): void {
  const isPart = ir.icmp(ir.and(size, ir.const('i64', 7)), ir.const('i64', 0), { pred: 'ne' });
  ir.when(isPart, () => ir.stop('`st.bulk` of a number of bytes that 8 does not divide'));
  stopUnlessAligned(ir, to, 8, '`st.bulk`');
  eachPart(ir, ir.trunc('i32', size), 8, (at) => ir.store(ir.ptradd(to, at), ir.const('i64', 0), { align: 8, volatile: false }));
}

/** Reductions of memory, by the words of PTX. */
export type Reduction = 'and' | 'or' | 'xor' | 'add' | 'inc' | 'dec' | 'min' | 'max';

const bitsOf = (type: string): number => Number(/\d+$/.exec(type)![0]);
const registerOf = (type: string): ScalarType => (/^(b?f)/.test(type) ? (type as ScalarType) : (`i${bitsOf(type)}` as ScalarType));

/** Reduces elements of a size into memory, each atomically. */
export function reduceBytes(ir: RowBuilder, [to, from, size]: readonly [Value, Value, Value], op: Reduction, type: string): void {
  checked(ir, to, from, size);
  eachPart(ir, size, bitsOf(type) / 8, (at) => reduceOne(ir, ir.ptradd(to, at), ir.ptradd(from, at), { op, type }));
}

/** The NaN of the manual. */
const floatNaN = 0x7fff_ffff;

interface Element {
  readonly op: Reduction;
  readonly type: string;
  /** Whether subnormal numbers of `f32` become zeros with their signs. */
  readonly ftz?: true | undefined;
}

/** Reduces the element at an address into the one at another. */
export function reduceOne(ir: RowBuilder, to: Value, from: Value, { op, type, ftz }: Element): void {
  const held = registerOf(type);
  const value = ir.load(held, from, { align: bitsOf(type) / 8, volatile: false });
  if (type === 'f16' || type === 'bf16') {
    const join = (x: Value): Value => joinHalves(ir, op as HalfOperation, x, value);
    updateShort(ir, to, (old) => ir.bitcast('i16', join(ir.bitcast(type, old))));
  } else if (type === 'f32') {
    // Subnormal numbers stay, as atomics of instructions do not keep them. Source: recorded on an NVIDIA H200.
    ir.update(to, (old) => {
      const sum = flush(ir, ir.fadd(flush(ir, ir.bitcast('f32', old), ftz), flush(ir, value, ftz)), ftz);
      return ir.select(ir.fcmp(sum, sum, { pred: 'uno' }), ir.const('i32', floatNaN), ir.bitcast('i32', sum));
    });
  } else ir.atomic(to, value, { rmw: rmwOf(op, type) });
}

function rmwOf(op: Reduction, type: string): AtomicOp {
  if (op === 'min' || op === 'max') return `${isSignedType(type) ? 's' : 'u'}${op}`;
  return op === 'add' && type.startsWith('f') ? 'fadd' : op;
}
