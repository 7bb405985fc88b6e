/** The numbers that represent the addresses of kernels in device code: a hash of the name, so that compiler and device agree on them. */

const [offset, prime, mask] = [0xcbf29ce484222325n, 0x100000001b3n, (1n << 64n) - 1n];
/** No number of a function has this bit, and no address. */
const mark = 1n << 59n;

/** The number of a kernel by its mangled name: 59 bits of the hash FNV-1a, with a mark. Source: draft-eastlake-fnv. */
export function entryNumber(name: string): bigint {
  let hash = offset;
  for (const byte of new TextEncoder().encode(name)) hash = ((hash ^ BigInt(byte)) * prime) & mask;
  return mark | (hash & (mark - 1n));
}
