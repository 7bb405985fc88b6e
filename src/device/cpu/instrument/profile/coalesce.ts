/**
 * What one access of a warp asks of memory. Source: CUDA C++ Best Practices Guide, 13.2.1 (global memory moves in sectors of 32 bytes,
 * four of which are a line) and 13.2.3 (32 banks of 4 bytes; threads that read one word are answered together); CUDA C++ Programming
 * Guide, "Compute Capability 2.x", "Shared Memory" (accesses of 8 bytes are done by halves of a warp, of 16 bytes by quarters).
 */
import type { AccessKind, GlobalAccesses, SharedAccesses } from '../../../profile.ts';

const banks = 32;

/** Adds a number to a list of `count` that has none twice; gives how many there are then. */
function addTo(list: Int32Array, count: number, item: number): number {
  // Neighbours mostly ask for the same, or for what comes next.
  for (let i = count - 1; i >= 0; i--) if (list[i] === item) return count;
  list[count] = item;
  return count + 1;
}

const [sectors, places] = [new Int32Array(32 * 2), new Int32Array(32)];

/** The sectors of an access of global memory. */
export interface Touched {
  readonly list: Int32Array;
  readonly count: number;
}

const touched = { list: sectors, count: 0 };

/** Counts an access of global memory: the addresses of its `lanes` threads, each of so many bytes, at multiples of these. The result holds until the next call. */
export function countGlobal(to: GlobalAccesses, addresses: Uint32Array, lanes: number, size: number): Touched {
  let [sectorCount, placeCount, lineCount] = [0, 0, 0];
  for (let i = 0; i < lanes; i++) {
    const address = addresses[i]!;
    placeCount = addTo(places, placeCount, address | 0);
    const last = (address + size - 1) >>> 5;
    for (let sector = address >>> 5; sector <= last; sector++) sectorCount = addTo(sectors, sectorCount, sector);
  }
  for (let i = 0; i < sectorCount; i++) {
    const line = sectors[i]! >> 2;
    let isNew = true;
    for (let j = 0; j < i && isNew; j++) isNew = sectors[j]! >> 2 !== line;
    if (isNew) lineCount++;
  }
  to.requests++;
  to.lanes += lanes;
  to.bytes += placeCount * size;
  to.sectors += sectorCount;
  to.lines += lineCount;
  to.leastSectors += Math.ceil((placeCount * size) / 32);
  touched.count = sectorCount;
  return touched;
}

const words = new Int32Array(banks * 32 * 2);
const inBank = new Int32Array(banks);

/** Steps in which the banks answer the threads from one to another: as many as one of them has words to give. */
function stepsOf(offsets: Uint32Array, from: number, to: number, size: number, isEach: boolean): number {
  inBank.fill(0);
  let most = 0;
  for (let i = from; i < to; i++) {
    const last = (offsets[i]! + size - 1) >>> 2;
    for (let word = offsets[i]! >>> 2; word <= last; word++) {
      const bank = word & (banks - 1);
      const count = inBank[bank]!;
      const start = bank * 64;
      let isNew = true;
      if (!isEach) for (let j = 0; j < count && isNew; j++) isNew = words[start + j] !== word;
      if (!isNew) continue;
      words[start + count] = word;
      inBank[bank] = count + 1;
      if (count + 1 > most) most = count + 1;
    }
  }
  return most;
}

const byLane = new Int32Array(32);

/** Whether all threads that take part ask for the same as those whose lanes differ in a bit, where these do. */
function neighboursAgree(bit: number): boolean {
  for (let lane = 0; lane < 32; lane++) {
    const [own, other] = [byLane[lane]!, byLane[lane ^ bit]!];
    if (own >= 0 && other >= 0 && own !== other) return false;
  }
  return true;
}

/**
 * Lanes that are answered together: all for words, else as many as have 128 bytes. Loads of two such groups are answered as one where
 * neighbours throughout the warp ask for the same; that is not in the manuals, and is what was counted on an H200.
 */
function groupSize(size: number, isLoad: boolean): number {
  if (size <= 4) return 32;
  const own = Math.max(1, 128 / size);
  return isLoad && size <= 16 && (neighboursAgree(1) || neighboursAgree(2)) ? 2 * own : own;
}

/**
 * Counts an access of shared memory: the lanes that take part, ascending, and their offsets in the window. Atomics are done one after the
 * other where they meet in a word.
 */
export function countShared(
  to: SharedAccesses,
  offsets: Uint32Array,
  lanes: Uint8Array,
  count: number,
  { size, kind }: { readonly size: number; readonly kind: AccessKind },
): void {
  byLane.fill(-1);
  for (let i = 0; i < count; i++) byLane[lanes[i]!] = offsets[i]!;
  const group = groupSize(size, kind === 'load');
  to.requests++;
  to.lanes += count;
  for (let from = 0; from < count; ) {
    const next = lanes[from]! - (lanes[from]! % group) + group;
    let end = from + 1;
    while (end < count && lanes[end]! < next) end++;
    to.wavefronts += stepsOf(offsets, from, end, size, kind === 'atomic');
    to.leastWavefronts++;
    from = end;
  }
}
