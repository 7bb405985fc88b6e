/**
 * The word of a barrier in shared memory (mbarrier), whose layout PTX leaves open: the lowest bit and the width of each field. `bytes` is the
 * transaction count, with a sign; `tag` is 1 in a barrier that is initialized, whose highest bit is a lock on Apple GPUs. Source: PTX ISA 9.0, 9.7.13.15.
 */
export const barrierFields = {
  expected: { at: 0, bits: 20 },
  pending: { at: 20, bits: 20 },
  bytes: { at: 40, bits: 21 },
  parity: { at: 61, bits: 1 },
  tag: { at: 62, bits: 2 },
} as const;

/** The fields of a word; undefined for one of no initialized barrier. */
export function barrierState(word: bigint): { expected: number; pending: number; bytes: number; parity: number } | undefined {
  const field = (name: keyof typeof barrierFields): number => {
    const { at, bits } = barrierFields[name];
    return Number(BigInt.asUintN(bits, word >> BigInt(at)));
  };
  if (field('tag') !== 1) return undefined;
  const bytes = Number(BigInt.asIntN(barrierFields.bytes.bits, word >> BigInt(barrierFields.bytes.at)));
  return { expected: field('expected'), pending: field('pending'), bytes, parity: field('parity') };
}
