/**
 * Exact f64 on targets without it: every value becomes an i64 with the same bits, and computations become integer arithmetic with the bits
 * that IEEE 754 demands, in helper functions of the kernel if they are long. Operations without such a form (approximate
 * functions, and atomics that `wide-atomics.ts` has left) are refused at their line (CM2091). f64 is never computed in f32.
 */
import type { Diagnostics } from '../../base/diagnostic.ts';
import type { Span } from '../../base/source.ts';
import { builder, eachOperand, type Inst, type Kernel, operandsOf, type PureFunction, type Type, type Value } from '../../ir/index.ts';
import { computes, type Expansion, treatmentOf } from './f64/expansions.ts';
import { functionOf } from './f64/functions.ts';
import { type IntegerOps, integerOps } from './f64/integer-ops.ts';

const isDouble = (type: Type): boolean => type.endsWith('f64');
const asBits = (type: Type): Type => type.replace('f64', 'i64') as Type;

/** Whether a kernel has any f64 value. */
export const hasDoubles = (kernel: Kernel): boolean =>
  kernel.insts.some((inst) => isDouble(inst.type)) ||
  kernel.params.some((param) => param.element === 'f64') ||
  kernel.variables.some((variable) => variable.element === 'f64');

/** Whether an instruction has an f64 result or operand. */
export function touchesDoubles(kernel: Kernel, inst: Inst): boolean {
  let touches = isDouble(inst.type);
  if (!touches)
    eachOperand(inst, (operand) => {
      touches ||= isDouble(kernel.insts[operand]!.type);
    });
  return touches;
}

/**
 * Rewrites a kernel in place. Returns whether that left something to simplify, which calls of functions do not. Reports CM2091 for each instruction without
 * a replacement.
 */
export function legalizeF64(kernel: Kernel, target: string, diagnostics: Diagnostics): boolean {
  if (!hasDoubles(kernel)) return false;
  const refuse = refuser(kernel, target, diagnostics);
  const f64Insts = new Set(
    kernel.blocks.flatMap(({ body }) => body.filter((value) => touchesDoubles(kernel, kernel.insts[value]!) && !moves(kernel, value))),
  );
  retype(kernel);
  const functions = new Map(kernel.functions);
  kernel.functions = functions;
  let leaves = false;
  for (const block of kernel.blocks) {
    if (!block.body.some((value) => f64Insts.has(value))) continue;
    const b = builder(kernel, { ...block, body: [] });
    let made: IntegerOps | undefined;
    const ops = (): IntegerOps => {
      made ??= integerOps(b);
      return made;
    };
    for (const value of block.body) {
      if (f64Insts.has(value)) expand(kernel, ops, value, functions, (what) => refuse(value, what));
      b.block.body.push(value);
    }
    // What is expanded in place are more instructions.
    leaves ||= b.block.body.length > block.body.length;
    block.body = b.block.body;
  }
  return leaves || kernel.blocks.some(({ body }) => body.some((value) => isSame(kernel, kernel.insts[value]!)));
}

/** Whether an instruction turned bits into what they are now. */
const isSame = ({ insts }: Kernel, inst: Inst): boolean => inst.op === 'bitcast' && inst.type === insts[inst.a]!.type;

/** Reports CM2091 at an instruction. */
export function refuser(kernel: Kernel, target: string, diagnostics: Diagnostics): (value: Value, what: string) => void {
  return (value, what) => {
    const span = kernel.locs[value];
    diagnostics.report('CM2091', { what, target }, span ? { span } : {});
  };
}

/** Changes every f64 of a kernel to i64, in memory as well. */
export function retype(kernel: Kernel): void {
  for (const inst of kernel.insts) if (isDouble(inst.type)) inst.type = asBits(inst.type);
  for (const described of [...kernel.params, ...kernel.variables]) if (described.element === 'f64') described.element = 'i64';
}

const moves = (kernel: Kernel, value: Value): boolean => treatmentOf(kernel.insts[value]!.op) === 'moves';

/**
 * Appends the computation of a value's bits. The value itself becomes a copy, so that its uses stay unchanged. Most are calls, for which the operations are
 * not asked for.
 */
export function expand(
  kernel: Kernel,
  ops: () => IntegerOps,
  value: Value,
  functions: Map<string, PureFunction>,
  refuse: (what: string) => void,
): void {
  const inst = kernel.insts[value]!;
  const expansion = treatmentOf(inst.op);
  if (typeof expansion !== 'object') return refuse(inst.op === 'atomic' ? `atomic ${inst.rmw}` : inst.op);
  const types = operandsOf(inst).map((operand) => kernel.insts[operand]!.type);
  if (!expansion.isInline(inst as never) && !types.includes('i1')) {
    kernel.insts[value] = callHelper(inst, types, expansion, functions);
    return;
  }
  const w = ops();
  w.b.loc = kernel.locs[value];
  const a = expansion.expand(w, inst as never);
  kernel.insts[value] = { op: 'bitcast', type: w.b.typeOf(a), a };
}

/** Replaces an instruction by a call of its helper function. */
export function callHelper(inst: Inst, types: readonly Type[], expansion: Expansion, functions: Map<string, PureFunction>): Inst {
  const { name, fn } = functionOf(inst, types, expansion);
  functions.set(name, fn);
  const [a, b, c] = operandsOf(inst);
  const call = { type: inst.type, fn: name, a: a! };
  if (c !== undefined) return { ...call, op: 'call3', b: b!, c };
  return b === undefined ? { ...call, op: 'call1' } : { ...call, op: 'call2', b };
}

/** The source locations of f64 computations, one per instruction, in order. */
export function computedDoubles(kernel: Kernel): Span[] {
  const found = new Map<number, Span>();
  for (const { body } of kernel.blocks)
    for (const value of body) {
      const [inst, span] = [kernel.insts[value]!, kernel.locs[value]];
      if (span && computes(inst.op) && touchesDoubles(kernel, inst)) found.set(span.start, span);
    }
  return [...found.values()].sort((a, b) => a.start - b.start);
}
