/** The requests of one access: the sectors of global memory or the wavefronts of shared memory that the lanes of a warp need. */
import { countGlobal, countShared, sectorBytes } from '../ir/index.ts';
import { congruenceOf, type Linear, modulo, type Terms } from './forms.ts';

export type AccessKind = 'load' | 'store' | 'atomic';
export type AccessSpace = 'global' | 'shared';

/** What an access moves. */
export interface AccessShape {
  readonly space: AccessSpace;
  readonly kind: AccessKind;
  /** Bytes of one lane, and the multiple of which its address is one. */
  readonly size: number;
  readonly align: number;
}

/** The steps of a request: sectors or wavefronts, and how few there could be. */
export interface Steps {
  readonly steps: number;
  readonly least: number;
  /** Distinct bytes that lanes request; of global memory only. */
  readonly bytes: number;
}

/** How lanes spread over memory. `pattern`: known, and none of the others; `stride`: by a number of the launch; `gather`: by what was loaded. */
export type Spread = 'uniform' | 'unit' | 'strided' | 'broadcast' | 'pattern' | 'runtime' | 'gather' | 'unknown';

/** The numbers of active lanes. */
export const activeOf = (lanes: number, width: number): number[] =>
  Array.from({ length: width }, (_, lane) => lane).filter((lane) => ((lanes >>> lane) & 1) === 1);

/** The distance between lanes that follow one another, where it is the same for all of them. */
export function strideOf(offsets: readonly number[]): number | undefined {
  if (offsets.length < 2) return 0;
  const step = offsets[1]! - offsets[0]!;
  return offsets.every((offset, i) => i === 0 || offset - offsets[i - 1]! === step) ? step : undefined;
}

/** How the offsets of active lanes spread. */
export function spreadOf(offsets: readonly number[], size: number): Spread {
  const stride = strideOf(offsets);
  if (stride === 0) return 'uniform';
  if (stride === size) return 'unit';
  if (stride !== undefined) return 'strided';
  return new Set(offsets).size < offsets.length ? 'broadcast' : 'pattern';
}

/** The residues that an address may have besides the numbers of its lanes, modulo the bytes of a unit of memory. */
export function residuesOf(terms: Terms, lane: number, align: number, unit: number): number[] {
  const { modulus, residue } = congruenceOf(terms);
  if (modulus === 0 || modulus % unit === 0) return [modulo(residue, unit)];
  const found = new Set<number>();
  for (let at = 0; at < unit; at++) {
    const isPossible = modulo(at - residue, greatestCommon(modulus, unit)) === 0;
    // An access whose address is no multiple of its alignment fails.
    if (isPossible && modulo(at + lane, Math.min(align, unit)) === 0) found.add(at);
  }
  return [...found];
}

const greatestCommon = (a: number, b: number): number => (b === 0 ? a : greatestCommon(b, a % b));

const addresses = new Uint32Array(32);
const laneNumbers = new Uint8Array(32);

/** Places the offsets of lanes behind a residue, all of them natural numbers. */
function place(offsets: readonly number[], residue: number): boolean {
  const least = Math.min(...offsets);
  const start = Math.floor(least / 1024) * 1024;
  if (Math.max(...offsets) - start > 2 ** 31) return false;
  offsets.forEach((offset, i) => {
    addresses[i] = offset - start + residue;
  });
  return true;
}

/** The steps of a request by the offsets of its active lanes; undefined where they are too far apart. */
export function stepsOf(
  { space, kind, size }: AccessShape,
  offsets: readonly number[],
  lanes: readonly number[],
  residue: number,
): Steps | undefined {
  if (!place(offsets, residue)) return undefined;
  if (space === 'global') {
    const to = { requests: 0, lanes: 0, bytes: 0, sectors: 0, lines: 0, leastSectors: 0 };
    countGlobal(to, addresses, offsets.length, size);
    return { steps: to.sectors, least: to.leastSectors, bytes: to.bytes };
  }
  const to = { requests: 0, lanes: 0, wavefronts: 0, leastWavefronts: 0 };
  laneNumbers.set(lanes);
  countShared(to, addresses, laneNumbers, offsets.length, { size, kind });
  return { steps: to.wavefronts, least: to.leastWavefronts, bytes: 0 };
}

/** The steps of a request for every place that it may have: the fewest and the most. */
export interface StepRange {
  readonly few: Steps;
  readonly many: Steps;
}

/** The steps of the request of some lanes at a form. */
export function requestOf(shape: AccessShape, form: Linear, lanes: readonly number[]): StepRange | undefined {
  if (lanes.length === 0) return undefined;
  const offsets = lanes.map((lane) => form.lanes[lane]!);
  const residues = residuesOf(form.terms, offsets[0]!, shape.align, shape.space === 'global' ? sectorBytes : 4);
  let range: StepRange | undefined;
  for (const residue of residues) {
    const steps = stepsOf(shape, offsets, lanes, residue);
    if (!steps) return undefined;
    range = range
      ? { few: steps.steps < range.few.steps ? steps : range.few, many: steps.steps > range.many.steps ? steps : range.many }
      : { few: steps, many: steps };
  }
  return range;
}
