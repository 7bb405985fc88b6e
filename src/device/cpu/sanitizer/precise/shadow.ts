/**
 * Shadow memory of the precise sanitizer: a bit for each byte that may be accessed, a bit for each byte that was written, two stamps
 * for each word, and the times of each thread.
 */
import { product } from '../../../../base/dim3.ts';
import { gridWorkspaceBytes, lockTableBytes, printBufferBytes } from '../../../../ir/index.ts';
import { sharedParts } from '../../../launch-shape.ts';
import { type Allocations, setBits } from '../../observe/allocations.ts';
import type { BlockTurns, SanitizedLaunch } from '../../observe/observer.ts';
import { cellBytes, oneOf } from './stamp.ts';
import { threadTimesBytes } from './state.ts';

/** Blocks that run by turns. */
export const blocksOf = ({ cluster }: Pick<BlockTurns, 'cluster'>): number => product(cluster);

/** Addresses of its parts. */
export interface Shadow {
  readonly start: number;
  readonly allowed: number;
  readonly written: number;
  readonly cells: number;
  readonly times: number;
  readonly exits: number;
  readonly sink: number;
  /** Addresses from here on have no shadow. */
  readonly end: number;
}

/** Bytes of each of the two sinks that replace wrong accesses: zeros for loads, and behind them memory for stores. */
export const sinkBytes = 64;

/** Allocates and fills the shadow of a launch; the number of bytes if the device has no more. */
export function newShadow({ memory, allocations, request, area, heap, launches, turns }: SanitizedLaunch): Shadow | number {
  const { kinds } = request.sanitize;
  const end = Math.max(
    area.start + area.bytes,
    heap.address + heap.bytes,
    launches.address + launches.bytes,
    turns ? turns.start + blocksOf(turns) * turns.bytes : 0,
    turns ? turns.service.address + turns.service.bytes : 0,
    ...[...allocations.list].map(({ address, size }) => address + size),
  );
  const mapBytes = Math.ceil(end / 64) * 8 + 8;
  const cellsBytes = kinds.has('race') ? (Math.ceil(end / 4) + 1) * cellBytes : 0;
  const threads = product(request.block) * (turns ? blocksOf(turns) : 1);
  const bytes = 2 * mapBytes + cellsBytes + threads * (threadTimesBytes + 8) + 2 * sinkBytes;
  const start = memory.take(bytes);
  if (start === undefined) return bytes;
  const times = start + cellsBytes;
  const exits = times + threads * threadTimesBytes;
  const sink = exits + threads * 8;
  const allowed = sink + 2 * sinkBytes;
  const written = allowed + mapBytes;
  memory.view(start, bytes).fill(0);
  fillMaps({ allowed: memory.view(allowed, mapBytes), written: memory.view(written, mapBytes) }, allocations, kinds.has('init'));
  return { start, cells: start, times, exits, sink, allowed, written, end };
}

interface Maps {
  readonly allowed: Uint8Array;
  readonly written: Uint8Array;
}

function fillMaps({ allowed, written }: Maps, { list }: Allocations, isInit: boolean): void {
  for (const allocation of list) {
    if (allocation.isFree) continue;
    setBits(allowed, allocation.address, allocation.size);
    if (allocation.written === 'all' || !isInit) setBits(written, allocation.address, allocation.size);
    else if (allocation.written !== 'none') written.set(allocation.written, allocation.address / 8);
  }
}

/** Allows access to the memory of the launch itself, and marks it as written: constants, values, fault word, print buffer, lock table. */
export function allowArea(
  { memory, compiled, area, locks, heap, launches, kernel, turns, request }: SanitizedLaunch,
  shadow: Shadow,
): void {
  const spans = [
    [locks - area.start, locks > 0 ? lockTableBytes : 0],
    [heap.address - area.start, heap.bytes],
    [launches.address - area.start, launches.bytes],
    [(turns?.service.address ?? 0) - area.start, turns?.service.bytes ?? 0],
    [area.grid, gridWorkspaceBytes],
    [area.stack, 4],
    [area.constant, compiled.windows.constant],
    [area.faults, 4],
    [area.printed, kernel.reflection.printf ? printBufferBytes : 0],
    ...kernel.params.map((param, i) => [area.values[i]!, param.kind === 'value' ? param.size : 0] as const),
  ] as const;
  for (const [offset, bytes] of spans) {
    const from = area.start + offset;
    for (const map of [shadow.allowed, shadow.written]) setBits(memory.view(map, Math.ceil((from + bytes) / 8) + 1), from, bytes);
  }
  if (!turns) return;
  const sharedBytes = compiled.windows.shared + sharedParts(request).size;
  for (let rank = 0; rank < blocksOf(turns); rank++) {
    const from = turns.start + rank * turns.bytes + turns.area.shared;
    setBits(memory.view(shadow.allowed, Math.ceil((from + sharedBytes) / 8) + 1), from, sharedBytes);
  }
}

/** Makes the stamps of all accesses the oldest ones, so that the time can begin anew: they are those of earlier blocks. */
export function renewStamps({ memory }: SanitizedLaunch, { cells, times, exits }: Shadow): void {
  const words = new Uint32Array(memory.memory.buffer, cells, (times - cells) / 4);
  const oldest = Number(oneOf('time') >> 32n);
  for (let high = 1; high < words.length; high += 2) if (words[high]! >= oldest) words[high] = (words[high]! % oldest) + oldest;
  memory.view(times, exits - times).fill(0);
}

/** Copies to the allocations which of their bytes are written. */
export function storeWritten({ memory, allocations, request }: SanitizedLaunch, { written }: Shadow): void {
  if (!request.sanitize.kinds.has('init')) return allocations.writeAll();
  for (const allocation of allocations.list) {
    if (allocation.isFree || allocation.written === 'all') continue;
    allocation.written = memory.view(written + allocation.address / 8, Math.ceil(allocation.size / 8)).slice();
  }
}
