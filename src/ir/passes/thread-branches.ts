/**
 * Jump threading, of two branches of which the second has the condition of the first, or its inverse. Code with a predicate for each instruction, as
 * for copies and loads past the end of a matrix, has one branch for all then.
 *
 * On one side of the first branch, the second is decided. Where both sides of the first come together is the second, what follows the first leads
 * straight to what the second chooses; instructions in front of the second, which are computed either way, move before the first.
 * Source: Muchnick, "Advanced Compiler Design and Implementation" (1997), 18.5, branch-to-branch optimizations; LLVM's JumpThreading.
 */
import { addTo } from '../../base/group.ts';
import { type Cfg, cfgOf } from '../analysis/cfg.ts';
import { type DominatorTree, dominatorsOf } from '../analysis/dominators.ts';
import { addBlockParam } from '../build.ts';
import { type Block, constantOf, type Edge, edgesOf, type Kernel, typeOf, type Value } from '../kernel.ts';
import { eachOperand, mapBlock, terminatorOperands } from '../operands.ts';
import { cleanupCfg } from './cleanup-cfg.ts';
import { type Substitution, substitute, substitution } from './substitution.ts';
import { invertComparison } from './symmetry.ts';
import { isSpeculatable } from './weight.ts';

/** Instructions that move before the first branch, at most: what they compute takes registers meanwhile. */
const maxMoved = 16;

/** Threads branches in place; true where there were any. */
export function threadBranches(kernel: Kernel): boolean {
  let graph = graphOf(kernel);
  let changed = graph !== undefined && decideBranches(kernel, graph);
  // Of branches in a row, every other one is threaded at a time.
  for (let isNew = changed; graph !== undefined && (isNew || threadOnce(kernel, graph)); isNew = false) {
    cleanupCfg(kernel);
    graph = graphOf(kernel);
    changed = true;
  }
  return changed;
}

interface Graph {
  readonly related: ReadonlySet<Block>;
  readonly cfg: Cfg;
  readonly dominators: DominatorTree;
}

/** The graph of a kernel; undefined for one without related branches. */
function graphOf(kernel: Kernel): Graph | undefined {
  const related = relatedBranches(kernel);
  if (related.size === 0) return undefined;
  const cfg = cfgOf(kernel);
  return { related, cfg, dominators: dominatorsOf(cfg) };
}

/** Branches whose conditions another one may be related to, which few kernels have. */
function relatedBranches({ insts, blocks }: Kernel): Set<Block> {
  const first = new Map<number, Block>();
  const related = new Set<Block>();
  for (const block of blocks) {
    if (block.end.op !== 'condbr') continue;
    let key: number = block.end.cond;
    let inst = insts[key]!;
    if (inst.op === 'xor') {
      key = inst.a;
      inst = insts[key]!;
    }
    // Comparisons of the same values may be inverse.
    if (inst.op === 'icmp' || inst.op === 'fcmp') key = -1 - inst.a - inst.b * insts.length;
    const before = first.get(key);
    if (before === undefined) first.set(key, block);
    else related.add(before).add(block);
  }
  return related;
}

// ── decided branches ──

/** Branches further up that are asked, at most. */
const farthest = 8;

/** Turns branches on one side of another one with the condition into jumps. */
function decideBranches(kernel: Kernel, { related, cfg, dominators: { parent } }: Graph): boolean {
  let changed = false;
  for (const id of cfg.order) {
    const block = kernel.blocks[id]!;
    const { end } = block;
    if (end.op !== 'condbr' || !related.has(block)) continue;
    let [from, asked] = [id, 0];
    for (let above = parent[id]!; above >= 0 && asked < farthest; [from, above] = [above, parent[above]!]) {
      const first = kernel.blocks[above]!.end;
      if (first.op !== 'condbr' || cfg.predecessors[from]!.length !== 1 || !related.has(kernel.blocks[above]!)) continue;
      asked++;
      const is = relation(kernel, first.cond, end.cond);
      if (is === undefined) continue;
      const isThen = first.then.block === kernel.blocks[from];
      block.end = { op: 'br', to: isThen === (is === 'same') ? end.then : end.else };
      changed = true;
      break;
    }
  }
  return changed;
}

interface State {
  readonly kernel: Kernel;
  readonly cfg: Cfg;
  /** The blocks outside of its own that use a block parameter. */
  readonly users: ReadonlyMap<Value, readonly Block[]>;
  readonly s: Substitution;
  /** Blocks of branches that were threaded, which are not as the graph has them. */
  readonly touched: Set<Block>;
}

/** Two branches: where both sides of the first one come together is the second. */
interface Pair {
  readonly first: Block;
  readonly second: Block;
  readonly sides: readonly Side[];
}

/** What follows one side of the first branch: the edge into the second, and the edge that the second takes from there. */
interface Side {
  readonly into: Edge;
  readonly from: Block;
  readonly out: Edge;
}

function threadOnce(kernel: Kernel, graph: Graph): boolean {
  const { cfg } = graph;
  const pairs = cfg.order.map((id) => pairAt(kernel, graph, kernel.blocks[id]!)).filter((pair) => pair !== undefined);
  if (pairs.length === 0) return false;
  const state: State = { kernel, cfg, users: usersOf(kernel, pairs), s: substitution(), touched: new Set() };
  let changed = false;
  for (const pair of pairs) changed = thread(state, pair) || changed;
  substitute(kernel, state.s);
  return changed;
}

// ── where it is possible ──

