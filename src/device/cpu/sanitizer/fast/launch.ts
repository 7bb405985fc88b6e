/** A launch that is looked at quickly: its shadow, and what memory held before, for the case that it has to be watched lane by lane. */
import type { LaunchRequest, SanitizeRequest } from '../../../device.ts';
import { sharedParts } from '../../../request.ts';
import type { Allocation } from '../../observe/allocations.ts';
import type { Observed } from '../../observe/observer.ts';
import { maxGridThreads } from './address-range.ts';
import type { Guards, Reached } from './insert-checks.ts';
import { cellBits, oldTime, quickName, type ReachedGlobal, reachedName } from './shadow-state.ts';

export type Looked = Omit<Observed, 'request'> & { readonly request: LaunchRequest & { readonly sanitize: SanitizeRequest } };

/** Thrown where a block takes so long that its threads may wait for each other. */
export class Waiting extends Error {}
/** Milliseconds that a block may take whose threads may wait. */
const mostWaitMs = 500;

export interface Quick {
  /** What the module imports. */
  readonly imports: { renew(): void };
  /** Sets the globals of the instance. */
  begin(global: (name: string) => WebAssembly.Global): void;
  /** Looked at now and then, with the block that runs; throws where threads seem to wait for ever. */
  tick(block: string): void;
  /** The launch has ended with nothing found: notes what it wrote. */
  end(): void;
  /** Puts back what memory held. */
  restore(): void;
  /** Gives the shadow back. */
  giveBack(): void;
}

/** Makes it ready; nothing where there is no memory for it, or where it would not see everything. */
export function startQuick(looked: Looked, guards: Guards): Quick | undefined {
  const { memory, request, allocations } = looked;
  if (request.grid.some((blocks, axis) => blocks * request.block[axis]! > maxGridThreads)) return undefined;
  allocations.keepFreed();
  const places = guards.reached.map((reached) => placeOf(looked, reached));
  if (places.some(({ bytes }) => bytes >= 2 ** 31)) return undefined;
  const shadow = makeShadow(looked, guards, places);
  if (!shadow) return undefined;
  const kept = keep(looked, shadow);
  if (!kept) {
    memory.give(shadow.at);
    return undefined;
  }
  let [last, since] = ['', 0];
  let global: ((name: string) => WebAssembly.Global) | undefined;
  return {
    imports: {
      renew() {
        simplify(looked, guards, shadow);
        global!(quickName('time')).value = oldTime;
      },
    },
    begin(of) {
      global = of;
      for (const [name, value] of globalsOf(guards, places, shadow)) of(name).value = value;
    },
    tick(block) {
      if (!guards.mayWait) return;
      const now = performance.now();
      if (block !== last) [last, since] = [block, now];
      else if (now - since > mostWaitMs) throw new Waiting();
    },
    end() {
      if (!guards.kinds.has('init')) return allocations.writeAll();
      for (const [allocation, at] of shadow.partly) allocation.written = bitsOf(memory.view(at, wordsOf(allocation)), allocation.size);
    },
    restore() {
      for (const { allocation, bytes } of kept) memory.view(allocation.address, allocation.size).set(bytes);
    },
    giveBack: () => memory.give(shadow.at),
  };
}

// ── what is reached ──

interface Place {
  readonly start: number;
  readonly bytes: number;
  /** The buffer that it is in. */
  readonly allocation: Allocation | undefined;
  readonly isShared: boolean;
}

function placeOf({ kernel, compiled, area, request, own, allocations }: Looked, { bounds, space, fixed }: Reached): Place {
  const isShared = space === 'shared';
  const dynamic = sharedParts(request).size;
  const shared = area.start + area.shared;
  // The code knows these itself.
  if (fixed) return { start: 0, bytes: 0, allocation: undefined, isShared };
  const place = (start: number, bytes: number, allocation?: Allocation): Place => ({ start, bytes, allocation, isShared });
  if (bounds.kind !== 'param') return place(bounds.kind === 'variable' ? shared + compiled.windows.shared : shared, sizeOf());
  const param = kernel.params[bounds.index]!;
  if (param.kind === 'threadgroup') return place(shared + compiled.windows.shared, dynamic);
  if (param.kind === 'value') return place(area.start + area.values[bounds.index]!, param.size);
  const at = (address: number): Allocation | undefined => [...allocations.list].find((each) => each.address === address && !each.isFree);
  if (param.memory) return place(own.address, own.bytes, at(own.address));
  const arg = request.args[kernel.reflection.params.findIndex((p) => p.slot === param.slot)];
  if (arg?.kind !== 'buffer' || !('address' in arg.buffer)) return place(0, 0);
  const address = arg.buffer.address as number;
  const offset = arg.offset ?? 0;
  return place(address + offset, arg.buffer.size - offset, at(address));

  function sizeOf(): number {
    return bounds.kind === 'variable' ? dynamic : compiled.windows.shared + dynamic;
  }
}

// ── the shadow ──

interface Shadow {
  readonly at: number;
  /** By buffer: its cells, of those that the kernel writes. */
  readonly raced: ReadonlyMap<Allocation, number>;
  /** By buffer: a byte for each word with the bytes of it that were written, of those of which some were not. */
  readonly partly: ReadonlyMap<Allocation, number>;
  readonly shared: { readonly start: number; readonly words: number; readonly cells: number; readonly written: number };
}

interface Kept {
  readonly allocation: Allocation;
  readonly bytes: Uint8Array;
}

