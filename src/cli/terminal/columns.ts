/** Rows of cells as lines of aligned columns. */

/** How a column is filled up: behind its text (`start`) or before it (`end`, for numbers). */
export type Alignment = 'start' | 'end';

/**
 * The lines of `rows`, all with the same number of cells, with two spaces between columns and none at the end of a line. `alignmentOf` says how
 * each column but the last is aligned; the last one is not filled up.
 */
export function columnLines(rows: readonly (readonly string[])[], alignmentOf: (column: number) => Alignment = () => 'start'): string[] {
  const widths = rows[0]?.map((_, column) => rows.reduce((most, row) => Math.max(most, row[column]!.length), 0)) ?? [];
  const filled = (cell: string, column: number): string =>
    alignmentOf(column) === 'start' ? cell.padEnd(widths[column]!) : cell.padStart(widths[column]!);
  return rows.map((row) =>
    row
      .map((cell, column) => (column === row.length - 1 ? cell : filled(cell, column)))
      .join('  ')
      .trimEnd(),
  );
}
