/**
 * What `bin/ask-helper.sh` and the helper say to each other: a shell reads and writes lines. A command is lines that say what the shell knows, the words,
 * the text of the file, and an end; an answer is the lines of both streams and the exit code.
 */
import { printableText } from '../../base/printable.ts';
import type { Act, Answered, Task } from './wire.ts';

/** A command that came through a pipe. */
export interface PipedTask {
  readonly task: Omit<Task, 'build'>;
  /** The file that the words name. */
  readonly bytes: Uint8Array;
  /** The output; undefined for a command that writes none. */
  readonly output: PipedOutput | undefined;
}

/** A file to be written. */
export interface PipedOutput {
  /** As the words have it. */
  readonly word: string;
  /** An absolute path. */
  readonly path: string;
  /** An empty file beside it, which whoever asks has made. */
  readonly partial: string;
}

/** The last bytes of a command, which no text of PTX has. */
const end = new TextEncoder().encode('\0end\n');

/** The lines before the words: the streams with colors, the output, the file beside it, the text, the output as a word, the number of words. */
const headLines = 6;

/** The command in bytes; undefined if they were cut off. */
export function unpackedTask(bytes: Uint8Array): PipedTask | undefined {
  const textEnd = bytes.length - end.length;
  if (textEnd < 0 || end.some((byte, i) => bytes[textEnd + i] !== byte)) return undefined;
  const [head, wordsAt] = linesOf(bytes, 0, headLines);
  const [colors, path, partial, text, word, count] = head;
  const [words, textAt] = linesOf(bytes, wordsAt, Number(count));
  if (words.length !== Number(count) || textAt > textEnd) return undefined;
  const own = bytes.subarray(textAt, textEnd);
  const color = { out: colors!.includes('out'), err: colors!.includes('err') };
  return {
    task: { ask: 'run', words, color, files: [{ path: text!, size: own.length }] },
    bytes: own,
    output: word === '' ? undefined : { word: word!, path: path!, partial: partial! },
  };
}

/** So many lines of bytes from a place, as far as they are there, and the place behind them. */
function linesOf(bytes: Uint8Array, from: number, count: number): [lines: string[], end: number] {
  const lines: string[] = [];
  let at = from;
  while (lines.length < count) {
    const next = bytes.indexOf(0x0a, at);
    if (next < 0) break;
    lines.push(new TextDecoder().decode(bytes.subarray(at, next)));
    at = next + 1;
  }
  return [lines, at];
}

/** What is done for a command: a file, and the lines that the shell reads. */
export interface PipedAnswer {
  readonly file: Uint8Array | undefined;
  readonly lines: string;
}

/** Characters of an answer at most: a pipe takes more at once, so that the helper waits for no shell. */
const maxLength = 16_384;

/** The answer to a command; undefined where a shell cannot do what is to be done, in this order. */
export function pipedAnswer({ head, parts }: Answered, output: PipedOutput | undefined): PipedAnswer | undefined {
  if (!('done' in head)) return undefined;
  const { code, acts, writable } = head.done;
  const files = acts.flatMap((act, i) => (act.to === 'file' ? [{ path: act.path, bytes: parts[i]! }] : []));
  if (files.length > 1 || [...files.map(({ path }) => path), ...writable].some((path) => path !== output?.word)) return undefined;
  const texts = acts.flatMap((act, i) =>
    act.to === 'file' || act.size === 0 ? [] : [{ to: act.to, text: new TextDecoder().decode(parts[i]) }],
  );
  // Standard error is printed first.
  const firstOut = texts.findIndex(({ to }) => to === 'out');
  const isOrdered = firstOut < 0 || texts.slice(firstOut).every(({ to }) => to === 'out');
  if (!isOrdered || texts.some(({ to, text }) => to === 'outBytes' || !isLines(text))) return undefined;
  const lines = `${texts.map(({ to, text }) => prefixed(to, text)).join('')}x${code}\n`;
  return lines.length > maxLength ? undefined : { file: files[0]?.bytes, lines };
}

const isLines = (text: string): boolean => text.endsWith('\n') && !text.includes('\0');

/** Lines with the letter of their stream. A terminal would have replaced what is not printable. */
function prefixed(to: Act['to'], text: string): string {
  const [letter, shown] = [to === 'out' ? 'o' : 'e', to === 'errStyled' ? text : printableText(text)];
  const lines = shown.slice(0, -1).split('\n');
  return lines.map((line) => `${letter}${line}\n`).join('');
}
