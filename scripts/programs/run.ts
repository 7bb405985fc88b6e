/** Runs a linked program in a process of its own, with limits. */
import { join } from 'node:path';

export interface Ran {
  /** The exit code, the name of a signal, or `time`. */
  readonly ending: number | string;
  /** The first and the last part, where it is long. */
  readonly output: string;
  readonly errors: string;
  readonly seconds: number;
}

const most = 400_000;
const bun = process.execPath;
const program = join(import.meta.dirname, '../toolchain/run-program.ts');

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

/** `seconds` is the limit of CPU time; three times as much may pass on a clock. */
export async function runFile(
  file: string,
  args: readonly string[],
  { cwd, root, seconds }: { readonly cwd: string; readonly root: string; readonly seconds: number },
): Promise<Ran> {
  const start = performance.now();
  const command = ['bash', '-c', `ulimit -t ${seconds}; exec "$@"`, 'bash', bun, program, file, ...args];
  const child = Bun.spawn(command, {
    cwd,
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
    env: { ...process.env, CUMETAL_FOLDERS: root },
  });
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    child.kill('SIGKILL');
  }, seconds * 3000);
  const [output, errors] = await Promise.all([textOf(child.stdout), textOf(child.stderr)]);
  await child.exited;
  clearTimeout(timer);
  const used = child.resourceUsage()?.cpuTime.total;
  const cpu = used === undefined ? (performance.now() - start) / 1000 : Number(used) / 1e6;
  const isTime = isLate || child.signalCode === 'SIGXCPU' || (child.signalCode === 'SIGKILL' && cpu > seconds * 0.9);
  return { ending: isTime ? 'time' : (child.signalCode ?? child.exitCode ?? 'none'), output, errors, seconds: cpu };
}
