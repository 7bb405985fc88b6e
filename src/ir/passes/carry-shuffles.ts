/**
 * Shuffles that a loop undoes: a parameter that each iteration shuffles, and passes on shuffled back, is carried in the order of lanes that
 * the iteration uses. It is shuffled before the loop, and back after it. Sums of tiles of matrices have this form. Nothing is changed where
 * threads of a warp may diverge, since other threads would take part in the shuffles.
 */
import { addTo } from '../../base/group.ts';
import { cfgOf } from '../analysis/cfg.ts';
import { dominatorsOf } from '../analysis/dominators.ts';
import { definingBlocks } from '../analysis/liveness.ts';
import { type Loop, loopsOf } from '../analysis/loops.ts';
import { type Uniformity, uniformityOf } from '../analysis/uniformity.ts';
import { addBlock, addBlockParam, addInst, builder } from '../build.ts';
import { evalOp, isEvaluableInst } from '../eval.ts';
import { type Block, type Edge, edgesOf, type InstOf, type Kernel, type Value } from '../kernel.ts';
import { eachOperand, mapOperands, operandsOf } from '../operands.ts';
import { type Substitution, substitute, substitution } from './substitution.ts';

/** A use of a value: by an instruction, as an argument of an edge (`args` is then the edge's list), or as the condition of a branch. */
interface Use {
  readonly block: Block;
  readonly user?: Value;
  readonly args?: Value[];
  readonly to?: Block;
  readonly index?: number;
}

interface Around {
  readonly kernel: Kernel;
  readonly uniformity: Uniformity;
  readonly home: Int32Array;
  readonly uses: ReadonlyMap<Value, readonly Use[]>;
  readonly replaced: Substitution;
  /** By value: its bits in each lane, where they follow from the lane number alone. */
  readonly lanes: Map<Value, readonly bigint[] | undefined>;
}

interface LoopEdges {
  readonly header: Block;
  readonly inside: ReadonlySet<number>;
  readonly entering: readonly { readonly from: Block; readonly edge: Edge }[];
  readonly back: readonly { readonly from: Block; readonly edge: Edge }[];
  readonly leaving: readonly { readonly from: Block; readonly edge: Edge }[];
  /** The block on the one exit of the loop, made on demand. */
  landing?: Block;
}

type Shuffle = InstOf<'shuffle'>;

/** Changes loops in place; true where one was changed. */
export function carryShuffles(kernel: Kernel): boolean {
  let changed = false;
  const loopsNow = (): readonly Loop[] => {
    const cfg = cfgOf(kernel);
    return loopsOf(cfg, dominatorsOf(cfg)).loops;
  };
  for (let index = loopsNow().length - 1; index >= 0; index--) changed = carryThrough(kernel, loopsNow()[index]!) || changed;
  return changed;
}

function carryThrough(kernel: Kernel, loop: Loop): boolean {
  const edges = loopEdgesOf(kernel, loop);
  const around: Around = {
    kernel,
    uniformity: uniformityOf(kernel),
    home: definingBlocks(kernel),
    uses: usesOf(kernel),
    replaced: substitution(),
    lanes: new Map(),
  };
  if (![edges.header, ...[...edges.entering, ...edges.back].map(({ from }) => from)].every((block) => isConvergent(around, block)))
    return false;
  const carried = edges.header.params.filter((_, index) => carry(around, edges, index));
  if (carried.length > 0) for (const block of kernel.blocks) block.body = block.body.filter((value) => !around.replaced.has(value));
  substitute(kernel, around.replaced);
  return carried.length > 0;
}

const isConvergent = ({ uniformity }: Around, { id }: Block): boolean => uniformity.divergence[id]! < 2;

