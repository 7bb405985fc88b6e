/** What runs in the browser: in a page, and as a worker of that page. It asks the server for jobs, does them with the package, and tells. */
import type { Answer, Case, How, Machine } from './answers.ts';
import { answersTo } from './answers.ts';

/** Cases to be answered, by the thread of the page or by a worker of it. */
export interface Job {
  readonly label: string;
  readonly isInWorker: boolean;
  readonly how: How;
  /** By name. */
  readonly cases: readonly string[];
}

/** What a page is told to do. */
export interface Orders {
  readonly cases: readonly Case[];
  readonly jobs: readonly Job[];
  /** Modules that print. */
  readonly programs: readonly string[];
}

export interface Done {
  readonly label: string;
  readonly answers: readonly Answer[];
  /** Workers that the package started for it. */
  readonly workers: number;
  /** Turns that the thread had for other things meanwhile. */
  readonly turns: number;
  readonly milliseconds: number;
}

/** What a page has done. */
export interface Report {
  readonly isIsolated: boolean;
  readonly done: readonly Done[];
  /** What each program printed, and what it threw. */
  readonly printed: readonly (readonly string[])[];
  /** What went wrong with the page itself. */
  readonly error?: string;
}

let workers = 0;
const OwnWorker = globalThis.Worker;
globalThis.Worker = class extends OwnWorker {
  constructor(...given: ConstructorParameters<typeof OwnWorker>) {
    workers++;
    super(...given);
  }
};

// By addresses that the bundler does not know, so that the package is taken as it was built.
const at = (path: string): string => new URL(`dist/browser/${path}`, globalThis.location.href).href;
const load = async (): Promise<Machine> => ({ cumetal: await import(at('index.js')), devices: await import(at('device/index.js')) });

async function doJob({ label, how }: Job, cases: readonly Case[]): Promise<Done> {
  const machine = await load();
  const before = workers;
  let turns = 0;
  const timer = setInterval(() => turns++, 5);
  const start = performance.now();
  const answers = await answersTo(machine, cases, how);
  clearInterval(timer);
  return { label, answers, workers: workers - before, turns, milliseconds: Math.round(performance.now() - start) };
}

function doInWorker(job: Job, cases: readonly Case[]): Promise<Done> {
  const worker = new OwnWorker('page.js', { type: 'module' });
  return new Promise((resolve, reject) => {
    worker.onmessage = ({ data }) => {
      worker.terminate();
      if ('error' in data) reject(new Error(data.error));
      else resolve(data);
    };
    worker.onerror = ({ message }) => reject(new Error(message));
    worker.postMessage({ job, cases });
  });
}

/** What a program prints, and at the end what it throws. */
async function runProgram(name: string): Promise<string[]> {
  const said: string[] = [];
  const { log } = console;
  console.log = (...all) => void said.push(all.map(String).join(' '));
  try {
    await import(new URL(name, globalThis.location.href).href);
  } catch (error) {
    said.push(String(error));
  } finally {
    console.log = log;
  }
  return said;
}

async function obey({ cases, jobs, programs }: Orders): Promise<Report> {
  const done: Done[] = [];
  for (const job of jobs) {
    const chosen = cases.filter(({ name }) => job.cases.includes(name));
    done.push(await (job.isInWorker ? doInWorker(job, chosen) : doJob(job, chosen)));
  }
  const printed: string[][] = [];
  for (const program of programs) printed.push(await runProgram(program));
  return { isIsolated: globalThis.crossOriginIsolated, done, printed };
}

async function inPage(): Promise<void> {
  const orders: Orders = await (await fetch('orders')).json();
  const failed = (error: unknown): Report => ({
    isIsolated: globalThis.crossOriginIsolated,
    done: [],
    printed: [],
    error: error instanceof Error ? `${error} ${error.stack}` : String(error),
  });
  const report = await obey(orders).catch(failed);
  const answer = await fetch('report', { method: 'POST', body: JSON.stringify(report) });
  const next = await answer.text();
  if (next !== '') globalThis.location.assign(next);
}

if (typeof document === 'undefined')
  globalThis.onmessage = ({ data: { job, cases } }: MessageEvent<{ job: Job; cases: Case[] }>) =>
    void doJob(job, cases).then(
      (done) => globalThis.postMessage(done),
      (error) => globalThis.postMessage({ error: `${error} ${error.stack}` }),
    );
else void inPage();
