/**
 * 64-bit atomics that are compiled for Apple GPUs, which have none: in halves or with locks. Expected results follow from the PTX manual for any
 * order of the threads (PTX ISA 9.0, 9.7.13.5): the final words, and for each old value that some order of the updates has it.
 */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { useLocks } from '../../src/device/cpu/launch/lock-table.ts';
import { newScope } from '../../src/device/cpu/launch/scope.ts';
import { newMemory } from '../../src/device/cpu/memory.ts';
import { sanitizeKinds } from '../../src/device/device.ts';
import type { DeviceBuffer, Engine, LaunchRequest } from '../../src/device/index.ts';
import { lockTableBytes } from '../../src/ir/index.ts';
import { launchMetallib } from '../support/launch.ts';
import { libraryOf, type Rig, rigOf } from '../support/workers.ts';

const test = suite('device/wide-atomics');

const [blocks, threads, turns] = [24, 64, 20];
const calls = blocks * threads * turns;

/** Every thread executes `line` in a loop, with a number of its own for each call in `n`, and its result cell at `o`. */
const loopOf = (line: string, after = ''): string => `.visible .entry k(.param .u64 words, .param .u64 .ptr .global .align 8 olds)
{
  .reg .pred q; .reg .b32 t, i, n, a; .reg .b64 p, o, w, x, y, z; .reg .f64 d; .shared .align 8 .b64 s[2];
  ld.param.u64 p, [words]; ld.param.u64 o, [olds];
  mov.u32 t, %tid.x; setp.eq.u32 q, t, 0; @q st.shared.u64 [s], 0; @q st.shared.u64 [s+8], 0; bar.sync 0;
  mov.u32 a, %ctaid.x; mad.lo.u32 t, a, ${threads}, t; mov.u32 i, 0;
again:
  mad.lo.u32 n, t, ${turns}, i; mul.wide.u32 w, n, 8; add.u64 w, o, w;
  ${line}
  add.u32 i, i, 1; setp.lt.u32 q, i, ${turns}; @q bra again;
  ${after}
  ret;
}`;

const longsIn = (buffer: DeviceBuffer): BigUint64Array => new BigUint64Array(buffer.read().buffer);
const wrap = (value: bigint): bigint => BigInt.asUintN(64, value);
const sumOf = (value: (n: number) => bigint): bigint => wrap(Array.from({ length: calls }, (_, n) => value(n)).reduce((a, b) => a + b, 0n));
const sorted = (values: Iterable<bigint>): bigint[] => [...values].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));

interface Case {
  readonly line: string;
  readonly from?: bigint;
  /** The first word at the end, if it does not depend on the order. */
  readonly to?: bigint;
  /** All old values, sorted. */
  readonly olds?: readonly bigint[];
}

/** An addend that carries out of the low half twice in three times, and out of the high half. */
const addend = 0xffff_ffff_aaaa_aaabn;
/** A number of 64 bits for a call. */
const spread = (n: number): bigint => wrap(BigInt(n + 1) * 0x9e37_79b9_7f4a_7c15n);
const spreadLine = 'cvt.u64.u32 x, n; add.u64 x, x, 1; mul.lo.u64 x, x, 0x9e3779b97f4a7c15;';

const halves: Record<string, Case> = {
  'red.add.u64': { line: `${spreadLine} red.global.add.u64 [p], x;`, from: 5n, to: wrap(5n + sumOf(spread)) },
  'red.and.b64': {
    line: 'and.b32 a, n, 63; mov.u64 x, 1; shl.b64 x, x, a; not.b64 x, x; red.global.and.b64 [p], x;',
    from: wrap(-1n),
    to: 0n,
  },
  'red.or.b64': { line: 'and.b32 a, n, 31; mov.u64 x, 4294967297; shl.b64 x, x, a; red.global.or.b64 [p], x;', to: wrap(-1n) },
  'red.xor.b64': {
    line: `${spreadLine} red.global.xor.b64 [p], x;`,
    to: Array.from({ length: calls }, (_, n) => spread(n)).reduce((a, b) => a ^ b, 0n),
  },
};

