/** Bounds of shift counts and of offsets in variables, by the value-range analysis of the IR. */
import { type Kernel, type Op, type RangeOptions, type Value, valueRanges } from '../../../ir/index.ts';

/** What the vectorizer uses of the analysis: masks and minima of constants, also in units of an element. */
const masks: RangeOptions = { through: new Set<Op>(['and', 'umin', 'shl', 'mul', 'zext', 'trunc']), sregs: {}, usesWidths: false };

/** The most that an integer is, unsigned; nothing where no bound is known. */
export const unsignedMax = (kernel: Kernel, value: Value): bigint | undefined => valueRanges(kernel, masks).unsignedMax(value);

/** Whether an access of some bytes stays inside the variable that its address is based on, in every lane. */
export function isWithinVariable(kernel: Kernel, addr: Value, bytes: number): boolean {
  const sum = kernel.insts[addr]!;
  const base = sum.op === 'ptradd' ? kernel.insts[sum.a]! : undefined;
  if (sum.op !== 'ptradd' || base?.op !== 'variable') return false;
  const max = unsignedMax(kernel, sum.b);
  const variable = kernel.variables.find(({ name }) => name === base.name);
  return max !== undefined && variable !== undefined && Number(max) + bytes <= variable.size;
}
