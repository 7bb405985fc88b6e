/**
 * Products by warp groups (`wgmma`). Each warp has sixteen rows of a, which are in its registers or in shared memory, and reads all of b there. The
 * product is computed where it is issued, which is one of the orders in which the hardware may; threads of the group wait for each other where they
 * wait for products, because then all of them have read their factors. Source: PTX ISA 9.0, 9.7.15.
 */
import type { Value } from '../../../ir/index.ts';
import { type Factor, factorBits, mmaForm, mmaRegisters } from '../../../ir/mma.ts';
import type { RowBuilder } from '../../model/row.ts';
import { packed, type Sum } from './elements.ts';
import { productOfForm } from './expanded-product.ts';
import { sizesOf } from './fragments.ts';
import { refuseNarrowSwizzle, registersAt, type SharedMatrix, sharedMatrix, transposedRegistersAt } from './shared-matrix.ts';
import { unpacked } from './whole-product.ts';

const int = (ir: RowBuilder, value: number): Value => ir.const('i32', value);

/** What an instruction multiplies. */
interface Kind {
  readonly shape: string;
  readonly a: Factor;
  readonly b: Factor;
  readonly d: Sum['element'];
  readonly isSaturated?: boolean;
}

/** Operands by the names of the manual's syntax lines; factors of a in registers are a list. */
export interface Operands {
  readonly a: Value | readonly Value[];
  readonly b: Value;
  /** Whether d is added to. */
  readonly s: Value;
  /** Signs of a and b: 1 or -1. */
  readonly x?: Value;
  readonly y?: Value;
  /** Whether a and b are transposed. */
  readonly u?: Value;
  readonly v?: Value;
  /** Of a sparse a: the positions of its elements, and which threads have them. */
  readonly e?: Value;
  readonly f?: Value;
}

/** The number of an operand that is a constant. */
function constantOf(ir: RowBuilder, value: Value | undefined): number | undefined {
  const inst = value === undefined ? undefined : ir.kernel.insts[value]!;
  return inst?.op === 'const' ? Number(BigInt.asIntN(32, inst.bits)) : undefined;
}

/** The registers of d. */
export function multiplied(ir: RowBuilder, operands: Operands, kind: Kind): readonly Value[] {
  const { n, k } = sizesOf(kind.shape);
  const own = ir.accumulators();
  const sum = kind.d === 'f16' ? 'f32' : kind.d;
  const sparse = operands.e === undefined ? '' : `.sp${constantOf(ir, operands.f) ?? 0}`;
  const options = `${kind.isSaturated ? '.satfinite' : ''}${kind.a === 'b1' ? '.and' : ''}${sparse}`;
  const form = `m16n8k${k}.${kind.a}.${kind.b}.${sum}${options}`;
  const count = mmaRegisters(mmaForm(form));
  const a = signed(ir, leftOf(ir, operands), kind.a, operands);
  const b = sharedMatrix(ir, operands.b);
  const isTransposed = constantOf(ir, operands.v) === 1;
  if (count.b > 2 && !isTransposed) refuseNarrowSwizzle(ir, b);
  const units = Array.from({ length: count.b }, (_, i) => i);
  /** The registers of d of eight columns. */
  const eight = (number: Value, before: readonly Value[]): readonly Value[] => {
    const right = (isTransposed ? transposedRegistersAt : registersAt)(ir, b, number, units);
    const zero = ir.const(ir.typeOf(before[0]!) as 'f32', 0);
    const added = unpacked(
      ir,
      before.map((each) => ir.select(operands.s, each, zero)),
      kind.d,
    );
    return packed(ir, kind.d, productOfForm(ir, form, [a, right, added], operands.e));
  };
  return eachEight(ir, own, n / 8, eight);
}

/** Computes d by eight columns: in a loop over memory of the thread, so that a large product is not more code than a small one. */
function eachEight(
  ir: RowBuilder,
  own: readonly Value[],
  count: number,
  compute: (number: Value, before: readonly Value[]) => readonly Value[],
): readonly Value[] {
  if (count === 1) return compute(int(ir, 0), own);
  const each = own.length / count;
  const type = ir.typeOf(own[0]!) as 'f32' | 'i32';
  const memory = ir.threadMemory(4 * own.length);
  const access = { align: 4 * each, volatile: false };
  const vector = `v${each as 2 | 4}.${type}` as const;
  const put = (at: Value, values: readonly Value[]): void => {
    const [x, y, z, w] = values as [Value, Value, Value, Value];
    ir.store(at, each === 2 ? ir.vec2(vector, x, y) : ir.vec4(vector, x, y, z, w), access);
  };
  const take = (at: Value): Value[] => {
    const whole = ir.load(vector, at, access);
    return Array.from({ length: each }, (_, lane) => ir.extract(type, whole, { lane }));
  };
  const at = (number: Value): Value => ir.ptradd(memory, ir.mul(ir.zext('i64', number), ir.const('i64', 4 * each)));
  const fixed = (number: number): Value => ir.ptradd(memory, ir.const('i64', 4 * each * number));
  if (!isInMemory(ir, own)) for (let i = 0; i < count; i++) put(fixed(i), own.slice(i * each, (i + 1) * each));
  ir.repeat(int(ir, count), [], (number) => {
    const place = at(number);
    put(place, compute(number, take(place)));
    return [];
  });
  const results = Array.from({ length: count }, (_, i) => take(fixed(i))).flat();
  inMemory.set(ir.block, results);
  return results;
}

/** By block: the registers that the memory of the thread has, from the last product in it. */
const inMemory = new WeakMap<object, readonly Value[]>();

/** Whether registers are in memory already, as where products follow each other. */
function isInMemory(ir: RowBuilder, own: readonly Value[]): boolean {
  const known = inMemory.get(ir.block);
  return known?.length === own.length && own.every((value, i) => value === known[i]);
}

/** The registers of a of this warp's sixteen rows. */
function leftOf(ir: RowBuilder, { a, u }: Operands): readonly Value[] {
  if (Array.isArray(a)) return a;
  const matrix: SharedMatrix = sharedMatrix(ir, a as Value);
  const warp = ir.and(ir.sreg('i32', { name: 'warpid' }), int(ir, 3));
  const read = constantOf(ir, u) === 1 ? transposedRegistersAt : registersAt;
  const [upper, lower] = [0, 1].map((half) => read(ir, matrix, ir.add(ir.shl(warp, int(ir, 1)), int(ir, half)), [0, 1])) as [
    Value[],
    Value[],
  ];
  return [upper[0]!, lower[0]!, upper[1]!, lower[1]!];
}

/** Factors of a whose signs are those of the product of the two operands. */
function signed(ir: RowBuilder, registers: readonly Value[], factor: Factor, { x, y }: Operands): readonly Value[] {
  const [left, right] = [constantOf(ir, x) ?? 1, constantOf(ir, y) ?? 1];
  if (left * right === 0) ir.refuse('a factor of 0 for the sign of a matrix, which is 1 or -1');
  if (left * right > 0) return registers;
  const signs = { 8: 0x80808080, 16: 0x80008000, 32: 0x80000000 }[factorBits[factor] as 8 | 16 | 32];
  return registers.map((each) => ir.xor(each, int(ir, signs | 0)));
}