const locked: Record<string, Case> = {
  'atom.add.u64': {
    line: `atom.global.add.u64 y, [p], ${addend}; st.global.u64 [w], y;`,
    to: wrap(addend * BigInt(calls)),
    olds: sorted(Array.from({ length: calls }, (_, k) => wrap(addend * BigInt(k)))),
  },
  'atom.exch.b64': { line: `${spreadLine} atom.global.exch.b64 y, [p], x; st.global.u64 [w], y;` },
  'atom.cas.b64': {
    line: `ld.global.u64 x, [p];
retry: add.u64 z, x, ${addend}; atom.global.cas.b64 y, [p], x, z; setp.ne.u64 q, y, x; mov.b64 x, y; @q bra retry;
  st.global.u64 [w], y;`,
    to: wrap(addend * BigInt(calls)),
    olds: sorted(Array.from({ length: calls }, (_, k) => wrap(addend * BigInt(k)))),
  },
  'red.max.u64': {
    line: `${spreadLine} red.global.max.u64 [p], x;`,
    to: sorted(Array.from({ length: calls }, (_, n) => spread(n))).at(-1)!,
  },
  'red.min.s64': {
    line: `${spreadLine} red.global.min.s64 [p], x;`,
    to: wrap(sorted([0n, ...Array.from({ length: calls }, (_, n) => BigInt.asIntN(64, spread(n)))])[0]!),
  },
  'atom.add.f64': {
    // Sums of 0.5 are exact.
    line: 'atom.global.add.f64 d, [p], 0d3FE0000000000000; st.global.f64 [w], d;',
    to: bitsOf(calls / 2),
    olds: Array.from({ length: calls }, (_, k) => bitsOf(k / 2)),
  },
  'or and and of one word': {
    // Each thread sets a bit of both halves and clears it again.
    line: 'and.b32 a, t, 31; mov.u64 x, 4294967297; shl.b64 x, x, a; red.global.or.b64 [p], x; not.b64 x, x; red.global.and.b64 [p], x;',
    from: 0n,
    to: 0n,
  },
};

function bitsOf(value: number): bigint {
  return new BigUint64Array(Float64Array.of(value).buffer)[0]!;
}

interface Outcome {
  readonly word: bigint;
  readonly olds: readonly bigint[];
}

async function launched(rig: Rig, from: bigint, more: Partial<LaunchRequest> = {}): Promise<Outcome> {
  const words = rig.words(4, Number(from & 0xffff_ffffn), Number(from >> 32n));
  const olds = rig.words(2 * calls);
  const done = more.schedule
    ? rig.launch('k', { blocks, threads, ...more }, words, olds)
    : await rig.start('k', { blocks, threads }, words, olds).done;
  assert.ok(done, rig.said().join());
  return { word: longsIn(words)[0]!, olds: sorted(longsIn(olds)) };
}

function assertOutcome(name: string, { from = 0n, to, olds }: Case, found: Outcome, about: string): void {
  if (to !== undefined) assert.is(found.word, to, about);
  if (olds) assert.equal(found.olds, olds, about);
  // Each value that was taken out had been put in: all but the last.
  if (name === 'atom.exch.b64') {
    const put = sorted([from, ...Array.from({ length: calls }, (_, n) => spread(n))]);
    assert.equal(sorted([...found.olds, found.word]), put, about);
  }
}

const engines: readonly Engine[] = ['lane', 'simd'];
const orders = [{ kind: 'reverse' }, { kind: 'rand', seed: 1 }, { kind: 'rand', seed: 7 }] as const;

for (const [form, target, cases] of [
  ['in halves', 'macos14', halves],
  ['with locks', 'macos15', locked],
] as const)
  for (const [name, one] of Object.entries(cases)) {
    test(`${name} ${form}: no update of any thread is lost`, async () => {
      for (const engine of engines)
        for (const count of [1, 2, 4])
          assertOutcome(
            name,
            one,
            await launched(rigOf(loopOf(one.line), { engine, threads: count }, target), one.from ?? 0n),
            `${engine} ${count}`,
          );
    });

    test(`${name} ${form}: in any order of the threads`, async () => {
      const rig = rigOf(loopOf(one.line), {}, target);
      for (const schedule of orders) assertOutcome(name, one, await launched(rig, one.from ?? 0n, { schedule }), JSON.stringify(schedule));
    });
  }

