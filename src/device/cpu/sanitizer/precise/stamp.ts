/**
 * The stamp of an access, 64 bits: instruction, strength, bytes of the word, thread and time. Each 32-bit word of memory has two stamps in
 * the shadow: those of the last write and the last read.
 */

/** The lowest bit and the width of each field. */
export const stampFields = {
  site: { at: 0, bits: 15 },
  /** An access of a copy that threads have to wait for; with `strong`, of a bulk group (`async-races.ts`). */
  async: { at: 15, bits: 1 },
  /** An atomic or volatile access: two of these are no race. */
  strong: { at: 16, bits: 1 },
  /** Of a read: other threads have read since the last barrier. */
  manyThreads: { at: 17, bits: 1 },
  /** Of a read: threads of other blocks have read. */
  manyBlocks: { at: 18, bits: 1 },
  /** A bit for each byte of the word. */
  bytes: { at: 19, bits: 4 },
  /** The number of the thread among those of its cluster, or of a grid with barriers: of the blocks that run by turns. */
  thread: { at: 23, bits: 16 },
  /** Counts events that order memory: blocks, barriers, warp barriers, fences. 0 is before the launch. */
  time: { at: 39, bits: 25 },
} as const;
export type StampField = keyof typeof stampFields;

/** The value 1 of a field. */
export const oneOf = (field: StampField): bigint => 1n << BigInt(stampFields[field].at);
/** All bits of a field. */
export const maskOf = (field: StampField): bigint => ((1n << BigInt(stampFields[field].bits)) - 1n) << BigInt(stampFields[field].at);
/** The value of a field. */
export const fieldOf = (stamp: bigint, field: StampField): number => Number((stamp & maskOf(field)) >> BigInt(stampFields[field].at));

/** The time, as a stamp, after which a block has those of all accesses made old; it has the rest of the field for its own events. */
export const lateTime = oneOf('time') << 22n;

/** Most instructions with a number of their own; later ones share the last number. */
export const maxSites = 2 ** stampFields.site.bits - 1;

/** Bytes of shadow for a word: two stamps. */
export const cellBytes = 16;
export const readStampAt = 8;
