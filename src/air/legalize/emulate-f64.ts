/**
 * `--fp64=emulate`: on targets without double precision, sums, products, quotients and roots of doubles are computed with pairs of
 * floats (`pairs/`), off by 4 to 6 u^2 where u^2 is 2^-48; all else is done on the bits of doubles, exactly (`soft-f64.ts`).
 *
 * Memory, parameters and what only moves hold the bits of IEEE 754. A value becomes a pair where it is first computed with, and
 * bits where a result leaves the pairs; both once, where the value is made.
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
import { fateOf } from './f64/expansions.ts';
import { compared } from './pairs/compare.ts';
import { ofBits, ofFloat, ofInteger, toBits } from './pairs/convert.ts';
import { computesPair, type Forms, formsOf, isPairConstant } from './pairs/forms.ts';
import { type Pair, type Tools, tools } from './pairs/pair.ts';
import { pairRowOf } from './pairs/table.ts';
import { called, expand, hasDoubles, refuser, retype, touchesDoubles } from './soft-f64.ts';

/** What there is of a value of f64: it is made as one of pair and bits, and the others are made of that where they are asked for. */
interface Known {
  readonly isPair: boolean;
  pair?: Pair;
  bits?: Value;
  /** What the bits of the pair lack. */
  rest?: Value | undefined;
}

interface State {
  readonly kernel: Kernel;
  readonly forms: Forms;
  readonly known: Map<Value, Known>;
  /** The conversions that make doubles. */
  readonly origins: ReadonlyMap<Value, Inst>;
  /** Where each value of f64 is made. */
  readonly homes: ReadonlyMap<Value, Block>;
  readonly at: ReadonlyMap<Block, Tools>;
  readonly functions: Map<string, PureFunction>;
  readonly refuse: (value: Value, what: string) => void;
}

/** Rewrites a kernel in place, and says whether there were doubles; CM2091 for each instruction that stays without a form. */
export function emulateF64(kernel: Kernel, target: string, diagnostics: Diagnostics): boolean {
  if (!hasDoubles(kernel)) return false;
  const forms = formsOf(kernel);
  const state: State = {
    kernel,
    forms,
    known: new Map(),
    origins: originsOf(kernel),
    homes: homesOf(kernel),
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
 * Makes what has to stay exact calls of the functions that are: of the instructions at places where `isExact` holds, say those that
 * round in a direction, which are composed of operations that round to nearest; and of what stands at none. Before passes merge them
 * with others. Returns whether there were any.
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
  const expansion = fateOf(inst.op);
  if (typeof expansion !== 'object') return bug(`${inst.op} has no exact form`);
  return called(
    inst,
    operandsOf(inst).map((operand) => kernel.insts[operand]!.type),
    expansion,
    functions,
  );
}

function homesOf(kernel: Kernel): Map<Value, Block> {
  const homes = new Map<Value, Block>();
  for (const block of kernel.blocks)
    for (const value of [...block.params, ...block.body]) if (kernel.insts[value]!.type === 'f64') homes.set(value, block);
  return homes;
}

function originsOf(kernel: Kernel): Map<Value, Inst> {
  const origins = new Map<Value, Inst>();
  for (const { body } of kernel.blocks)
    for (const value of body) {
      const inst = kernel.insts[value]!;
      if (inst.type === 'f64' && (inst.op === 'fpext' || inst.op === 'sitofp' || inst.op === 'uitofp')) origins.set(value, { ...inst });
    }
  return origins;
}

/** What is done with an instruction that has doubles: as long as types say which those are. */
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
  return fateOf(inst.op) === 'moves' ? 'move' : 'bits';
}

/** Whether two values are to be compared as pairs: one is computed, and nothing is lost of the other. */
function isExactAsPairs(kernel: Kernel, forms: Forms, a: Value, b: Value): boolean {
  const isWhole = (value: Value): boolean => forms.isPair(value) && !forms.hasRest(value);
  const isExact = (value: Value): boolean => isWhole(value) || isPairConstant(kernel.insts[value]!);
  return (isWhole(a) || isWhole(b)) && isExact(a) && isExact(b);
}

/** Appends what becomes of an instruction; what is no pair keeps its number, so that its uses stay as they are. */
function rewrite(state: State, block: Block, value: Value, plan: Plan | undefined): void {
  const { kernel, homes, functions, refuse } = state;
  const t = state.at.get(block)!;
  const inst = kernel.insts[value]!;
  t.b.loc = kernel.locs[value];
  if (plan === 'pair') return void state.known.set(value, { isPair: true, ...computed(state, block, value, inst) });
  if (plan === 'compare' && inst.op === 'fcmp') {
    const a = compared(t, pairOf(state, block, inst.a), pairOf(state, block, inst.b), inst.pred);
    kernel.insts[value] = { op: 'bitcast', type: 'i1', a };
  } else if (plan !== undefined) {
    mapOperands(inst, (operand) => (homes.has(operand) ? bitsOf(state, block, operand) : operand));
    if (plan === 'bits') expand(t.wide, value, functions, (what) => refuse(value, what));
  }
  t.b.block.body.push(value);
}

