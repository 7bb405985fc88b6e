/**
 * Runs mutants in a process of their own, so that one that never ends, or that takes all memory, is a finding like an exception: the process is
 * ended, and another one continues behind the mutant.
 */
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { attempt, mutantOf } from '../../spec/support/hostile/attempt.ts';

export interface Plan {
  readonly kinds: readonly string[];
  /** Mutants of each kind. */
  readonly count: number;
  /** Of all kinds together. */
  readonly seconds: number;
  readonly seed: number;
  readonly from: number;
  readonly findings?: string | undefined;
}

/** Seconds after which a mutant that has not ended never will. Wall-clock time: a hang on any machine. */
const hangSeconds = 120;
/** Bytes of a process that is out of bounds. */
const maxProcessBytes = 4 * 2 ** 30;
/** Findings after which a kind is abandoned. */
const maxFindings = 20;

/** What the process of the mutants says, one JSON object a line. */
type Message =
  | { readonly at: number }
  | { readonly number: number; readonly finding: string }
  | { readonly done: number; readonly outcomes: readonly (readonly [string, number])[]; readonly slowest: number };

/** Writes the message whole, before anything else happens. The pipe does not block: it is full while the other process is busy. */
function say(message: Message): void {
  const bytes = Buffer.from(`${JSON.stringify(message)}\n`);
  for (let written = 0; written < bytes.length; ) {
    try {
      written += writeSync(1, bytes, written);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
    }
  }
}

/** Runs the mutants of one kind in this process. */
export function runHere({ kinds, count, seconds, seed, from }: Plan): void {
  const [kind = ''] = kinds;
  const end = performance.now() + seconds * 1000;
  const outcomes = new Map<string, number>();
  let [number, slowest] = [from, 0];
  for (; number < from + count && performance.now() < end; number++) {
    say({ at: number });
    const { outcome, finding, seconds: took } = attempt(kind, mutantOf(kind, seed, number));
    slowest = Math.max(slowest, took);
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    if (finding !== undefined) say({ number, finding });
  }
  say({ done: number - from, outcomes: [...outcomes].sort(), slowest });
}

/** Runs every kind; returns the number of findings. */
export async function superviseAll(plan: Plan): Promise<number> {
  const folder = plan.findings ?? mkdtempSync(join(tmpdir(), 'cumetal-fuzz-'));
  mkdirSync(folder, { recursive: true });
  console.log(`seed ${plan.seed}`);
  let [findings, mutants] = [0, 0];
  for (const kind of plan.kinds) {
    const found = await superviseKind(kind, { ...plan, seconds: plan.seconds / plan.kinds.length }, folder);
    findings += found.findings;
    mutants += found.mutants;
  }
  console.log(`${mutants} mutants, ${findings} findings${findings > 0 ? ` in ${folder}` : ''}`);
  return findings;
}

interface Tally {
  mutants: number;
  findings: number;
}

async function superviseKind(kind: string, plan: Plan, folder: string): Promise<Tally> {
  const tally: Tally = { mutants: 0, findings: 0 };
  const end = performance.now() + plan.seconds * 1000;
  const last = plan.from + plan.count;
  for (let from = plan.from; from < last && performance.now() < end && tally.findings < maxFindings; ) {
    const seconds = (end - performance.now()) / 1000;
    const ended = await superviseOne({ ...plan, kinds: [kind], from, count: last - from, seconds }, (number, finding) => {
      tally.findings++;
      const path = join(folder, `${kind}-${plan.seed}-${number}`);
      writeFileSync(path, mutantOf(kind, plan.seed, number));
      console.log(
        `${kind} ${number}: ${finding}\n  input: ${path}\n  again: bun scripts/fuzz.ts ${kind} --seed ${plan.seed} --from ${number} --count 1`,
      );
    });
    tally.mutants += ended.next - from;
    from = ended.next;
    if (ended.isDone) break;
  }
  return tally;
}

interface Ended {
  /** The number of the next mutant. */
  readonly next: number;
  readonly isDone: boolean;
}

/** Runs one process until it is done, or until a mutant ends it. */
async function superviseOne(plan: Plan, report: (number: number, finding: string) => void): Promise<Ended> {
  const [kind = ''] = plan.kinds;
  const words = [
    kind,
    '--here',
    '--seed',
    plan.seed,
    '--from',
    plan.from,
    '--count',
    plan.count,
    '--seconds',
    Math.ceil(Math.min(plan.seconds, 1e9)),
  ];
  const child = spawn(process.execPath, [join(import.meta.dirname, '../fuzz.ts'), ...words.map(String)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let [at, since, why, done] = [plan.from, performance.now(), '', -1];
  createInterface({ input: child.stdout }).on('line', (line) => {
    const message = JSON.parse(line) as Message;
    if ('at' in message) [at, since] = [message.at, performance.now()];
    else if ('finding' in message) report(message.number, message.finding);
    else {
      done = message.done;
      const outcomes = message.outcomes.map(([outcome, count]) => `${outcome} ${count}`).join(', ');
      console.log(`${kind}: ${done} mutants; ${outcomes}; at most ${message.slowest.toFixed(2)} s of CPU time`);
    }
  });
  const timer = setInterval(() => {
    const bytes = residentBytes(child.pid!);
    if (performance.now() - since > hangSeconds * 1000) why = `no end after ${hangSeconds} s`;
    else if (bytes > maxProcessBytes) why = `${bytes} bytes of memory`;
    if (why !== '') child.kill('SIGKILL');
  }, 500);
  const code = await new Promise<number | null>((ended) => child.on('close', ended));
  clearInterval(timer);
  if (done >= 0) return { next: plan.from + done, isDone: true };
  report(at, why === '' ? `the process ended with ${code}` : why);
  return { next: at + 1, isDone: false };
}

/** The memory of a process; 0 where the system does not say. */
function residentBytes(pid: number): number {
  try {
    return 1024 * Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0);
  } catch {
    return 0;
  }
}
