/** Layout of the barrier queues in the spill area: two buffers of ready masks. */

interface Layout {
  readonly threads: number;
  readonly lanes: number;
  readonly regions: readonly unknown[];
}

/** 32-bit words of a region: one mask for each lane group, and a flag that is set if any mask is not empty. */
const wordsOf = ({ threads, lanes }: Layout): number => Math.ceil(threads / lanes) + 1;

/** Offset of a region's words in a buffer. Region 0 has none: it starts the kernel with all threads. */
export const offsetOf = (layout: Layout, region: number): number => 4 * wordsOf(layout) * (region - 1);

/** Offset of the flag of a region. */
export const flagOf = (layout: Layout, region: number): number => offsetOf(layout, region + 1) - 4;

/** Bytes of one buffer, and of both. */
export const bufferBytes = (layout: Layout): number => Math.ceil(offsetOf(layout, layout.regions.length) / 16) * 16;
export const queueBytes = (layout: Layout): number => 2 * bufferBytes(layout);
