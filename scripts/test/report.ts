/** What the output of a spec file says of its tests. */

/** How a file came to its end. */
export interface Ending {
  /** Exit code; null where a signal ended the process. */
  readonly code: number | null;
  /** Why the file was stopped, where it was. */
  readonly stopped?: string;
}

export interface Outcome {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  /** Everything the file printed, and why it counts as failed where that does not say. */
  readonly output: string;
}

/** Counts the tests of a file. One that crashes, hangs or reports no test has a failure, whatever it printed. */
export function judge(printed: string, ending: Ending): Outcome {
  // One report for each suite of the file. uvu counts skipped tests neither as passed nor as part of the total.
  const sum = (word: string): number =>
    [...printed.matchAll(new RegExp(`^\\s*${word}:\\s+(\\d+)`, 'gm'))].reduce((n, match) => n + Number(match[1]), 0);
  const [total, passed, skipped] = [sum('Total'), sum('Passed'), sum('Skipped')];
  const fault = faultOf(ending, total + skipped);
  const failed = Math.max(total - passed, fault === '' ? 0 : 1);
  return { passed, failed, skipped, output: fault === '' ? printed : `${printed}\n${fault}` };
}

function faultOf({ code, stopped }: Ending, tests: number): string {
  if (stopped !== undefined) return stopped;
  if (tests === 0) return 'no test was reported';
  if (code === 0) return '';
  return code === null ? 'ended by a signal' : `exit code ${code}`;
}

/** The last line of a run, which CI reads. */
export function totals(outcomes: readonly Outcome[]): string {
  const count = (pick: (outcome: Outcome) => number): number => outcomes.reduce((n, outcome) => n + pick(outcome), 0);
  return `${count((o) => o.passed)} passed, ${count((o) => o.failed)} failed, ${count((o) => o.skipped)} skipped`;
}

export const hasFailure = (outcomes: readonly Outcome[]): boolean => outcomes.some(({ failed }) => failed > 0);
