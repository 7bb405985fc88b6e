/** The allocator of device memory: addresses, alignment, reuse; blocks never overlap for any sequence of calls. */
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { newMemory } from '../../src/device/cpu/memory.ts';

const test = suite('device/memory');
const page = 65536;
/** Bytes reserved at both ends: inactive lanes may access up to 31 elements of 8 bytes and a vector beyond active ones. */
const margin = 512;

test('the first page is reserved, and blocks are aligned', () => {
  const memory = newMemory();
  const addresses = [1, 100, 257, 70_000].map((size) => memory.take(size)!);
  assert.ok(addresses.every((address) => address >= page && address % 256 === 0));
});

// A load whose address has the same low 12 bits as an earlier store's waits for it on most processors.
test('blocks of whole pages have different offsets modulo 4 KiB (4K aliasing)', () => {
  for (const size of [4096, 16384, 1 << 20]) {
    const memory = newMemory();
    const places = [0, 1, 2].map(() => memory.take(size)! % 4096);
    for (const [i, a] of places.entries())
      for (const b of places.slice(i + 1)) {
        const ahead = (a - b + 4096) % 4096;
        assert.ok(Math.min(ahead, 4096 - ahead) >= 1024, `${size}: ${places}`);
      }
  }
});

test('a block starts at a multiple that is asked for, and what is before it stays free', () => {
  const memory = newMemory();
  const first = memory.take(300)!;
  const pages = [memory.take(5000, 4096)!, memory.take(5000, 65_536)!];
  assert.equal([pages[0]! % 4096, pages[1]! % 65_536], [0, 0]);
  const small = memory.take(300)!;
  assert.ok(small > first && small < pages[0]!, 'the gap before the page is used');
  for (const address of [...pages, first, small]) memory.give(address);
  assert.is(memory.take(300), first);
});

test('a freed block is reused, and a live one is not', () => {
  const memory = newMemory();
  const [a, b] = [memory.take(1000)!, memory.take(1000)!];
  memory.give(a);
  assert.is(memory.take(1000), a);
  assert.is.not(memory.take(1000), b);
});

test('adjacent freed blocks are merged, in any order', () => {
  for (const order of [
    [0, 1, 2],
    [2, 1, 0],
    [0, 2, 1],
    [1, 0, 2],
  ]) {
    const memory = newMemory();
    const blocks = [memory.take(1024)!, memory.take(1024)!, memory.take(1024)!];
    const wall = memory.take(256)!;
    for (const i of order) memory.give(blocks[i]!);
    assert.is(memory.take(3072), blocks[0], order.join());
    assert.ok(wall >= blocks[0]! + 3072);
  }
});

test('a small block does not use up a large one', () => {
  const memory = newMemory();
  const a = memory.take(4096)!;
  memory.take(256);
  memory.give(a);
  assert.is(memory.take(256), a);
  assert.is(memory.take(1024), a + 256);
});

test('the last block grows with the memory, without a gap at the end', () => {
  const memory = newMemory();
  const a = memory.take(40_000)!;
  const b = memory.take(89_000)!;
  assert.is(b, a + Math.ceil(40_000 / 256) * 256);
  assert.is(memory.memory.buffer.byteLength, 3 * page, 'the rest of the second page was used');
});

test('freeing an unknown address, or twice, does nothing', () => {
  const memory = newMemory();
  const a = memory.take(512)!;
  memory.give(a + 256);
  memory.give(12345);
  memory.give(a);
  memory.give(a);
  assert.is(memory.take(512), a);
  assert.is.not(memory.take(512), a);
});

test('an empty block has an address of its own', () => {
  const memory = newMemory();
  assert.is.not(memory.take(0), memory.take(0));
});

test('contents are kept when memory grows', () => {
  const memory = newMemory();
  const a = memory.take(8)!;
  memory.view(a, 8).set([1, 2, 3, 4, 5, 6, 7, 8]);
  memory.take(5_000_000);
  assert.equal([...memory.view(a, 8)], [1, 2, 3, 4, 5, 6, 7, 8]);
});

// An address up to 16 MiB above memory is never an address in it modulo 4 GiB.
test('4 GiB - 16 MiB in total; then nothing until some is freed', () => {
  const memory = newMemory();
  const rest = 2 ** 31 - 2 ** 24 - 2 * page;
  const [a, b] = [memory.take(2 ** 31), memory.take(rest)];
  assert.ok(a !== undefined && b !== undefined && b + rest <= 2 ** 32 - 2 ** 24 - margin);
  assert.is(memory.take(2 * page), undefined);
  memory.give(a);
  assert.is(memory.take(2 * page), a);
});

test('impossible sizes are refused at once', () => {
  for (const size of [2 ** 32, 2 ** 40, Number.MAX_SAFE_INTEGER, Number.POSITIVE_INFINITY])
    assert.is(newMemory().take(size), undefined, String(size));
});

/** An allocation of a size, or a release of the block allocated a number of steps ago. */
const step = fc.oneof(fc.record({ take: fc.oneof(fc.nat(2000), fc.nat(200_000)) }), fc.record({ give: fc.nat(30) }));

test('blocks never overlap, and freed blocks are merged', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 120 }), (steps) => {
      const memory = newMemory();
      const taken: { start: number; size: number }[] = [];
      for (const each of steps) {
        if ('take' in each) {
          const start = memory.take(each.take)!;
          const end = start + each.take;
          assert.ok(start >= page + margin && end <= memory.memory.buffer.byteLength - margin);
          for (const other of taken) assert.ok(end <= other.start || start >= other.start + other.size, `${start} to ${end} in another`);
          taken.push({ start, size: Math.max(1, each.take) });
        } else if (taken.length > 0) memory.give(taken.splice(each.give % taken.length, 1)[0]!.start);
      }
      const whole = memory.memory.buffer.byteLength;
      for (const { start } of taken) memory.give(start);
      assert.is(memory.take(whole - page - 2 * margin), page + margin);
      assert.is(memory.memory.buffer.byteLength, whole);
    }),
    { numRuns: 300, seed: 5 },
  );
});

test('a memory is created with a smaller maximum where the engine refuses a larger one, and not below a limit', () => {
  const { Memory } = WebAssembly;
  const asked: number[] = [];
  let allowed = 4096;
  WebAssembly.Memory = class extends Memory {
    constructor(descriptor: WebAssembly.MemoryDescriptor) {
      asked.push(descriptor.maximum!);
      if (descriptor.maximum! > allowed) throw new RangeError('out of memory');
      super(descriptor);
    }
  };
  try {
    const memory = newMemory(true);
    assert.equal(asked, [65280, 32640, 16320, 8160, 4080]);
    assert.ok(memory.take(3985 * page));
    assert.is(memory.take(100 * page), undefined);
    assert.ok(memory.take(80 * page));
    allowed = 8;
    assert.throws(() => newMemory(true), /out of memory/);
  } finally {
    WebAssembly.Memory = Memory;
  }
});

test.run();
