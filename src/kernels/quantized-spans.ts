/** Weights of a row as spans: the columns that some lanes decode at once, as windows of 32 columns. */
import { constant, u32, type Value } from '../build/index.ts';
import { type Block, type FormatName, formats, type Group } from './formats.ts';
import { blockOf, type Matrix } from './quantized-blocks.ts';

type Word = Value<'u32'>;
type Real = Value<'f32'>;

/** The columns of a window. */
export const windowColumns = 32;
/** The columns of a span: the fewest that the parts of a format have together. */
const spanColumns = { q4_0: 32, q8_0: 32, nf4: 32, q4_K: 64, q5_K: 64, q6_K: 128 } as const satisfies Record<FormatName, number>;

/** How a format is decoded by spans. */
export interface Spans {
  readonly columns: number;
  /** The windows of a span. */
  readonly windows: number;
  /** The parts of a row of a span. */
  readonly parts: number;
}
/** How a format is decoded by spans. */
export function spansOf(format: FormatName): Spans {
  const columns = spanColumns[format];
  const { weights, parts } = formats[format];
  return { columns, windows: columns / windowColumns, parts: (parts * columns) / weights };
}

/** The columns in its window of the weights of a part, which are the same in all windows and spans. */
export function columnsOf(format: FormatName, part: Word): Word[] {
  const { windows } = spansOf(format);
  const count = formats[format].weights / formats[format].parts / windows;
  // The low and the high halves of bytes are 16 weights apart.
  if (format === 'q4_0') return [0, 16].flatMap((far) => [0, 1, 2, 3].map((k) => part.mul(4).add(far + k)));
  return Array.from({ length: count }, (_, k) => part.mul(count).add(k));
}

/** The weights of a part of a span of a row, by windows. */
export function decodeSpan(
  p: Matrix,
  format: FormatName,
  { row, span, part }: Record<'row' | 'span' | 'part', Word>,
  table: Block['table'],
): Real[][] {
  const { columns, windows, parts } = spansOf(format);
  const perBlock = formats[format].weights / columns;
  const within = perBlock === 1 ? constant(u32, 0) : span.rem(perBlock);
  const index = perBlock === 1 ? span : span.div(perBlock);
  const groups = formats[format].decode(blockOf(p, format, { row, index, part: within.mul(parts).add(part) }, table));
  const weightsOf = ({ codes, scale, offset }: Group): Real[] =>
    codes.map((code) => (offset ? code.mul(scale).add(offset) : code.mul(scale)));
  // Formats with several windows have a group for each; of others all groups are in the one.
  return windows === 1 ? [groups.flatMap(weightsOf)] : groups.map(weightsOf);
}
