/**
 * The model of a warp (`spec/support/warps/model.ts`) against results of an NVIDIA H200, so that it may judge programs that are not
 * recorded. `bun scripts/compare-warps.ts model` compares it with the whole recording.
 */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { randomWarps, warpInput } from '../support/random-warps.ts';
import { runModel } from '../support/warps/model.ts';
import { outputDigest, recordedOutputs, recordedWarps, wordsOf } from '../support/warps/recording.ts';

const test = suite('h200/warps-model');
const input = warpInput();

function modelOf(number: number, seed: number): Uint32Array {
  const program = randomWarps(number);
  const { ptx, blocks, block } = program;
  return runModel({ ptx, blocks, block, input, words: wordsOf(program), seed });
}

test('the words of small programs of each class', () => {
  const outputs = recordedOutputs();
  assert.is(outputs.size, 26);
  for (const [number, words] of outputs) assert.equal([...modelOf(number, 1)], [...words], `program ${number}`);
});

test('one in a hundred of the recorded programs, in two orders of lanes', () => {
  const recorded = recordedWarps();
  for (let number = 0; number < recorded.size; number += 101) {
    const { output } = recorded.get(number)!;
    if (output === undefined) continue;
    const digests = [3, 4].map((seed) => outputDigest(modelOf(number, seed)));
    assert.equal(digests, [output, output], `program ${number}`);
  }
});

/** A kernel of one warp whose lanes leave %r9. */
function run(seed: number, ...lines: string[]): Uint32Array {
  const head = [
    '.visible .entry warps(.param .u64 pin, .param .u64 pout)',
    '{',
    '.shared .align 4 .b8 sh[128];',
    'ld.param.u64 %w0, [pout];',
  ];
  const start = [
    'mov.u32 %r0, %laneid;',
    'mul.wide.u32 %w1, %r0, 4;',
    'add.u64 %w1, %w1, %w0;',
    'mov.u32 %r9, 0;',
    'mul.lo.u32 %r8, %r0, 4;',
  ];
  const ptx = [...head, ...start, ...lines, 'END:', 'st.global.u32 [%w1+0], %r9;', 'ret;', '}'].join('\n');
  return runModel({ ptx, blocks: 1, block: [32, 1], input, words: 32, seed });
}
const low = ['setp.lt.u32 %p0, %r0, 16;'];

test('lanes meet in the two arms of a branch', () => {
  const arms = [
    '@%p0 bra LOW;',
    'shfl.sync.bfly.b32 %r9, %r0, 16, 31, -1;',
    'bra END;',
    'LOW:',
    'shfl.sync.bfly.b32 %r9, %r8, 16, 31, -1;',
  ];
  const found = run(1, ...low, ...arms);
  assert.equal(
    [...found],
    Array.from({ length: 32 }, (_, i) => (i < 16 ? i + 16 : 4 * (i - 16))),
  );
});

test('it rejects a lane that is not of its mask', () => {
  assert.throws(() => run(1, 'redux.sync.add.u32 %r9, %r0, 0xffff;'), /lane \d+ is not of its mask: redux/);
});

test('it rejects lanes that wait for ever: for a lane that is elsewhere, or at another collective', () => {
  const other = ['@%p0 bra LOW;', 'vote.sync.any.pred %p1, %p0, -1;', 'bra END;', 'LOW:', 'vote.sync.all.pred %p1, %p0, -1;'];
  assert.throws(() => run(1, ...low, ...other), /waits for ever at: vote/);
  // Exited lanes count no more.
  assert.is(run(1, ...low, '@%p0 ret;', 'redux.sync.add.u32 %r9, %r0, -1;')[31], 16 * 16 + 120);
});

test('it rejects accesses of shared memory without an order between them', () => {
  const exchange = (...sync: string[]): string[] => [
    'st.shared.u32 [%r8], %r0;',
    ...sync,
    'xor.b32 %r7, %r8, 4;',
    'ld.shared.u32 %r9, [%r7];',
  ];
  assert.throws(() => run(1, ...exchange()), /threads \d+ and \d+ race/);
  // A vote orders nothing.
  assert.throws(() => run(1, ...low, ...exchange('vote.sync.any.pred %p1, %p0, -1;')), /race/);
  assert.is(run(1, ...exchange('bar.warp.sync -1;'))[6], 7);
});

test('what the manual leaves open differs between two orders', () => {
  const lines = ['setp.eq.u32 %p0, %r0, 0;', '@%p0 ret;', 'shfl.sync.idx.b32 %r9, %r0, 0, 31, -1;'];
  assert.is.not(run(1, ...lines)[5], run(2, ...lines)[5]);
});

test('it rejects registers that are not defined', () => {
  assert.throws(() => run(1, 'add.u32 %r9, %r0, %r1;'), /undefined register: add/);
});

test.run();
