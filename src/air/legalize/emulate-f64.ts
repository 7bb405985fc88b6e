/**
 * `--fp64=emulate`: on targets without f64, sums, products, quotients and roots are computed with pairs of floats (`pairs/`), with an error
 * of 4 to 6 u^2, where u^2 is 2^-48. Other operations work on the bits of f64 values, exactly (`soft-f64.ts`).
 * Memory, parameters and moves hold IEEE 754 bits. A value is converted to a pair at its first computation, and to bits where a result
 * leaves the pairs; each conversion happens once, at the value's definition.
 */
import { bug } from '../../base/bug.ts';
import type { Diagnostics } from '../../base/diagnostic.ts';
import type { Span } from '../../base/source.ts';
import {
  addInst,
  type Block,
  bitsOf as bitsOfType,
  builder,
  cfgOf,
  edgesOf,
  type Inst,
  type Kernel,
  mapOperands,
  operandsOf,
  type PureFunction,
  type Type,
  type Value,
} from '../../ir/index.ts';
import { treatmentOf } from './f64/expansions.ts';
import { compared } from './pairs/compare.ts';
import { ofBits, ofFloat, ofInteger, toBits } from './pairs/convert.ts';
import { computesPair, type Forms, formsOf, isPairConstant } from './pairs/forms.ts';
import { type Pair, type Tools, tools } from './pairs/pair.ts';
import { pairRowOf } from './pairs/table.ts';
import { callHelper, expand, hasDoubles, refuser, retype, touchesDoubles } from './soft-f64.ts';

/** The representations of an f64 value: it is defined as pair or bits, and the other form is created on demand. */
interface Representations {
  readonly isPair: boolean;
  pair?: Pair;
  bits?: Value;
  /** The residual: the exact value minus the pair. */
  rest?: Value | undefined;
}

interface State {
  readonly kernel: Kernel;
  readonly forms: Forms;
  readonly known: Map<Value, Representations>;
  /** The instructions before they are rewritten, by value. */
  readonly origins: readonly Inst[];
  /** The defining block of each f64 value. */
  readonly homes: ReadonlyMap<Value, Block>;
  readonly at: ReadonlyMap<Block, Tools>;
  readonly functions: Map<string, PureFunction>;
  readonly refuse: (value: Value, what: string) => void;
}

/** Rewrites a kernel in place. Returns whether there were f64 values. Reports CM2091 for each instruction without a replacement. */
export function emulateF64(kernel: Kernel, target: string, diagnostics: Diagnostics): boolean {
  if (!hasDoubles(kernel)) return false;
  const forms = formsOf(kernel);
  const state: State = {
    kernel,
    forms,
    known: new Map(),
    origins: kernel.insts.map((inst) => ({ ...inst })),
    homes: definingBlocksOf(kernel),
    at: new Map(kernel.blocks.map((block) => [block, tools(builder(kernel, { ...block, body: [] }))])),
    functions: new Map(kernel.functions),
    refuse: refuser(kernel, target, diagnostics),
  };
  kernel.functions = state.functions;
  const plans = planned(state);
  retype(kernel);
  const edges = kernel.blocks.map((block) => edgesOf(block.end).map(({ args, block: to }) => ({ args, params: to.params })));
  for (const block of kernel.blocks) block.params = block.params.flatMap((param) => splitParam(state, param));
  for (const id of cfgOf(kernel).order) {
    const block = kernel.blocks[id]!;
    for (const value of block.body) rewrite(state, block, value, plans.get(value));
  }
  for (const [id, block] of kernel.blocks.entries())
    for (const [i, edge] of edgesOf(block.end).entries()) {
      const { args, params } = edges[id]![i]!;
      edge.args = args.flatMap((arg, n) => splitArgument(state, block, arg, params[n]!));
    }
  for (const block of kernel.blocks) block.body = state.at.get(block)!.b.block.body;
  return true;
}

/**
 * Turns instructions that must stay exact into calls of the exact functions: the instructions with a source location for which `isExact`
 * holds, such as directed rounding, which is composed of operations that round to nearest; and instructions without a location. It runs
 * before passes merge instructions. Returns whether there were any.
 */
