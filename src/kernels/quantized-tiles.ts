/**
 * Products of quantized weights with many vectors: a block decodes the weights of its rows into shared memory, 32 columns at a time, and multiplies them with its
 * vectors as `gemm` does. What comes next is on its way through registers meanwhile.
 */
import {
  blockIndex,
  constant,
  f32,
  kernel,
  local,
  loop,
  type Pointer,
  ptr,
  shared,
  syncThreads,
  type TypedKernel,
  threadIndex,
  u8,
  u32,
  type Value,
  when,
} from '../build/index.ts';
import type { FormatName } from './formats.ts';
import { multiply, side, vectorsOf } from './gemm.ts';
import { type Matrix, planOf, type QuantizedArguments, tableOf } from './quantized-blocks.ts';
import { columnsOf, decodeSpan, spansOf, windowColumns } from './quantized-spans.ts';
import { blocksFor, named, type Plan, portable, type Routine, routine } from './routine.ts';

type Word = Value<'u32'>;
type Shared = Pointer<'f32', 'shared'>;

const parameters = { weights: ptr(u8), scales: ptr(f32), rows: u32, columns: u32, x: ptr(f32), y: ptr(f32), batch: u32 };
interface Inside extends Matrix {
  readonly x: Pointer<'f32', 'global'>;
  readonly y: Pointer<'f32', 'global'>;
  readonly batch: Word;
}
const threads = side * side;
/** The indices of k that `multiply` takes at a time. */
const step = 16;

/**
 * `quantizedGemm` in one kernel that decodes each weight once for 64 or 128 vectors, 64 by default: tiles of 128 need 33 KiB of shared memory. Products and sums are those of the weights as f32, in the
 * order of the columns: the bits of `dequantize` and `gemm`. Deterministic.
 */
export function quantizedTileGemm(
  format: FormatName,
  { tile = 64 }: { readonly tile?: 64 | 128 } = {},
): Routine<typeof parameters, QuantizedArguments> {
  const key = named('gemm', format, 'tiles', tile);
  const make = (name: string): TypedKernel<typeof parameters> =>
    kernel(name, parameters, (p) => body(p as unknown as Inside, format, tile), {
      ...portable,
      block: threads,
    });
  return routine(key, make, ({ batch = 1, scales = null, ...given }: QuantizedArguments): Plan<typeof parameters> => {
    const { rows, columns } = given as unknown as Record<'rows' | 'columns', number>;
    const { needs, sizes } = planOf(key, format, { ...given, scales });
    return {
      grid: [blocksFor(rows, tile), blocksFor(batch, tile)],
      block: threads,
      args: { ...given, scales, batch },
      sizes: { ...sizes, columns: columns > 0xffff_ffff - 128 ? Number.NaN : columns, batch: batch > 65535 * tile ? Number.NaN : batch },
      needs: { ...needs, x: batch * columns, y: batch * rows },
    };
  });
}

function body(p: Inside, format: FormatName, tile: number): void {
  const pitch = tile + 4;
  const table = tableOf(format, threads);
  const [vectors, weights] = [shared(f32, [windowColumns, pitch], { align: 16 }), shared(f32, [windowColumns, pitch], { align: 16 })];
  const [row, vector] = [blockIndex('x').mul(tile), blockIndex('y').mul(tile)];
  const per = tile / side;
  const total = Array.from({ length: per * per }, () => local(f32, 0));
  const { columns, windows } = spansOf(format);
  const readVectors = vectorReader(p, vector, tile, pitch);
  const readWeights = weightReader(p, format, { row, tile, pitch, table });
  const zero = constant(u32, 0);
  when(p.columns.ne(0), () => {
    readVectors.load(zero);
    readWeights.load(zero);
  });
  loop(zero, p.columns, columns, (first) => {
    for (let window = 0; window < windows; window++) {
      const next = first.add((window + 1) * windowColumns);
      syncThreads();
      readVectors.store(vectors);
      readWeights.store(weights, window);
      syncThreads();
      when(next.lt(p.columns), () => {
        readVectors.load(next);
        if (window === windows - 1) readWeights.load(next.div(columns));
      });
      for (let k = 0; k < windowColumns; k += step)
        multiply(vectors.add(k * pitch), weights.add(k * pitch), total, { pitch, per, type: f32 });
    }
  });
  const { width, firsts } = vectorsOf('f32', per);
  const [x, y] = [threadIndex().rem(side).mul(width), threadIndex().div(side).mul(width)];
  const places = firsts.flatMap((at) => Array.from({ length: width }, (_, e) => at + e));
  for (const [i, down] of places.entries()) {
    const own = vector.add(y).add(down);
    when(own.lt(p.batch), () => {
      const to = p.y.add(own.mulWide(p.rows));
      for (const [j, across] of places.entries()) {
        const at = row.add(x).add(across);
        when(at.lt(p.rows), () => to.at(at).set(total[i * per + j]!));
      }
    });
  }
}

/** Loads of 32 elements of the vectors of the block, and their stores by the element. Vectors beyond the last are the last, whose products are not stored. */
function vectorReader(p: Inside, vector: Word, tile: number, pitch: number) {
  const [column, line] = [threadIndex().rem(windowColumns), threadIndex().div(windowColumns)];
  const lines = Array.from({ length: (tile * windowColumns) / threads }, (_, i) => line.add(i * (threads / windowColumns)));
  const values = lines.map(() => local(f32, 0));
  const last = p.batch.sub(1);
  const rows = lines.map((each) => p.x.add(vector.add(each).min(last).mulWide(p.columns)).add(column));
  return {
    load: (first: Word): void => {
      for (const [i, from] of rows.entries()) values[i]!.set(from.at(first));
    },
    store: (to: Shared): void => {
      for (const [i, each] of lines.entries()) to.at(column.mul(pitch).add(each)).set(values[i]!);
    },
  };
}

/** Decodes a span of the rows of the block into registers, and stores a window of it. Rows beyond the last are the last. */
function weightReader(
  p: Inside,
  format: FormatName,
  {
    row,
    tile,
    pitch,
    table,
  }: { readonly row: Word; readonly tile: number; readonly pitch: number; readonly table: ReturnType<typeof tableOf> },
) {
  const { parts, windows } = spansOf(format);
  const items = tile * parts;
  const last = p.rows.sub(1);
  const rounds = Array.from({ length: Math.max(1, items / threads) }, (_, i) => {
    const item = threadIndex().add(i * threads);
    const part = item.rem(parts);
    const line = item.div(parts);
    const isThere = items < threads ? item.lt(items) : undefined;
    const columns = columnsOf(format, part);
    const weights = Array.from({ length: windows }, () => columns.map(() => local(f32, 0)));
    return { part, line, isThere, columns, weights };
  });
  return {
    load: (span: Word): void => {
      for (const { part, line, weights } of rounds) {
        const decoded = decodeSpan(p, format, { row: row.add(line).min(last), span, part }, table);
        for (const [window, values] of decoded.entries()) for (const [k, value] of values.entries()) weights[window]![k]!.set(value);
      }
    },
    store: (to: Shared, window: number): void => {
      for (const { line, isThere, columns, weights } of rounds) {
        const put = (): void => {
          for (const [k, value] of weights[window]!.entries()) to.at(columns[k]!.mul(pitch).add(line)).set(value);
        };
        if (isThere) when(isThere, put);
        else put();
      }
    },
  };
}
