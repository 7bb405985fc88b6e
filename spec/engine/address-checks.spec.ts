/**
 * Addresses beyond 4 GiB whose low 32 bits are in a buffer: they fault in vectorized code as they do in scalar code, where the address is computed
 * in 64 bits. Inactive lanes never fault.
 */
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { codeForLaunches } from '../../src/device/cpu/launch/code-for-launch.ts';
import { firstTransforms, type MemoryFacts, neededChecks } from '../../src/engine/index.ts';
import { neededAddressChecks } from '../../src/engine/simd/transform/check-addresses.ts';
import { anyLaunch, copyOf, type Kernel, type Sreg, type Value } from '../../src/ir/index.ts';
import { runOn } from '../support/both-engines.ts';
import { assertSound } from '../support/ir-text.ts';
import { plain, sharedVariable, type Writer, writeKernel } from '../support/kernel-writer.ts';
import { pointerParam, valueParam } from '../support/kernels.ts';

const test = suite('engine/address-checks');

const threads = 64;
const bytes = 8192;
/** Words of the buffer: an index for each thread, another one, the same for all threads, and whether the thread takes part. */
const [xs, ys, same, flags, free] = [0, 64, 128, 192, 256] as const;

/** What an address is computed from. */
interface Given {
  readonly w: Writer;
  /** Of the thread. */
  readonly x: Value;
  readonly y: Value;
  /** Of all threads. */
  readonly u: Value;
  readonly tid: Value;
}

/** Words of a thread. */
interface Words {
  readonly x?: number;
  readonly y?: number;
  readonly u?: number;
}

interface Form {
  /** The address; in `good` words it is word `free + tid` of the buffer. */
  readonly address: (given: Given) => Value;
  readonly good: (tid: number) => Words;
  /** Words for an address whose low 32 bits are in memory. */
  readonly wrapped: (tid: number) => Words;
  /** Threads whose addresses are below 4 GiB in wrapped words; none where it is left out. */
  readonly fine?: (tid: number) => boolean;
}

const i64 = ({ b }: Writer, value: bigint): Value => b.const('i64', BigInt.asUintN(64, value));
const wide = (w: Writer, op: 'sext' | 'zext', x: Value, by: bigint): Value => w.b.mul(w.b[op]('i64', x), i64(w, by));
const plus = (w: Writer, ...parts: Value[]): Value => parts.reduce((address, part) => w.b.ptradd(address, part), w.param(0));
/** Byte 4 * free of the buffer. */
const start = (w: Writer): Value => i64(w, 4n * BigInt(free));
const elements = (op: 'sext' | 'zext'): Form => ({
  address: ({ w, x }) => plus(w, wide(w, op, x, 4n)),
  good: (tid) => ({ x: free + tid }),
  wrapped: (tid) => ({ x: free + tid + 2 ** 30 }),
});
const isEven = (tid: number): boolean => tid % 2 === 0;

/** A loop that adds bytes to a pointer or to its number, `u` times. */
const walking = (isNumber: boolean, by: bigint): Form => ({
  address: ({ w, u, tid }) => {
    const first = plus(w, start(w), wide(w, 'zext', tid, 4n));
    const step = (at: Value): Value => (isNumber ? w.b.add(at, i64(w, by)) : w.b.ptradd(at, i64(w, by)));
    const [at] = w.repeat(
      [isNumber ? w.b.ptrtoint('i64', first) : first, w.i32(0)],
      (_, i) => w.is(i!, 'ult', u),
      (now, i) => [step(now!), w.b.add(i!, w.i32(1))],
    );
    return isNumber ? w.b.inttoptr('ptr.global', at!) : at!;
  },
  good: () => ({ u: 0 }),
  wrapped: () => ({ u: Number(2n ** 32n / by) }),
});