export function keepExactDoubles(kernel: Kernel, isExact: (span: Span) => boolean): boolean {
  const functions = new Map(kernel.functions);
  for (const block of kernel.blocks) {
    const b = builder(kernel, { ...block, body: [] });
    for (const value of block.body) {
      const [inst, span] = [kernel.insts[value]!, kernel.locs[value]];
      if (inst.type === 'f64' && pairRowOf(inst.op)?.kind === 'computes' && (!span || isExact(span))) {
        b.loc = span;
        mapOperands(inst, (operand) => b.bitcast('i64', operand));
        const a = addInst(kernel, exactCall({ ...inst, type: 'i64' }, kernel, functions), span);
        b.block.body.push(a);
        kernel.insts[value] = { op: 'bitcast', type: 'f64', a };
      }
      b.block.body.push(value);
    }
    block.body = b.block.body;
  }
  if (functions.size > 0) kernel.functions = functions;
  return functions.size > 0;
}

function exactCall(inst: Inst, kernel: Kernel, functions: Map<string, PureFunction>): Inst {
  const expansion = treatmentOf(inst.op);
  if (typeof expansion !== 'object') return bug(`${inst.op} has no exact form`);
  return callHelper(
    inst,
    operandsOf(inst).map((operand) => kernel.insts[operand]!.type),
    expansion,
    functions,
  );
}

function definingBlocksOf(kernel: Kernel): Map<Value, Block> {
  const definingBlocks = new Map<Value, Block>();
  for (const block of kernel.blocks)
    for (const value of [...block.params, ...block.body]) if (kernel.insts[value]!.type === 'f64') definingBlocks.set(value, block);
  return definingBlocks;
}

/** The treatment of an instruction with f64 operands, determined while types still show them. */
type Plan = 'pair' | 'compare' | 'bits' | 'move';

function planned({ kernel, forms }: State): Map<Value, Plan> {
  const plans = new Map<Value, Plan>();
  for (const { body } of kernel.blocks)
    for (const value of body) {
      const inst = kernel.insts[value]!;
      if (!touchesDoubles(kernel, inst)) continue;
      plans.set(value, planOf(kernel, forms, value, inst));
    }
  return plans;
}

function planOf(kernel: Kernel, forms: Forms, value: Value, inst: Inst): Plan {
  if (forms.isPair(value)) return 'pair';
  if (inst.op === 'fcmp' && isExactAsPairs(kernel, forms, inst.a, inst.b)) return 'compare';
  return treatmentOf(inst.op) === 'moves' ? 'move' : 'bits';
}

/** Whether two values are compared as pairs: one of them is computed, and the pair of the other one is exact. */
function isExactAsPairs(kernel: Kernel, forms: Forms, a: Value, b: Value): boolean {
  const isWhole = (value: Value): boolean => forms.isPair(value) && !forms.hasResidual(value);
  const isExact = (value: Value): boolean => isWhole(value) || isPairConstant(kernel.insts[value]!);
  return (isWhole(a) || isWhole(b)) && isExact(a) && isExact(b);
}

/** Appends the replacement of an instruction. A result that is not a pair keeps its number, so that its uses stay unchanged. */
function rewrite(state: State, block: Block, value: Value, plan: Plan | undefined): void {
  const { kernel, homes, functions, refuse } = state;
  const t = state.at.get(block)!;
  const inst = kernel.insts[value]!;
  t.b.loc = kernel.locs[value];
  if (plan === 'pair') return void state.known.set(value, { isPair: true, ...computePair(state, block, value, inst) });
  if (plan === 'compare' && inst.op === 'fcmp') {
    const a = compared(t, pairOf(state, block, inst.a), pairOf(state, block, inst.b), inst.pred);
    kernel.insts[value] = { op: 'bitcast', type: 'i1', a };
  } else if (plan !== undefined) {
    mapOperands(inst, (operand) => (homes.has(operand) ? bitsOf(state, block, operand) : operand));
    if (plan === 'bits')
      expand(
        kernel,
        () => t.wide,
        value,
        functions,
        (what) => refuse(value, what),
      );
  }
  t.b.block.body.push(value);
}

