/** Scalar rules of integer ops. Narrow integers are held zero-extended in an i32: signed ops sign-extend them first, all ops mask their results. */
import { bitsOf, type InstOf } from '../../ir/index.ts';
import { type Binary, call, type Emitter, isNarrow, mask, pushPlain, pushSigned, suffix, typeOf } from '../codegen/emitter.ts';
import { type IntegerOp, integerComparisons } from '../codegen/mnemonics.ts';
import { withScratch } from '../codegen/scratch.ts';
import { integerHeldAs } from '../codegen/values.ts';

/** An integer op that is a WebAssembly instruction on zero-extended operands. */
export const integer =
  (name: IntegerOp) =>
  (e: Emitter, inst: Binary): void => {
    e.values.push(inst.a);
    e.values.push(inst.b);
    e.code.op(`${integerHeldAs(inst.type)}.${name}`);
    mask(e, inst.type);
  };

/** An integer op by a helper; its name says whether operands are sign-extended. */
export const integerCall =
  (name: 'sdiv' | 'udiv' | 'srem' | 'urem' | 'smin' | 'smax' | 'umin' | 'umax') =>
  (e: Emitter, inst: Binary): void => {
    const push = name.startsWith('s') ? pushSigned : pushPlain;
    push(e, inst.a);
    push(e, inst.b);
    call(e, `${name}${suffix(integerHeldAs(inst.type))}`);
    mask(e, inst.type);
  };

/** The high half of a product: by a wider multiplication if there is one. */
export function highProduct(e: Emitter, inst: InstOf<'smulhi'> | InstOf<'umulhi'>, isSigned: boolean): void {
  const { type } = inst;
  const push = isSigned ? pushSigned : pushPlain;
  const isWord = type === 'i32';
  const widen = isSigned ? 'i64.extend_i32_s' : 'i64.extend_i32_u';
  for (const operand of [inst.a, inst.b]) {
    push(e, operand);
    if (isWord) e.code.op(widen);
  }
  if (type === 'i64') return call(e, isSigned ? 'smulhi64' : 'umulhi64');
  if (isWord) {
    e.code.op('i64.mul');
    e.code.i64(32n);
    e.code.op('i64.shr_u');
    e.code.op('i32.wrap_i64');
    return;
  }
  e.code.op('i32.mul');
  e.code.i32(bitsOf(type));
  e.code.op(isSigned ? 'i32.shr_s' : 'i32.shr_u');
  mask(e, type);
}

function pushCount(e: Emitter, type: 'i32' | 'i64', value: number): void {
  if (type === 'i32') e.code.i32(value);
  else e.code.i64(BigInt(value));
}

/** The count of a shift, if it is a constant below the width. */
function constantCount(e: Emitter, inst: Binary): number | undefined {
  const count = e.kernel.insts[inst.b]!;
  return count.op === 'const' && count.bits < BigInt(bitsOf(inst.type)) ? Number(count.bits) : undefined;
}

/** A shift left or an unsigned shift right; a count of the width or more gives 0. */
export function shift(e: Emitter, inst: Binary, name: 'shl' | 'shr_u'): void {
  const held = integerHeldAs(inst.type);
  e.values.push(inst.a);
  if (constantCount(e, inst) !== undefined) {
    e.values.push(inst.b);
    e.code.op(`${held}.${name}`);
    return mask(e, inst.type);
  }
  e.values.push(inst.b);
  withScratch(e, held, 1, ([count]) => {
    e.code.at('local.tee', count);
    e.code.op(`${held}.${name}`);
    mask(e, inst.type);
    pushCount(e, held, 0);
    isBelowWidth(e, held, count, bitsOf(inst.type));
    e.code.op('select');
  });
}

/** A signed shift right; a count of the width or more gives copies of the sign, as the largest valid count does. */
export function shiftSigned(e: Emitter, inst: Binary): void {
  const held = integerHeldAs(inst.type);
  const width = bitsOf(inst.type);
  pushSigned(e, inst.a);
  e.values.push(inst.b);
  if (constantCount(e, inst) === undefined)
    withScratch(e, held, 1, ([count]) => {
      e.code.at('local.tee', count);
      pushCount(e, held, width - 1);
      isBelowWidth(e, held, count, width);
      e.code.op('select');
    });
  e.code.op(`${held}.shr_s`);
  mask(e, inst.type);
}

function isBelowWidth(e: Emitter, held: 'i32' | 'i64', count: number, width: number): void {
  e.code.at('local.get', count);
  pushCount(e, held, width);
  e.code.op(`${held}.lt_u`);
}

/** Leading zeros; of a narrow integer, minus the bits above it. */
export function leadingZeros(e: Emitter, inst: InstOf<'clz'>): void {
  const held = integerHeldAs(inst.type);
  e.values.push(inst.a);
  e.code.op(`${held}.clz`);
  if (!isNarrow(inst.type)) return;
  e.code.i32(32 - bitsOf(inst.type));
  e.code.op('i32.sub');
}

/** Bits in reverse order; of a narrow integer, shifted down from the top of the i32. */
export function reverseBits(e: Emitter, inst: InstOf<'bitrev'>): void {
  e.values.push(inst.a);
  call(e, inst.type === 'i64' ? 'bitrev64' : 'bitrev32');
  if (!isNarrow(inst.type)) return;
  e.code.i32(32 - bitsOf(inst.type));
  e.code.op('i32.shr_u');
}

/** An integer comparison; operands of a signed predicate are sign-extended. */
export function compareInt(e: Emitter, inst: InstOf<'icmp'>): void {
  const isSigned = inst.pred.startsWith('s');
  const push = isSigned ? pushSigned : pushPlain;
  push(e, inst.a);
  push(e, inst.b);
  e.code.op(`${integerHeldAs(typeOf(e, inst.a))}.${integerComparisons[inst.pred]}`);
}