const forms: Readonly<Record<string, Form>> = {
  'a signed index times 4': elements('sext'),
  'an unsigned index times 4': elements('zext'),
  'a signed index times 12': {
    address: ({ w, x, tid }) => plus(w, start(w), wide(w, 'sext', x, 12n), wide(w, 'zext', tid, 4n)),
    good: () => ({ x: 0 }),
    wrapped: () => ({ x: 2 ** 30 }),
  },
  'a signed index times -4': {
    address: ({ w, x }) => plus(w, i64(w, 4n * BigInt(free + 64)), wide(w, 'sext', x, -4n)),
    good: (tid) => ({ x: 64 - tid }),
    wrapped: (tid) => ({ x: 64 - tid - 2 ** 30 }),
  },
  'an unsigned offset in bytes': {
    address: ({ w, x }) => plus(w, w.b.zext('i64', x)),
    good: (tid) => ({ x: 4 * (free + tid) }),
    wrapped: () => ({ x: -4 }),
  },
  'a signed offset in bytes': {
    address: ({ w, x, tid }) => plus(w, start(w), wide(w, 'zext', tid, 4n), w.b.sext('i64', x), w.b.sext('i64', x), w.b.zext('i64', x)),
    good: () => ({ x: 0 }),
    wrapped: () => ({ x: -(2 ** 31) }),
  },
  'an index that is contiguous': {
    address: ({ w, u, tid }) => plus(w, wide(w, 'sext', w.b.add(tid, u), 4n)),
    good: () => ({ u: free }),
    wrapped: () => ({ u: free + 2 ** 30 }),
  },
  'an unsigned index that is contiguous and wraps around inside the group': {
    address: ({ w, u, tid }) => plus(w, i64(w, 4n * BigInt(free)), wide(w, 'zext', w.b.add(tid, u), 4n)),
    good: () => ({ u: 0 }),
    wrapped: () => ({ u: -3 }),
    fine: (tid) => tid >= 3,
  },
  'an index that descends': {
    address: ({ w, u, tid }) => plus(w, i64(w, 4n * BigInt(free - 63)), wide(w, 'zext', w.b.sub(u, tid), 4n)),
    good: () => ({ u: 126 }),
    wrapped: () => ({ u: 60 }),
    fine: (tid) => tid <= 60,
  },
  'an index that descends, and another one': {
    address: ({ w, u, tid }) => plus(w, i64(w, 4n * BigInt(free - 63)), wide(w, 'zext', w.b.sub(u, tid), 4n), wide(w, 'sext', u, 4n)),
    good: () => ({ u: 126 }),
    wrapped: () => ({ u: 60 }),
    fine: (tid) => tid <= 60,
  },
  'a signed offset in bytes from the middle': {
    address: ({ w, x }) => plus(w, i64(w, 2n ** 31n), w.b.sext('i64', x)),
    good: (tid) => ({ x: 4 * (free + tid) - 2 ** 31 }),
    wrapped: () => ({ x: 2 ** 31 - 4 }),
  },
  'an offset in bytes that is contiguous': {
    address: ({ w, u, tid }) => plus(w, wide(w, 'zext', tid, 4n), w.b.sext('i64', u), w.b.sext('i64', u), w.b.zext('i64', u)),
    good: () => ({ u: Math.floor((4 * free) / 3) - (Math.floor((4 * free) / 3) % 4) }),
    wrapped: () => ({ u: -(2 ** 31) }),
  },
  'two indices': {
    address: ({ w, x, y }) => plus(w, wide(w, 'sext', x, 4n), wide(w, 'zext', y, 4n)),
    good: (tid) => ({ x: free, y: tid }),
    wrapped: (tid) => ({ x: free - 2 ** 30, y: tid + 2 ** 31 }),
  },
  'three indices': {
    address: ({ w, x, y, u }) => plus(w, wide(w, 'sext', x, 4n), wide(w, 'zext', y, 4n), wide(w, 'sext', u, 4n)),
    good: (tid) => ({ x: free, y: tid, u: 0 }),
    wrapped: (tid) => ({ x: free, y: tid, u: -(2 ** 30) }),
  },
  'indices of a row and a column': {
    address: ({ w, u, tid }) => plus(w, wide(w, 'sext', w.b.mul(u, w.i32(3)), 4n), wide(w, 'zext', tid, 4n)),
    good: () => ({ u: free / 2 }),
    wrapped: () => ({ u: 2 ** 28 }),
  },
  'a product in 64 bits': {
    address: ({ w, x, y, tid }) => plus(w, start(w), wide(w, 'zext', tid, 4n), w.b.mul(w.b.zext('i64', x), w.b.zext('i64', y))),
    good: () => ({ x: 0, y: 5 }),
    wrapped: () => ({ x: 2 ** 16, y: 2 ** 16 }),
  },
  'an address from memory': {
    address: ({ w, x, y, tid }) => {
      const high = w.b.shl(w.b.zext('i64', x), i64(w, 32n));
      const low = w.b.add(w.b.ptrtoint('i64', w.param(0)), wide(w, 'zext', w.b.add(tid, y), 4n));
      return w.b.inttoptr('ptr.global', w.b.add(high, low));
    },
    good: () => ({ x: 0, y: free }),
    wrapped: () => ({ x: 1, y: free }),
  },
  'a choice of two addresses': {
    address: ({ w, x, tid }) => {
      const [near, far] = [start(w), w.b.add(start(w), i64(w, 2n ** 32n))];
      return w.b.select(w.is(x, 'eq', w.i32(0)), plus(w, near, wide(w, 'zext', tid, 4n)), plus(w, far, wide(w, 'zext', tid, 4n)));
    },
    good: () => ({ x: 0 }),
    wrapped: () => ({ x: 1 }),
  },
  'a pointer that a loop moves': walking(false, 2n ** 22n),
  'a number that a loop moves': walking(true, 2n ** 24n),
};

