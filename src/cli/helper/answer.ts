/**
 * Runs a command line for another process: of files it knows those that came with it, what it would write goes back, and it reads no environment. It
 * keeps nothing, so that an answer depends on the task alone.
 */
import { parseArguments } from '../command/command.ts';
import { modeNames } from '../command/options.ts';
import { commands } from '../commands.ts';
import { main } from '../main.ts';
import type { Terminal } from '../terminal/index.ts';
import type { Act, Answered, Task } from './wire.ts';

/** By command, the options that are served: all that depend on nothing but the words and the files. Others are declined. */
const served: Readonly<Record<string, ReadonlySet<string>>> = {
  build: new Set(['output', 'emit', 'entry', 'no-cache', 'target', ...modeNames, 'json', 'quiet']),
  check: new Set(['format', 'target', ...modeNames, 'warnings', 'json', 'quiet']),
};

const declined: Answered = { head: { declined: true }, parts: [] };

/** The answer to a task. */
export async function answerTo({ words, color, files }: Task, bytes: readonly Uint8Array[]): Promise<Answered> {
  const known = new Map(files.map(({ path }, i) => [path, bytes[i]!]));
  if (!isServed(words, known)) return declined;
  const acts: Act[] = [];
  const parts: Uint8Array[] = [];
  const writable: string[] = [];
  try {
    const code = await main(words, recorder(known, color, { acts, parts, writable }));
    return { head: { done: { code, acts, writable } }, parts };
  } catch {
    // The process that asked meets the same problem, and reports it.
    return declined;
  }
}

/** Whether a command line depends on nothing but the words and these files. */
function isServed([name, ...rest]: readonly string[], files: ReadonlyMap<string, Uint8Array>): boolean {
  const [command, options] = [commands.find((each) => each.name === name), served[name ?? '']];
  const parsed = command && options && parseArguments(command, rest);
  if (!parsed || typeof parsed === 'string') return false;
  return [...parsed.options.keys()].every((option) => options.has(option)) && parsed.positionals.every((path) => files.has(path));
}

interface Recorded {
  readonly acts: Act[];
  readonly parts: Uint8Array[];
  readonly writable: string[];
}

/** A terminal that notes what is done. */
function recorder(files: ReadonlyMap<string, Uint8Array>, color: Task['color'], { acts, parts, writable }: Recorded): Terminal {
  const note =
    (to: 'out' | 'err' | 'errStyled') =>
    (text: string): void => {
      const bytes = new TextEncoder().encode(text);
      acts.push({ to, size: bytes.length });
      parts.push(bytes);
    };
  return {
    out: note('out'),
    err: note('err'),
    errStyled: note('errStyled'),
    outBytes(bytes) {
      acts.push({ to: 'outBytes', size: bytes.length });
      parts.push(bytes);
    },
    writeFile(path, bytes) {
      acts.push({ to: 'file', path, size: bytes.length });
      parts.push(bytes);
      return undefined;
    },
    whyNotWritable(path) {
      writable.push(path);
      return undefined;
    },
    isFile: (path) => files.has(path),
    readFile(path) {
      const bytes = files.get(path);
      if (!bytes) throw new Error(`${path} did not come with the task`);
      return bytes;
    },
    color,
    // What is compiled here is compiled again by whoever asks without a helper.
    env: { CUMETAL_CACHE_DISABLE: '1' },
  };
}