function pairAt(kernel: Kernel, { related, cfg, dominators }: Graph, second: Block): Pair | undefined {
  if (!related.has(second)) return undefined;
  const { predecessors } = cfg;
  const { parent, dominates } = dominators;
  const { end } = second;
  const from = predecessors[second.id]!;
  if (end.op !== 'condbr' || from.length !== 2 || second.body.length > maxMoved) return undefined;
  const first = kernel.blocks[parent[second.id]!];
  if (first?.end.op !== 'condbr' || first === second) return undefined;
  const is = relation(kernel, first.end.cond, end.cond);
  if (is === undefined || !second.body.every((value) => isComputedEitherWay(kernel, second, value))) return undefined;
  const outs = is === 'same' ? [end.then, end.else] : [end.else, end.then];
  const sides = edgesOf(first.end).map((edge, i): Side | undefined => {
    const own = predecessors[edge.block.id]!.length === 1;
    const id = edge.block === second ? first.id : own ? from.find((each) => dominates(edge.block.id, each)) : undefined;
    if (id === undefined) return undefined;
    const into = id === first.id ? edge : edgesOf(kernel.blocks[id]!.end).find(({ block }) => block === second)!;
    return { into, from: kernel.blocks[id]!, out: outs[i]! };
  });
  if (sides[0] === undefined || sides[1] === undefined || sides[0].from === sides[1].from) return undefined;
  return { first, second, sides: sides as Side[] };
}

/** How the second of two conditions follows from the first. */
function relation(kernel: Kernel, first: Value, second: Value): 'same' | 'inverse' | undefined {
  const { insts } = kernel;
  if (first === second) return 'same';
  const isNot = (a: Value, b: Value): boolean => {
    const inst = insts[a]!;
    return inst.op === 'xor' && inst.a === b && constantOf(kernel, inst.b) === 1n;
  };
  if (isNot(first, second) || isNot(second, first)) return 'inverse';
  const [a, b] = [invertComparison(insts[first]!), insts[second]!];
  if (a === undefined || (b.op !== 'icmp' && b.op !== 'fcmp') || a.op !== b.op) return undefined;
  return a.pred === b.pred && a.a === b.a && a.b === b.b ? 'inverse' : undefined;
}

function isComputedEitherWay({ insts }: Kernel, { params }: Block, value: Value): boolean {
  const inst = insts[value]!;
  if (!isSpeculatable(inst)) return false;
  let is = true;
  eachOperand(inst, (operand) => {
    if (params.includes(operand)) is = false;
  });
  return is;
}

/** The other blocks that use parameters of the second branches. */
function usersOf(kernel: Kernel, pairs: readonly Pair[]): Map<Value, Block[]> {
  const home = new Map<Value, Block>();
  for (const { second } of pairs) for (const param of second.params) home.set(param, second);
  const users = new Map<Value, Block[]>();
  if (home.size === 0) return users;
  for (const block of kernel.blocks) {
    const visit = (value: Value): void => {
      const of = home.get(value);
      if (of !== undefined && of !== block && users.get(value)?.at(-1) !== block) addTo(users, value, block);
    };
    for (const value of block.body) eachOperand(kernel.insts[value]!, visit);
    terminatorOperands(block.end).forEach(visit);
  }
  return users;
}

// ── threading ──

function thread(state: State, pair: Pair): boolean {
  const { kernel, s, touched } = state;
  const { first, second, sides } = pair;
  const arms = sides.map(({ out }) => armOf(state, out));
  const blocks = [first, second, ...sides.flatMap(({ from, out }) => [from, out.block]), ...arms.flatMap((arm) => arm?.to.block ?? [])];
  if (blocks.some((block) => touched.has(block))) return false;
  // A parameter that more than the arms use has to be one of the block where the arms of the second branch come together.
  const escaping = second.params.filter((param) =>
    state.users.get(param)?.some((block) => !arms.some((arm) => arm !== undefined && arm.via === block)),
  );
  const join = joinOf(state, arms);
  if (escaping.length > 0 && join === undefined) return false;
  for (const block of blocks) touched.add(block);

  for (const value of second.body) first.body.push(value);
  sides.forEach(({ into, out }, i) => {
    const passed = new Map(second.params.map((param, at) => [param, into.args[at]!]));
    const renamed = (value: Value): Value => passed.get(value) ?? value;
    const via = arms[i]?.via;
    if (via !== undefined) mapBlock(kernel.insts, via, renamed);
    into.block = out.block;
    into.args = out.args.map(renamed);
    const last = via?.end.op === 'br' ? via.end.to : into;
    for (const param of escaping) last.args.push(passed.get(param)!);
  });
  for (const param of escaping) s.replace(param, addBlockParam(kernel, join!, typeOf(kernel, param)));
  second.body = [];
  second.end = { op: 'ret' };
  return true;
}

/** An arm of the second branch: a block of its own, if it has one, and the edge behind. */
interface Arm {
  readonly via: Block | undefined;
  readonly to: Edge;
}

function armOf({ cfg }: State, out: Edge): Arm | undefined {
  const { block } = out;
  if (cfg.predecessors[block.id]!.length !== 1) return { via: undefined, to: out };
  return block.end.op === 'br' ? { via: block, to: block.end.to } : undefined;
}

/** The block where both arms come together, and nothing else. */
function joinOf({ cfg }: State, [a, b]: readonly (Arm | undefined)[]): Block | undefined {
  if (a === undefined || b === undefined || a.to.block !== b.to.block) return undefined;
  return cfg.predecessors[a.to.block.id]!.length === 2 ? a.to.block : undefined;
}