test('a sum in shared memory, whose blocks have the same address', async () => {
  const line = `atom.shared.add.u64 y, [s], ${addend}; st.global.u64 [w], y;`;
  const after = 'bar.sync 0; mov.u32 a, %tid.x; setp.eq.u32 q, a, 0; ld.shared.u64 x, [s]; @q red.global.add.u64 [p], x;';
  const each = Array.from({ length: threads * turns }, (_, k) => wrap(addend * BigInt(k)));
  const olds = sorted(Array.from({ length: blocks }, () => each).flat());
  for (const count of [1, 4]) {
    const found = await launched(rigOf(loopOf(line, after), { threads: count }, 'macos15'), 0n);
    assert.is(found.word, wrap(addend * BigInt(calls)));
    assert.equal(found.olds, olds);
  }
});

test('words that share a lock', async () => {
  // Words of one thread are 32 KiB apart, or 8 bytes apart: with 4096 locks some of them have the same one.
  const words = 4096 * 8;
  const text = `.visible .entry k(.param .u64 words)
{ .reg .b32 t, a; .reg .b64 p, x, y; .reg .pred q;
  ld.param.u64 p, [words]; mov.u32 t, %tid.x; mov.u32 a, %ctaid.x; mad.lo.u32 t, a, 64, t;
  mul.lo.u32 a, t, 4099; and.b32 a, a, ${words - 1}; mul.wide.u32 x, a, 8; add.u64 x, p, x;
  atom.global.add.u64 y, [x], 4294967297; setp.ne.u64 q, y, 0; @q trap; ret; }`;
  const rig = rigOf(text, { threads: 2 }, 'macos15');
  const buffer = rig.words(2 * words);
  assert.ok(await rig.start('k', { blocks: 64, threads: 64 }, buffer).done, rig.said().join());
  const found = longsIn(buffer);
  assert.is(found.filter((word) => word === 0x1_0000_0001n).length, 4096);
  assert.is(found.filter((word) => word === 0n).length, words - 4096);
});

test('the sanitizer knows the lock table', () => {
  const library = libraryOf(loopOf(locked['atom.add.u64']!.line), 'macos15');
  const kinds = new Set(sanitizeKinds);
  const args = [new Uint32Array(4), new Uint32Array(2 * calls)];
  const [words] = launchMetallib(library, { kernel: 'k', blocks, threads, args }, { sanitize: { kinds } });
  assert.is(new BigUint64Array(words!.slice().buffer)[0], wrap(addend * BigInt(calls)));
});

test('launches in two streams share the locks of the device', async () => {
  const rig = rigOf(loopOf(locked['atom.add.u64']!.line), { threads: 2 }, 'macos15');
  const words = rig.words(4);
  const [first, second] = [rig.words(2 * calls), rig.words(2 * calls)];
  const shape = { blocks, threads };
  const started = [rig.start('k', shape, words, first), rig.start('k', shape, words, second)];
  for (const { done } of started) assert.ok(await done, rig.said().join());
  assert.is(longsIn(words)[0], wrap(addend * BigInt(2 * calls)));
  const olds = sorted([...longsIn(first), ...longsIn(second)]);
  assert.equal(olds, sorted(Array.from({ length: 2 * calls }, (_, k) => wrap(addend * BigInt(k)))));
});

test('a lock that a stopped launch has left is free for the next launch', () => {
  const memory = newMemory(false);
  const [first, second, third] = [newScope(), newScope(), newScope()];
  const at = useLocks(memory, first)!;
  const word = (): Uint8Array => memory.view(at, lockTableBytes);
  assert.is(
    word().every((byte) => byte === 0),
    true,
  );
  word()[4] = 1;
  assert.is(useLocks(memory, second), at);
  assert.is(word()[4], 1, 'a launch that starts beside another one leaves its locks as they are');
  second.release(true);
  first.release(false);
  assert.is(useLocks(memory, third), at);
  assert.is(word()[4], 0);
});

test('only the form with locks takes a parameter', () => {
  const locksOf = (line: string): unknown => rigOf(loopOf(line), {}, 'macos15').module.kernels[0]!.locks;
  assert.is(locksOf(halves['red.add.u64']!.line), undefined);
  for (const name of ['red.max.u64', 'or and and of one word']) assert.equal(locksOf(locked[name]!.line), { slot: 2 });
  assert.ok(libraryOf(loopOf(halves['red.add.u64']!.line), 'macos14').length > 0);
});

test.run();