/** What the buffers hold that the kernel writes; nothing where that is more than there is room for. */
function keep({ memory }: Looked, { raced }: Shadow): Kept[] | undefined {
  try {
    return [...raced.keys()].map((allocation) => ({ allocation, bytes: memory.view(allocation.address, allocation.size).slice() }));
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** Bytes behind each part that vectors may read, and that one may be moved by. */
const slack = 64;
const cellsOf = (bytes: number, grain: number): number => Math.ceil(bytes / 2 ** grain);
const wordsOf = ({ size }: { readonly size: number }): number => Math.ceil(size / 4);

function makeShadow(
  { memory, area, compiled, request }: Looked,
  { reached, kinds, grains }: Guards,
  places: readonly Place[],
): Shadow | undefined {
  const [isRace, isInit] = [kinds.has('race'), kinds.has('init')];
  const buffers = (of: (reached: Reached, allocation: Allocation) => boolean): Allocation[] => [
    ...new Set(reached.flatMap((each, i) => (places[i]!.allocation && of(each, places[i]!.allocation!) ? [places[i]!.allocation!] : []))),
  ];
  const written = buffers(({ isWritten }) => isWritten);
  const partly = isInit ? buffers((_, allocation) => allocation.written !== 'all') : [];
  const words = wordsOf({ size: compiled.windows.shared + sharedParts(request).size });
  let bytes = 0;
  const take = (count: number): number => {
    const offset = bytes;
    bytes = Math.ceil((bytes + count + slack) / 64) * 64;
    return offset;
  };
  const cells = written.map((each) => [each, isRace ? take(4 * cellsOf(each.size, grains.global)) : 0] as const);
  const maps = partly.map((each) => [each, take(wordsOf(each))] as const);
  const shared = { cells: isRace ? take(4 * cellsOf(4 * words, grains.shared)) : 0, written: isInit ? take(words) : 0 };
  const at = memory.take(bytes);
  if (at === undefined) return undefined;
  memory.view(at, bytes).fill(0);
  const shift = (list: readonly (readonly [Allocation, number])[], scale: number) =>
    new Map(list.map(([each, offset]) => [each, apart(at + offset, each.address * scale)] as const));
  const partlyAt = shift(maps, 1 / 4);
  const start = area.start + area.shared;
  const [cellsOfShared, writtenOfShared] = [
    apart(at + shared.cells, start * cellScale(grains.shared)),
    apart(at + shared.written, start / 4),
  ];
  for (const [{ written: bits }, to] of partlyAt) if (bits instanceof Uint8Array) spread(bits, memory.view(to, 2 * bits.length));
  return {
    at,
    raced: shift(cells, cellScale(grains.global)),
    partly: partlyAt,
    shared: { start, words, cells: isRace ? cellsOfShared : 0, written: isInit ? writtenOfShared : 0 },
  };
}

/** Bytes of cells for a byte. */
const cellScale = (grain: number): number => 2 ** (2 - grain);

/** A place that is not 0 bytes from another, which says that there is none: the next one, of the slack. */
const apart = (place: number, from: number): number => (((place - from) | 0) === 0 ? place + 4 : place);

/** A bit for each byte as a byte for each word. */
function spread(bits: Uint8Array, to: Uint8Array): void {
  bits.forEach((byte, i) => {
    to[2 * i] = byte & 15;
    to[2 * i + 1] = byte >> 4;
  });
}

/** And back. */
function bitsOf(from: Uint8Array, size: number): 'all' | Uint8Array {
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

function globalsOf({ reached, kinds, grains }: Guards, places: readonly Place[], shadow: Shadow): [string, number][] {
  const { start, words, cells, written } = shadow.shared;
  // Shadows stand as far from their start as what they are of, times what a cell has for a byte.
  const shared = { cells: cells && cells - start * cellScale(grains.shared), written: written && written - start / 4 };
  const isRace = kinds.has('race');
  const ofBuffer = (allocation: Allocation): { cells: number; written: number } => {
    const [raced, partly] = [shadow.raced.get(allocation), shadow.partly.get(allocation)];
    return {
      cells: raced === undefined || !isRace ? 0 : raced - allocation.address * cellScale(grains.global),
      written: partly === undefined ? 0 : partly - allocation.address / 4,
    };
  };
  const none = { cells: 0, written: 0 };
  return [
    [quickName('time'), oldTime],
    [quickName('first'), written],
    [quickName('end'), written === 0 ? 0 : written + words],
    ...reached.flatMap((_, i) => {
      const place = places[i]!;
      const own = place.isShared ? shared : place.allocation ? ofBuffer(place.allocation) : none;
      const values: Record<ReachedGlobal, number> = { start: place.start, bytes: place.bytes, ...own };
      return Object.entries(values).map(([name, value]): [string, number] => [reachedName(i, name as ReachedGlobal), value | 0]);
    }),
  ];
}

/** Makes all that was before one time before all others. */
function simplify({ memory }: Looked, { grains, kinds }: Guards, { raced, shared }: Shadow): void {
  if (!kinds.has('race')) return;
  const { many, written, atomic, past } = cellBits;
  for (const [allocation, at] of raced) {
    const cells = new Int32Array(memory.memory.buffer, at, cellsOf(allocation.size, grains.global));
    cells.forEach((cell, i) => {
      if (cell === 0) return;
      const isPast = (cell & (written | past)) !== 0;
      cells[i] = isPast ? oldTime | written | past : cell & atomic ? atomic : many;
    });
  }
  if (shared.cells > 0) new Int32Array(memory.memory.buffer, shared.cells, cellsOf(4 * shared.words, grains.shared)).fill(0);
}
