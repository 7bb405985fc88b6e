/**
 * What goes round a loop in an order of its lanes that the loop undoes: a parameter that each turn shuffles, and that is handed on
 * shuffled back, goes round as the turn wants it. It is shuffled before the loop, and back behind it. That is what sums of tiles of
 * matrices are. Where threads of a warp may part nothing is changed: those that take part in a shuffle would not be the same.
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

/** Where a value is used: by an instruction, or brought along an edge or asked for a way (`args` is then the edge's list, or nothing). */
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
  /** By value: what it is in each lane, where it follows from the lane alone. */
  readonly lanes: Map<Value, readonly bigint[] | undefined>;
}

interface Ways {
  readonly header: Block;
  readonly inside: ReadonlySet<number>;
  readonly entering: readonly { readonly from: Block; readonly edge: Edge }[];
  readonly back: readonly { readonly from: Block; readonly edge: Edge }[];
  readonly leaving: readonly { readonly from: Block; readonly edge: Edge }[];
  /** The block that the one way out goes through, made when it is wanted. */
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
  const ways = waysOf(kernel, loop);
  const around: Around = {
    kernel,
    uniformity: uniformityOf(kernel),
    home: definingBlocks(kernel),
    uses: usesOf(kernel),
    replaced: substitution(),
    lanes: new Map(),
  };
  if (![ways.header, ...[...ways.entering, ...ways.back].map(({ from }) => from)].every((block) => isTogether(around, block))) return false;
  const carried = ways.header.params.filter((_, index) => carry(around, ways, index));
  if (carried.length > 0) for (const block of kernel.blocks) block.body = block.body.filter((value) => !around.replaced.has(value));
  substitute(kernel, around.replaced);
  return carried.length > 0;
}

const isTogether = ({ uniformity }: Around, { id }: Block): boolean => uniformity.divergence[id]! < 2;

function waysOf(kernel: Kernel, { header, blocks }: Loop): Ways {
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

/** Whether a use is in the loop; what an edge out of it brings is not. */
const isInside = ({ inside }: Ways, { block, to }: Use): boolean => inside.has(block.id) && (to === undefined || inside.has(to.id));

/** What a parameter's turn makes of it: the shuffles of it, and by edge back what is brought and the shuffle that brings it. */
interface Turn {
  readonly asked: readonly Value[];
  readonly back: readonly Shuffle[];
  /** What uses the parameter, and what is brought, outside of the loop. */
  readonly outside: readonly { readonly of: Value; readonly use: Use }[];
}

function carry(around: Around, ways: Ways, index: number): boolean {
  const { kernel, replaced } = around;
  const param = ways.header.params[index]!;
  const turn = turnOf(around, ways, index);
  if (!turn) return false;
  const asked = kernel.insts[turn.asked[0]!] as Shuffle;
  const carried = addBlockParam(kernel, ways.header, kernel.insts[param]!.type);
  for (const { from, edge } of ways.entering)
    edge.args.push(builder(kernel, from).shuffle(edge.args[index]!, laneIn(kernel, from, asked.b, kernel.locs[turn.asked[0]!])));
  for (const [i, { edge }] of ways.back.entries()) edge.args.push(turn.back[i]!.a);
  for (const value of turn.asked) replaced.replace(value, carried);
  moveOut(around, ways, turn, { param, carried });
  return true;
}

function turnOf(around: Around, ways: Ways, index: number): Turn | undefined {
  const { kernel, uses } = around;
  const param = ways.header.params[index]!;
  const brought = ways.back.map(({ edge }) => edge.args[index]!);
  const back = brought.map((value) => (ways.inside.has(around.home[value]!) ? shuffleOf(around, value) : undefined));
  const inLoop = (uses.get(param) ?? []).filter((use) => isInside(ways, use));
  const asked = inLoop.map(({ user }) => user);
  if (asked.length === 0 || !asked.every((user): user is Value => user !== undefined && kernel.insts[user]!.op === 'shuffle'))
    return undefined;
  if (!back.every((shuffle): shuffle is Shuffle => shuffle !== undefined && isInverse(around, param, asked, shuffle))) return undefined;
  const isHandedOn = ({ to, index: at }: Use): boolean => to === ways.header && at === index;
  const known = new Set(brought);
  if ([...known].some((value) => uses.get(value)!.some((use) => isInside(ways, use) && !isHandedOn(use)))) return undefined;
  const outside = [param, ...known].flatMap((of) => (uses.get(of) ?? []).filter((use) => !isInside(ways, use)).map((use) => ({ of, use })));
  return outside.length === 0 || hasOneWayOut(around, ways, outside) ? { asked, back, outside } : undefined;
}

/** A shuffle that all threads of the warp come to together. */
function shuffleOf(around: Around, value: Value): Shuffle | undefined {
  const inst = around.kernel.insts[value]!;
  return inst.op === 'shuffle' && isTogether(around, around.kernel.blocks[around.home[value]!]!) ? inst : undefined;
}

/** Whether each of the shuffles of the parameter undoes the shuffle by which it was brought. */
function isInverse(around: Around, param: Value, asked: readonly Value[], brought: Shuffle): boolean {
  const told = lanesOf(around, brought.b);
  return asked.every((value) => {
    const shuffle = shuffleOf(around, value);
    const lanes = shuffle?.a === param && shuffle.b !== param ? lanesOf(around, shuffle.b) : undefined;
    return lanes?.every((lane, own) => lane < 32n && told?.[Number(lane)] === BigInt(own)) ?? false;
  });
}

/** Whether all threads leave the loop together, by one way; then what is used behind it can be made on that way. */
function hasOneWayOut(around: Around, { leaving }: Ways, outside: Turn['outside']): boolean {
  const [way] = leaving;
  if (leaving.length !== 1 || !isTogether(around, way!.from) || around.uniformity.branch[way!.from.id]! >= 2) return false;
  return outside.every(({ use }) => use.user !== undefined || use.args !== undefined);
}

/** What the lane of a shuffle is in each lane, where that is known. */
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

/** A value that follows from the lane alone, made anew at the end of a block. */
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

/** Makes on the way out what is used behind the loop. */
function moveOut({ kernel }: Around, ways: Ways, { back, outside }: Turn, { param, carried }: { param: Value; carried: Value }): void {
  const made = new Map<Value, Value>();
  for (const { of, use } of outside) {
    const landing = landingOf(kernel, ways);
    const shuffle = of === param ? { ...back[0]!, a: carried } : (kernel.insts[of] as Shuffle);
    const value = made.get(of) ?? builder(kernel, landing).shuffle(shuffle.a, laneIn(kernel, landing, shuffle.b, kernel.locs[of]));
    made.set(of, value);
    if (use.args) use.args[use.index!] = value;
    else mapOperands(kernel.insts[use.user!]!, (operand) => (operand === of ? value : operand));
  }
}

function landingOf(kernel: Kernel, ways: Ways): Block {
  if (ways.landing) return ways.landing;
  const { edge } = ways.leaving[0]!;
  const landing = addBlock(kernel);
  landing.end = { op: 'br', to: { block: edge.block, args: edge.args } };
  edge.block = landing;
  edge.args = [];
  ways.landing = landing;
  return landing;
}
