/**
 * The groups of a function: which instructions on vectors of 128 bits, or parameters, become one wide one.
 * Source: Larsen and Amarasinghe, "Exploiting superword level parallelism with multimedia instruction sets", PLDI 2000.
 */
import type { Inst, Value } from '../ssa/types.ts';
import type { Node, Numbering } from './numbering.ts';
import { commutes } from './ops.ts';
import { type Reductions, reductionsOf } from './reductions.ts';

/** What a group is: isomorphic instructions, parameters of a block, conversions of both halves of vectors, or words of pairs of vectors. */
export type PackKind = 'insts' | 'params' | 'widen' | 'words';

/** The vectors whose halves some members convert or load from, each lower half before its upper half, and what does so of whole vectors. */
export interface Halves {
  readonly sources: readonly Value[];
  readonly whole: Omit<Inst, 'args' | 'result'>;
}

/** Vectors, in groups as wide as the result, and the numbers of the words of these that the members have. */
export interface Words {
  readonly operands: readonly (readonly Value[])[];
  readonly words: readonly number[];
}

export interface Pack {
  readonly id: number;
  readonly kind: PackKind;
  readonly block: number;
  readonly members: readonly Node[];
  /** By member: whether its first two operands change places. */
  readonly swapped: readonly boolean[];
  readonly halves?: Halves;
  readonly words?: Words;
}

export interface Packs {
  readonly numbering: Numbering;
  /** Vectors of 128 bits in a wide one. */
  readonly width: 2 | 4;
  readonly list: Pack[];
  /** By node: the group that it is in, -1 for none; and its place in that group. */
  readonly of: Int32Array;
  readonly place: Uint8Array;
  readonly reductions: Reductions;
  /** By block: how many groups of it were dissolved. */
  readonly dissolved: Int32Array;
}

export const noPacks = (numbering: Numbering, width: 2 | 4): Packs => ({
  numbering,
  width,
  list: [],
  of: new Int32Array(numbering.count).fill(-1),
  place: new Uint8Array(numbering.count),
  reductions: reductionsOf(numbering),
  dissolved: new Int32Array(numbering.firstInst.length),
});

/** The group of a value's definition; undefined if it is in none. */
export const packOf = ({ list, of, numbering }: Packs, value: Value): Pack | undefined => list[of[numbering.nodeOf[value]!]!];

/** Adds a group of nodes, none of which is in one. */
export function addPack(packs: Packs, pack: Omit<Pack, 'id'>): Pack {
  const added = { ...pack, id: packs.list.length };
  packs.list.push(added);
  for (const [place, node] of added.members.entries()) {
    packs.of[node] = added.id;
    packs.place[node] = place;
  }
  return added;
}

/** Has the members of a group stay as they are. */
export function dissolve(packs: Packs, { members, block }: Pack): void {
  packs.dissolved[block]!++;
  for (const node of members) packs.of[node] = -1;
}

/** The groups that were not dissolved. */
export const livePacks = (packs: Packs): Pack[] => packs.list.filter(({ id, members }) => packs.of[members[0]!] === id);

/** The group whose members the values are, in their order; undefined if there is none. */
export function packOfAll(packs: Packs, values: readonly Value[]): Pack | undefined {
  const pack = packOf(packs, values[0]!);
  if (!pack || values.length !== pack.members.length) return undefined;
  return values.every((value, i) => packs.numbering.values[pack.members[i]!] === value) ? pack : undefined;
}

/** An operand of a member, with its first two in the order of the first member. */
export function operandOf({ numbering }: Packs, pack: Pack, member: number, operand: number): Value {
  const { args } = numbering.insts[pack.members[member]!]!;
  return args[pack.swapped[member] && operand < 2 ? 1 - operand : operand]!;
}

const isVector = ({ numbering }: Packs, value: Value): boolean => numbering.fn.types[value] === 'v128';

/** The vector operands of a group, each as the operands of its members. Those of parameters come by flow edges. */
export function operandsOf(packs: Packs, pack: Pack): Value[][] {
  const { insts } = packs.numbering;
  if (pack.kind === 'params') return [];
  if (pack.halves) return [[...pack.halves.sources]];
  if (pack.words)
    return pack.words.operands.map((values, operand) => (packOfAll(packs, values) ? [...values] : usedOnly(pack.words!, operand)));
  const operands: Value[][] = [];
  const { args } = insts[pack.members[0]!]!;
  for (const [operand, value] of args.entries())
    if (isVector(packs, value)) operands.push(pack.members.map((_, member) => operandOf(packs, pack, member, operand)));
  return operands;
}

/** An operand of a permutation, with a vector of which it takes words in the place of each one of which it takes none. */
function usedOnly({ operands, words }: Words, operand: number): Value[] {
  const values = operands[operand]!;
  const used = new Set(words.map((word) => (word >> 2) - operand * values.length));
  const first = values.find((_, i) => used.has(i))!;
  return values.map((value, i) => (used.has(i) ? value : first));
}

/** The arguments that a group of parameters gets by a flow edge. */
export function argumentsOf({ numbering }: Packs, pack: Pack, flow: number): Value[] {
  const first = numbering.firstNode[pack.block]!;
  return pack.members.map((node) => numbering.flows[flow]!.args[node - first]!);
}

/** How much two operands look like those of one group. */
function similarity(packs: Packs, a: Value, b: Value, place: number): number {
  if (a === b) return 3;
  const { nodeOf, insts, blocks } = packs.numbering;
  const [first, other] = [nodeOf[a]!, nodeOf[b]!];
  const [firstPack, otherPack] = [packs.of[first]!, packs.of[other]!];
  if (firstPack >= 0 || otherPack >= 0) return firstPack === otherPack && packs.place[other]! - packs.place[first]! === place ? 4 : -4;
  const [firstInst, otherInst] = [insts[first], insts[other]];
  if (firstInst?.op !== otherInst?.op) return 0;
  return blocks[first] === blocks[other] ? 2 : 1;
}

/** By member: whether its first two operands change places, so that they look like those of the first member. */
export function swapsOf(packs: Packs, members: readonly Node[]): boolean[] {
  const { insts } = packs.numbering;
  const { op, args } = insts[members[0]!]!;
  return members.map((node, place) => {
    if (place === 0 || !commutes(op)) return false;
    const own = insts[node]!.args;
    const score = (first: number): number =>
      similarity(packs, args[0]!, own[first]!, place) + similarity(packs, args[1]!, own[1 - first]!, place);
    return score(1) > score(0);
  });
}
