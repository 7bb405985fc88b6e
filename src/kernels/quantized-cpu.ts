/** Products of quantized weights with vectors for CPUs: `cpuGemm`, whose right factor is decoded while it is packed. */
import {
  constant,
  f32,
  kernel,
  loop,
  type Pointer,
  pointerAt,
  ptr,
  type TypedKernel,
  threadIndex,
  u8,
  u32,
  u64,
  type Value,
} from '../build/index.ts';
import type { FormatName } from './formats.ts';
import { blockOf, body, bytesOf, type LoadRight, shapeOf } from './gemm-cpu.ts';
import type { GemmInside } from './gemm-plan.ts';
import { type Matrix, planOf, type QuantizedArguments, tableOf } from './quantized-blocks.ts';
import { columnsOf, decodeSpan, spansOf, windowColumns } from './quantized-spans.ts';
import { blocksFor, named, type Plan, portable, type Routine, routine } from './routine.ts';

type Word = Value<'u32'>;

const parameters = { weights: ptr(u8), scales: ptr(f32), rows: u32, columns: u32, x: ptr(f32), y: ptr(f32), batch: u32 };
interface Inside extends Matrix {
  readonly x: Pointer<'f32', 'global'>;
  readonly y: Pointer<'f32', 'global'>;
  readonly batch: Word;
}

const shape = shapeOf('f32');
const { lanes, depth } = shape;
const tile = shape.tile[0];
const block = blockOf(shape);
const threads = block[0] * block[1];

/**
 * `quantizedGemm` for CPUs: a block decodes the weights of 128 rows, 128 columns at a time, into shared memory, and multiplies them with up to 128 vectors. A
 * product and a sum are rounded each. Deterministic.
 */
export function quantizedCpuGemm(format: FormatName): Routine<typeof parameters, QuantizedArguments> {
  const key = named('gemm', format, 'cpu');
  const make = (name: string): TypedKernel<typeof parameters> =>
    kernel(name, parameters, (p) => kernelBody(format, p as unknown as Inside), { ...portable, block });
  return routine(key, make, ({ batch = 1, scales = null, ...given }: QuantizedArguments): Plan<typeof parameters> => {
    const { rows, columns } = given as unknown as Record<'rows' | 'columns', number>;
    const { needs, sizes } = planOf(key, format, { ...given, scales });
    return {
      grid: [blocksFor(rows, tile), blocksFor(batch, tile)],
      block,
      shared: bytesOf('f32', shape),
      args: { ...given, scales, batch },
      sizes: { ...sizes, columns: columns > 0xffff_ffff - depth ? Number.NaN : columns, batch: batch > 65535 * tile ? Number.NaN : batch },
      needs: { ...needs, x: batch * columns, y: batch * rows },
    };
  });
}

function kernelBody(format: FormatName, p: Inside): void {
  const own = threadIndex('y').mul(lanes).add(threadIndex('x'));
  const table = tableOf(format, threads, own);
  const [none, zero, one] = [constant(u64, 0n), constant(f32, 0), constant(f32, 1)];
  const pointers = { a: p.x, b: p.x, c: p.y, bias: pointerAt(f32, 'global', none) };
  const pitches = { lda: p.columns.to(u64), ldb: none, ldc: p.rows.to(u64), strideA: none, strideB: none, strideC: none };
  const inside = { ...pointers, ...pitches, m: p.batch, n: p.rows, k: p.columns, alpha: one, beta: zero } as unknown as GemmInside;
  const { columns, parts } = spansOf(format);
  const load: LoadRight = (to, column) => {
    // Lines behind the last one are that one again.
    const here = p.rows
      .sub(column)
      .min(tile)
      .add(lanes - 1)
      .and(~(lanes - 1) >>> 0);
    const last = p.rows.sub(1);
    return (first, count) =>
      // A column of the right factor is a row of weights. The threads of a lane group have the same part of neighboring rows.
      loop(threadIndex('y'), count.div(columns).mul(parts), tile / lanes, (item) => {
        const [part, span] = [item.rem(parts), item.div(parts)];
        const places = columnsOf(format, part).map((at) => span.mul(columns).add(at).mul(lanes).add(threadIndex('x')));
        loop(0, here, lanes, (group) => {
          const row = column.add(group).add(threadIndex('x')).min(last);
          const panel = to.add(group.mul(depth));
          const decoded = decodeSpan(p, format, { row, span: first.div(columns).add(span), part }, table);
          for (const [window, weights] of decoded.entries())
            for (const [k, value] of weights.entries())
              panel
                .add(places[k]!)
                .at(window * windowColumns * lanes)
                .set(value);
        });
      });
  };
  body(inside, { type: 'f32', isFused: false, transposeA: false, transposeB: true, activation: 'identity', shape }, load);
}
