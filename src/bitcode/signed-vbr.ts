/** Signed numbers in bitcode: the sign is the lowest bit, and 1 is the smallest number of 64 bits. */

/** Decodes an operand. */
export function fromSignedVbr(value: number | bigint): bigint {
  if (typeof value === 'number' && value !== 1) return BigInt(value % 2 === 0 ? value / 2 : (1 - value) / 2);
  const v = BigInt(value);
  if ((v & 1n) === 0n) return v >> 1n;
  return v === 1n ? -(1n << 63n) : -(v >> 1n);
}

/** Encodes a number, except the smallest of 64 bits. */
export const signedVbr = (value: bigint): bigint => (value >= 0n ? value << 1n : (-value << 1n) | 1n);
