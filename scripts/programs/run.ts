/** Runs commands in processes of their own, with limits. */
import { join } from 'node:path';

export interface Ran {
  /** The exit code, the name of a signal, or `time`. */
  readonly ending: number | string;
  /** The first and the last part, where it is long. */
  readonly output: string;
  readonly errors: string;
  /** CPU time. */
  readonly seconds: number;
}

/** The command of this checkout. */
export const command = join(import.meta.dirname, '../../bin/cumetal');

const most = 400_000;

async function textOf(stream: ReadableStream<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let [head, tail] = ['', ''];
  for await (const part of stream as unknown as AsyncIterable<Uint8Array>) {
    const text = decoder.decode(part, { stream: true });
    if (head.length < most) head += text;
    else tail = (tail + text).slice(-most);
  }
  return head + tail;
}

/** `seconds` is the limit of CPU time; twenty times as much may pass on a clock, on a busy machine. */
export async function runWords(words: readonly string[], limits: { readonly cwd?: string; readonly seconds: number }): Promise<Ran> {
  const { cwd, seconds } = limits;
  const start = performance.now();
  const child = Bun.spawn(['bash', '-c', `ulimit -t ${seconds}; exec "$@"`, 'bash', ...words], {
    ...(cwd === undefined ? {} : { cwd }),
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  });
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    child.kill('SIGKILL');
  }, seconds * 20_000);
  const [output, errors] = await Promise.all([textOf(child.stdout), textOf(child.stderr)]);
  await child.exited;
  clearTimeout(timer);
  const used = child.resourceUsage()?.cpuTime.total;
  const cpu = used === undefined ? (performance.now() - start) / 1000 : Number(used) / 1e6;
  const isTime = isLate || child.signalCode === 'SIGXCPU' || (child.signalCode === 'SIGKILL' && cpu > seconds * 0.9);
  return { ending: isTime ? 'time' : (child.signalCode ?? child.exitCode ?? 'none'), output, errors, seconds: cpu };
}
