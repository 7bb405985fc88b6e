/** Three numbers: of blocks, of threads, or of one of them by its place. */
export type Dim3 = readonly [x: number, y: number, z: number];

/** How many there are in all. */
export const product = ([x, y, z]: Dim3): number => x * y * z;
