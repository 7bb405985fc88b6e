/** Signed numbers as bitcode holds them: the sign in the lowest bit, and 1 for the least number of 64 bits. */

/** The number that a word holds. */
export function fromSignedVbr(value: number | bigint): bigint {
  if (typeof value === 'number' && value !== 1) return BigInt(value % 2 === 0 ? value / 2 : (1 - value) / 2);
  const v = BigInt(value);
  if ((v & 1n) === 0n) return v >> 1n;
  return v === 1n ? -(1n << 63n) : -(v >> 1n);
}

/** The word of a number. */
export const signedVbr = (value: bigint): bigint => (value >= 0n ? value << 1n : (-value << 1n) | 1n);
