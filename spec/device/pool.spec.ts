/**
 * The allocator of pools: 20 000 random allocations against a model that owns every 256 bytes, and pools over the devices of this machine.
 * `CUMETAL_SEED` repeats a sequence.
 */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { openCpuDevice } from '../../src/device/index.ts';
import { DevicePool, heldBytes, type PoolBlock, poison } from '../../src/device/pool/index.ts';
import { Places, pageOf } from '../../src/device/pool/places.ts';
import { listOf, Spans } from '../../src/device/pool/spans.ts';
import { randomFractions } from '../support/lcg.ts';

const test = suite('device/pool');

const seed = Number(process.env.CUMETAL_SEED ?? 26);
const pageBytes = 262_144;
const unit = 256;

/** Evenly distributed in the logarithm, with the edges of pages and slots among them. */
function randomBytes(random: () => number): number {
  if (random() < 0.05) return [0, 1, 255, 256, 257, 131_072, 131_073, 262_144, 262_145][Math.floor(random() * 9)]!;
  return Math.floor(2 ** (random() * 21.5));
}

test(`seed ${seed}: 20 000 random allocations never overlap, are aligned, and are counted to the byte`, () => {
  const random = randomFractions(seed);
  const places = new Places();
  /** The model: who has each 256 bytes of each range, and what lives. */
  const owners = new Map<number, Uint32Array>();
  const ranges: { first: number; pages: number }[] = [];
  const live: { place: number; bytes: number; id: number }[] = [];
  let [used, peak, allocations, id] = [0, 0, 0, 0];
  const own = (place: number, bytes: number, from: number, to: number): void => {
    for (let at = place; at < place + Math.max(1, bytes); ) {
      const page = owners.get(pageOf(at));
      const [start, end] = [(at % pageBytes) / unit, Math.min(pageBytes, (at % pageBytes) + Math.max(1, place + bytes - at)) / unit];
      const those = page?.subarray(start, Math.ceil(end));
      if (!those?.every((owner) => owner === from)) assert.unreachable(`seed ${seed}, allocation ${id}: ${at} has another owner`);
      those?.fill(to);
      at += pageBytes - (at % pageBytes);
    }
  };
  while (allocations < 20_000) {
    // The number of allocations that live rises and falls.
    const wanted = 600 + 500 * Math.sin(allocations / 1500);
    if (live.length < wanted || random() < 0.3) {
      const bytes = randomBytes(random);
      let place = places.take(bytes);
      if (place === undefined) {
        const pages = Math.max(Math.ceil(bytes / pageBytes), 8 + Math.floor(random() * 40));
        const first = places.add(pages);
        ranges.push({ first, pages });
        for (let page = first; page < first + pages; page++) {
          assert.not(owners.has(page), 'a new range has pages of its own');
          owners.set(page, new Uint32Array(pageBytes / unit));
        }
        place = places.take(bytes)!;
      }
      assert.is(place % unit, 0);
      own(place, bytes, 0, ++id);
      live.push({ place, bytes, id });
      allocations++;
      used += bytes;
      peak = Math.max(peak, used);
    } else {
      const [gone] = live.splice(Math.floor(random() * live.length), 1);
      if (gone!.bytes > unit) assert.is(places.give(gone!.place + unit), -1, 'no allocation starts inside');
      assert.is(places.give(gone!.place), gone!.bytes);
      assert.is(places.give(gone!.place), -1, 'given twice');
      own(gone!.place, gone!.bytes, gone!.id, 0);
      used -= gone!.bytes;
    }
    if (allocations % 197 === 0) {
      const { counts } = places;
      assert.is(counts.used, used);
      assert.is(counts.allocations, live.length);
      assert.is(
        counts.held,
        live.map(({ bytes }) => heldBytes(bytes)).reduce((sum, bytes) => sum + bytes, 0),
      );
      assert.is(
        counts.reserved,
        ranges.map(({ pages }) => pages * pageBytes).reduce((sum, bytes) => sum + bytes, 0),
      );
    }
    // Ranges without an allocation can be removed, and only those.
    if (allocations % 1000 === 0)
      for (const range of [...ranges]) {
        const isUsed = live.some(({ place }) => pageOf(place) >= range.first && pageOf(place) < range.first + range.pages);
        assert.is(places.isIdle(range.first, range.pages), !isUsed);
        if (isUsed) continue;
        places.remove(range.first, range.pages);
        ranges.splice(ranges.indexOf(range), 1);
        for (let page = range.first; page < range.first + range.pages; page++) owners.delete(page);
      }
  }
  assert.ok(places.reserved < 2 * peak, `${places.reserved} bytes reserved for ${peak}`);
  for (const { place } of live) places.give(place);
  const { counts } = places;
  assert.equal([counts.used, counts.held, counts.allocations, counts.free], [0, 0, 0, counts.reserved]);
  for (const { first, pages } of ranges) assert.ok(places.isIdle(first, pages), 'all spans are joined again');
});

test('a place is none before it is taken, between two ranges, or off the grid', () => {
  const places = new Places();
  const first = places.add(2);
  const second = places.add(1);
  assert.ok(second > first + 2, 'ranges are apart');
  const wrong = [-1, 0.5, Number.NaN, first * pageBytes, (first + 2) * pageBytes, second * pageBytes, 1e15, Number.POSITIVE_INFINITY];
  for (const place of wrong) assert.is(places.give(place), -1, String(place));
  assert.is(places.take(3 * pageBytes), undefined, 'pages of two ranges are no neighbors');
});

