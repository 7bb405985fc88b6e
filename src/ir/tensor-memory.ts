/**
 * The tensor memory of a block of the CPU device: shared memory in front of the kernel's own, so that blocks of a cluster reach that of each other.
 * A lane has 512 columns of 32 bits, one behind the other. Behind the lanes are the factors of a product while it is computed, and the word whose bits
 * are the columns that are taken. Source: PTX ISA 9.0, 9.7.16.1.
 */
export const tensorMemory = {
  lanes: 128,
  columns: 512,
  /** Byte offsets: factors of b and of a row of a, in doubles; the word of taken columns. */
  right: 0x40000,
  left: 0x60000,
  /** Of a sparse matrix: where the factors of b of a row are, in bytes from those of a column. */
  places: 0x60200,
  taken: 0x60400,
  /** The addresses of descriptors have 18 bits, to which the size of all adds. */
  bytes: 0x80000,
} as const;

/** Bytes of a window of shared memory without the tensor memory, which is larger than any other window may be. */
export const withoutTensorMemory = (bytes: number): number => (bytes >= tensorMemory.bytes ? bytes - tensorMemory.bytes : bytes);
