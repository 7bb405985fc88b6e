/**
 * Shadow memory of the fast sanitizer: a cell for each grain of the buffers that a kernel writes and of shared memory, and a byte for each
 * word of buffers that are not written entirely, with a bit for each byte that is.
 */
import { sharedParts } from '../../../launch-shape.ts';
import type { Allocation } from '../../observe/allocations.ts';
import type { SanitizedLaunch } from '../../observe/observer.ts';
import type { AccessChecks, Target } from './insert-checks.ts';
import { cellBits, oldTime } from './shadow-state.ts';
import type { TargetRange } from './target-ranges.ts';

/** The shadow of a range of memory. */
export interface ShadowRange {
  readonly start: number;
  /** The module finds the shadow of an address at `base` plus the address times a scale, modulo 2^32. It is never 0, which stands for no shadow. */
  readonly base: number;
}

export interface Shadow {
  readonly start: number;
  /** The buffers that the kernel writes. */
  readonly written: readonly Allocation[];
  /** The cells of these, for races. */
  readonly cells: ReadonlyMap<Allocation, ShadowRange>;
  /** The written bytes of buffers that are not written entirely. */
  readonly writtenBytes: ReadonlyMap<Allocation, ShadowRange>;
  readonly shared: { readonly words: number; readonly cells: ShadowRange | undefined; readonly writtenBytes: ShadowRange | undefined };
}

/** Bytes behind each range: vectors read beyond its end, and a range may be moved by 4. */
const slackBytes = 64;

const cellCount = (bytes: number, grain: number): number => Math.ceil(bytes / 2 ** grain);
const wordCount = (bytes: number): number => Math.ceil(bytes / 4);
/** Bytes of cells for each byte of memory. */
const cellScale = (grain: number): number => 2 ** (2 - grain);
/** Bytes of shadow for each byte of memory, of written bytes. */
const writtenScale = 1 / 4;

/** Allocates the shadow of a launch; undefined if the device has no memory for it. */
export function newShadow(
  { memory, area, compiled, request }: SanitizedLaunch,
  { targets, kinds, grains }: AccessChecks,
  ranges: readonly TargetRange[],
): Shadow | undefined {
  const [isRace, isInit] = [kinds.has('race'), kinds.has('init')];
  const written = allocationsOf(targets, ranges, ({ isWritten }) => isWritten);
  const partly = isInit ? allocationsOf(targets, ranges, (_, allocation) => allocation.written !== 'all') : [];
  const words = wordCount(compiled.windows.shared + sharedParts(request).size);
  const layout = newLayout();
  const cellOffsets = (isRace ? written : []).map((each) => layout.add(4 * cellCount(each.size, grains.global)));
  const writtenOffsets = partly.map((each) => layout.add(wordCount(each.size)));
  const sharedCells = isRace ? layout.add(4 * cellCount(4 * words, grains.shared)) : undefined;
  const sharedWritten = isInit ? layout.add(words) : undefined;
  const start = memory.take(layout.bytes());
  if (start === undefined) return undefined;
  memory.view(start, layout.bytes()).fill(0);
  const range = (offset: number | undefined, address: number, scale: number): ShadowRange | undefined =>
    offset === undefined ? undefined : rangeAt(start + offset, address * scale);
  const rangesOf = (list: readonly Allocation[], offsets: readonly number[], scale: number): Map<Allocation, ShadowRange> =>
    new Map(offsets.map((offset, i) => [list[i]!, rangeAt(start + offset, list[i]!.address * scale)]));
  const sharedStart = area.start + area.shared;
  const shadow: Shadow = {
    start,
    written,
    cells: rangesOf(written, cellOffsets, cellScale(grains.global)),
    writtenBytes: rangesOf(partly, writtenOffsets, writtenScale),
    shared: {
      words,
      cells: range(sharedCells, sharedStart, cellScale(grains.shared)),
      writtenBytes: range(sharedWritten, sharedStart, writtenScale),
    },
  };
  for (const [{ written: bits }, to] of shadow.writtenBytes)
    if (bits instanceof Uint8Array) spreadBits(bits, memory.view(to.start, 2 * bits.length));
  return shadow;
}

/** The shadow of memory whose scaled address is `origin`; it is moved by 4 bytes if its base would be 0. */
function rangeAt(start: number, origin: number): ShadowRange {
  const base = (start - origin) | 0;
  return base === 0 ? { start: start + 4, base: 4 } : { start, base };
}

/** Offsets of ranges one behind the other, each at a multiple of 64 bytes. */
function newLayout(): { add(bytes: number): number; bytes(): number } {
  let end = 0;
  return {
    add(bytes) {
      const offset = end;
      end = Math.ceil((end + bytes + slackBytes) / 64) * 64;
      return offset;
    },
    bytes: () => end,
  };
}

/** The allocations of some targets, each once. */
function allocationsOf(
  targets: readonly Target[],
  ranges: readonly TargetRange[],
  isWanted: (target: Target, allocation: Allocation) => boolean,
): Allocation[] {
  const all = targets.map((target, i) => ({ target, allocation: ranges[i]!.allocation }));
  return [...new Set(all.flatMap(({ target, allocation }) => (allocation && isWanted(target, allocation) ? [allocation] : [])))];
}

/** Turns a bit for each byte into a byte for each word. */
function spreadBits(bits: Uint8Array, to: Uint8Array): void {
  bits.forEach((byte, i) => {
    to[2 * i] = byte & 15;
    to[2 * i + 1] = byte >> 4;
  });
}

/** Turns a byte for each word into a bit for each byte. */
function gatherBits(from: Uint8Array, size: number): 'all' | Uint8Array {
  const whole = Math.floor(size / 4);
  if (size % 4 === 0 && isFull(from, whole)) return 'all';
  const bits = new Uint8Array(Math.ceil(size / 8));
  from.forEach((byte, i) => {
    bits[i >> 1]! |= byte << (4 * (i & 1));
  });
  return bits;
}

function isFull(from: Uint8Array, count: number): boolean {
  for (let i = 0; i < count; i++) if (from[i] !== 15) return false;
  return true;
}

/** Copies to the allocations which of their bytes are written. */
export function storeWritten({ memory }: SanitizedLaunch, { writtenBytes }: Shadow): void {
  for (const [allocation, { start }] of writtenBytes)
    allocation.written = gatherBits(memory.view(start, wordCount(allocation.size)), allocation.size);
}

/** Moves all accesses of the past to one time, so that time can start anew. */
export function compactCells({ memory }: SanitizedLaunch, { grains }: AccessChecks, { cells, shared }: Shadow): void {
  const { many, written, atomic, past } = cellBits;
  for (const [allocation, { start }] of cells) {
    const list = new Int32Array(memory.memory.buffer, start, cellCount(allocation.size, grains.global));
    list.forEach((cell, i) => {
      if (cell === 0) return;
      const isPast = (cell & (written | past)) !== 0;
      list[i] = isPast ? oldTime | written | past : cell & atomic ? atomic : many;
    });
  }
  if (shared.cells) new Int32Array(memory.memory.buffer, shared.cells.start, cellCount(4 * shared.words, grains.shared)).fill(0);
}
