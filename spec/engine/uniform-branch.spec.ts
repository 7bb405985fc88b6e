/**
 * Branches on affine values, such as bounds checks: whether all lanes of a group agree follows from the first and the last lane. Expected
 * results come from arithmetic modulo 2^32 for each thread.
 */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { IcmpPredicate, Kernel } from '../../src/ir/index.ts';
import { runOn } from '../support/both-engines.ts';
import { writeKernel } from '../support/kernel-writer.ts';
import { pointerParam } from '../support/kernels.ts';

const test = suite('engine/uniform-branch');

const threads = 128;
const holds: Record<IcmpPredicate, (a: number, b: number) => boolean> = {
  eq: (a, b) => a === b,
  ne: (a, b) => a !== b,
  ult: (a, b) => a >>> 0 < b >>> 0,
  ule: (a, b) => a >>> 0 <= b >>> 0,
  ugt: (a, b) => a >>> 0 > b >>> 0,
  uge: (a, b) => a >>> 0 >= b >>> 0,
  slt: (a, b) => a < b,
  sle: (a, b) => a <= b,
  sgt: (a, b) => a > b,
  sge: (a, b) => a >= b,
};
const predicates = Object.keys(holds) as IcmpPredicate[];

/** Bases around unsigned wraparound, around signed wraparound, and away from both. */
const places = [0, 40, -20, -130, 0x7fff_fff0, 0x7fff_ff70, -0x8000_0000];

interface Comparison {
  readonly pred: IcmpPredicate;
  readonly isSwapped: boolean;
  readonly base: number;
  readonly limit: number;
}

/** Writes 1 for each thread that passes all comparisons (`and`) or any (`or`), and 2 for the others. */
function compareKernel(comparisons: readonly Comparison[], join: 'and' | 'or'): Kernel {
  return writeKernel('k', [pointerParam('out', 0, undefined, 'read_write')], [], (w) => {
    const { b, i32, sreg, param } = w;
    const conditions = comparisons.map(({ pred, isSwapped, base, limit }) => {
      const [x, y] = [b.add(sreg('tid.x'), i32(base)), i32(limit)];
      return isSwapped ? w.is(y, pred, x) : w.is(x, pred, y);
    });
    const write = (word: number) => () => w.put(param(0), sreg('tid.x'), i32(word));
    w.when(
      conditions.reduce((sum, each) => b[join](sum, each)),
      write(1),
      write(2),
    );
  });
}

function expected(comparisons: readonly Comparison[], join: 'and' | 'or'): number[] {
  return Array.from({ length: threads }, (_, thread) => {
    const answers = comparisons.map(({ pred, isSwapped, base, limit }) => {
      const x = (thread + base) | 0;
      return isSwapped ? holds[pred](limit, x) : holds[pred](x, limit);
    });
    return (join === 'and' ? answers.every(Boolean) : answers.some(Boolean)) ? 1 : 2;
  });
}

function check(comparisons: readonly Comparison[], join: 'and' | 'or'): void {
  const { bytes, messages, lanes } = runOn('simd', compareKernel(comparisons, join), 1, threads, 4 * threads);
  assert.equal(messages, []);
  assert.is(lanes, 32);
  assert.equal(
    [...new Uint32Array(bytes.buffer, bytes.byteOffset, threads)],
    expected(comparisons, join),
    JSON.stringify({ comparisons, join }),
  );
}

for (const pred of predicates)
  test(`\`${pred}\` of an affine value and a uniform bound`, () => {
    for (const base of places)
      for (const limit of places) for (const isSwapped of [false, true]) check([{ pred, isSwapped, base, limit }], 'and');
  });

/** Bounds at every distance from the first thread of two lane groups, each in a block of its own. */
const distances = 70;

for (const pred of predicates)
  test(`\`${pred}\` with a bound at every distance from the first thread`, () => {
    for (const base of [0, -20, 0x7fff_ffc0])
      for (const isSwapped of [false, true]) {
        const kernel = writeKernel('k', [pointerParam('out', 0, undefined, 'read_write')], [], ({ b, i32, is, when, put, sreg, param }) => {
          const place = b.add(b.mul(sreg('ctaid.x'), i32(threads)), sreg('tid.x'));
          const [x, bound] = [b.add(sreg('tid.x'), i32(base)), b.add(sreg('ctaid.x'), i32(base - 2))];
          const write = (word: number) => () => put(param(0), place, i32(word));
          when(isSwapped ? is(bound, pred, x) : is(x, pred, bound), write(1), write(2));
        });
        const { bytes, messages, lanes } = runOn('simd', kernel, distances, threads, 4 * distances * threads);
        assert.equal(messages, []);
        assert.is(lanes, 32);
        const words = new Uint32Array(bytes.buffer, bytes.byteOffset, distances * threads);
        for (let block = 0; block < distances; block++) {
          const comparison = { pred, isSwapped, base, limit: (base - 2 + block) | 0 };
          const found = [...words.subarray(block * threads, (block + 1) * threads)];
          assert.equal(found, expected([comparison], 'and'), JSON.stringify(comparison));
        }
      }
  });

test('several comparisons, combined by `and` or `or`', () => {
  for (let i = 0; i < 100; i++) {
    const comparisons = [0, 1, 2].slice(0, 2 + (i % 2)).map((at) => ({
      pred: predicates[(7 * i + 3 * at) % predicates.length]!,
      isSwapped: (i + at) % 3 === 0,
      base: places[(5 * i + at) % places.length]!,
      limit: places[(11 * i + 5 * at) % places.length]!,
    }));
    for (const join of ['and', 'or'] as const) check(comparisons, join);
  }
});

test('a condition combined from a uniform and a varying one', () => {
  for (const join of ['and', 'or'] as const)
    for (const limit of [0, 1, 2])
      for (const start of [() => 0, () => 1, (thread: number) => (thread % 32 === 7 ? 1 : 0), (thread: number) => thread & 1]) {
        const kernel = writeKernel('k', [pointerParam('out', 0, undefined, 'read_write')], [], (w) => {
          const { b, i32, sreg, param } = w;
          const place = b.add(b.mul(sreg('ctaid.x'), i32(threads)), sreg('tid.x'));
          const own = w.is(w.get(param(0), place), 'ne', i32(0));
          const write = (word: number) => () => {
            // Enough work that a uniform branch (BOSCC) pays.
            let x = i32(word);
            for (let i = 0; i < 30; i++) x = b.add(b.mul(x, w.get(param(0), place)), x);
            w.put(param(0), place, b.or(b.and(x, i32(0)), i32(word)));
          };
          w.when(b[join](w.is(sreg('ctaid.x'), 'ult', i32(limit)), own), write(10), write(20));
        });
        const before = Uint32Array.from({ length: 2 * threads }, (_, i) => start(i % threads));
        const { bytes, messages } = runOn('simd', kernel, 2, threads, before.byteLength, new Uint8Array(before.buffer));
        assert.equal(messages, []);
        const answers = [...before].map((word, i) => {
          const [shared, own] = [Math.floor(i / threads) < limit, word !== 0];
          return (join === 'and' ? shared && own : shared || own) ? 10 : 20;
        });
        assert.equal([...new Uint32Array(bytes.buffer, bytes.byteOffset, 2 * threads)], answers, `${join}, ${limit}`);
      }
});

test.run();