/** A kernel whose threads with a flag store their number at an address. */
const kernelOf = ({ address }: Form): Kernel =>
  writeKernel('k', [pointerParam('out', 0, undefined, 'read_write')], [], (w) => {
    const tid = w.sreg('tid.x');
    const word = (at: number): Value => w.get(w.param(0), w.b.add(tid, w.i32(at)));
    const [x, y, flag] = [word(xs), word(ys), word(flags)];
    const u = w.get(w.param(0), w.i32(same));
    // No thread writes what another one reads.
    w.b.barrier();
    w.when(w.is(flag, 'ne', w.i32(0)), () => void w.b.store(address({ w, x, y, u, tid }), w.b.add(tid, w.i32(1)), plain));
  });

/** The buffer before the launch. */
function bufferOf(wordsOf: (tid: number) => Words, isActive: (tid: number) => boolean): Uint8Array {
  const words = new Uint32Array(bytes / 4);
  for (let tid = 0; tid < threads; tid++) {
    const { x = 0, y = 0, u } = wordsOf(tid);
    [words[xs + tid], words[ys + tid], words[flags + tid]] = [x, y, isActive(tid) ? 1 : 0];
    if (u !== undefined) words[same] = u;
  }
  return new Uint8Array(words.buffer);
}

const faults = (messages: readonly string[]): boolean => messages.some((message) => message.includes('outside of device memory'));

