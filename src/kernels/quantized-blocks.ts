/** What kernels of quantized weights share: parameters, sizes that are compared with buffers, and where blocks are. */
import { partOf } from '../api/index.ts';
import {
  type Arguments,
  constant,
  f32,
  local,
  type Pointer,
  ptr,
  shared,
  syncThreads,
  threadIndex,
  u8,
  u32,
  type Value,
  when,
} from '../build/index.ts';
import { type Block, type FormatName, formats } from './formats.ts';
import { refuse } from './refuse.ts';
import type { Plan } from './routine.ts';

type Word = Value<'u32'>;

const matrix = { weights: ptr(u8), scales: ptr(f32), rows: u32, columns: u32 };
/** The parameters of products with vectors. */
export const vectorParameters = { ...matrix, x: ptr(f32), y: ptr(f32) };
/** The parameters of `dequantize`. */
export const denseParameters = { ...matrix, y: ptr(f32) };

/** A matrix in a kernel. */
export interface Matrix {
  readonly weights: Pointer<'u8', 'global'>;
  readonly scales: Pointer<'f32', 'global'>;
  readonly rows: Word;
  readonly columns: Word;
}

/** `scales` is for `nf4` alone; it is null by default. */
export type Given<P extends typeof vectorParameters | typeof denseParameters> = Omit<Arguments<P>, 'scales'> &
  Partial<Pick<Arguments<P>, 'scales'>>;
/** What a launch of `quantizedGemm` is given. */
export type QuantizedArguments = Given<typeof vectorParameters> & {
  /** The number of vectors: rows of x and of y. 1 by default. */
  readonly batch?: number;
};

/** Compares the sizes of weights with their buffers. */
export function planOf(
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
export function tableOf(format: FormatName, threads: number, index = threadIndex()): Block['table'] {
  const { table } = formats[format] as { table?: readonly number[] };
  if (!table) return undefined;
  const values = shared(f32, table.length);
  if (threads < table.length) refuse(format, 'a block has fewer threads than the table has values');
  // Sixteen selections once, so that no memory of the module is needed.
  const own = local(f32, 0);
  for (const [i, value] of table.entries()) own.set(index.eq(i).select(constant(f32, value), own));
  when(index.lt(table.length), () => values.at(index).set(own));
  syncThreads();
  return (code) => values.at(code).get();
}

/** The block `index` of a row. */
export function blockOf(
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
