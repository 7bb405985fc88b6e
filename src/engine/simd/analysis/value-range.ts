/** What numbers are at most, as far as the instruction that makes them tells. */
import type { Kernel, Value } from '../../../ir/index.ts';

/** Operands that a bound is looked for through. */
const deepest = 6;

/** The most that an integer is as one without a sign; nothing where it may be anything. */
export function mostOf(kernel: Kernel, value: Value, depth = 0): bigint | undefined {
  const inst = kernel.insts[value]!;
  if (depth > deepest) return undefined;
  const of = (operand: Value): bigint | undefined => mostOf(kernel, operand, depth + 1);
  switch (inst.op) {
    case 'const':
      return inst.bits;
    case 'and':
    case 'umin': {
      const [a, b] = [of(inst.a), of(inst.b)];
      return a === undefined || (b !== undefined && b < a) ? b : a;
    }
    case 'zext':
    case 'trunc':
      return of(inst.a);
    default:
      return undefined;
  }
}

/** Whether an access of some bytes is to a variable's own, wherever its lanes are. */
export function isWithinVariable(kernel: Kernel, addr: Value, bytes: number): boolean {
  const sum = kernel.insts[addr]!;
  const base = sum.op === 'ptradd' ? kernel.insts[sum.a]! : undefined;
  if (sum.op !== 'ptradd' || base?.op !== 'variable') return false;
  const most = mostOf(kernel, sum.b);
  const variable = kernel.variables.find(({ name }) => name === base.name);
  return most !== undefined && variable !== undefined && Number(most) + bytes <= variable.size;
}
