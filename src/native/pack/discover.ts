/**
 * Finds groups: from stores and loads at consecutive addresses through operands and users, as far as these are isomorphic. Whether a group can be
 * scheduled, and whether it wins, is for later.
 */
import type { Inst, Value } from '../ssa/types.ts';
import { halvesOf, wordsOf } from './halves.ts';
import type { Node, Numbering, Use } from './numbering.ts';
import { packFormOf, shapeOf } from './ops.ts';
import { addPack, argumentsOf, noPacks, operandsOf, type Pack, type Packs, swapsOf } from './packs.ts';
import { distance, placeOf } from './places.ts';

interface Growth {
  readonly packs: Packs;
  /** Groups whose operands, and whose users, are still to be grown. */
  readonly forOperands: Pack[];
  readonly forUsers: Pack[];
}

/** Finds groups of `width` vectors of 128 bits. */
export function discover(numbering: Numbering, width: 2 | 4): Packs {
  const growth: Growth = { packs: noPacks(numbering, width), forOperands: [], forUsers: [] };
  for (const op of ['v128.store', 'vector.join'] as const) seedAll(growth, op);
  seedReductions(growth);
  seedAll(growth, 'v128.load');
  for (const isExact of [true, false]) for (let block = 0; block < numbering.firstInst.length; block++) seedRows(growth, block, isExact);
  return growth.packs;
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

/** Accesses of a block at addresses with a distance of 16 bytes, in groups. */
function consecutive({ numbering, of, width }: Packs, block: number, op: string): Node[][] {
  const { firstInst, firstNode, insts, values, fn } = numbering;
  const byRoot = new Map<Value, Located[]>();
  for (let node = firstInst[block]!; node < firstNode[block + 1]!; node++) {
    const inst = insts[node]!;
    if (inst.op !== op || of[node]! >= 0 || fn.types[inst.args[1] ?? values[node]!] !== 'v128') continue;
    const { root, at } = placeOf(numbering, node);
    const same = byRoot.get(root);
    if (same) same.push({ node, at });
    else byRoot.set(root, [{ node, at }]);
  }
  const groups: Node[][] = [];
  for (const accesses of byRoot.values())
    for (const run of runsOf(accesses.sort((a, b) => a.at - b.at || a.node - b.node)))
      for (let i = 0; i + width <= run.length; i += width) groups.push(run.slice(i, i + width));
  // The order of the block, so that an earlier group decides what its operands are grouped with.
  return groups.sort((a, b) => a[0]! - b[0]!);
}

/** An access, and its distance from its root. */
interface Located {
  readonly node: Node;
  readonly at: number;
}

/** Splits accesses, sorted by their distance, into runs of consecutive ones. Of several at one distance, the n-th belong to one run. */
function runsOf(sorted: readonly Located[]): Node[][] {
  const runs: Node[][] = [];
  /** By distance: the runs that end there and go on no farther yet. */
  const open = new Map<number, Node[][]>();
  for (const { node, at } of sorted) {
    const run = open.get(at - 16)?.shift() ?? [];
    if (run.length === 0) runs.push(run);
    run.push(node);
    const ending = open.get(at);
    if (ending) ending.push(run);
    else open.set(at, [run]);
  }
  return runs;
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
  for (const operand of operandsOf(packs, pack)) demand(growth, operand);
  if (pack.kind === 'params') for (const flow of packs.numbering.into[pack.block]!) demand(growth, argumentsOf(packs, pack, flow));
}

/** Makes values one group if they can be. */
function demand({ packs, forOperands, forUsers }: Growth, values: readonly Value[]): void {
  if (values.length !== packs.width || values.every((value) => value === values[0])) return;
  tryPack(
    { packs, forOperands, forUsers },
    values.map((value) => packs.numbering.nodeOf[value]!),
  );
}

/** Makes nodes one group if they can be. */
function tryPack({ packs, forOperands, forUsers }: Growth, members: readonly Node[]): void {
  const { insts, blocks, values, fn } = packs.numbering;
  const block = blocks[members[0]!]!;
  for (const [i, node] of members.entries()) {
    if (packs.of[node]! >= 0 || blocks[node] !== block || members.indexOf(node) !== i) return;
    const value = values[node]!;
    if (value >= 0 && fn.types[value] !== 'v128') return;
  }
  const added = (pack: Omit<Pack, 'id' | 'block' | 'members'>): void => {
    const made = addPack(packs, { block, members, ...pack });
    forOperands.push(made);
    forUsers.push(made);
  };
  const plain = members.map(() => false);
  if (members.every((node) => !insts[node])) {
    // The parameters of the entry are those of the function.
    if (block > 0) added({ kind: 'params', swapped: plain });
    return;
  }
  if (members.some((node) => !insts[node])) return;
  const halves = halvesOf(packs.numbering, members);
  if (halves) return added({ kind: 'widen', swapped: plain, halves });
  const words = wordsOf(packs.numbering, members);
  if (words) return added({ kind: 'words', swapped: plain, words });
  if (areIsomorphic(packs, members)) added({ kind: 'insts', swapped: swapsOf(packs, members) });
}

/** Whether instructions are one wide instruction, given that their vector operands are groups. */
function areIsomorphic(packs: Packs, members: readonly Node[]): boolean {
  const { insts, fn } = packs.numbering;
  const [first, ...others] = members.map((node) => insts[node]!) as [Inst, ...Inst[]];
  const form = packFormOf(first.op);
  if (!form || (form === 'store' && fn.types[first.args[1]!] !== 'v128')) return false;
  const shape = shapeOf(first);
  const start = form === 'load' || form === 'store' ? placeOf(packs.numbering, members[0]!) : undefined;
  return others.every((inst, i) => {
    if (shapeOf(inst) !== shape) return false;
    if (form === 'load' || form === 'store') {
      const place = placeOf(packs.numbering, members[i + 1]!);
      const isNext = place.root === start!.root && distance(start!, place) === (i + 1) * place.count;
      return isNext && (form === 'load' || fn.types[inst.args[1]!] === 'v128');
    }
    return inst.args.every((arg, k) => (fn.types[arg] === 'v128' ? fn.types[first.args[k]!] === 'v128' : arg === first.args[k]));
  });
}

// ── users ──

function growUsers(growth: Growth, pack: Pack): void {
  const { packs } = growth;
  const { values, usesOf } = packs.numbering;
  if (values[pack.members[0]!]! < 0) return;
  // First those whose other operands are in the same groups, then those that another order of a group's members explains.
  for (const isExact of [true, false]) {
    const [first] = pack.members;
    if (!usesOf(values[first!]!).some(({ node }) => node < 0 || packs.of[node]! < 0)) return;
    const byMember = pack.members.map((node) => usersByKey(packs, values[node]!, usesOf(values[node]!), isExact));
    for (const [key, first] of byMember[0]!)
      for (let i = 0; i < first.length; i++) {
        const users = byMember.map((users) => users.get(key)?.[i]);
        if (users.every((user) => user !== undefined)) tryPack(growth, users as Node[]);
      }
  }
}

/** Users of a value that are in no group, by what those of the other members have to have in common with them. */
function usersByKey(packs: Packs, value: Value, uses: readonly Use[], isExact: boolean): Map<string, Node[]> {
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
    const isAnyOrder = packFormOf(inst.op) === 'lanes';
    if (!isAnyOrder && packFormOf(inst.op) !== 'store') continue;
    const others = inst.args.filter((arg) => arg !== value).map((arg) => originOf(packs, arg, isExact));
    add(`${blocks[node]} ${shapeOf(inst)} ${(isAnyOrder ? others.sort() : others).join()}`, node);
  }
  return users;
}
