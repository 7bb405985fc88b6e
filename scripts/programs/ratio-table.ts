/** The table of times beside g++, as Markdown. */
import { geomean } from '../../bench/report.ts';

/** Seconds of processor time: by g++ for any machine and for this one, and on the CPU device with exact and with fast multiply-adds. */
export interface Times {
  readonly generic: number;
  readonly native: number;
  readonly exact: number;
  readonly fast: number;
}

/** A program whose times were taken, or why there are none. */
export interface Measured {
  readonly name: string;
  readonly args: readonly string[];
  readonly seconds?: Times;
  readonly why?: string | undefined;
}

/** Each program with its times and the ratios of g++'s to ours, the slowest beside g++ first; above 1 is faster than g++. */
export function ratiosOf(all: readonly Measured[]): string {
  const rows = all.flatMap(({ name, args, seconds }) => (seconds ? [{ name, args, seconds }] : []));
  const ratio = ({ seconds }: { readonly seconds: Times }, mode: 'exact' | 'fast'): number => seconds.native / seconds[mode];
  rows.sort((a, b) => ratio(a, 'exact') - ratio(b, 'exact'));
  const cells = rows.map((row) => {
    const { generic, native, exact, fast } = row.seconds;
    const times = [generic, native, exact, fast].map((time) => time.toFixed(2));
    const ratios = (['exact', 'fast'] as const).map((mode) => ratio(row, mode).toFixed(2));
    return [row.name, row.args.length > 0 ? `\`${row.args.join(' ')}\`` : '', ...times, ...ratios];
  });
  const means = (['exact', 'fast'] as const).map((mode) => geomean(rows.map((row) => ratio(row, mode))).toFixed(2));
  return [
    '| program | arguments | g++ -O3 | -march=native | exact | fast | ratio, exact | ratio, fast |',
    '| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |',
    ...cells.map((row) => `| ${row.join(' | ')} |`),
    `| geometric mean of ${rows.length} | | | | | | ${means.join(' | ')} |`,
  ].join('\n');
}
