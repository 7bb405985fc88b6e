/**
 * A double-precision kernel compiled for Apple GPUs and run by the independent oracle: LLVM reads the bitcode, which has no doubles,
 * and each operation has the result of exact arithmetic.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { f64Bits, f64Value } from '../../src/base/float.ts';
import { floatFormats, fmaFloat, integralFloat } from '../../src/base/float-exact.ts';
import { SourceFile } from '../../src/base/source.ts';
import { compile, emit, type Fp64Mode } from '../../src/compile/index.ts';
import { splitMix64 } from '../../src/runtime/rand.ts';
import { launchMetallib } from '../support/launch.ts';
import { need } from '../support/need.ts';
import { launchOracle, oracleTools } from '../support/oracle.ts';

const test = suite('oracle/doubles');
const folder = mkdtempSync(join(tmpdir(), 'cumetal-spec-'));
test.after(() => rmSync(folder, { recursive: true, force: true }));

/** Results by instruction, of the doubles a, b and c, as bits. */
const instructions: readonly (readonly [text: string, expected: (a: bigint, b: bigint, c: bigint) => bigint])[] = [
  ['add.f64 %d4, %d1, %d2', (a, b) => f64Bits(f64Value(a) + f64Value(b))],
  ['sub.f64 %d4, %d1, %d2', (a, b) => f64Bits(f64Value(a) - f64Value(b))],
  ['mul.f64 %d4, %d1, %d2', (a, b) => f64Bits(f64Value(a) * f64Value(b))],
  ['div.rn.f64 %d4, %d1, %d2', (a, b) => f64Bits(f64Value(a) / f64Value(b))],
  ['sqrt.rn.f64 %d4, %d1', (a) => f64Bits(Math.sqrt(f64Value(a)))],
  ['fma.rn.f64 %d4, %d1, %d2, %d3', (a, b, c) => fmaFloat(floatFormats.f64, a, b, c)],
  ['cvt.rni.f64.f64 %d4, %d1', (a) => integralFloat(floatFormats.f64, a, 'even')],
  ['cvt.rn.f32.f64 %f1, %d1; cvt.f64.f32 %d4, %f1', (a) => f64Bits(Math.fround(f64Value(a)))],
  ['cvt.rzi.s32.f64 %r1, %d1; cvt.rn.f64.s32 %d4, %r1', (a) => f64Bits(Math.max(-(2 ** 31), Math.min(2 ** 31 - 1, toWhole(f64Value(a)))))],
  ['setp.lt.f64 %p1, %d1, %d2; selp.f64 %d4, %d2, %d3, %p1', (a, b, c) => (f64Value(a) < f64Value(b) ? b : c)],
];
/** A NaN converts to the sign bit alone, as for all conversions from 64 bits on the GPU. */
const toWhole = (value: number): number => (Number.isNaN(value) ? -(2 ** 31) : Math.trunc(value) + 0);

const text = `.version 8.0
.target sm_90
.address_size 64
.visible .entry doubles(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 out)
{
  .reg .pred %p<2>; .reg .b32 %r<2>; .reg .b64 %rd<8>; .reg .f32 %f<2>; .reg .f64 %d<5>;
  mov.u32 %r0, %tid.x;
  mul.wide.u32 %rd0, %r0, 8;
  ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b]; ld.param.u64 %rd3, [c]; ld.param.u64 %rd4, [out];
  add.s64 %rd1, %rd1, %rd0; add.s64 %rd2, %rd2, %rd0; add.s64 %rd3, %rd3, %rd0;
  mul.wide.u32 %rd5, %r0, ${8 * instructions.length};
  add.s64 %rd4, %rd4, %rd5;
  ld.global.f64 %d1, [%rd1]; ld.global.f64 %d2, [%rd2]; ld.global.f64 %d3, [%rd3];
${instructions.map(([instruction], i) => `  ${instruction};\n  st.global.f64 [%rd4+${8 * i}], %d4;`).join('\n')}
  ret;
}
`;

const threads = 256;

