/** Which nodes can be one group, and what kind of group they are. */
import type { Inst } from '../ssa/types.ts';
import { halvesOf, permutationOf, wordsOf } from './halves.ts';
import type { Node } from './numbering.ts';
import { packFormOf, shapeOf } from './ops.ts';
import { addPack, operandsOf, type Pack, type Packs, packOfAll, swapsOf } from './packs.ts';
import { distance, placeOf } from './places.ts';

/** Makes nodes one group if they can be. */
export function formPack(packs: Packs, members: readonly Node[]): Pack | undefined {
  const { insts, blocks, values, fn } = packs.numbering;
  const block = blocks[members[0]!]!;
  for (const [i, node] of members.entries()) {
    if (packs.of[node]! >= 0 || blocks[node] !== block || members.indexOf(node) !== i) return undefined;
    const value = values[node]!;
    if (value >= 0 && fn.types[value] !== 'v128') return undefined;
  }
  const kind = members.every((node) => insts[node]) ? instsKind(packs, members) : undefined;
  if (kind) return addPack(packs, { block, members, ...kind });
  // The parameters of the entry are those of the function.
  if (block === 0 || members.some((node) => insts[node])) return undefined;
  return addPack(packs, { block, members, kind: 'params', swapped: members.map(() => false) });
}

/** What makes instructions a group; undefined if they are none. */
function instsKind(packs: Packs, members: readonly Node[]): Omit<Pack, 'id' | 'block' | 'members'> | undefined {
  const swapped = members.map(() => false);
  const halves = halvesOf(packs.numbering, members);
  if (halves) return { kind: 'widen', swapped, halves };
  const words = wordsOf(packs.numbering, members);
  if (words) return { kind: 'words', swapped, words };
  const alike = areIsomorphic(packs, members) ? ({ kind: 'insts', swapped: swapsOf(packs, members) } as const) : undefined;
  if (packs.numbering.insts[members[0]!]!.op !== 'i8x16.shuffle') return alike;
  // A shuffle inside of parts is cheaper than one across them.
  if (alike && operandsOf(packs, { ...alike, id: -1, block: -1, members }).every((values) => packOfAll(packs, values))) return alike;
  const permutation = permutationOf(packs, members);
  return permutation ? { kind: 'words', swapped, words: permutation } : alike;
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
