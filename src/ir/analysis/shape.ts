/**
 * The shape lattice: how a value relates the lanes of a group. `uniform` values are equal in all lanes, `affine` ones have a constant stride
 * from lane to lane, `varying` ones are arbitrary. The constants are ordered, so that the join of two shapes is at least their maximum.
 * Source: `VectorShape` of the Region Vectorizer (https://github.com/cdl-saarland/rv).
 */
export const uniform = 0;
export const affine = 1;
export const varying = 2;

export type Shape = typeof uniform | typeof affine | typeof varying;