for (const [name, form] of Object.entries(forms)) {
  const kernel = kernelOf(form);
  const run = (engine: 'lane' | 'simd', start: Uint8Array) => runOn(engine, kernel, 1, threads, bytes, start);
  const areWordsSame = form.wrapped(0).u !== undefined;

  test(`${name}: below 4 GiB`, () => {
    assertSound(kernel);
    for (const isActive of [() => true, isEven]) {
      const start = bufferOf(form.good, isActive);
      const [lane, simd] = [run('lane', start), run('simd', start)];
      assert.equal(simd.messages, []);
      assert.is(simd.scalarReason, undefined);
      assert.not.equal(simd.bytes, start);
      assert.equal(simd.bytes, lane.bytes);
    }
  });

  test(`${name}: beyond 4 GiB, in one thread or in all`, () => {
    for (const bad of [0, 5, 31, 63, 'all']) {
      const start = bufferOf(
        (tid) => (tid === bad || bad === 'all' || areWordsSame ? form.wrapped(tid) : form.good(tid)),
        () => true,
      );
      assert.ok(faults(run('lane', start).messages), `scalar, thread ${bad}`);
      assert.ok(faults(run('simd', start).messages), `vectorized, thread ${bad}`);
    }
  });

  test(`${name}: inactive threads beyond 4 GiB`, () => {
    const { fine = isEven } = form;
    if (areWordsSame && !form.fine) return;
    const start = bufferOf((tid) => (fine(tid) && !areWordsSame ? form.good(tid) : form.wrapped(tid)), fine);
    const [lane, simd] = [run('lane', start), run('simd', start)];
    assert.equal(simd.messages, []);
    assert.equal(simd.bytes, lane.bytes);
  });
}

test('random indices fault in vectorized code exactly where they do in scalar code', () => {
  const kernels = Object.values(forms).map(kernelOf);
  const word = fc.oneof(
    fc.integer({ min: -8, max: 400 }),
    fc
      .constantFrom(2 ** 30, 2 ** 31, -(2 ** 30), 2 ** 28, -1, 2 ** 31 - 4, 2 ** 24)
      .chain((near) => fc.integer({ min: near - 3, max: near + 3 })),
  );
  fc.assert(
    fc.property(fc.nat(kernels.length - 1), fc.array(word, { minLength: 9, maxLength: 9 }), fc.nat(63), (which, words, odd) => {
      const start = bufferOf(
        (tid) => ({ x: words[tid === odd ? 0 : tid % 4]!, y: words[4 + (tid % 4)]!, u: words[8]! & 0xffff }),
        (tid) => words[tid % 9]! >= 0,
      );
      const [lane, simd] = (['lane', 'simd'] as const).map((engine) => runOn(engine, kernels[which]!, 1, threads, bytes, start));
      assert.equal(simd!.messages.length > 0, lane!.messages.length > 0);
      if (lane!.messages.length === 0) assert.equal(simd!.bytes, lane!.bytes);
    }),
    { numRuns: 150, seed: 7 },
  );
});

test('shared memory beyond 4 GiB faults', () => {
  const kernel = writeKernel('k', [pointerParam('out', 0, undefined, 'read_write')], [sharedVariable('s', 4 * threads)], (w) => {
    const tid = w.sreg('tid.x');
    const x = w.get(w.param(0), tid);
    w.b.store(w.b.ptradd(w.shared('s'), wide(w, 'zext', x, 4n)), tid, plain);
    w.b.barrier();
    w.put(w.param(0), w.b.add(tid, w.i32(free)), w.get(w.shared('s'), tid));
  });
  const run = (engine: 'lane' | 'simd', wordsOf: (tid: number) => Words) =>
    runOn(
      engine,
      kernel,
      1,
      threads,
      bytes,
      bufferOf(wordsOf, () => true),
    );
  assert.equal(run('simd', (tid) => ({ x: tid })).messages, []);
  for (const engine of ['lane', 'simd'] as const)
    assert.ok(faults(run(engine, (tid) => ({ x: tid === 9 ? 2 ** 30 : tid })).messages), engine);
});

// ── which checks there are ──

const value = valueParam('n', 1, 'i32');

/** The number of checks of a kernel in a launch. */
function checkCount(facts: MemoryFacts | undefined, write: (w: Writer, n: Value) => void): number {
  const kernel = writeKernel('k', [pointerParam('out', 0, undefined, 'read_write'), value], [], (w) =>
    write(w, w.b.load('i32', w.b.param('ptr.param', { index: 1 }), plain)),
  );
  const copy = copyOf(kernel);
  for (const { run } of firstTransforms) run(copy);
  const text = neededAddressChecks(copy, facts);
  return text === '' ? 0 : text.split('\n').length;
}

