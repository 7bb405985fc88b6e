/**
 * The memory transactions of one access of a warp. Source: CUDA C++ Best Practices Guide, 13.2.1 (global memory moves in sectors of 32 bytes,
 * four of which are a line) and 13.2.3 (32 banks of 4 bytes; threads that read one word share a transaction); CUDA C++ Programming
 * Guide, "Compute Capability 2.x", "Shared Memory" (accesses of 8 bytes are executed per half-warp, of 16 bytes per quarter-warp).
 */

/** Accesses to global memory by warps. */
export interface GlobalAccesses {
  requests: number;
  /** Active threads. */
  lanes: number;
  /** Requested bytes; those that several threads of a warp request count once. */
  bytes: number;
  /** Aligned 32-byte sectors and 128-byte lines that contain them. */
  sectors: number;
  lines: number;
  /** The fewest sectors that could contain as many bytes. */
  leastSectors: number;
}

/** Accesses to shared memory by warps. */
export interface SharedAccesses {
  requests: number;
  lanes: number;
  /** Wavefronts, and how many there would be without bank conflicts. */
  wavefronts: number;
  leastWavefronts: number;
}

/** The bytes of an aligned unit of global memory. */
export const sectorBytes = 32;

const banks = 32;

/** Adds a number to a set of `count` numbers in a list; returns the new count. */
function addTo(list: Int32Array, count: number, item: number): number {
  // Neighboring lanes mostly access the same sector or the next one.
  for (let i = count - 1; i >= 0; i--) if (list[i] === item) return count;
  list[count] = item;
  return count + 1;
}

const [sectors, places] = [new Int32Array(32 * 2), new Int32Array(32)];

/** The sectors of an access to global memory. */
export interface Touched {
  readonly list: Int32Array;
  readonly count: number;
}

const touched = { list: sectors, count: 0 };

/** Counts an access to global memory by the addresses of its `lanes` threads, each of `size` bytes and aligned. The result is valid until the next call. */
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

/** Wavefronts of some threads: the most words that one bank delivers. `isEach`: equal words count each time. */
function wavefrontsOf(offsets: Uint32Array, from: number, to: number, size: number, isEach: boolean): number {
  inBank.fill(0);
  let wavefronts = 0;
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
      if (count + 1 > wavefronts) wavefronts = count + 1;
    }
  }
  return wavefronts;
}

const byLane = new Int32Array(32);

/** Whether each active lane accesses the same offset as the lane whose number differs in a bit, if that one is active. */
function neighborsAgree(bit: number): boolean {
  for (let lane = 0; lane < 32; lane++) {
    const [own, other] = [byLane[lane]!, byLane[lane ^ bit]!];
    if (own >= 0 && other >= 0 && own !== other) return false;
  }
  return true;
}

/**
 * Lanes that share a wavefront without conflicts: all for words, otherwise as many as access 128 bytes. Two such groups of loads are combined
 * if neighbors throughout the warp access the same offset. The manuals do not state that; it was measured on an H200.
 */
function groupSize(size: number, isLoad: boolean): number {
  if (size <= 4) return 32;
  const own = Math.max(1, 128 / size);
  return isLoad && size <= 16 && (neighborsAgree(1) || neighborsAgree(2)) ? 2 * own : own;
}

/**
 * Counts an access to shared memory by the active lanes, ascending, and their offsets in the window. Atomics on one word are executed one
 * after the other.
 */
export function countShared(
  to: SharedAccesses,
  offsets: Uint32Array,
  lanes: Uint8Array,
  count: number,
  { size, kind }: { readonly size: number; readonly kind: 'load' | 'store' | 'atomic' },
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
    to.wavefronts += wavefrontsOf(offsets, from, end, size, kind === 'atomic');
    to.leastWavefronts++;
    from = end;
  }
}
