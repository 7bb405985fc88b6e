/**
 * Which groups win: a group saves an instruction for each member but one; vectors that are joined for it, and members that others use as they are,
 * cost one each. All of that is weighted by how often its block runs.
 */
import type { Value } from '../ssa/types.ts';
import { workOf } from './ops.ts';
import { argumentsOf, dissolve, livePacks, operandsOf, type Pack, type Packs, packOf, packOfAll } from './packs.ts';
import { sourceOf } from './sources.ts';
import { weightsOf } from './weights.ts';

/** Times that all groups are tried, each time without those that did not win. */
const maxSweeps = 4;

/** An operand of a group, or an argument of a flow edge to it, in its block. */
interface WideUse {
  readonly values: readonly Value[];
  readonly block: number;
}

interface Weighing {
  readonly packs: Packs;
  readonly weights: readonly number[];
  /** By group: its operands, the groups that these are made of, and the groups that use it. */
  readonly operands: readonly (readonly WideUse[])[];
  readonly needs: readonly (readonly Pack[])[];
  readonly users: readonly (readonly Pack[])[];
}

/** Dissolves groups that do not win. */
export function keepProfitable(packs: Packs): void {
  const weighing = weigh(packs);
  let open = new Set(livePacks(packs));
  for (let sweep = 0; open.size > 0 && sweep < maxSweeps; sweep++) {
    const next = new Set<Pack>();
    const drop = (pack: Pack): void => {
      dissolve(packs, pack);
      for (const user of weighing.users[pack.id]!) next.add(user);
      for (const operand of weighing.needs[pack.id]!) next.add(operand);
    };
    const list = [...open].filter((pack) => isLive(packs, pack)).sort((a, b) => a.id - b.id);
    // Backwards and forwards: a group at the end of a chain decides about those before it, and one at its start about those behind.
    for (const pack of sweep % 2 === 0 ? list.reverse() : list) if (gainOf(weighing, pack) <= 0) drop(pack);
    open = next;
  }
  dissolveComponents(weighing);
}

function weigh(packs: Packs): Weighing {
  const { into, flows } = packs.numbering;
  const weights = weightsOf(packs.numbering);
  const users: Pack[][] = packs.list.map(() => []);
  const needs: Pack[][] = packs.list.map(() => []);
  const operands = packs.list.map((pack) => {
    const own: WideUse[] =
      pack.kind === 'params'
        ? into[pack.block]!.map((flow) => ({ values: argumentsOf(packs, pack, flow), block: flows[flow]!.from }))
        : operandsOf(packs, pack).map((values) => ({ values, block: pack.block }));
    for (const { values } of own) {
      // Most operands are one whole group.
      for (const value of packOfAll(packs, values) ? [values[0]!] : values) {
        const used = packOf(packs, value);
        if (!used || users[used.id]!.at(-1) === pack) continue;
        users[used.id]!.push(pack);
        needs[pack.id]!.push(used);
      }
    }
    return own;
  });
  return { packs, weights, operands, needs, users };
}

const isLive = ({ of }: Packs, { id, members }: Pack): boolean => of[members[0]!] === id;

/** What a vector costs that a loop need not make anew: as much as in the outermost of its blocks. */
function weightOf({ packs, weights }: Weighing, values: readonly Value[], block: number): number {
  const { nodeOf, blocks } = packs.numbering;
  const latest = values.reduce((last, value) => Math.max(last, blocks[nodeOf[value]!]!), 0);
  return Math.min(weights[block]!, weights[latest]!);
}

/** What a wide operand costs. */
function costOf(weighing: Weighing, { values, block }: WideUse): number {
  const { packs } = weighing;
  const source = sourceOf(packs, values);
  if (source.kind === 'pack' || source.kind === 'constant' || source.kind === 'narrow') return 0;
  const weight = weightOf(weighing, values, block);
  if (source.kind === 'uniform') return source.isRemade ? 0 : weight;
  if (source.kind === 'parts') return values.length < packs.width ? weight / 2 : weight;
  const extracted = values.filter((value) => (packOf(packs, value) ? packs.place[packs.numbering.nodeOf[value]!]! > 0 : false)).length;
  return weight * (values.length - 1 + extracted);
}

