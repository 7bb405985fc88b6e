/** The result of a program that nvcc built, run by `cumetal exec`. */
export interface Result {
  readonly name: string;
  readonly suite: string;
  readonly title: string;
  /** The parts of PTX that its kernels have, by `uses.ts`. */
  readonly uses: readonly string[];
  /** What the program says of its result on the CPU device. */
  readonly own: string;
  /** The same on an H200. */
  readonly h200: string;
  /** How the buffers that it computes differ from those of the H200. */
  readonly differs: string;
  /** Processor time on the CPU device; undefined if it did not end. */
  readonly seconds?: number;
  /** What the sanitizer says; undefined where it was not run to the end. */
  readonly findings?: string;
}

/** What a kernel uses, by the words of its PTX. */
export const uses: Readonly<Record<string, RegExp>> = {
  TMA: /\bcp\.(reduce\.)?async\.bulk\.tensor/,
  'bulk copies': /\bcp\.(reduce\.)?async\.bulk\.(?!tensor|commit|wait|prefetch)/,
  mbarrier: /\bmbarrier\./,
  wgmma: /\bwgmma\.mma_async/,
  tcgen05: /\btcgen05\.mma/,
  mma: /\bmma\.(sync|sp)/,
  clusters: /\bbarrier\.cluster|\bmapa\.|shared::cluster\.multicast|\.multicast::cluster/,
  setmaxnreg: /\bsetmaxnreg/,
  'tensor maps in kernels': /\btensormap\.replace/,
  'dependent launches': /\bgriddepcontrol/,
  'named barriers': /\bbar(rier)?(\.cta)?\.(sync|arrive)(\.aligned)?\s+(?!0\s*;|0\s*,)[\w%]+/,
  textures: /\b(tex|tld4)\./,
  surfaces: /\b(suld|sust|sured)\./,
  'grid synchronisation': /%envreg|\bcudaCGGetIntrinsicHandle/,
  'warp operations': /\b(shfl|match|redux)\.(sync)?|\bvote\.sync/,
};

/** The names of what a text of PTX uses. */
export const usesOf = (ptx: string): string[] => Object.entries(uses).flatMap(([name, pattern]) => (pattern.test(ptx) ? [name] : []));
