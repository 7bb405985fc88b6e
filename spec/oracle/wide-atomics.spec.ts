/**
 * 64-bit atomics for Apple GPUs in the independent oracle, whose threads give way to others at atomics: also while they hold a lock. The lock table
 * is bound as a buffer of zeros.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import { compile, emit } from '../../src/compile/index.ts';
import { lockTableBytes } from '../../src/ir/index.ts';
import { need } from '../support/need.ts';
import { launchOracle, oracleTools } from '../support/oracle.ts';

const test = suite('oracle/wide-atomics');
const folder = mkdtempSync(join(tmpdir(), 'cumetal-spec-'));
test.after(() => rmSync(folder, { recursive: true, force: true }));

// A thread gives way at every 256th atomic, so each does so several times.
const [blocks, threads, turns] = [2, 64, 150];
const calls = blocks * threads * turns;
const addend = 0xffff_ffff_aaaa_aaabn;

const textOf = (line: string): string => `.version 9.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 words, .param .u64 .ptr .global .align 8 olds)
{
  .reg .pred q; .reg .b32 t, i, n, a; .reg .b64 p, o, w, x, y, z; .reg .f64 d; .shared .align 8 .b64 s;
  ld.param.u64 p, [words]; ld.param.u64 o, [olds];
  mov.u32 t, %tid.x; setp.eq.u32 q, t, 0; @q st.shared.u64 [s], 0; bar.sync 0;
  mov.u32 a, %ctaid.x; mad.lo.u32 t, a, ${threads}, t; mov.u32 i, 0;
again:
  mad.lo.u32 n, t, ${turns}, i; mul.wide.u32 w, n, 8; add.u64 w, o, w;
  ${line}
  add.u32 i, i, 1; setp.lt.u32 q, i, ${turns}; @q bra again;
  bar.sync 0; mov.u32 a, %tid.x; setp.eq.u32 q, a, 0; ld.shared.u64 x, [s]; @q red.global.add.u64 [p+8], x;
  ret;
}
`;

const wrap = (value: bigint): bigint => BigInt.asUintN(64, value);
const sorted = (values: Iterable<bigint>): bigint[] => [...values].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
const bitsOf = (value: number): bigint => new BigUint64Array(Float64Array.of(value).buffer)[0]!;
const multiples = (count: number): bigint[] => Array.from({ length: count }, (_, k) => wrap(addend * BigInt(k)));
const all = wrap(addend * BigInt(calls));

interface Case {
  readonly line: string;
  /** The sums in global and in shared memory at the end. */
  readonly sums: readonly [bigint, bigint];
  readonly olds?: readonly bigint[];
  readonly target: 'macos14' | 'macos15';
}

const cases: Record<string, Case> = {
  'halves in global and shared memory': {
    line: `red.global.add.u64 [p], ${addend}; red.shared.add.u64 [s], ${addend};`,
    sums: [all, all],
    target: 'macos14',
  },
  'old values in global memory': {
    line: `atom.global.add.u64 y, [p], ${addend}; st.global.u64 [w], y;`,
    sums: [all, 0n],
    olds: multiples(calls),
    target: 'macos15',
  },
  'old values in shared memory': {
    line: `atom.shared.add.u64 y, [s], ${addend}; st.global.u64 [w], y;`,
    sums: [0n, all],
    olds: Array.from({ length: blocks }, () => multiples(threads * turns)).flat(),
    target: 'macos15',
  },
  'a loop of compare-and-swap': {
    line: `ld.global.u64 x, [p];
retry: add.u64 z, x, ${addend}; atom.global.cas.b64 y, [p], x, z; setp.ne.u64 q, y, x; mov.b64 x, y; @q bra retry;
  st.global.u64 [w], y;`,
    sums: [all, 0n],
    olds: multiples(calls),
    target: 'macos15',
  },
  'a sum of doubles': {
    line: 'atom.global.add.f64 d, [p], 0d3FE0000000000000; st.global.f64 [w], d;',
    sums: [bitsOf(calls / 2), 0n],
    olds: Array.from({ length: calls }, (_, k) => bitsOf(k / 2)),
    target: 'macos15',
  },
};

for (const [name, { line, sums, olds = [], target }] of Object.entries(cases))
  need(test, oracleTools, name, () => {
    const diagnostics = new Diagnostics(new SourceFile('k.ptx', textOf(line)));
    const compiled = compile(diagnostics.file!, { target }, diagnostics);
    assert.ok(compiled, diagnostics.list.map((d) => d.message).join('; '));
    const hasLocks = compiled.reflection.kernels[0]!.locks !== undefined;
    assert.is(hasLocks, target === 'macos15');
    const args = [new Uint8Array(16), new Uint8Array(8 * calls), ...(hasLocks ? [new Uint8Array(lockTableBytes)] : [])];
    for (const order of ['fwd', 'rev', 'rand:7', 'rand:11']) {
      const run = launchOracle(folder, compiled.metallib, {
        kernel: 'k',
        grid: [blocks],
        block: [threads],
        args,
        sharedBytes: undefined,
        order,
      });
      assert.is(run.complaints, '', order);
      const [words, found, locks] = run.after.map((bytes) => new BigUint64Array(bytes.slice().buffer));
      assert.equal([...words!], [...sums], order);
      if (olds.length > 0) assert.equal(sorted(found!), sorted(olds), order);
      assert.ok(!locks || locks.every((word) => word === 0n), 'every lock is free at the end');
    }
  });

need(test, ['opt-14'], 'the optimizer of LLVM keeps the update in the loop', () => {
  for (const { line, target } of Object.values(cases)) {
    if (target !== 'macos15') continue;
    const diagnostics = new Diagnostics(new SourceFile('k.ptx', textOf(line)));
    const air = emit(diagnostics.file!, 'air-ll', { target }, diagnostics) as string;
    writeFileSync(join(folder, 'k.ll'), air.replace(/target triple = .*/, ''));
    const run = (...words: string[]): string => {
      const { stdout, stderr, status } = spawnSync('opt-14', words, { encoding: 'utf8', cwd: folder });
      assert.is(status, 0, stderr);
      return stdout + stderr;
    };
    run('-O3', '-S', 'k.ll', '-o', 'o.ll');
    // The block of the lock's release comes back to the loop's latch, from which alone the loop is left.
    const loops = run('-passes=print<loops>', '-disable-output', 'o.ll')
      .split('\n')
      .filter((each) => each.includes('Loop at'));
    const blocks = readFileSync(join(folder, 'o.ll'), 'utf8')
      .split(/\n\n/)
      .filter((each) => each.includes('xchg.i32(') && each.includes('fence'));
    assert.ok(blocks.length > 0);
    for (const block of blocks) {
      const label = /^(\d+):/.exec(block)![1]!;
      const innermost = loops.filter((each) => new RegExp(`%${label}\\b`).test(each)).at(-1);
      assert.match(innermost ?? '', new RegExp(`%${label}(,|$)`));
      assert.is(innermost!.split('<exiting>').length, 2);
      assert.match(innermost!, /<latch><exiting>/);
    }
  }
});

test.run();
