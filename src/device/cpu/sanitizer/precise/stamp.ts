/**
 * The stamp of an access, 64 bits: which instruction, of what strength, which bytes of the word, by which thread, when. Each word of
 * 32 bits of memory has two in the shadow: that of the last write and that of the last read.
 */

/** By field: its lowest bit, and how many it has. */
export const stampFields = {
  site: { at: 0, bits: 16 },
  /** An atomic or volatile access: two of these are no race. */
  strong: { at: 16, bits: 1 },
  /** Of a read: other threads have read since the last barrier. */
  manyThreads: { at: 17, bits: 1 },
  /** Of a read: threads of other blocks have read. */
  manyBlocks: { at: 18, bits: 1 },
  /** A bit for each byte of the word. */
  bytes: { at: 19, bits: 4 },
  thread: { at: 23, bits: 10 },
  /** Counts what orders memory: blocks, barriers, meetings of warps, fences. 0 is before the launch. */
  time: { at: 33, bits: 31 },
} as const;
export type StampField = keyof typeof stampFields;

/** One in a field. */
export const oneOf = (field: StampField): bigint => 1n << BigInt(stampFields[field].at);
/** All bits of a field. */
export const maskOf = (field: StampField): bigint => ((1n << BigInt(stampFields[field].bits)) - 1n) << BigInt(stampFields[field].at);
/** What a field holds. */
export const fieldOf = (stamp: bigint, field: StampField): number =>
  Number((BigInt.asUintN(64, stamp) & maskOf(field)) >> BigInt(stampFields[field].at));

/** Instructions that can be told apart; those beyond share the last number. */
export const mostSites = 2 ** stampFields.site.bits - 1;

/** Bytes of shadow for a word: two stamps. */
export const cellBytes = 16;
export const readStampAt = 8;
