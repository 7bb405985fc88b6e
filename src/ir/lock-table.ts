/**
 * The lock table of 64-bit atomics: words of 32 bits, 0 if free and 1 if taken. The launcher of a kernel binds it as a hidden parameter. The
 * words are zero when no launch that uses the table runs; each thread frees the lock that it has taken.
 */

/** The name of the parameter that points to the table. */
export const lockTableName = 'cumetal.locks';

/** Locks of the table, a power of two: an address has the lock that its hash selects. */
export const lockCount = 4096;

/** Bytes of the table. */
export const lockTableBytes = 4 * lockCount;
