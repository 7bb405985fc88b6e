/** Padding of the memory that compiled kernels run on. */

/** Bytes before and behind all blocks that nothing else uses: inactive lanes may load there, up to 32 lanes of 16 bytes from the active ones. */
export const margin = 512;
