/** Products with quantized weights, which are decoded in registers. */

import type { Device } from '../api/index.ts';
import {
  blockIndex,
  f32,
  kernel,
  laneIndex,
  local,
  loop,
  type Pointer,
  type TypedKernel,
  threadIndex,
  type Value,
  warpIndex,
  warpReduce,
  when,
} from '../build/index.ts';
import { capabilityOf } from './choice.ts';
import { type FormatName, formats } from './formats.ts';
import { plus } from './functions.ts';
import {
  blockOf,
  denseParameters,
  type Given,
  type Matrix,
  planOf,
  type QuantizedArguments,
  tableOf,
  vectorParameters,
} from './quantized-blocks.ts';
import { quantizedCpuGemm } from './quantized-cpu.ts';
import { hasRoom, type QuantizedTile, quantizedTensorGemm } from './quantized-tensor.ts';
import { quantizedTileGemm } from './quantized-tiles.ts';
import { blocksFor, named, type Plan, portable, type Routine, routine } from './routine.ts';

type Real = Value<'f32'>;

const warps = 4;
const rowsPerWarp = 2;

/**
 * Products of a quantized matrix with vectors: `y[i][r] = Σ weights[r][c] * x[i][c]`. Weights are row by row in blocks of the format, `columns` is a multiple of
 * its weights in a block, and x has f32. `q4_K` and `q5_K` are aligned to 16 bytes, `nf4` to 4, the others to 2. A warp has two rows, and each vector of a
 * batch reads the weights again; from 32 vectors on a launch runs `quantizedTileGemm`, and on the CPU device `quantizedCpuGemm`. Sums are of f32 and
 * deterministic.
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
  return routine(key, make, plan, (device, given) => variantOf(device, format, given));
}

/** The vectors from which on tiles are faster than a kernel that reads all weights for each, or for two. Estimated from times of an H200. */
const manyVectors = 32;

/** The kernel of tiles for many vectors, or the one by tensor cores, for devices and formats that have one. */
function variantOf(device: Device, format: FormatName, given: QuantizedArguments): ReturnType<typeof quantizedGemm> | undefined {
  if (device.info.kind === 'cpu') return quantizedCpuGemm(format) as unknown as ReturnType<typeof quantizedGemm>;
  const { batch = 1, rows } = given as unknown as { batch?: number; rows: number };
  if (batch >= manyVectors) {
    // Large tiles read less, if they occupy a half of the multiprocessors.
    const tiles = Math.ceil(rows / 128) * Math.ceil(batch / 128);
    const isLarge = 2 * tiles >= (capabilityOf(device)?.multiprocessors ?? Number.POSITIVE_INFINITY);
    return quantizedTileGemm(format, { tile: isLarge ? 128 : 64 }) as unknown as ReturnType<typeof quantizedGemm>;
  }
  return tensorVariant(device, format, given);
}

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