/** The pair that an instruction makes. */
function computed(state: State, block: Block, value: Value, inst: Inst): Pick<Known, 'pair' | 'rest'> {
  const t = state.at.get(block)!;
  const hasRest = state.forms.hasRest(value);
  if (inst.op === 'select') {
    const either = (a: Value, b: Value): Value => t.b.select(inst.cond, a, b);
    const [x, y] = [pairOf(state, block, inst.a), pairOf(state, block, inst.b)];
    const rest = hasRest ? either(restOf(state, block, inst.a), restOf(state, block, inst.b)) : undefined;
    return { pair: { high: either(x.high, y.high), low: either(x.low, y.low), power: either(x.power, y.power) }, rest };
  }
  const row = pairRowOf(inst.op) ?? bug(`${inst.op} makes no pair`);
  const operands = operandsOf(inst);
  const pair = row.expand(t, ...operands.map((operand) => pairOf(state, block, operand)));
  return { pair, rest: hasRest ? restOf(state, block, operands[0]!) : undefined };
}

/** The parts of a block's parameter in its place. */
function splitParam({ kernel, forms, known }: State, param: Value): Value[] {
  if (!forms.isPair(param)) return [param];
  const part = (type: Type): Value => addInst(kernel, { op: 'arg', type }, kernel.locs[param]);
  const pair: Pair = { high: part('f32'), low: part('f32'), power: part('i32') };
  const rest = forms.hasRest(param) ? part('i64') : undefined;
  known.set(param, { isPair: true, pair, rest });
  return [pair.high, pair.low, pair.power, ...(rest === undefined ? [] : [rest])];
}

/** What is handed over for a block's parameter. */
function splitArgument(state: State, block: Block, arg: Value, param: Value): Value[] {
  if (!state.homes.has(param)) return [arg];
  if (!state.forms.isPair(param)) return [bitsOf(state, block, arg)];
  const { high, low, power } = pairOf(state, block, arg);
  return [high, low, power, ...(state.forms.hasRest(param) ? [restOf(state, block, arg)] : [])];
}

/** Where something is made of a value: where one stands, or at the end of the block that makes the value. */
const toolsFor = ({ at, homes }: State, block: Block, value: Value): Tools => at.get(homes.get(value) ?? block)!;

function pairOf(state: State, block: Block, value: Value): Pair {
  const known = knownOf(state, value);
  known.pair ??= made(toolsFor(state, block, value), value, state.origins.get(value));
  return known.pair;
}

/** The pair of bits; of what is a float or an integer of 32 bits by that, which is shorter. */
function made(t: Tools, value: Value, origin: Inst | undefined): Pair {
  const isShort = (a: Value): boolean => bitsOfType(t.b.typeOf(a)) <= 32;
  if (origin?.op === 'fpext' && t.b.typeOf(origin.a) === 'f32') return ofFloat(t, origin.a);
  if ((origin?.op === 'sitofp' || origin?.op === 'uitofp') && isShort(origin.a)) return ofInteger(t, origin.a, origin.op === 'sitofp');
  return ofBits(t, value);
}

function bitsOf(state: State, block: Block, value: Value): Value {
  const known = knownOf(state, value);
  if (!known.isPair) return value;
  if (known.bits !== undefined) return known.bits;
  const t = toolsFor(state, block, value);
  const bits = toBits(t, pairOf(state, block, value));
  known.bits = known.rest === undefined ? bits : t.wide.add(bits, known.rest);
  return known.bits;
}

function restOf(state: State, block: Block, value: Value): Value {
  const known = knownOf(state, value);
  const t = toolsFor(state, block, value);
  known.rest ??= known.isPair ? t.wide.word(0n) : t.wide.sub(value, toBits(t, pairOf(state, block, value)));
  return known.rest;
}

function knownOf({ known }: State, value: Value): Known {
  const found = known.get(value) ?? { isPair: false };
  known.set(value, found);
  return found;
}

/** Where in the source a kernel that still holds its doubles computes with what will be pairs: one place for each instruction, in order. */
export function emulatedDoubles(kernel: Kernel): Span[] {
  const found = new Map<number, Span>();
  for (const { body } of kernel.blocks)
    for (const value of body) {
      const span = kernel.locs[value];
      if (span && computesPair(kernel, kernel.insts[value]!)) found.set(span.start, span);
    }
  return [...found.values()].sort((a, b) => a.start - b.start);
}
