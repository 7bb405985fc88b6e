/** One spec file in a process of its own, within limits. */
import { processTimes, treeOf } from './cpu-time.ts';
import { engineSettings } from './engine-settings.ts';
import { judge, type Outcome } from './report.ts';

export interface FileOutcome extends Outcome {
  readonly file: string;
  /** Seconds of CPU time of the process and of those that it waited for. */
  readonly cpu: number;
  /** Seconds that passed. */
  readonly wall: number;
}

/** Limits in seconds. */
export interface Limits {
  /** What a file may compute. A busy machine does not change it. */
  readonly cpu: number;
  /** For a file that waits for ever and computes nothing. */
  readonly wall: number;
}

/** Milliseconds between two looks at how much a file has used. */
const poll = 1000;

export const limits: Limits = { cpu: 300, wall: 900 };

export async function runFile(file: string, { cpu, wall }: Limits = limits): Promise<FileOutcome> {
  const start = performance.now();
  // What is tested is the compiler, not what it did before.
  const env = { ...engineSettings, ...process.env, FORCE_COLOR: '0', CUMETAL_CACHE_DISABLE: '1' };
  const child = Bun.spawn([process.execPath, file], { stdout: 'pipe', stderr: 'pipe', stdin: 'ignore', env });
  let stopped: string | undefined;
  const timer = setInterval(() => {
    const tree = treeOf(child.pid, processTimes());
    if (tree.seconds > cpu) stopped = `stopped after ${cpu} s of CPU time`;
    else if (secondsSince(start) > wall) stopped = `stopped after ${wall} s`;
    if (stopped !== undefined) endAll(tree.pids);
  }, poll);
  const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text(), child.exited]);
  clearInterval(timer);
  const used = Number(child.resourceUsage()?.cpuTime.total ?? 0) / 1e6;
  const ending = stopped === undefined ? { code: child.exitCode } : { code: child.exitCode, stopped };
  return { file, cpu: used, wall: secondsSince(start), ...judge(out + err, ending) };
}

const secondsSince = (start: number): number => (performance.now() - start) / 1000;

/** Ends a process and what it started, which would keep its output open. */
function endAll(pids: readonly number[]): void {
  for (const pid of pids)
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It has ended by itself.
    }
}
