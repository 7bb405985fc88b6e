/** The sizes of small allocations: a page has slots of one size. */
import { alignUp } from '../../base/bytes.ts';

/** Addresses are multiples of it, and slots are made of it. */
export const unitBytes = 256;
/** Memory is reserved, and taken by large allocations, in pages. */
export const pageBytes = 2 ** 18;
const unitsOfPage = pageBytes / unitBytes;
/** CUDA's limits of pools are multiples of this. Source: recorded on an NVIDIA H200. */
export const limitBytes = 2 ** 25;
/** Larger allocations have pages of their own. */
export const maxSmallBytes = pageBytes / 2;

export interface SizeClass {
  /** Bytes of a slot. */
  readonly bytes: number;
  /** Slots of a page. */
  readonly slots: number;
}

/** Units of a slot: up to 128, four sizes for each power of two; above, the parts that a page can be divided into. */
function unitsOfClasses(): number[] {
  const units = [1, 2, 3];
  for (let power = 4; power < 128; power *= 2) for (let step = 0; step < 4; step++) units.push(power + (step * power) / 4);
  for (let parts = 8; parts >= 2; parts--) units.push(Math.floor(unitsOfPage / parts));
  return units;
}

/** In order of size. A request is at least two thirds of its slot, above the smallest sizes. */
export const sizeClasses: readonly SizeClass[] = unitsOfClasses().map((units) => ({
  bytes: units * unitBytes,
  slots: Math.floor(unitsOfPage / units),
}));

/** The class of a request, by its units. */
const classByUnits = Uint8Array.from({ length: maxSmallBytes / unitBytes + 1 }, (_, units) =>
  sizeClasses.findIndex(({ bytes }) => bytes >= units * unitBytes),
);

/** The number of the class of a small request. */
export const classOf = (bytes: number): number => classByUnits[Math.max(1, Math.ceil(bytes / unitBytes))]!;

/** Bytes that a request takes: those of its slot or of its pages. */
export const heldBytes = (bytes: number): number =>
  bytes <= maxSmallBytes ? sizeClasses[classOf(bytes)]!.bytes : alignUp(bytes, pageBytes);
