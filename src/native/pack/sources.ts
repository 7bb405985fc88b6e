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
  /** Half of a wide vector: parts `first` and `first + 1` of a group of four, or of a wide value that was there before. */
  | { readonly kind: 'half'; readonly of: Pack | Value; readonly first: number }
  /** One vector, as it is. */
  | { readonly kind: 'narrow' }
  | { readonly kind: 'join' };

/** The source of an operand whose parts are some vectors of 128 bits. */
export function sourceOf(packs: Packs, values: readonly Value[]): Source {
  const { numbering } = packs;
  if (values.length === 1) return { kind: 'narrow' };
  const pack = packOfAll(packs, values);
  if (pack) return { kind: 'pack', pack };
  const insts = values.map((value) => numbering.insts[numbering.nodeOf[value]!]);
  if (insts.every((inst) => inst?.op === 'v128.const')) return { kind: 'constant' };
  if (values.every((value) => value === values[0])) {
    const isRemade = insts[0] !== undefined && packFormOf(insts[0].op) === 'uniform' && !packOf(packs, values[0]!);
    return { kind: 'uniform', isRemade };
  }
  return halfOf(packs, values) ?? { kind: 'join' };
}

function halfOf(packs: Packs, values: readonly Value[]): Source | undefined {
  if (values.length !== 2) return undefined;
  const [first, second] = values.map((value) => packs.numbering.nodeOf[value]!) as [number, number];
  const pack = packOf(packs, values[0]!);
  if (pack) {
    const [place, next] = [packs.place[first]!, packs.place[second]!];
    const isHalf = packs.of[second] === pack.id && place % 2 === 0 && next === place + 1;
    return isHalf ? { kind: 'half', of: pack, first: place } : undefined;
  }
  const [low, high] = [packs.numbering.insts[first], packs.numbering.insts[second]];
  if (low?.op !== 'vector.part' || high?.op !== 'vector.part' || low.args[0] !== high.args[0]) return undefined;
  if (packs.of[second]! >= 0 || low.lane! % 2 !== 0 || high.lane !== low.lane! + 1) return undefined;
  return { kind: 'half', of: low.args[0]!, first: low.lane! };
}
