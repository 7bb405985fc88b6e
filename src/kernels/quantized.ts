/** Products with quantized weights, which are decoded in registers. */

import { type Device, partOf } from '../api/index.ts';
import {
  type Arguments,
  blockIndex,
  constant,
  f32,
  kernel,
  laneIndex,
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
  warpIndex,
  warpReduce,
  when,
} from '../build/index.ts';
import { capabilityOf } from './choice.ts';
import { type Block, type FormatName, formats } from './formats.ts';
import { plus } from './functions.ts';
import { hasRoom, type QuantizedTile, quantizedTensorGemm } from './quantized-tensor.ts';
import { refuse } from './refuse.ts';
import { blocksFor, named, type Plan, portable, type Routine, routine } from './routine.ts';

type Real = Value<'f32'>;
type Word = Value<'u32'>;

const matrix = { weights: ptr(u8), scales: ptr(f32), rows: u32, columns: u32 };
const vectorParameters = { ...matrix, x: ptr(f32), y: ptr(f32) };
const denseParameters = { ...matrix, y: ptr(f32) };

interface Matrix {
  readonly weights: Pointer<'u8', 'global'>;
  readonly scales: Pointer<'f32', 'global'>;
  readonly rows: Word;
  readonly columns: Word;
}

/** `scales` is for `nf4` alone; it is null by default. */
type Given<P extends typeof vectorParameters | typeof denseParameters> = Omit<Arguments<P>, 'scales'> &
  Partial<Pick<Arguments<P>, 'scales'>>;
/** What a launch of `quantizedGemm` is given. */
export type QuantizedArguments = Given<typeof vectorParameters> & {
  /** The number of vectors: rows of x and of y. 1 by default. */
  readonly batch?: number;
};

/** Compares the sizes of weights with their buffers. */
function planOf(
  key: string,
  format: FormatName,
  { weights, scales = null, rows, columns }: Given<typeof denseParameters>,
): Required<Pick<Plan<typeof denseParameters>, 'needs' | 'sizes'>> {
  const { weights: perBlock, bytes, align, table } = formats[format];
  if (columns % perBlock !== 0) refuse(key, `\`columns\` is ${columns}, and a row of this format has a multiple of ${perBlock} weights`);
  if (table && scales === null) refuse(key, '`scales` is missing');
  const address = typeof weights === 'bigint' ? weights : partOf(weights)?.address;
  if (address !== undefined && address % BigInt(align) !== 0n) refuse(key, `\`weights\` is not aligned to ${align} bytes`);
  const blocks = rows * (columns / perBlock);
  return { needs: { weights: blocks * bytes, scales: table ? blocks : 0 }, sizes: { rows, columns } };
}

/** The table of a format in shared memory. */
function tableOf(format: FormatName, threads: number): Block['table'] {
  const { table } = formats[format] as { table?: readonly number[] };
  if (!table) return undefined;
  const values = shared(f32, table.length);
  const index = threadIndex();
  if (threads < table.length) refuse(format, 'a block has fewer threads than the table has values');
  // Sixteen selections once, so that no memory of the module is needed.
  const own = local(f32, 0);
  for (const [i, value] of table.entries()) own.set(index.eq(i).select(constant(f32, value), own));
  when(index.lt(table.length), () => values.at(index).set(own));
  syncThreads();
  return (code) => values.at(code).get();
}

/** The block `index` of a row. */
function blockOf(
  p: Matrix,
  format: FormatName,
  { row, index, part }: Record<'row' | 'index' | 'part', Word>,
  table: Block['table'],
): Block {
  const { bytes, weights } = formats[format];
  const perRow = p.columns.div(weights);
  const number = row.mulWide(perRow).add(index.to({ kind: 'scalar', name: 'u64' }));
  return { at: p.weights.add(number.mul(bytes)), part, table, scale: () => p.scales.at(number).get() };
}

const warps = 4;
const rowsPerWarp = 2;

/**
 * Products of a quantized matrix with vectors: `y[i][r] = Σ weights[r][c] * x[i][c]`. Weights are row by row in blocks of the format, `columns` is a multiple of
 * its weights in a block, and x has f32. `q4_K` and `q5_K` are aligned to 16 bytes, `nf4` to 4, the others to 2. A warp has two rows, and each vector of a
 * batch reads the weights again. Sums are of f32 and deterministic.
 */
export function quantizedGemm(format: FormatName): Routine<typeof vectorParameters, QuantizedArguments> {
  const make = (name: string): TypedKernel<typeof vectorParameters> =>
    kernel(name, vectorParameters, (p) => productBody(format, p), { ...portable, block: warps * 32 });
  const key = named('gemm', format);
  const plan = ({ batch = 1, scales = null, ...given }: QuantizedArguments): Plan<typeof vectorParameters> => {
    const { rows, columns } = given;
    const { needs, sizes } = planOf(key, format, { ...given, scales });
    return {
      grid: [blocksFor(rows, warps * rowsPerWarp), batch],
      block: warps * 32,
      args: { ...given, scales },
      sizes: { ...sizes, batch: batch > 65535 ? Number.NaN : batch },
      needs: { ...needs, x: batch * columns, y: batch * rows },
    };
  };
  return routine(key, make, plan, (device, given) => tensorVariant(device, format, given));
}

