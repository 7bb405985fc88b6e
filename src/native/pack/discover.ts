/**
 * Finds groups: from stores and loads at consecutive addresses through operands and users, as far as these are isomorphic. Whether a group can be
 * scheduled, and whether it wins, is for later.
 */
import type { Value } from '../ssa/types.ts';
import { areConsecutiveLoads, consecutive } from './consecutive.ts';
import { formPack } from './form.ts';
import type { Node, Numbering, Use } from './numbering.ts';
import { commutes, packFormOf, shapeOf } from './ops.ts';
import { argumentsOf, noPacks, operandsOf, type Pack, type Packs, packOfAll } from './packs.ts';

interface Growth {
  readonly packs: Packs;
  /** Groups whose operands, and whose users, are still to be grown. */
  readonly forOperands: Pack[];
  readonly forUsers: Pack[];
  /** Values that were needed as a group, and were none then. */
  readonly failed: (readonly Value[])[];
  readonly overlaps: WideOperand[];
}

/** A vector operand of a group, as the operands of its members. */
export interface WideOperand {
  readonly pack: Pack;
  readonly values: readonly Value[];
}

export interface Discovery {
  readonly packs: Packs;
  /** Operands that are consecutive loads, of which some are in other groups. */
  readonly overlaps: readonly WideOperand[];
}

/** Finds groups of `width` vectors of 128 bits. */
export function discover(numbering: Numbering, width: 2 | 4): Discovery {
  const growth: Growth = { packs: noPacks(numbering, width), forOperands: [], forUsers: [], failed: [], overlaps: [] };
  for (const op of ['v128.store', 'vector.join'] as const) seedAll(growth, op);
  seedReductions(growth);
  seedAll(growth, 'v128.load');
  // A permutation needs the groups of its operands.
  for (const values of growth.failed.splice(0)) {
    demand(growth, values);
    grow(growth);
  }
  for (const isExact of [true, false]) for (let block = 0; block < numbering.firstInst.length; block++) seedRows(growth, block, isExact);
  return growth;
}

// ── seeds ──

function seedAll(growth: Growth, op: 'v128.store' | 'v128.load' | 'vector.join'): void {
  for (let block = 0; block < growth.packs.numbering.firstInst.length; block++) {
    if (op === 'vector.join') seedJoins(growth, block);
    else for (const members of consecutive(growth.packs, block, op)) tryPack(growth, members);
    grow(growth);
  }
}

/** Vectors whose lanes are tested together. */
function seedReductions(growth: Growth): void {
  const { width, reductions } = growth.packs;
  for (const { vectors } of reductions.byRoot.values()) {
    for (let i = 0; i + width <= vectors.length; i += width)
      demand(
        growth,
        vectors.slice(i, i + width).map(({ vector }) => vector),
      );
    grow(growth);
  }
}

/** The operands of joins of four vectors, as two groups of two. */
function seedJoins(growth: Growth, block: number): void {
  const { firstInst, firstNode, insts } = growth.packs.numbering;
  for (let node = firstInst[block]!; node < firstNode[block + 1]!; node++) {
    const { op, args } = insts[node]!;
    if (op !== 'vector.join' || args.length !== 4 || growth.packs.width !== 2) continue;
    demand(growth, args.slice(0, 2));
    demand(growth, args.slice(2));
  }
}

/** Isomorphic instructions in a row that no other seed leads to, such as those whose results are extracted lane after lane. */
function seedRows(growth: Growth, block: number, isExact: boolean): void {
  const { packs } = growth;
  const { firstInst, firstNode, insts, values, fn } = packs.numbering;
  const rows = new Map<string, Node[]>();
  for (let node = firstInst[block]!; node < firstNode[block + 1]!; node++) {
    const inst = insts[node]!;
    if (packs.of[node]! >= 0 || packFormOf(inst.op) !== 'lanes' || fn.types[values[node]!] !== 'v128') continue;
    const key = `${shapeOf(inst)} ${inst.args.map((arg) => originOf(packs, arg, isExact)).join()}`;
    const row = rows.get(key) ?? [];
    rows.set(key, row);
    row.push(node);
    if (row.length < packs.width) continue;
    rows.delete(key);
    tryPack(growth, row);
    grow(growth);
  }
}

