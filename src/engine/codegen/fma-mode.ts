/** How products and sums are fused: with one rounding always, or with two where that is faster. */
export type FmaMode = 'exact' | 'relaxed' | 'fast';