test('a request gets at least two thirds of its slot, or whole pages', () => {
  for (let bytes = 2048; bytes <= 131_072; bytes += 64)
    assert.ok(heldBytes(bytes) * (2 / 3) <= bytes + unit, `${bytes}: ${heldBytes(bytes)}`);
  assert.equal([0, 1, 256, 257, 131_073, 262_145].map(heldBytes), [256, 256, 256, 512, 262_144, 524_288]);
  for (let pages = 1; pages < 5000; pages++) assert.ok(listOf(pages) <= listOf(pages + 1), String(pages));
});

test('spans are taken from the shortest that fits, and joined with both neighbors', () => {
  const spans = new Spans();
  const first = spans.add(100);
  const taken = [40, 3, 7, 50].map((pages) => spans.take(pages)!);
  assert.equal(taken, [first, first + 40, first + 43, first + 50]);
  assert.is(spans.take(1), undefined);
  spans.give(taken[0]!);
  spans.give(taken[2]!);
  assert.is(spans.take(5), first + 43, 'of 7 pages, not of 40');
  assert.is(spans.longest, 40);
  spans.give(first + 43);
  spans.give(taken[1]!);
  assert.equal([spans.free, spans.longest], [50, 50]);
  spans.give(taken[3]!);
  assert.ok(spans.isIdle(first, 100));
});

function pool(options: ConstructorParameters<typeof DevicePool>[1] = {}) {
  const device = openCpuDevice({ threads: 1 });
  const diagnostics = new Diagnostics();
  const all = new DevicePool(device, options);
  return { device, all, take: (bytes: number): PoolBlock | undefined => all.take(bytes, diagnostics), diagnostics };
}

test('blocks keep what is written to them beside each other, and ranges are freed down to a threshold', () => {
  const { all, take } = pool();
  const blocks = Array.from({ length: 200 }, (_, i) => take(1 + 997 * i)!);
  for (const [i, { buffer }] of blocks.entries()) {
    buffer.begin();
    buffer.write(new Uint8Array(buffer.size).fill(i));
  }
  assert.ok(blocks.every(({ buffer }, i) => buffer.size === 1 + 997 * i && buffer.read().every((byte) => byte === i)));
  assert.is(new Set(blocks.map(({ buffer }) => buffer.deviceAddress())).size, 200);
  const { reserved, used, usedPeak, reservedPeak, held } = all.statistics;
  assert.equal([used, usedPeak, reservedPeak], [200 + (997 * 199 * 200) / 2, used, reserved]);
  assert.ok(held > used && reserved > held && reserved < 1.25 * held + 2 ** 23);
  all.trimTo(0);
  assert.is(all.reserved, reserved, 'memory that is used stays');
  for (const block of blocks) assert.ok(all.give(block));
  assert.not(all.give(blocks[3]!), 'given twice');
  all.trimTo(2 ** 22);
  assert.ok(all.reserved >= 2 ** 22 && all.reserved < reserved, String(all.reserved));
  all.trimTo(0);
  assert.equal([all.reserved, all.statistics.reservedPeak, all.used], [0, reserved, 0]);
  all.resetPeak('reserved');
  assert.equal([all.statistics.reservedPeak, all.statistics.usedPeak], [0, used]);
});

test('reserved memory that was freed is the device’s again', () => {
  const { device, all, take } = pool();
  // More than the device has, in turns.
  for (let turn = 0; turn < 40; turn++) {
    const block = take(2 ** 28)!;
    assert.ok(block, `turn ${turn}`);
    all.give(block);
    all.trimTo(0);
  }
  assert.ok(device.reserve!(2 ** 30, new Diagnostics()));
});

test('a limit on what is reserved, and sizes that no device has', () => {
  const { take, diagnostics, all } = pool({ maxBytes: 3 * 2 ** 20 });
  const block = take(2 ** 21)!;
  assert.ok(block);
  assert.ok(take(2 ** 20), 'the rest of it');
  assert.is(take(1), undefined);
  assert.is(all.reserved, 3 * 2 ** 20);
  for (const bytes of [2 ** 40, Number.NaN, -1, 1.5]) assert.is(take(bytes), undefined);
  assert.equal(new Set(diagnostics.list.map(({ code }) => code)), new Set(['CM6012']));
  assert.is(diagnostics.list.length, 5);
  all.give(block);
  assert.ok(take(1));
});

test('poison: what was written while it was free, or behind an end, is found', () => {
  const { all, take } = pool({ hasPoison: true });
  const [first, second] = [take(1000)!, take(1000)!];
  assert.is(all.spoiledAt(first), undefined);
  assert.ok(first.buffer.read().every((byte) => byte === poison));
  const late = first.buffer;
  all.spoil(first);
  all.give(first);
  late.write(Uint8Array.of(1), 17);
  const again = take(900)!;
  assert.is(again.place, first.place);
  assert.is(all.spoiledAt(again), 17);
  second.buffer.write(new Uint8Array(1000));
  all.spoil(second);
  assert.is(all.spoiledAt(second), undefined);
});

test.run();