/** The pair that an instruction computes. */
function computePair(state: State, block: Block, value: Value, inst: Inst): Pick<Representations, 'pair' | 'rest'> {
  const t = state.at.get(block)!;
  const hasRest = state.forms.hasResidual(value);
  if (inst.op === 'select') {
    const either = (a: Value, b: Value): Value => t.b.select(inst.cond, a, b);
    const [x, y] = [pairOf(state, block, inst.a), pairOf(state, block, inst.b)];
    const rest = hasRest ? either(restOf(state, block, inst.a), restOf(state, block, inst.b)) : undefined;
    return { pair: { high: either(x.high, y.high), low: either(x.low, y.low), power: either(x.power, y.power) }, rest };
  }
  const row = pairRowOf(inst.op) ?? bug(`${inst.op} does not compute a pair`);
  const operands = operandsOf(inst);
  const pair = row.expand(t, ...operands.map((operand) => pairOf(state, block, operand)));
  return { pair, rest: hasRest ? restOf(state, block, operands[0]!) : undefined };
}

/** Replaces a block parameter by the parts of its pair. */
function splitParam({ kernel, forms, known }: State, param: Value): Value[] {
  if (!forms.isPair(param)) return [param];
  const part = (type: Type): Value => addInst(kernel, { op: 'arg', type }, kernel.locs[param]);
  const pair: Pair = { high: part('f32'), low: part('f32'), power: part('i32') };
  const rest = forms.hasResidual(param) ? part('i64') : undefined;
  known.set(param, { isPair: true, pair, rest });
  return [pair.high, pair.low, pair.power, ...(rest === undefined ? [] : [rest])];
}

/** The arguments for a split block parameter. */
function splitArgument(state: State, block: Block, arg: Value, param: Value): Value[] {
  if (!state.homes.has(param)) return [arg];
  if (!state.forms.isPair(param)) return [bitsOf(state, block, arg)];
  const { high, low, power } = pairOf(state, block, arg);
  return [high, low, power, ...(state.forms.hasResidual(param) ? [restOf(state, block, arg)] : [])];
}

/** Tools that append at a value's definition: at the current position, or at the end of the defining block. */
const toolsFor = ({ at, homes }: State, block: Block, value: Value): Tools => at.get(homes.get(value) ?? block)!;

function pairOf(state: State, block: Block, value: Value): Pair {
  const known = representationsOf(state, value);
  known.pair ??= convertToPair(toolsFor(state, block, value), value, state.origins[value]);
  return known.pair;
}

/** The pair of some bits. A value converted from f32 or a 32-bit integer uses that operand, which is shorter. */
function convertToPair(t: Tools, value: Value, origin: Inst | undefined): Pair {
  const isShort = (a: Value): boolean => bitsOfType(t.b.typeOf(a)) <= 32;
  if (origin?.op === 'fpext' && t.b.typeOf(origin.a) === 'f32') return ofFloat(t, origin.a);
  if ((origin?.op === 'sitofp' || origin?.op === 'uitofp') && isShort(origin.a)) return ofInteger(t, origin.a, origin.op === 'sitofp');
  return ofBits(t, value);
}

function bitsOf(state: State, block: Block, value: Value): Value {
  const known = representationsOf(state, value);
  if (!known.isPair) return value;
  if (known.bits !== undefined) return known.bits;
  const t = toolsFor(state, block, value);
  const bits = toBits(t, pairOf(state, block, value));
  known.bits = known.rest === undefined ? bits : t.wide.add(bits, known.rest);
  return known.bits;
}

function restOf(state: State, block: Block, value: Value): Value {
  const known = representationsOf(state, value);
  const t = toolsFor(state, block, value);
  known.rest ??= known.isPair ? t.wide.word(0n) : t.wide.sub(value, toBits(t, pairOf(state, block, value)));
  return known.rest;
}

function representationsOf({ known }: State, value: Value): Representations {
  const found = known.get(value) ?? { isPair: false };
  known.set(value, found);
  return found;
}

/** The source locations of computations that would use pairs, one per instruction, in order. The kernel must still have its f64 values. */
export function emulatedDoubles(kernel: Kernel): Span[] {
  const found = new Map<number, Span>();
  for (const { body } of kernel.blocks)
    for (const value of body) {
      const span = kernel.locs[value];
      if (span && computesPair(kernel, kernel.insts[value]!)) found.set(span.start, span);
    }
  return [...found.values()].sort((a, b) => a.start - b.start);
}
