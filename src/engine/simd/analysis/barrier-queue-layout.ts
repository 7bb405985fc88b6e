/** Where in the record area it stands who is where, in two halves. */

interface Layout {
  readonly threads: number;
  readonly lanes: number;
  readonly regions: readonly unknown[];
}

/** Words of a region: one for each strip, and one that says whether any of them has lanes. */
const wordsOf = ({ threads, lanes }: Layout): number => Math.ceil(threads / lanes) + 1;

/** Offset in a half of the words of a region. The first region has none: it starts the kernel, with all threads. */
export const offsetOf = (layout: Layout, region: number): number => 4 * wordsOf(layout) * (region - 1);

/** Offset of the word that says whether any strip has lanes. */
export const flagOf = (layout: Layout, region: number): number => offsetOf(layout, region + 1) - 4;

/** Bytes of a half, and of both. */
export const bufferBytes = (layout: Layout): number => Math.ceil(offsetOf(layout, layout.regions.length) / 16) * 16;
export const queueBytes = (layout: Layout): number => 2 * bufferBytes(layout);
