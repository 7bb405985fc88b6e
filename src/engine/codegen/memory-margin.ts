/** Padding of the memory that compiled kernels run on. */

/** Bytes before and behind all blocks that nothing else uses: inactive lanes may load there, up to 32 lanes of 16 bytes from the active ones. */
export const margin = 512;

/** Bytes at the end of the 4 GiB that are never allocated: an address that is above memory by less faults, whatever is computed of it in 32 bits. */
export const endGuardBytes = 2 ** 24;
