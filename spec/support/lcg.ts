/**
 * Pseudo-random words that are the same in every run; inputs of recordings are made of them.
 * Source: Press et al., Numerical Recipes in C, 2nd edition, 7.1 ("An Even Quicker Generator").
 */

/** Words of 32 bits. Their low bits repeat soon, so take the high ones. */
export function randomWords(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state;
  };
}

/** Numbers from 0 up to below 1. */
export function randomFractions(seed: number): () => number {
  const next = randomWords(seed);
  return () => next() / 2 ** 32;
}
