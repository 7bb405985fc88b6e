/**
 * A million random allocations of the pool's allocator, beside the book-keeping that any pool needs at least: a `Map` from address to size in
 * which the same sequence is noted, at addresses that only grow. Half of the requests are small, a hundredth are of more than a megabyte.
 */
import { Places } from '../src/device/pool/places.ts';
import { pageBytes } from '../src/device/pool/size-classes.ts';
import { type Bar, type Bench, median } from './report.ts';

/** Requests of a turn, turns, and allocations that live at a time. */
const [count, turns, live] = [1_000_000, 5, 4000];
/** Pages that are reserved when there is no room. */
const rangePages = 128;

/** Numbers from 0 to 1 by a seed. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** A sequence: the bytes of each request, and which of those that live it replaces. */
interface Sequence {
  readonly bytes: Int32Array;
  readonly replaced: Int32Array;
}

function sequenceOf(seed: number): Sequence {
  const random = randomFrom(seed);
  const bytes = new Int32Array(count);
  const replaced = new Int32Array(count);
  for (let i = 0; i < count; i++) {
    const kind = random();
    // Evenly distributed in the logarithm.
    const [least, most] = kind < 0.5 ? [1, 4096] : kind < 0.99 ? [4096, 2 ** 20] : [2 ** 20, 2 ** 23];
    bytes[i] = Math.floor(least * (most / least) ** random());
    replaced[i] = Math.floor(random() * live);
  }
  return { bytes, replaced };
}

/** Time of this process, which others on the machine do not add to. */
function cpuNanoseconds(): number {
  const { user, system } = process.cpuUsage();
  return 1000 * (user + system);
}

interface Turn {
  /** Nanoseconds of an allocation or a free. */
  readonly nanoseconds: number;
  /** Most bytes that were reserved, of most bytes in use. */
  readonly overhead: number;
}

function pooled({ bytes, replaced }: Sequence): Turn {
  const places = new Places();
  const taken = new Float64Array(live).fill(-1);
  let [reserved, used, operations] = [0, 0, 0];
  const start = cpuNanoseconds();
  for (let i = 0; i < count; i++) {
    const at = replaced[i]!;
    if (taken[at]! >= 0) {
      places.give(taken[at]!);
      operations++;
    }
    let place = places.take(bytes[i]!);
    if (place === undefined) {
      places.add(Math.max(rangePages, Math.ceil(bytes[i]! / pageBytes)));
      place = places.take(bytes[i]!)!;
    }
    taken[at] = place;
    operations++;
    if (places.used > used) used = places.used;
  }
  const nanoseconds = (cpuNanoseconds() - start) / operations;
  reserved = places.reserved;
  return { nanoseconds, overhead: reserved / used };
}

function mapped({ bytes, replaced }: Sequence): number {
  const sizes = new Map<number, number>();
  const taken = new Float64Array(live).fill(-1);
  let [next, operations] = [0, 0];
  const start = cpuNanoseconds();
  for (let i = 0; i < count; i++) {
    const at = replaced[i]!;
    if (taken[at]! >= 0) {
      sizes.delete(taken[at]!);
      operations++;
    }
    sizes.set(next, bytes[i]!);
    taken[at] = next;
    next += 256 * Math.ceil(bytes[i]! / 256);
    operations++;
  }
  return (cpuNanoseconds() - start) / operations;
}

/** Both in turns. */
export function pool(): Bench {
  const [ours, others, overheads]: [number[], number[], number[]] = [[], [], []];
  for (let turn = 0; turn < turns; turn++) {
    const sequence = sequenceOf(turn + 1);
    others.push(mapped(sequence));
    const { nanoseconds, overhead } = pooled(sequence);
    ours.push(nanoseconds);
    overheads.push(overhead);
  }
  const [mine, other] = [median(ours), median(others)];
  const bars: Bar[] = [
    { name: 'ns of CPU time of an allocation or a free', value: mine, bar: 200, isMost: true },
    { name: 'most bytes reserved, of most bytes used', value: Math.max(...overheads), bar: 2, isMost: true },
  ];
  return {
    bench: 'pool',
    about: `${count} random allocations of a pool, ${live} at a time, and a Map that notes the same`,
    rows: [{ name: 'allocation or free', ours: mine, other, unit: 'ns', ratio: other / mine }],
    bars,
  };
}
