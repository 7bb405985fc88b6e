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
  /** What was asked of the whole, and what it is. */
  readonly bars?: readonly Bar[];
  /** Whether the rows are of several kinds, so that a mean over all says nothing. */
  readonly isMixed?: boolean;
}

export interface Bar {
  readonly name: string;
  readonly value: number;
  /** At least, or at most. */
  readonly bar: number;
  readonly isMost?: boolean;
}

/** The geometric mean of some ratios. */
export const geomean = (ratios: readonly number[]): number =>
  Math.exp(ratios.reduce((sum, ratio) => sum + Math.log(ratio), 0) / ratios.length);

/** Text for people, and with `isJson` one line for programs after it. */
export function report({ bench, about, rows, bars = [], isMixed = false }: Bench, isJson: boolean): string {
  const width = Math.max(...rows.map(({ name }) => name.length));
  const line = ({ name, ours, other, unit, ratio }: Row): string =>
    `${name.padEnd(width)}  ours ${ours.toFixed(1)} ${unit}, other ${other.toFixed(1)} ${unit}, ratio ${ratio.toFixed(3)}`;
  const mean = geomean(rows.map(({ ratio }) => ratio));
  const told = bars.map(
    ({ name, value, bar, isMost }) =>
      `${name}: ${value.toFixed(3)}, ${(isMost ? value <= bar : value >= bar) ? 'of' : 'NOT'} ${isMost ? 'at most ' : ''}${bar}`,
  );
  const text = [about, ...rows.map(line), ...(isMixed ? [] : [`geometric mean of the ratios: ${mean.toFixed(3)}`]), ...told];
  return [...text, ...(isJson ? [JSON.stringify({ bench, rows, geomean: mean, ...(bars.length > 0 ? { bars } : {}) })] : [])].join('\n');
}

/** The middle of some times. */
export function median(times: readonly number[]): number {
  const sorted = [...times].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
