/** Buffers as columns of numbers that can be read. */
import { decodeElements, formatValue, lengthOf, type Output } from '../../runtime/index.ts';

/** Elements in a line, and lines of a buffer that was asked for without a count. */
const perLine = 8;
const mostLines = 16;
/** Rows and columns of a two-dimensional preview. */
const previewRows = 8;

/** The lines of a buffer: its first `count` elements, or as many as fit well, and how many more there are. */
export function elementLines(output: Output, count: number | undefined, isPreview: boolean): string[] {
  const isPlane = output.shape.length === 2 && (count === undefined || isPreview);
  return isPlane ? planeLines(output) : flatLines(output, count ?? perLine * mostLines);
}

function flatLines(output: Output, count: number): string[] {
  const words = wordsOf(output, count);
  const width = Math.max(...words.map((w) => w.length), 1);
  const label = String(Math.max(words.length - 1, 0)).length;
  const lines: string[] = [];
  for (let i = 0; i < words.length; i += perLine) {
    lines.push(
      `  ${String(i).padStart(label)} | ${words
        .slice(i, i + perLine)
        .map((w) => w.padStart(width))
        .join(' ')}`,
    );
  }
  const rest = lengthOf(output) - words.length;
  return rest > 0 ? [...lines, `  … ${rest} more`] : lines;
}

/** The upper left corner of a matrix, one line a row. */
function planeLines(output: Output): string[] {
  const [rows, columns] = [output.shape[0]!, output.shape[1]!];
  const [shownRows, shownColumns] = [Math.min(rows, previewRows), Math.min(columns, perLine)];
  const words = wordsOf(output, shownRows * columns);
  const cells = Array.from({ length: shownRows }, (_, r) => words.slice(r * columns, r * columns + shownColumns));
  const width = Math.max(...cells.flat().map((w) => w.length), 1);
  const label = String(shownRows - 1).length;
  const more = columns > shownColumns ? ' …' : '';
  const lines = cells.map((row, r) => `  ${String(r).padStart(label)} | ${row.map((w) => w.padStart(width)).join(' ')}${more}`);
  const rest = lengthOf(output) - shownRows * shownColumns;
  return rest > 0 ? [...lines, `  … ${rest} more`] : lines;
}

const wordsOf = ({ element, bytes }: Output, count: number): string[] =>
  decodeElements(element, bytes, count).map((value) => formatValue(element, value));

/** A distance in four digits. */
export const shortNumber = (value: number): string => (Number.isFinite(value) ? String(Number(value.toPrecision(4))) : 'inf');

/** The middle of some values, at least one; of two in the middle their mean. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}