/** The kernel by tensor cores, for devices and formats that have one. */
function tensorVariant(device: Device, format: FormatName, given: QuantizedArguments): ReturnType<typeof quantizedGemm> | undefined {
  const capability = capabilityOf(device);
  if (!capability || capability.sm < 80 || format === 'nf4') return undefined;
  const vectors = (given.batch ?? 1) > 1 ? 2 : 1;
  const tiles = [16, 8].flatMap((warps) => [...new Set([vectors, 1] as const)].map((each) => ({ vectors: each, warps }) as QuantizedTile));
  const fitting = tiles.find((tile) => hasRoom(format, tile, given.columns));
  return fitting && (quantizedTensorGemm(format, fitting, capability.multiprocessors) as unknown as ReturnType<typeof quantizedGemm>);
}

function productBody(format: FormatName, p: Matrix & { readonly x: Pointer<'f32', 'global'>; readonly y: Pointer<'f32', 'global'> }): void {
  const { weights, parts } = formats[format];
  const table = tableOf(format, warps * 32);
  const first = blockIndex().mul(warps).add(warpIndex()).mul(rowsPerWarp);
  const rows = Array.from({ length: rowsPerWarp }, (_, i) => first.add(i));
  const totals = rows.map(() => local(f32, 0));
  const x = p.x.add(blockIndex('y').mulWide(p.columns));
  const last = p.rows.sub(1);
  const shift = Math.log2(parts);
  loop(laneIndex(), p.columns.div(weights).mul(parts), 32, (item) => {
    const [index, part] = [item.shr(shift), item.and(parts - 1)];
    // Rows beyond the last read the last one, and are not stored.
    const decoded = rows.map((row) => formats[format].decode(blockOf(p, format, { row: row.min(last), index, part }, table)));
    decoded[0]!.forEach(({ first: column, codes }, g) => {
      const from = x.add(index.mul(weights).add(column));
      const values = codes.map((_, k) => from.at(k).get());
      const sum = decoded[0]![g]!.offset && values.reduce(plus);
      decoded.forEach((groups, r) => {
        const { codes: own, scale, offset } = groups[g]!;
        const dot = own.slice(1).reduce<Real>((so, code, k) => code.fma(values[k + 1]!, so), own[0]!.mul(values[0]!));
        const total = scale.fma(dot, totals[r]!);
        totals[r]!.set(offset && sum ? offset.fma(sum, total) : total);
      });
    });
  });
  rows.forEach((row, r) => {
    const whole = warpReduce(totals[r]!.get(), plus);
    when(laneIndex().eq(0).and(row.lt(p.rows)), () => p.y.add(blockIndex('y').mulWide(p.rows)).at(row).set(whole));
  });
}

/** The weights as f32, row by row: y has `rows` by `columns` elements. Sizes and alignment are those of `quantizedGemm`. Deterministic. */
export function dequantize(format: FormatName): Routine<typeof denseParameters, Given<typeof denseParameters>> {
  const { weights, parts } = formats[format];
  const threads = 128;
  const make = (name: string): TypedKernel<typeof denseParameters> =>
    kernel(
      name,
      denseParameters,
      (p) => {
        const table = tableOf(format, threads);
        const item = blockIndex().mad(threads, threadIndex());
        when(item.lt(p.columns.div(weights).mul(parts)), () => {
          const [index, part] = [item.shr(Math.log2(parts)), item.and(parts - 1)];
          const row = blockIndex('y');
          const to = p.y.add(row.mulWide(p.columns)).add(index.mul(weights));
          for (const { first, codes, scale, offset } of formats[format].decode(blockOf(p, format, { row, index, part }, table))) {
            const at = to.add(first);
            for (const [k, code] of codes.entries()) at.at(k).set(offset ? code.mul(scale).add(offset) : code.mul(scale));
          }
        });
      },
      { ...portable, block: threads },
    );
  const key = named('dequantize', format);
  return routine(key, make, ({ scales = null, ...given }: Given<typeof denseParameters>) => {
    const { rows, columns } = given;
    const { needs, sizes } = planOf(key, format, { ...given, scales });
    return {
      grid: [blocksFor((columns / weights) * parts, threads), rows],
      block: threads,
      args: { ...given, scales },
      sizes: { ...sizes, rows: rows > 65535 ? Number.NaN : rows },
      needs: { ...needs, y: rows * columns },
    };
  });
}