function loopEdgesOf(kernel: Kernel, { header, blocks }: Loop): LoopEdges {
  const inside = new Set(blocks);
  const all = kernel.blocks.flatMap((from) => edgesOf(from.end).map((edge) => ({ from, edge })));
  const into = all.filter(({ edge }) => edge.block.id === header);
  return {
    header: kernel.blocks[header]!,
    inside,
    entering: into.filter(({ from }) => !inside.has(from.id)),
    back: into.filter(({ from }) => inside.has(from.id)),
    leaving: all.filter(({ from, edge }) => inside.has(from.id) && !inside.has(edge.block.id)),
  };
}

function usesOf(kernel: Kernel): Map<Value, Use[]> {
  const uses = new Map<Value, Use[]>();
  const add = (value: Value, use: Use): void => addTo(uses, value, use);
  for (const block of kernel.blocks) {
    for (const user of block.body) eachOperand(kernel.insts[user]!, (operand) => add(operand, { block, user }));
    for (const { block: to, args } of edgesOf(block.end)) args.forEach((arg, index) => void add(arg, { block, args, to, index }));
    if (block.end.op === 'condbr') add(block.end.cond, { block });
  }
  return uses;
}

/** Whether a use is in the loop; an argument of an edge out of it is not. */
const isInside = ({ inside }: LoopEdges, { block, to }: Use): boolean => inside.has(block.id) && (to === undefined || inside.has(to.id));

/** The iteration of a parameter: the shuffles of it, and by back edge the shuffle whose result is passed for it. */
interface Iteration {
  readonly asked: readonly Value[];
  readonly back: readonly Shuffle[];
  /** The uses outside of the loop of the parameter and of what back edges pass for it. */
  readonly outside: readonly { readonly of: Value; readonly use: Use }[];
}

function carry(around: Around, edges: LoopEdges, index: number): boolean {
  const { kernel, replaced } = around;
  const param = edges.header.params[index]!;
  const iteration = iterationOf(around, edges, index);
  if (!iteration) return false;
  const asked = kernel.insts[iteration.asked[0]!] as Shuffle;
  const carried = addBlockParam(kernel, edges.header, kernel.insts[param]!.type);
  for (const { from, edge } of edges.entering)
    edge.args.push(builder(kernel, from).shuffle(edge.args[index]!, laneIn(kernel, from, asked.b, kernel.locs[iteration.asked[0]!])));
  for (const [i, { edge }] of edges.back.entries()) edge.args.push(iteration.back[i]!.a);
  for (const value of iteration.asked) replaced.replace(value, carried);
  moveOut(around, edges, iteration, { param, carried });
  return true;
}

function iterationOf(around: Around, edges: LoopEdges, index: number): Iteration | undefined {
  const { kernel, uses } = around;
  const param = edges.header.params[index]!;
  const passed = edges.back.map(({ edge }) => edge.args[index]!);
  const back = passed.map((value) => (edges.inside.has(around.home[value]!) ? shuffleOf(around, value) : undefined));
  const inLoop = (uses.get(param) ?? []).filter((use) => isInside(edges, use));
  const asked = inLoop.map(({ user }) => user);
  if (asked.length === 0 || !asked.every((user): user is Value => user !== undefined && kernel.insts[user]!.op === 'shuffle'))
    return undefined;
  if (!back.every((shuffle): shuffle is Shuffle => shuffle !== undefined && isInverse(around, param, asked, shuffle))) return undefined;
  const isHandedOn = ({ to, index: at }: Use): boolean => to === edges.header && at === index;
  const known = new Set(passed);
  if ([...known].some((value) => uses.get(value)!.some((use) => isInside(edges, use) && !isHandedOn(use)))) return undefined;
  const outside = [param, ...known].flatMap((of) =>
    (uses.get(of) ?? []).filter((use) => !isInside(edges, use)).map((use) => ({ of, use })),
  );
  return outside.length === 0 || hasOneExit(around, edges, outside) ? { asked, back, outside } : undefined;
}

