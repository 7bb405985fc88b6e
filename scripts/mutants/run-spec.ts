/** One spec in a process of its own that may take so much of the processor's time: whether it passes, and what it took. */
import { readFileSync } from 'node:fs';

export type Verdict = 'passed' | 'failed' | 'out of time' | 'out of memory';

export interface SpecRun {
  readonly verdict: Verdict;
  /** Of the processor, in all threads. */
  readonly seconds: number;
}

export interface Limits {
  /** Of the processor. A process that waits for ever takes none, so the clock has a limit too, ten times that and half a minute. */
  readonly seconds: number;
  readonly bytes: number;
}

type Child = Bun.Subprocess<'ignore', 'pipe', 'ignore'>;
const children = new Set<Child>();

/** Ends a spec and what it started: it is the leader of a group of processes. */
function kill({ pid }: Child): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It has ended.
  }
}

/** Ends all specs that are running. */
export function killAll(): void {
  for (const child of children) kill(child);
}

/** Runs a spec, up to its first failure. */
export async function runSpec(root: string, spec: string, limits: Limits, env: Readonly<Record<string, string>> = {}): Promise<SpecRun> {
  // The limit is the kernel's: it ends a process whose threads have taken that many seconds together.
  const script = `ulimit -c 0; ulimit -t ${Math.ceil(limits.seconds)}; exec nice -n 10 "$0" "$@"`;
  const child: Child = Bun.spawn(['sh', '-c', script, process.execPath, spec], {
    cwd: root,
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'ignore',
    detached: true,
    env: { ...process.env, ...env, FORCE_COLOR: '0', CUMETAL_CACHE_DISABLE: '1' },
  });
  children.add(child);
  let verdict: Verdict | undefined;
  const end = (why: Verdict): void => {
    verdict ??= why;
    kill(child);
  };
  const clock = setTimeout(() => end('out of time'), (30 + 10 * limits.seconds) * 1000);
  const memory = setInterval(() => residentBytes(child.pid) > limits.bytes && end('out of memory'), 200);
  const failed = await hasFailed(child.stdout);
  if (failed) end('failed');
  await child.exited;
  clearTimeout(clock);
  clearInterval(memory);
  kill(child);
  children.delete(child);
  const seconds = Number(child.resourceUsage()?.cpuTime.total ?? 0) / 1e6;
  if (verdict === undefined && child.exitCode === 0) return { verdict: 'passed', seconds };
  return { verdict: verdict ?? (seconds >= limits.seconds - 0.5 ? 'out of time' : 'failed'), seconds };
}

/** Whether a test fails, as soon as the mark of one is printed; a spec that ends otherwise has an exit code. */
async function hasFailed(output: ReadableStream<Uint8Array>): Promise<boolean> {
  const decoder = new TextDecoder();
  for await (const chunk of output) if (decoder.decode(chunk, { stream: true }).includes('✘')) return true;
  return false;
}

const pageBytes = 4096;

/** 0 where the system does not say. */
function residentBytes(pid: number): number {
  try {
    return Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]) * pageBytes;
  } catch {
    return 0;
  }
}
