/** Buffers as aligned columns of numbers. */
import { decodeElements, formatValue, lengthOf, type Output } from '../../runtime/index.ts';

/** Elements per line, and the maximum number of lines of a buffer printed without a count. */
const perLine = 8;
const maxLines = 16;
/** Rows and columns of a two-dimensional preview. */
const previewRows = 8;

/** The lines of a buffer: its first `count` elements or a default number, and the number of remaining elements. */
export function elementLines(output: Output, count: number | undefined, isPreview: boolean): string[] {
  const isPlane = output.shape.length === 2 && (count === undefined || isPreview);
  return isPlane ? planeLines(output) : flatLines(output, count ?? perLine * maxLines);
}

function flatLines(output: Output, count: number): string[] {
  const cells = formattedElements(output, count);
  const width = cells.reduce((most, { length }) => Math.max(most, length), 1);
  const label = String(Math.max(cells.length - 1, 0)).length;
  const lines: string[] = [];
  for (let i = 0; i < cells.length; i += perLine) {
    lines.push(
      `  ${String(i).padStart(label)} | ${cells
        .slice(i, i + perLine)
        .map((w) => w.padStart(width))
        .join(' ')}`,
    );
  }
  const rest = lengthOf(output) - cells.length;
  return rest > 0 ? [...lines, `  … ${rest} more`] : lines;
}

/** The upper left corner of a matrix, one line a row. */
function planeLines(output: Output): string[] {
  const [rows, columns] = [output.shape[0]!, output.shape[1]!];
  const [shownRows, shownColumns] = [Math.min(rows, previewRows), Math.min(columns, perLine)];
  const all = formattedElements(output, shownRows * columns);
  const cells = Array.from({ length: shownRows }, (_, r) => all.slice(r * columns, r * columns + shownColumns));
  const width = Math.max(...cells.flat().map((w) => w.length), 1);
  const label = String(shownRows - 1).length;
  const more = columns > shownColumns ? ' …' : '';
  const lines = cells.map((row, r) => `  ${String(r).padStart(label)} | ${row.map((w) => w.padStart(width)).join(' ')}${more}`);
  const rest = lengthOf(output) - shownRows * shownColumns;
  return rest > 0 ? [...lines, `  … ${rest} more`] : lines;
}

const formattedElements = ({ element, bytes }: Output, count: number): string[] =>
  decodeElements(element, bytes, count).map((value) => formatValue(element, value));

/** A number in four significant digits. */
export const shortNumber = (value: number): string => (Number.isFinite(value) ? String(Number(value.toPrecision(4))) : 'inf');

/** The middle of some values, at least one; of two in the middle their mean. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}
