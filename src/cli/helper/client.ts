/**
 * The way of a command line through the helper. Whatever is unusual (no helper, one that is busy, another answer, a file that cannot be written) gives
 * undefined before anything was written: the process then does the work itself, and says what there is to say.
 */
import { buildId } from '../command/build-id.ts';
import { readFile } from '../terminal/files.ts';
import { processTerminal, type Terminal } from '../terminal/index.ts';
import { helpedCommands, helperUse, knownVariables } from './automatic.ts';
import { exchange } from './exchange.ts';
import { type HelperPlace, helperPlace, isOwnSocket, pipesFolder } from './place.ts';
import { startHelper } from './start.ts';
import { type Answer, type Done, divided, packed, type Task } from './wire.ts';

/** As of which a file takes long enough that the start of a process does not matter. */
const largeBytes = 512 * 1024;

/** Milliseconds until the helper must have begun: one that is busy costs no more. */
const beginMs = 50;
/** Milliseconds until it must have answered. */
const answerMs = 20_000;

/** The exit code of a command line that the helper has run; undefined if this process is to run it. */
export async function askHelper(words: readonly string[]): Promise<number | undefined> {
  const { env, platform } = process;
  if (!helpedCommands.has(words[0] ?? '') || helperUse(env) === 'never') return undefined;
  if (Object.keys(env).some((name) => name.startsWith('CUMETAL_') && !knownVariables.has(name))) return undefined;
  const place = words.some((word) => word.endsWith('.ptx')) ? helperPlace({ env, platform }) : undefined;
  if (!place || 'why' in place) return undefined;
  if (!isOwnSocket(place.socket)) return void whenAbsent(place);
  const files = filesOf(words);
  return files && askAt(place, words, files, processTerminal());
}

interface ReadFile {
  readonly path: string;
  readonly bytes: Uint8Array;
}

/** The PTX files among the words; undefined if there is none, and if one is no file or a large one. */
function filesOf(words: readonly string[]): ReadFile[] | undefined {
  const paths = new Set(words.slice(1).filter((word) => word.endsWith('.ptx') && !word.startsWith('-')));
  const files: ReadFile[] = [];
  let sum = 0;
  for (const path of paths) {
    const size = Bun.file(path).size;
    // What is written may be there already, and is not read.
    if (!(size <= largeBytes)) return undefined;
    const bytes = readFile(path);
    if (!(bytes instanceof Uint8Array)) return undefined;
    files.push({ path, bytes });
    sum += bytes.length;
  }
  return files.length > 0 && sum <= largeBytes ? files : undefined;
}

async function askAt(
  place: HelperPlace,
  words: readonly string[],
  files: readonly ReadFile[],
  terminal: Terminal,
): Promise<number | undefined> {
  const { out, err } = terminal.color;
  const sized = files.map(({ path, bytes }) => ({ path, size: bytes.length }));
  const task: Task = { ask: 'run', build: buildId!, words, color: { out, err }, files: sized };
  const message = packed(
    task,
    files.map(({ bytes }) => bytes),
  );
  const answer = await exchange<Answer>(place.socket, message, { beginMs, answerMs });
  if (answer === 'absent') whenAbsent(place);
  if (typeof answer === 'string' || !('done' in answer.head)) return undefined;
  const code = replay(answer.head.done, answer.rest, terminal);
  if (code !== undefined) await terminal.settled?.();
  return code;
}

/** Starts a helper for who wants one. Otherwise a socket that a killed helper left is removed: those who compile often have one started. */
function whenAbsent(place: HelperPlace): void {
  if (helperUse(process.env) === 'asked') startHelper(place);
  else {
    const { rmSync } = process.getBuiltinModule('node:fs');
    for (const left of [pipesFolder(place.socket), place.socket]) rmSync(left, { recursive: true, force: true });
  }
}

/** Does what the helper says; undefined, and nothing on a stream, where a file cannot be written. */
function replay({ code, acts, writable }: Done, bytes: Uint8Array, terminal: Terminal): number | undefined {
  const parts = divided(bytes, acts);
  if (!parts || writable.some((path) => terminal.whyNotWritable?.(path))) return undefined;
  for (const [i, act] of acts.entries()) if (act.to === 'file' && terminal.writeFile(act.path, parts[i]!)) return undefined;
  const text = (part: Uint8Array): string => new TextDecoder().decode(part);
  for (const [i, { to }] of acts.entries()) {
    if (to === 'file') continue;
    if (to === 'outBytes') terminal.outBytes(parts[i]!);
    else if (to === 'errStyled') (terminal.errStyled ?? terminal.err)(text(parts[i]!));
    else terminal[to](text(parts[i]!));
  }
  return code;
}
