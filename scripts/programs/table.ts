/** The table of results: how many programs end where, and why. */

export interface Result {
  readonly name: string;
  /** `pass`, or where it ended: make, device compile, translation, host compile, link, missing function, run, wrong, silent, time, memory, no data. */
  readonly stage: string;
  readonly reason: string;
  /** What says that it is right: the word PASS, other words, or nothing. */
  readonly checks: string;
  readonly needs: readonly string[];
  readonly args?: readonly string[];
  /** Options of `cumetal run`. */
  readonly options?: readonly string[];
  readonly compileSeconds?: number;
  /** CPU time. */
  readonly runSeconds?: number;
  /** Cores of the machine, if it is not the one with two. */
  readonly cores?: number;
}

/** Markdown: counts by stage, then each program that does not pass. */
export function tableOf(results: readonly Result[]): string {
  const counts = new Map<string, number>();
  for (const { stage } of results) counts.set(stage, (counts.get(stage) ?? 0) + 1);
  const byCount = [...counts].sort(([, a], [, b]) => b - a);
  const rest = results
    .filter(({ stage }) => stage !== 'pass')
    .sort((a, b) => a.stage.localeCompare(b.stage) || a.name.localeCompare(b.name));
  const cell = (words: string): string => words.replaceAll('|', '\\|').replaceAll('\n', ' ');
  return [
    `${counts.get('pass') ?? 0} of ${results.length} pass.`,
    '',
    '| ended at | programs |',
    '| --- | ---: |',
    ...byCount.map(([stage, count]) => `| ${stage} | ${count} |`),
    '',
    '| program | ended at | arguments | reason |',
    '| --- | --- | --- | --- |',
    ...rest.map(({ name, stage, args = [], reason }) => `| ${name} | ${stage} | ${cell(args.join(' '))} | ${cell(reason)} |`),
    '',
  ].join('\n');
}