/** A shuffle in which all threads of the warp take part. */
function shuffleOf(around: Around, value: Value): Shuffle | undefined {
  const inst = around.kernel.insts[value]!;
  return inst.op === 'shuffle' && isConvergent(around, around.kernel.blocks[around.home[value]!]!) ? inst : undefined;
}

/** Whether each of the shuffles of the parameter undoes the shuffle that a back edge passes. */
function isInverse(around: Around, param: Value, asked: readonly Value[], passed: Shuffle): boolean {
  const given = lanesOf(around, passed.b);
  return asked.every((value) => {
    const shuffle = shuffleOf(around, value);
    const lanes = shuffle?.a === param && shuffle.b !== param ? lanesOf(around, shuffle.b) : undefined;
    return lanes?.every((lane, own) => lane < 32n && given?.[Number(lane)] === BigInt(own)) ?? false;
  });
}

/** Whether all threads leave the loop together by one exit; values that are used after it can then be made on that exit. */
function hasOneExit(around: Around, { leaving }: LoopEdges, outside: Iteration['outside']): boolean {
  const [way] = leaving;
  if (leaving.length !== 1 || !isConvergent(around, way!.from) || around.uniformity.branch[way!.from.id]! >= 2) return false;
  return outside.every(({ use }) => use.user !== undefined || use.args !== undefined);
}

/** The lane operand of a shuffle in each lane, where that is known. */
function lanesOf(around: Around, value: Value): readonly bigint[] | undefined {
  const { kernel, lanes } = around;
  if (lanes.has(value)) return lanes.get(value);
  const inst = kernel.insts[value]!;
  let found: readonly bigint[] | undefined;
  if (inst.op === 'sreg' && inst.name === 'laneid') found = Array.from({ length: 32 }, (_, lane) => BigInt(lane));
  else if (isEvaluableInst(inst)) {
    const operands = operandsOf(inst);
    const known = operands.map((operand) => lanesOf(around, operand));
    const types = operands.map((operand) => kernel.insts[operand]!.type);
    if (known.every((each): each is readonly bigint[] => each !== undefined))
      found = Array.from({ length: 32 }, (_, lane) =>
        evalOp(
          inst,
          known.map((each) => each[lane]!),
          types,
        ),
      );
  }
  lanes.set(value, found);
  return found;
}

/** A copy, at the end of a block, of a value that follows from the lane number alone. */
function laneIn(kernel: Kernel, block: Block, value: Value, loc: Kernel['locs'][number]): Value {
  const made = new Map<Value, Value>();
  const make = (from: Value): Value => {
    const known = made.get(from);
    if (known !== undefined) return known;
    const inst = { ...kernel.insts[from]! };
    mapOperands(inst, make);
    const copy = addInst(kernel, inst, loc);
    block.body.push(copy);
    made.set(from, copy);
    return copy;
  };
  return make(value);
}

/** Makes on the exit the values that are used after the loop. */
function moveOut(
  { kernel }: Around,
  edges: LoopEdges,
  { back, outside }: Iteration,
  { param, carried }: { param: Value; carried: Value },
): void {
  const made = new Map<Value, Value>();
  for (const { of, use } of outside) {
    const landing = landingOf(kernel, edges);
    const shuffle = of === param ? { ...back[0]!, a: carried } : (kernel.insts[of] as Shuffle);
    const value = made.get(of) ?? builder(kernel, landing).shuffle(shuffle.a, laneIn(kernel, landing, shuffle.b, kernel.locs[of]));
    made.set(of, value);
    if (use.args) use.args[use.index!] = value;
    else mapOperands(kernel.insts[use.user!]!, (operand) => (operand === of ? value : operand));
  }
}

function landingOf(kernel: Kernel, edges: LoopEdges): Block {
  if (edges.landing) return edges.landing;
  const { edge } = edges.leaving[0]!;
  const landing = addBlock(kernel);
  landing.end = { op: 'br', to: { block: edge.block, args: edge.args } };
  edge.block = landing;
  edge.args = [];
  edges.landing = landing;
  return landing;
}
