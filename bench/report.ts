/** What a benchmark found, as a table or as JSON. */

export interface Row {
  readonly name: string;
  readonly ours: number;
  readonly other: number;
  readonly unit: string;
  /** Ours against the other, above 1 is better. */
  readonly ratio: number;
}

export interface Bench {
  readonly bench: string;
  /** What is compared, in a line. */
  readonly about: string;
  readonly rows: readonly Row[];
}

const geomeanOf = (rows: readonly Row[]): number => Math.exp(rows.reduce((sum, { ratio }) => sum + Math.log(ratio), 0) / rows.length);

/** Text for people, and with `isJson` one line for programs after it. */
export function report({ bench, about, rows }: Bench, isJson: boolean): string {
  const width = Math.max(...rows.map(({ name }) => name.length));
  const line = ({ name, ours, other, unit, ratio }: Row): string =>
    `${name.padEnd(width)}  ours ${ours.toFixed(1)} ${unit}, other ${other.toFixed(1)} ${unit}, ratio ${ratio.toFixed(3)}`;
  const geomean = geomeanOf(rows);
  const text = [about, ...rows.map(line), `geometric mean of the ratios: ${geomean.toFixed(3)}`];
  return [...text, ...(isJson ? [JSON.stringify({ bench, rows, geomean })] : [])].join('\n');
}

/** The middle of some times. */
export function median(times: readonly number[]): number {
  const sorted = [...times].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
