/** Three numbers: an extent in blocks or threads, or the index of one block or thread. */
export type Dim3 = readonly [x: number, y: number, z: number];

/** The total number of blocks or threads. */
export const product = ([x, y, z]: Dim3): number => x * y * z;
