/** Writes the scalar that is computed of all members of some groups. */
import type { Inst, SsaType, Value } from '../ssa/types.ts';
import { type Pack, type Packs, packOf } from './packs.ts';
import { type LaneBits, lanesOf, type Reduction } from './reductions.ts';

/** The vectors of a reduction that are a group, with the bits of its first member. */
export interface ReducedGroup {
  readonly pack: Pack;
  readonly shift: number;
}

/** The groups among the vectors of a reduction, and the vectors in none. */
export function groupsOf(
  packs: Packs,
  { kind, bitmask, vectors }: Reduction,
): { readonly groups: ReducedGroup[]; readonly rest: LaneBits[] } {
  const groups: ReducedGroup[] = [];
  const rest: LaneBits[] = [];
  const lanes = lanesOf(bitmask);
  const byVector = new Map(vectors.map((bits) => [bits.vector, bits]));
  for (const bits of vectors) {
    const found = packOf(packs, bits.vector);
    // The bits of all lanes are one i32.
    const pack = found && found.members.length * lanes <= 32 ? found : undefined;
    const members = pack?.members.map((node) => byVector.get(packs.numbering.values[node]!));
    const first = members?.[0];
    const isWhole = first && members.every((member, i) => member && (kind !== 'bits' || member.shift === first.shift + lanes * i));
    if (!isWhole) rest.push(bits);
    else if (first === bits) groups.push({ pack: pack!, shift: bits.shift });
  }
  return { groups, rest };
}

type NewInst = Omit<Inst, 'result'>;

export interface ReductionParts {
  /** The wide vectors, each with the bits of its first lane. */
  readonly groups: readonly { readonly wide: Value; readonly shift: number }[];
  /** Vectors of 128 bits in no group; of `bits`, the numbers that have their bits. */
  readonly rest: readonly Value[];
  /** The type of a group, and its vectors of 128 bits. */
  readonly wideType: SsaType;
  readonly parts: 2 | 4;
  add(inst: NewInst, type: SsaType): Value;
  /** Adds the last instruction, which has the result. */
  end(inst: NewInst): void;
}

/** Adds the instructions of a reduction. */
export function writeReduction(reduction: Reduction, parts: ReductionParts): void {
  if (reduction.kind === 'bits') writeBits(reduction, parts);
  else writeTest(reduction, parts);
}

const constant = (bits: bigint): NewInst => ({ op: 'i32.const', args: [], bits });

function writeBits({ bitmask, others }: Reduction, { groups, rest, add, end }: ReductionParts): void {
  /** Terms whose last instruction is not written yet, so that it can have the result. */
  const terms = groups.map(({ wide, shift }): NewInst => {
    const bits: NewInst = { op: bitmask, args: [wide] };
    return shift === 0 ? bits : { op: 'i32.shl', args: [add(bits, 'i32'), add(constant(BigInt(shift)), 'i32')] };
  });
  const [first, ...more] = terms as [NewInst, ...NewInst[]];
  let last = first;
  for (const term of more) last = { op: 'i32.or', args: [add(last, 'i32'), add(term, 'i32')] };
  for (const number of [...rest, ...others]) last = { op: 'i32.or', args: [add(last, 'i32'), number] };
  end(last);
}

function writeTest({ kind, bitmask }: Reduction, { groups, rest, wideType, parts, add, end }: ReductionParts): void {
  const combine = (vectors: readonly Value[], type: SsaType): Value =>
    vectors.reduce((a, b) => add({ op: kind === 'any' ? 'v128.or' : 'v128.and', args: [a, b] }, type));
  const test = (vector: Value, count: number): NewInst => {
    const bits: NewInst = { op: bitmask, args: [vector] };
    if (kind === 'any') return bits;
    return { op: 'i32.eq', args: [add(bits, 'i32'), add(constant(BigInt(2 ** (lanesOf(bitmask) * count) - 1)), 'i32')] };
  };
  const whole = test(
    combine(
      groups.map(({ wide }) => wide),
      wideType,
    ),
    parts,
  );
  if (rest.length === 0) return end(whole);
  const tests = [whole, test(combine(rest, 'v128'), 1)].map((inst) => add(inst, 'i32'));
  end({ op: kind === 'any' ? 'i32.or' : 'i32.and', args: tests });
}
