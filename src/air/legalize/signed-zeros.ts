/**
 * The sign of zero of minima and maxima. The IR, as PTX, has -0 below +0. No public source says which zero an Apple GPU gives, so two
 * zeros are distinguished by their bits, unless the operands exclude zeros of both signs. Bits are compared because the GPU flushes subnormals.
 */
import { type Builder, bitsOf, builder, constantOf, type Inst, type InstOf, isFloat, type Kernel, type Value } from '../../ir/index.ts';

type MinMax = InstOf<'fmin'> | InstOf<'fmax'>;

const isMinMax = (inst: Inst): inst is MinMax =>
  (inst.op === 'fmin' || inst.op === 'fmax') && isFloat(inst.type) && bitsOf(inst.type) <= 32;

/** Makes the sign explicit, in place; returns whether there was a minimum or maximum that needs it. */
export function separateZeros(kernel: Kernel): boolean {
  let changed = false;
  for (const block of kernel.blocks) {
    const b = builder(kernel, { ...block, body: [] });
    for (const value of block.body) {
      const inst = kernel.insts[value]!;
      b.loc = kernel.locs[value];
      if (needsSign(kernel, inst)) {
        kernel.insts[value] = withSign(b, inst);
        changed = true;
      }
      b.block.body.push(value);
    }
    block.body = b.block.body;
  }
  return changed;
}

const needsSign = (kernel: Kernel, inst: Inst): inst is MinMax => isMinMax(inst) && !excludesMixedZeros(kernel, inst);

/** Whether one operand is a constant other than zero, or both are never negative. */
function excludesMixedZeros(kernel: Kernel, { a, b, type }: MinMax): boolean {
  const magnitude = (1n << BigInt(bitsOf(type) - 1)) - 1n;
  const isNonzero = (value: Value): boolean => ((constantOf(kernel, value) ?? 0n) & magnitude) !== 0n;
  if (isNonzero(a) || isNonzero(b)) return true;
  return hasNoMinusZero(kernel, a, 0) && hasNoMinusZero(kernel, b, 0);
}

/** Whether a float is known to be neither negative nor -0. */
function hasNoMinusZero(kernel: Kernel, value: Value, depth: number): boolean {
  const inst = kernel.insts[value]!;
  if (depth > deepest) return false;
  const isSo = (operand: Value): boolean => hasNoMinusZero(kernel, operand, depth + 1);
  switch (inst.op) {
    case 'fabs':
    case 'uitofp':
    case 'fexp2':
      return true;
    case 'const':
      return inst.bits >> BigInt(bitsOf(inst.type) - 1) === 0n;
    case 'fmin':
    case 'fmax':
    case 'fadd':
      return isSo(inst.a) && isSo(inst.b);
    case 'select':
      return isSo(inst.a) && isSo(inst.b);
    case 'fmul':
      return inst.a === inst.b || (isSo(inst.a) && isSo(inst.b));
    default:
      return false;
  }
}

const deepest = 6;

function withSign(b: Builder, { op, type, a, b: second }: MinMax): Inst {
  const int = bitsOf(type) === 32 ? 'i32' : 'i16';
  const [x, y] = [b.bitcast(int, a), b.bitcast(int, second)];
  const both = b.or(x, y);
  const areZeros = b.icmp(b.shl(both, b.const(int, 1)), b.const(int, 0), { pred: 'eq' });
  const zero = b.bitcast(type, op === 'fmin' ? both : b.and(x, y));
  const other = b[op](a, second);
  return { op: 'select', type, cond: areZeros, a: zero, b: other };
}
