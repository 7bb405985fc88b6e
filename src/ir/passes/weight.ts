/** The cost model of passes that move instructions: whether one may run speculatively, and its weight. */
import type { Inst, Kernel } from '../kernel.ts';
import { type Op, specOf } from '../ops.ts';

/** Roughly the GPU instructions for one op of 32 bits; 1 for ops that are not listed. */
const weights: Partial<Record<Op, number>> = {
  const: 0,
  arg: 0,
  param: 0,
  variable: 0,
  sreg: 0,
  bitcast: 0,
  inttoptr: 0,
  ptrtoint: 0,
  vec2: 0,
  vec4: 0,
  extract: 0,
  smulhi: 2,
  umulhi: 2,
  sdiv: 20,
  udiv: 20,
  srem: 20,
  urem: 20,
  fdiv: 8,
  fsqrt: 8,
  fexp2: 2,
  flog2: 2,
  fsin: 2,
  fcos: 2,
  ftanh: 4,
  frcp: 2,
  frsqrt: 2,
  call1: 100,
  call2: 100,
  call3: 100,
  fetch: 100,
  exchange: 100,
};

/** The cost of an instruction, in 32-bit instructions: 0 for one that another folds. f64 is computed in software. */
export function weightOf(kernel: Kernel, inst: Inst): number {
  if (inst.op === 'ptradd' && kernel.insts[inst.b]!.op === 'const') return 0;
  const weight = weights[inst.op] ?? 1;
  const type = 'a' in inst ? kernel.insts[inst.a]!.type : inst.type;
  if (type === 'f64' || inst.type === 'f64') return weight * 20;
  return type === 'i64' ? weight * 2 : weight;
}

/** Whether an instruction may run where the source does not run it: it has no effect, and no memory is touched. */
export const isSpeculatable = (inst: Inst): boolean => specOf(inst.op).effect === 'pure';