/** What the members of a group cost that others than groups use. */
function partsCost(weighing: Weighing, pack: Pack): number {
  const { packs, weights } = weighing;
  const { values, usesOf, flows, blocks, firstNode } = packs.numbering;
  let cost = 0;
  for (const [place, member] of pack.members.entries()) {
    if (place === 0 || values[member]! < 0) continue;
    const inBlocks: number[] = [];
    for (const { node, flow, operand } of usesOf(values[member]!)) {
      const { edge, from } = node < 0 ? flows[flow]! : { edge: undefined, from: blocks[node]! };
      const user = node >= 0 ? node : edge ? firstNode[edge.block]! + operand : -1;
      if (user < 0 || (packs.of[user]! < 0 && !isAbsorbed(packs, user))) addBlock(packs, inBlocks, from);
    }
    for (const block of inBlocks) cost += Math.min(weights[block]!, weights[pack.block]!);
  }
  return cost;
}

/** Whether an instruction is not needed: a reduction, or groups that take the operands of their members' operands, have its work done. */
function isAbsorbed({ numbering, reductions, of, list }: Packs, node: number): boolean {
  if (reductions.absorbed[node] === 1) return true;
  const { op } = numbering.insts[node] ?? { op: '' };
  if (op !== 'i8x16.shuffle' && !op.includes('extract_lane')) return false;
  return numbering
    .usesOf(numbering.values[node]!)
    .every((use) => use.node >= 0 && ['widen', 'words'].includes(list[of[use.node]!]?.kind ?? ''));
}

/** Blocks whose uses are compared with a further one. */
const maxBlocksCompared = 8;

/** Adds a block to those that need a part for themselves: no other one before it has made it. */
function addBlock({ numbering }: Packs, blocks: number[], block: number): void {
  if (!blocks.slice(-maxBlocksCompared).some((above) => numbering.dominates(above, block))) blocks.push(block);
}

function savingOf({ packs, weights }: Weighing, pack: Pack): number {
  if (pack.kind === 'params') return 0;
  const { op } = packs.numbering.insts[pack.members[0]!]!;
  return (pack.members.length - 1) * (pack.kind === 'widen' ? 1.5 : workOf(op)) * weights[pack.block]!;
}

/** What is lost if one group is dissolved. */
function gainOf(weighing: Weighing, pack: Pack): number {
  const { packs, weights } = weighing;
  let gain = savingOf(weighing, pack) - partsCost(weighing, pack);
  for (const operand of weighing.operands[pack.id]!) {
    const source = sourceOf(packs, operand.values);
    // The members would use parts of the group that makes the operand.
    if (source.kind === 'pack') gain += (pack.members.length - 1) * Math.min(weights[operand.block]!, weights[source.pack.block]!);
    else gain -= costOf(weighing, operand);
  }
  // The groups that use this one would need a join, which is made once.
  let join = 0;
  for (const user of weighing.users[pack.id]!) if (isLive(packs, user) && user !== pack) join = Math.max(join, weights[user.block]!);
  return gain + (pack.members.length - 1) * Math.min(join, weights[pack.block]!);
}

/** Dissolves connected groups that together do not win. */
function dissolveComponents(weighing: Weighing): void {
  const { packs } = weighing;
  const live = livePacks(packs);
  const parent = packs.list.map((_, id) => id);
  const root = (id: number): number => {
    while (parent[id] !== id) id = parent[id] = parent[parent[id]!]!;
    return id;
  };
  for (const pack of live) for (const user of weighing.users[pack.id]!) if (isLive(packs, user)) parent[root(user.id)] = root(pack.id);
  const gains = new Map<number, number>();
  for (const pack of live) {
    const own = weighing.operands[pack.id]!.reduce((sum, operand) => sum - costOf(weighing, operand), savingOf(weighing, pack));
    gains.set(root(pack.id), (gains.get(root(pack.id)) ?? 0) + own - partsCost(weighing, pack));
  }
  for (const pack of live) if (gains.get(root(pack.id))! <= 0) dissolve(packs, pack);
}
