/** Where a wide operand comes from: a group, or vectors of 128 bits that are joined in some way. */
import type { Value } from '../ssa/types.ts';
import { packFormOf } from './ops.ts';
import { type Pack, type Packs, packOf, packOfAll } from './packs.ts';

export type Source =
  | { readonly kind: 'pack'; readonly pack: Pack }
  /** Constants, joined at compile time. */
  | { readonly kind: 'constant' }
  /** One vector in all parts; `isRemade` says that a wide form of its definition makes it. */
  | { readonly kind: 'uniform'; readonly isRemade: boolean }
  /** Parts of one or two wide vectors: the numbers of parts, those of a second vector behind those of the first. */
  | { readonly kind: 'parts'; readonly wholes: readonly Whole[]; readonly parts: readonly number[] }
  /** One vector, as it is. */
  | { readonly kind: 'narrow' }
  | { readonly kind: 'join' };

/** A wide vector: that of a group, or one that was there before. */
export type Whole = Pack | Value;

/** The source of an operand whose parts are some vectors of 128 bits. */
export function sourceOf(packs: Packs, values: readonly Value[]): Source {
  const { numbering } = packs;
  if (values.length === 1) return { kind: 'narrow' };
  const pack = packOfAll(packs, values);
  if (pack) return { kind: 'pack', pack };
  const insts = values.map((value) => numbering.insts[numbering.nodeOf[value]!]);
  if (insts.every((inst) => inst?.op === 'v128.const')) return { kind: 'constant' };
  const parts = partsOf(packs, values);
  if (parts) return parts;
  if (values.some((value) => value !== values[0])) return { kind: 'join' };
  const isRemade = insts[0] !== undefined && packFormOf(insts[0].op) === 'uniform' && !packOf(packs, values[0]!);
  return { kind: 'uniform', isRemade };
}

/** Vectors as parts of at most two wide vectors, of which two are as wide as the result. */
function partsOf(packs: Packs, values: readonly Value[]): Source | undefined {
  const wholes: Whole[] = [];
  const parts: number[] = [];
  let count = 0;
  for (const value of values) {
    const found = wholeOf(packs, value);
    if (!found || (count > 0 && count !== found.count)) return undefined;
    count = found.count;
    let at = wholes.indexOf(found.whole);
    if (at < 0) at = wholes.push(found.whole) - 1;
    parts.push(at * count + found.part);
  }
  return wholes.length === 1 || (wholes.length === 2 && count === values.length) ? { kind: 'parts', wholes, parts } : undefined;
}

/** The wide vector of which a vector is a part, with the number of that part and the count of all. */
function wholeOf(packs: Packs, value: Value): { readonly whole: Whole; readonly part: number; readonly count: number } | undefined {
  const { nodeOf, insts, fn } = packs.numbering;
  const pack = packOf(packs, value);
  if (pack) return { whole: pack, part: packs.place[nodeOf[value]!]!, count: packs.width };
  const inst = insts[nodeOf[value]!];
  if (inst?.op !== 'vector.part') return undefined;
  return { whole: inst.args[0]!, part: inst.lane!, count: fn.types[inst.args[0]!] === 'v512' ? 4 : 2 };
}
