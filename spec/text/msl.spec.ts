/**
 * Kernels in the Metal Shading Language, compiled by a C++ compiler over a stand-in of Metal's library and run: the bits are those that an
 * NVIDIA H200 has recorded. `scripts/text.ts` runs all examples and a part of the sweep.
 */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import { parseModule } from '../../src/ir/parse.ts';
import { mslFile, mslKernel } from '../../src/text/index.ts';
import { ptx } from '../support/async.ts';
import { handed, handedExpected, ring, ringExpected } from '../support/barrier-kernels.ts';
import { exampleNames } from '../support/examples.ts';
import { differences, mslOf, mslOfExample } from '../support/msl/examples.ts';
import { buildStandIn, compiler } from '../support/msl/run.ts';
import { need } from '../support/need.ts';
import { ops, opsExpected } from '../support/warp-ops.ts';

const test = suite('text/msl');

// Atomics and local memory; shuffles, and threadgroup memory of the launch; barriers and early returns.
for (const name of ['energy', 'argmax', 'reduce'])
  need(test, [compiler ?? 'g++'], `${name} has the recorded bits`, () => assert.equal(differences(name), []));

need(test, [compiler ?? 'g++'], 'shifts, quotients and warp operations', () => {
  const printed = mslOf('ops', ops);
  if (typeof printed === 'string') throw new Error(printed);
  const built = buildStandIn(printed.text, printed.kernel);
  if (typeof built === 'string') throw new Error(built);
  const expected = opsExpected();
  const [after] = built.run({ grid: [1, 1, 1], block: [32, 1, 1], bytes: [new Uint8Array(4 * expected.length)] });
  built.remove();
  assert.equal([...new Uint32Array(after!.slice().buffer)], expected);
});

/** Exchanges with the neighbour: 64 bits, a predicate and a bfloat of each lane, at 16 bytes each. */
const exchange = `kernel "k" {
  param "to" pointer global size 4 align 8 slot 0 element i32 access write
b0:
  %0 = param ptr.global {index: 0}
  %1 = sreg i32 {name: laneid}
  %2 = const i32 1
  %3 = xor i32 %1, %2
  %4 = zext i64 %1
  %5 = const i64 4294967299
  %6 = mul i64 %4, %5
  %7 = shuffle i64 %6, %3
  %8 = const i32 3
  %9 = icmp i1 %1, %8 {pred: ult}
  %10 = shuffle i1 %9, %3
  %11 = trunc i16 %1
  %12 = bitcast bf16 %11
  %13 = shuffle bf16 %12, %3
  %14 = bitcast i16 %13
  %15 = const i64 4
  %16 = shl i64 %4, %15
  %17 = ptradd ptr.global %0, %16
  store %17, %7 {align: 8, volatile: false}
  %18 = const i64 8
  %19 = ptradd ptr.global %17, %18
  %20 = zext i32 %10
  store %19, %20 {align: 4, volatile: false}
  %21 = const i64 12
  %22 = ptradd ptr.global %17, %21
  %23 = zext i32 %14
  store %22, %23 {align: 4, volatile: false}
  ret
}
`;

need(test, [compiler ?? 'g++'], 'shuffles of 64 bits, of predicates and of bfloats', () => {
  const diagnostics = new Diagnostics();
  const [kernel] = parseModule(new SourceFile('k.ir', exchange), diagnostics).kernels;
  assert.equal(diagnostics.list, []);
  const text = mslKernel(kernel!, diagnostics, { target: 'macos15' });
  assert.equal(diagnostics.list, []);
  const built = buildStandIn(mslFile([text]), text);
  if (typeof built === 'string') throw new Error(built);
  const [after] = built.run({ grid: [1, 1, 1], block: [32, 1, 1], bytes: [new Uint8Array(512)] });
  built.remove();
  const expected = Array.from({ length: 32 }, (_, lane) => [3 * (lane ^ 1), lane ^ 1, Number((lane ^ 1) < 3), lane ^ 1]).flat();
  assert.equal([...new Uint32Array(after!.slice().buffer)], expected);
});

const waiting = {
  'barriers in memory': { body: ring, threads: 96, expected: ringExpected },
  'barriers for some of the threads': { body: handed, threads: 128, expected: handedExpected },
} as const;

for (const [name, { body, threads, expected }] of Object.entries(waiting))
  need(test, [compiler ?? 'g++'], name, () => {
    const printed = mslOf('k', ptx(body, { shared: 512 }));
    if (typeof printed === 'string') throw new Error(printed);
    const built = buildStandIn(printed.text, printed.kernel);
    if (typeof built === 'string') throw new Error(built);
    const [after] = built.run({ grid: [1, 1, 1], block: [threads, 1, 1], bytes: [new Uint8Array(4 * expected.length), new Uint8Array(4)] });
    built.remove();
    assert.equal([...new Int32Array(after!.slice().buffer)], expected);
  });

test('every example is printed', () => {
  for (const name of exampleNames) assert.match(mslOfExample(name).text, /^kernel void \w+\(/m, name);
});

test.run();
