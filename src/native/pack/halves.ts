/**
 * Groups across parts: conversions of the lower and the upper half of vectors, which one `vector.widen` does, and words of two vectors side by side, which
 * `vector.words` does, so that the vectors of such a pair are neighbors in one group.
 */
import type { Inst, Value } from '../ssa/types.ts';
import type { Node, Numbering } from './numbering.ts';
import { type Halves, type Pack, type Packs, packOf, type Words } from './packs.ts';

/** The halves that some members convert or load from; undefined if they are something else. */
export function halvesOf(numbering: Numbering, members: readonly Node[]): Halves | undefined {
  const sources: Value[] = [];
  const conversion = numbering.insts[members[0]!]!.op;
  if (conversion === 'vector.load64_gather') return addressHalves(numbering, members);
  if (!conversion.includes('_low_')) return undefined;
  for (let i = 0; i < members.length; i += 2) {
    const [low, high] = [numbering.insts[members[i]!]!, numbering.insts[members[i + 1]!]!];
    if (low.op !== conversion) return undefined;
    const source = low.args.length === 1 ? upperHalfSource(numbering, conversion, high) : undefined;
    if (source === undefined || source !== low.args[0]) return undefined;
    sources.push(source);
  }
  return { sources, whole: { op: 'vector.widen', kind: conversion } };
}

/** The halves of addresses that some members load from; undefined if these are not whole vectors. */
function addressHalves({ insts }: Numbering, members: readonly Node[]): Halves | undefined {
  const { op, offset } = insts[members[0]!]!;
  const sources: Value[] = [];
  for (let i = 0; i < members.length; i++) {
    const inst = insts[members[i]!]!;
    if (inst.op !== op || inst.offset !== offset || inst.lane !== i % 2) return undefined;
    if (i % 2 === 0) sources.push(inst.args[0]!);
    else if (inst.args[0] !== sources.at(-1)) return undefined;
  }
  return { sources, whole: { op, offset: offset! } };
}

/** The vector whose upper half an instruction converts as `conversion` does the lower half. */
function upperHalfSource({ insts, nodeOf }: Numbering, conversion: string, { op, args }: Inst): Value | undefined {
  if (op === conversion.replace('_low_', '_high_') && op !== conversion) return args[0];
  if (op !== conversion) return undefined;
  const moved = insts[nodeOf[args[0]!]!];
  if (moved?.op !== 'i8x16.shuffle' || !moved.bytes!.slice(0, 8).every((byte, i) => byte === 8 + i)) return undefined;
  return moved.args[0];
}

/** The words of pairs that some members are made of; undefined if they are something else. */
export function wordsOf(numbering: Numbering, members: readonly Node[]): Words | undefined {
  const vectors: Value[] = [];
  const words: number[] = [];
  for (const [i, member] of members.entries()) {
    const pair = pairOf(numbering, numbering.insts[member]!);
    if (!pair) return undefined;
    vectors.push(pair.first, pair.second);
    words.push(...pair.words.map((word) => 8 * i + word));
  }
  return { operands: [vectors.slice(0, members.length), vectors.slice(members.length)], words };
}

/** Even and odd words of two vectors, and the lower half of one behind that of the other, as bytes of a shuffle. */
const narrowings = [
  [0, 2, 4, 6],
  [1, 3, 5, 7],
  [0, 1, 4, 5],
].map((words) => ({ words, bytes: words.flatMap((word) => [4 * word, 4 * word + 1, 4 * word + 2, 4 * word + 3]).join() }));

/** Two vectors whose words an instruction puts side by side: words of the second one have numbers from 4 on. */
function pairOf(
  { insts, nodeOf }: Numbering,
  { op, args, bytes, lane }: Inst,
): { readonly first: Value; readonly second: Value; readonly words: readonly number[] } | undefined {
  const [first, second] = args as [Value, Value];
  if (op === 'i8x16.shuffle') {
    const pattern = bytes!.join();
    const narrowing = first === second ? undefined : narrowings.find((each) => each.bytes === pattern);
    return narrowing && { first, second, words: narrowing.words };
  }
  if ((op !== 'f64x2.replace_lane' && op !== 'i64x2.replace_lane') || lane !== 1) return undefined;
  const lower = insts[nodeOf[second]!];
  if (lower?.op !== op.replace('replace', 'extract') || lower.lane !== 0) return undefined;
  return { first, second: lower.args[0]!, words: narrowings[2]!.words };
}

/** Shuffles of whole words whose operands are members of at most two groups, as a permutation of these; undefined if they are something else. */
export function permutationOf(packs: Packs, members: readonly Node[]): Words | undefined {
  const { insts } = packs.numbering;
  const wholes: Pack[] = [];
  const words: number[] = [];
  for (const member of members) {
    const { op, args, bytes } = insts[member]!;
    if (op !== 'i8x16.shuffle') return undefined;
    for (let at = 0; at < 16; at += 4) {
      const first = bytes![at]!;
      if (first % 4 !== 0 || [1, 2, 3].some((i) => bytes![at + i] !== first + i)) return undefined;
      const from = args[first >> 4]!;
      const pack = packOf(packs, from);
      if (!pack) return undefined;
      let whole = wholes.indexOf(pack);
      if (whole < 0) whole = wholes.push(pack) - 1;
      const part = whole * packs.width + packs.place[packs.numbering.nodeOf[from]!]!;
      words.push(4 * part + ((first & 15) >> 2));
    }
  }
  if (wholes.length > 2) return undefined;
  return { operands: wholes.map((pack) => pack.members.map((node) => packs.numbering.values[node]!)), words };
}