/** A launch of blocks of 64 threads, with a value for n and a size of memory. */
const launchOf = (n: number, blocks = 1000, memoryBytes = 2 ** 28): MemoryFacts => ({
  ...anyLaunch,
  memoryBytes,
  pointerZeros: () => 5,
  sreg: (name: Sreg) => (name === 'gid.x' ? { min: 0n, max: BigInt(64 * blocks - 1) } : anyLaunch.sreg(name)),
  valueOf: (param, offset) => (param === 1 && offset === 0 ? BigInt(n) : undefined),
});

const byThread = (w: Writer): void => w.put(w.param(0), w.sreg('gid.x'), w.i32(1));
const sumsOf = (w: Writer, n: Value): void => {
  const [, sum] = w.repeat(
    [w.sreg('tid.x'), w.i32(0)],
    (i) => w.is(i!, 'slt', n),
    (i, sum) => [w.b.add(i!, w.i32(64)), w.b.add(sum!, w.get(w.param(0), i!))],
  );
  w.put(w.param(0), w.sreg('tid.x'), sum!);
};

test('an address that a launch bounds has no check', () => {
  assert.is(checkCount(undefined, byThread), 1);
  assert.is(checkCount(launchOf(0), byThread), 0);
  assert.is(checkCount(launchOf(0, 2 ** 24), byThread), 1);
  assert.is(checkCount(launchOf(0, 1000, 2 ** 32 - 2 ** 24), byThread), 0);
  // 2^26 threads times 4 bytes above the last of 4 GiB - 16 MiB.
  assert.is(checkCount(launchOf(0, 2 ** 20, 2 ** 32 - 2 ** 24), byThread), 1);
});

test('an address in a loop that a launch bounds has no check', () => {
  assert.is(checkCount(undefined, sumsOf), 1);
  assert.is(checkCount(launchOf(1_000_000), sumsOf), 0);
  assert.is(checkCount(launchOf(2 ** 30), sumsOf), 1);
  assert.is(checkCount(launchOf(2 ** 31 - 1), sumsOf), 1);
});

test('an index from memory has a check in every launch', () => {
  const gather = (w: Writer): void => w.put(w.param(0), w.get(w.param(0), w.sreg('tid.x')), w.i32(1));
  assert.is(checkCount(launchOf(0), gather), 1);
  assert.is(
    checkCount(launchOf(0), (w) => w.put(w.param(0), w.b.and(w.get(w.param(0), w.sreg('tid.x')), w.i32(0xffff)), w.i32(1))),
    0,
  );
});

test('accesses at constant distances share a check', () => {
  assert.is(
    checkCount(undefined, (w) => {
      const at = w.at(w.param(0), w.sreg('gid.x'));
      for (const distance of [-8n, 0n, 4n, 1024n]) w.b.store(w.b.ptradd(at, i64(w, distance)), w.i32(1), plain);
    }),
    2,
  );
});

test('launches that need the same checks share code, and few of them are analyzed', () => {
  const kernel = writeKernel('k', [pointerParam('out', 0, undefined, 'read_write')], [], byThread);
  let compiled = 0;
  const code = codeForLaunches(
    () => kernel,
    (_, facts) => {
      const copy = copyOf(kernel);
      for (const { run } of firstTransforms) run(copy);
      return { code: ++compiled, addressChecks: neededChecks(copy, facts) };
    },
  );
  const launch = (blocks: number) => code([64, 1, 1], { ...launchOf(0, blocks), key: String(blocks), areBuffersAligned: true });
  assert.equal([launch(10), launch(11), launch(2 ** 24), launch(12), launch(10), launch(2 ** 24)], [1, 1, 2, 1, 1, 2]);
  // Without a launch, nothing is known of the alignment of the buffer either.
  assert.is(code([64, 1, 1], undefined), 3);
  assert.is(code([128, 1, 1], undefined), 4);
  // Later launches have the code that is right for all.
  for (let blocks = 20; blocks < 100; blocks++) launch(blocks);
  assert.is(launch(200), 3);
  assert.is(launch(10), 1);
});

test.run();