/** Doubles of similar magnitude, so that their bits overlap, and edge values. */
function columns(): BigUint64Array[] {
  const draw = splitMix64(3n);
  const borders = [0, -0, 1, -1.5, 2 ** -1074, 2 ** -1022, Number.MAX_VALUE, Number.POSITIVE_INFINITY, Number.NaN, 2 ** 31].map(f64Bits);
  const bits = (i: number): bigint => {
    const z = draw();
    if (i % 8 === 0) return borders[Number(z % BigInt(borders.length))]!;
    return (z & 0x800fffffffffffffn) | ((1023n + ((z >> 52n) % 40n) - 20n) << 52n);
  };
  return [0, 1, 2].map(() => BigUint64Array.from({ length: threads }, (_, i) => bits(i)));
}

const isNan = (bits: bigint): boolean => Number.isNaN(f64Value(bits));

/** The results of the kernel, by LLVM and by the CPU device; its bitcode has no doubles. */
function resultsOf(inputs: readonly BigUint64Array[], fp64: Fp64Mode): BigUint64Array[] {
  const source = new SourceFile('doubles.ptx', text);
  const diagnostics = new Diagnostics(source);
  const options = { target: 'macos14', fp64 } as const;
  const metallib = compile(source, options, diagnostics)?.metallib;
  assert.equal(
    diagnostics.list.map(({ code }) => code),
    fp64 === 'emulate' ? ['CM2098'] : [],
  );
  assert.not.match(emit(source, 'air-ll', options, diagnostics) as string, /\bdouble\b|i128/);
  const args = [...inputs, new BigUint64Array(threads * instructions.length)];
  const bytes = args.map((column) => new Uint8Array(column.buffer.slice(0)));
  const launch = { kernel: 'doubles', grid: [1, 1, 1], block: [threads, 1, 1], args: bytes, sharedBytes: undefined, order: 'fwd' };
  const { status, complaints, after } = launchOracle(folder, metallib!, launch);
  assert.is(complaints, '');
  assert.is(status, 0);
  const onCpu = launchMetallib(metallib!, { kernel: 'doubles', blocks: 1, threads, args });
  return [after.at(-1)!, onCpu.at(-1)!].map((result) => new BigUint64Array(result.slice().buffer));
}

need(test, oracleTools, 'LLVM and the CPU device have the exact results, from bitcode without doubles', () => {
  const inputs = columns();
  for (const got of resultsOf(inputs, 'soft')) {
    const mismatches = instructions.flatMap(([instruction, expected], n) =>
      Array.from({ length: threads }, (_, i) => {
        const [a, b, c] = inputs.map((column) => column[i]!) as [bigint, bigint, bigint];
        const [want, have] = [expected(a, b, c), got[i * instructions.length + n]!];
        return want === have || (isNan(want) && isNan(have)) ? [] : [`${instruction} of ${[a, b, c].map(f64Value)}: ${f64Value(have)}`];
      }).flat(),
    );
    assert.equal(mismatches.slice(0, 5), []);
  }
});

need(test, oracleTools, 'with pairs of floats they have equal results, close to the exact ones', () => {
  const inputs = columns();
  const [byLlvm, onCpu] = resultsOf(inputs, 'emulate') as [BigUint64Array, BigUint64Array];
  const exact = instructions.flatMap(([, expected], n) =>
    Array.from({ length: threads }, (_, i) => {
      const at = i * instructions.length + n;
      const [a, b, c] = inputs.map((column) => column[i]!) as [bigint, bigint, bigint];
      const [want, have] = [f64Value(expected(a, b, c)), f64Value(byLlvm[at]!)];
      assert.ok(byLlvm[at] === onCpu[at] || (isNan(byLlvm[at]!) && isNan(onCpu[at]!)));
      // Terms have at most the magnitude of the result and these; near the largest double, a close result may be infinite.
      const size = Math.abs(want) + [a, b, c].map((x) => Math.abs(f64Value(x))).reduce((sum, x) => sum + (x < 2 ** 64 ? x : 0), 0);
      const isClose = Object.is(want, have) || Math.abs(want - have) <= size * 2 ** -24 * 2 ** -20 || Math.abs(want) === Number.MAX_VALUE;
      assert.ok(isClose, `${instructions[n]![0]} of ${[a, b, c].map(f64Value)}: ${have}`);
      return want === have;
    }),
  );
  // Most instructions of the list compute; without a difference, none would be emulated.
  assert.ok(exact.includes(false));
});

test.run();
