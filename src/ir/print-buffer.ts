/**
 * The print buffer: the launcher of a kernel binds it as a hidden parameter, zeros but for its capacity, and reads it
 * afterwards. All of it is words of 32 bits, little-endian. Behind the head come the records, each in words that its thread has
 * taken by one atomic addition, so that they lie in the order in which they were taken.
 *
 * A record is the number of its format, from 1 on, and the arguments of the format in order: one word for each argument of 32 bits,
 * the low and the high word of one of 64, and for a string its length in bytes, or all ones for a null pointer. The bytes of the
 * strings follow, each string in words of its own. Where the next record would start with 0 there is none.
 */

/** The name of the parameter that points to the buffer. */
export const printBufferName = 'cumetal.printf';

/** Offsets of the words of the head, in bytes. */
export const printHead = {
  /** Words that there are for records; written by the host. */
  capacity: 0,
  /** Words taken; where they are more than there are, the last to take some has written nothing. */
  taken: 4,
  /** Records for which there was no room. */
  lost: 8,
  /** Where records start. */
  bytes: 12,
} as const;

/** Bytes of the buffer, as of CUDA's where the program asks for no other size. */
export const printBufferBytes = 2 ** 20;

/** The length that stands for a null pointer as a string. */
export const nullLength = 0xffff_ffff;

/**
 * The hidden parameter of a kernel that becomes PTX again, which has `printf` itself: stores of the arguments from byte 8 on, as `vprintf` finds
 * them in memory, and then one of the number of the format at byte 0, stand for the call. Nothing is at the address.
 */
export const printListName = 'cumetal.printed';
/** The alignment that says of a store that it is of the address of a string. */
export const printedStringAlign = 16;
/** Bytes of the list and what is before it. */
export const printListBytes = 8 + 1024;
