/** Instructions of doubles as kernels that emulate them, from PTX through the metallib on the CPU device, and operands for them. */
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { f64Bits, f64Value } from '../../src/base/float.ts';
import { SourceFile } from '../../src/base/source.ts';
import { compile, type Fp64Mode } from '../../src/compile/index.ts';
import { launchMetallib } from './launch.ts';
import { type Draw, heldDouble } from './pair-errors.ts';

export type Row = readonly bigint[];
export const sign = 1n << 63n;

/** The results of instructions on %d1 to %d3 in %d4, a thread per row; %rd0 is the thread index. */
export function results(body: string, rows: readonly Row[], fp64: Fp64Mode = 'emulate'): bigint[] {
  const text = `.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 out)
{
  .reg .pred %p<4>; .reg .b16 %rs<2>; .reg .b32 %r<8>; .reg .f32 %f<4>; .reg .b64 %rd<9>; .reg .f64 %d<9>;
  .local .align 8 .b8 spill[32];
  mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mad.lo.u32 %r0, %r1, %r2, %r0; cvt.u64.u32 %rd0, %r0;
  ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b]; ld.param.u64 %rd3, [c]; ld.param.u64 %rd4, [out];
  shl.b64 %rd5, %rd0, 3;
  add.s64 %rd1, %rd1, %rd5; add.s64 %rd2, %rd2, %rd5; add.s64 %rd3, %rd3, %rd5; add.s64 %rd4, %rd4, %rd5;
  ld.global.f64 %d1, [%rd1]; ld.global.f64 %d2, [%rd2]; ld.global.f64 %d3, [%rd3];
  ${body}
  st.global.f64 [%rd4], %d4;
  ret;
}
`;
  const diagnostics = new Diagnostics(new SourceFile('k.ptx', text));
  const made = compile(diagnostics.file!, { fp64 }, diagnostics);
  assert.ok(made, diagnostics.list.map((d) => d.message).join('\n'));
  const threads = Math.min(256, rows.length);
  const blocks = Math.ceil(rows.length / threads);
  const column = (i: number): BigUint64Array => BigUint64Array.from({ length: blocks * threads }, (_, row) => rows[row]?.[i] ?? 0n);
  const args = [column(0), column(1), column(2), new BigUint64Array(blocks * threads)];
  const after = launchMetallib(made.metallib, { kernel: 'k', blocks, threads, args });
  return [...new BigUint64Array(after[3]!.slice().buffer)].slice(0, rows.length);
}

export const shown = (row: Row): string => row.map(f64Value).join(', ');
export const isNone = (bits: bigint): boolean => Number.isNaN(f64Value(bits));
export const isNumber = (bits: bigint): boolean => Number.isFinite(f64Value(bits));

/** Bit by bit, with all NaNs equal. */
export function assertExact(body: string, rows: readonly Row[], wanted: (...row: bigint[]) => bigint): void {
  const wrong = results(body, rows).flatMap((got, i) => {
    const want = wanted(...rows[i]!);
    return got === want || (isNone(got) && isNone(want)) ? [] : [`${body} of ${shown(rows[i]!)}: ${f64Value(got)}, not ${f64Value(want)}`];
  });
  assert.equal(wrong.slice(0, 5), [], `${wrong.length} of ${rows.length}`);
}

/** Rows with related exponents: close, far, and cancelling to the last places. */
export function rowsOf(draw: Draw, count: number, one: (power: number) => bigint): Row[] {
  const { below, of } = draw;
  return Array.from({ length: count }, () => {
    const base = of([0, 0, 0, -900, 900, below(1000) - 500]);
    const a = one(base + below(6));
    const cancelling = (a ^ sign) + (BigInt(below(2 ** 22) - 2 ** 21) << BigInt(below(28)));
    const b = of([one(base + below(6)), one(base + below(120) - 60), one(below(100) - 50), cancelling & ~0xfn, one(1 - base)]);
    const product = f64Bits(f64Value(a) * f64Value(b)) ^ sign;
    const c = of([one(below(10)), one(below(1000) - 500), isNumber(product) ? (product & ~0xfn) + (BigInt(below(65)) << 4n) : a]);
    return [a, b, c];
  });
}

/** A number without bits below the pair's precision, with any carry. */
export const held =
  (draw: Draw) =>
  (power: number): bigint =>
    heldDouble(draw, Math.max(-1000, Math.min(1000, power)));
export const special = [0, -0, 1, -1.5, 3, 2 ** 1000, -(2 ** -1000), Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, Number.NaN].map(
  f64Bits,
);
export const specialRows = special.flatMap((a) => special.flatMap((b) => special.map((c) => [a, b, c])));
