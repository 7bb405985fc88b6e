/**
 * f64 on targets without double precision: what only moves bits (loads, stores, choices, sign operations) becomes i64, exactly;
 * what computes is refused at its line (CM2091), never done in single precision.
 */
import type { Diagnostics } from '../base/diagnostic.ts';
import { type Inst, type Kernel, type Op, operandsOf, type Type, type Value } from '../ir/index.ts';

const movers = new Set<Op>(['const', 'arg', 'load', 'store', 'select', 'bitcast', 'vec2', 'vec4', 'extract']);
const isDouble = (type: Type): boolean => type.endsWith('f64');
const asBits = (type: Type): Type => type.replace('f64', 'i64') as Type;

/** Rewrites a kernel in place; CM2091 for each instruction that computes in f64. */
export function legaliseF64(kernel: Kernel, target: string, diagnostics: Diagnostics): void {
  if (!kernel.insts.some((inst) => isDouble(inst.type)) && !kernel.params.some((param) => param.element === 'f64')) return;
  for (const block of kernel.blocks) block.body = block.body.flatMap((value) => legalised(kernel, value, target, diagnostics));
  for (const inst of kernel.insts) if (isDouble(inst.type)) inst.type = asBits(inst.type);
  for (const param of kernel.params) if (param.element === 'f64') param.element = 'i64';
  for (const variable of kernel.variables) if (variable.element === 'f64') variable.element = 'i64';
}

/** The instructions that stand where one stood. */
function legalised(kernel: Kernel, value: Value, target: string, diagnostics: Diagnostics): Value[] {
  const inst = kernel.insts[value]!;
  const touches = isDouble(inst.type) || operandsOf(inst).some((v) => isDouble(kernel.insts[v]!.type));
  if (!touches || movers.has(inst.op)) return [value];
  if (inst.op === 'fneg') return signOperation(kernel, value, inst.a, 'xor', 1n << 63n);
  if (inst.op === 'fabs') return signOperation(kernel, value, inst.a, 'and', (1n << 63n) - 1n);
  const span = kernel.locs[value];
  diagnostics.report('CM2091', { target }, span ? { span } : {});
  return [value];
}

/** Changes a sign by its bit, which is what `fneg` and `fabs` are, of NaN too. */
function signOperation(kernel: Kernel, value: Value, a: Value, op: 'xor' | 'and', mask: bigint): Value[] {
  const constant: Inst = { op: 'const', type: 'i64', bits: mask };
  const made = (kernel.insts.push(constant) - 1) as Value;
  kernel.locs.push(kernel.locs[value]);
  kernel.insts[value] = { op, type: 'i64', a, b: made };
  return [made, value];
}