/** What operands in one group have in common, as far as that is known. */
function originOf(packs: Packs, value: Value, isExact: boolean): string {
  const { nodeOf, insts, fn } = packs.numbering;
  const node = nodeOf[value]!;
  if (packs.of[node]! >= 0) return isExact ? `p${packs.of[node]}` : 'p';
  const inst = insts[node];
  if (fn.types[value] !== 'v128' || (inst && packFormOf(inst.op) === 'uniform')) return `v${value}`;
  return inst?.op ?? 'param';
}

// ── growth ──

function grow(growth: Growth): void {
  const { forOperands, forUsers } = growth;
  for (;;) {
    const pack = forOperands.pop();
    if (pack) growOperands(growth, pack);
    else {
      const used = forUsers.shift();
      if (!used) return;
      growUsers(growth, used);
    }
  }
}

function growOperands(growth: Growth, pack: Pack): void {
  const { packs } = growth;
  for (const values of operandsOf(packs, pack)) demand(growth, values, pack.kind === 'insts' ? { pack, values } : undefined);
  if (pack.kind === 'params') for (const flow of packs.numbering.into[pack.block]!) demand(growth, argumentsOf(packs, pack, flow));
}

/** Makes values one group if they can be. They are an operand of a group, unless a reduction or join needs them. */
function demand(growth: Growth, values: readonly Value[], by?: WideOperand): void {
  const { packs, failed, overlaps } = growth;
  if (values.length !== packs.width || values.every((value) => value === values[0])) return;
  const nodes = values.map((value) => packs.numbering.nodeOf[value]!);
  if (tryPack(growth, nodes) || packOfAll(packs, values)) return;
  if (by && areConsecutiveLoads(packs, nodes)) overlaps.push(by);
  else failed.push(values);
}

/** Makes nodes one group if they can be. */
function tryPack({ packs, forOperands, forUsers }: Growth, members: readonly Node[]): boolean {
  const made = formPack(packs, members);
  if (!made) return false;
  forOperands.push(made);
  forUsers.push(made);
  return true;
}

// ── users ──

function growUsers(growth: Growth, pack: Pack): void {
  const { packs } = growth;
  const { values, usesOf } = packs.numbering;
  if (values[pack.members[0]!]! < 0) return;
  for (const match of matches) {
    const [first] = pack.members;
    if (!usesOf(values[first!]!).some(({ node }) => node < 0 || packs.of[node]! < 0)) return;
    const byMember = pack.members.map((node) => usersByKey(packs, values[node]!, usesOf(values[node]!), match));
    for (const [key, first] of byMember[0]!)
      for (let i = 0; i < first.length; i++) {
        const users = byMember.map((users) => users.get(key)?.[i]);
        if (users.every((user) => user !== undefined)) tryPack(growth, users as Node[]);
      }
  }
}

/**
 * How users of the members of a group are matched: by their other operands, in their places or in any order where that makes no difference, and last
 * without regard to which groups these are in.
 */
const matches = ['places', 'any order', 'loose'] as const;
type Match = (typeof matches)[number];

/** Users of a value that are in no group, by what those of the other members have to have in common with them. */
function usersByKey(packs: Packs, value: Value, uses: readonly Use[], match: Match): Map<string, Node[]> {
  const { insts, blocks, flows, firstNode } = packs.numbering;
  const users = new Map<string, Node[]>();
  const add = (key: string, node: Node): void => {
    if (packs.of[node]! >= 0) return;
    const same = users.get(key);
    if (!same) users.set(key, [node]);
    else if (same.at(-1) !== node) same.push(node);
  };
  for (const { node, flow, operand } of uses) {
    if (node < 0) {
      const { edge } = flows[flow]!;
      if (edge) add(`flow ${flow}`, firstNode[edge.block]! + operand);
      continue;
    }
    const inst = insts[node]!;
    const form = packFormOf(inst.op);
    if (packs.of[node]! >= 0 || (form !== 'lanes' && form !== 'store')) continue;
    const origins = inst.args.map((arg) => (match !== 'loose' && arg === value ? 'own' : originOf(packs, arg, match !== 'loose')));
    if (match === 'any order') {
      if (!commutes(inst.op)) continue;
      origins.sort();
    } else origins.push(`${operand}`);
    add(`${blocks[node]} ${shapeOf(inst)} ${origins.join()}`, node);
  }
  return users;
}
