/** The outside world of a command: two streams, files, the environment. Specs pass their own. */
import { printable, printableText } from '../../base/printable.ts';
import { whyNotWritable, writeFile } from '../../files/index.ts';
import type { Io, IoFailure } from '../../runtime/io.ts';
import { attempt, failureOf, files, readFile, readInputFile, realPath } from './files.ts';

export { exists, filesIn } from './files.ts';

export interface Terminal extends Io {
  /** Writes a result to standard output. Control characters are replaced, as names in it may come from anyone. */
  out(text: string): void;
  /** Writes a binary result to standard output. */
  outBytes(bytes: Uint8Array): void;
  /** Writes messages, and everything that is not a result, to standard error. Control characters are replaced. */
  err(text: string): void;
  /** Writes text with colors, whose parts are printable, to standard error; `err` where absent. */
  errStyled?(text: string): void;
  /** Shows a status line on standard error if that is a terminal. The next one replaces it, an empty one clears it. */
  status?(text: string): void;
  /** Whether each stream supports color. */
  readonly color: { readonly out: boolean; readonly err: boolean };
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Reads a file that the user names as the input, which may be a pipe or `-`, standard input; `readFile` where absent. */
  readInput?(path: string): Promise<Uint8Array | IoFailure>;
  /** Whether a path is a file; the file system says it where absent. */
  isFile?(path: string): boolean;
  /** Lets everyone run a file that was written who may read it. */
  makeExecutable?(path: string): IoFailure | undefined;
  /** Resolves when all output has been written. */
  settled?(): Promise<void>;
  /** Whether only results and errors are wanted. */
  readonly isQuiet?: boolean;
}

/** The process's own streams and files. */
export function processTerminal(): Terminal {
  const output = typeof Bun === 'undefined' ? nodeOutput : bunOutput();
  return {
    ...output,
    out: (text) => output.out(printableText(text)),
    err: (text) => output.errStyled(printableText(text)),
    status,
    color: {
      get out() {
        return wantsColor(standard.out);
      },
      get err() {
        return wantsColor(standard.err);
      },
    },
    env: process.env,
    readFile,
    readInput: async (path) => readInputFile(path),
    realPath,
    availableMemory: () => process.availableMemory?.() ?? Number.POSITIVE_INFINITY,
    writeFile: (path, bytes) => attempt(path, () => writeFile(path, bytes)) ?? undefined,
    makeExecutable: (path) => attempt(path, () => addExecution(path)) ?? undefined,
    whyNotWritable(path) {
      const error = whyNotWritable(path);
      return error === undefined ? undefined : failureOf(path, error);
    },
  };
}

function addExecution(path: string): void {
  const { chmodSync, statSync } = files();
  const { mode } = statSync(path);
  chmodSync(path, mode | ((mode & 0o444) >> 2));
}

/** File descriptors. Creating `process.stdout` would take a tenth of a short run. */
const standard = { out: 1, err: 2 } as const;

/** Whether standard error is a terminal; determined at the first status line. */
let hasStatusLine: boolean | undefined;

/** Writes synchronously, bypassing queued output, because the caller blocks the event loop. */
function status(text: string): void {
  hasStatusLine ??= process.getBuiltinModule('node:tty').isatty(standard.err);
  if (hasStatusLine) writeAll(standard.err, new TextEncoder().encode(`\r\x1b[K${printable(text)}`));
}

type Output = Pick<Terminal, 'out' | 'outBytes' | 'settled'> & Required<Pick<Terminal, 'errStyled'>>;

const nodeOutput: Output = {
  out: (text) => writeAll(standard.out, new TextEncoder().encode(text)),
  outBytes: (bytes) => writeAll(standard.out, bytes),
  errStyled: (text) => writeAll(standard.err, new TextEncoder().encode(text)),
};

function bunOutput(): Output {
  let last: Promise<unknown> = Promise.resolve();
  const take = (act: () => unknown): void => {
    try {
      const taken = act();
      if (taken instanceof Promise) last = Promise.all([last, taken.catch(stopAtBrokenPipe)]);
    } catch (error) {
      stopAtBrokenPipe(error);
    }
  };
  const write = (data: string | Uint8Array): void => take(() => console.write(data as Uint8Array<ArrayBuffer>));
  let errors: Bun.FileSink | undefined;
  return {
    out: write,
    outBytes: write,
    errStyled(text) {
      take(() => {
        errors ??= Bun.stderr.writer();
        errors.write(text);
        return errors.flush();
      });
    },
    settled: async () => void (await last),
  };
}

/** Any non-empty `NO_COLOR` disables color; otherwise `FORCE_COLOR` enables it, and 0 disables it. Source: no-color.org, force-color.org. */
const wantsColor = (descriptor: number): boolean => {
  const { NO_COLOR, FORCE_COLOR, TERM } = process.env;
  if (NO_COLOR) return false;
  if (FORCE_COLOR) return FORCE_COLOR !== '0';
  return hasColor() && isTerminal(descriptor) && TERM !== 'dumb';
};

/** False where Bun has determined that neither stream supports color. */
const hasColor = (): boolean => typeof Bun === 'undefined' || Bun.enableANSIColors;

/** A terminal is a character device. So is the null device, where color does no harm. */
function isTerminal(descriptor: number): boolean {
  try {
    return files().fstatSync(descriptor).isCharacterDevice();
  } catch {
    return false;
  }
}

/** A standard stream that takes no more, such as a file on a full disk: what was to be written is lost, and the program ends. */
export class OutputFailure extends Error {
  override readonly name = 'OutputFailure';
}

/** Whether a thrown value is one: by its name, since a process may have two of the class. */
export const isOutputFailure = (thrown: unknown): thrown is OutputFailure => thrown instanceof Error && thrown.name === 'OutputFailure';

/** Exits quietly when the reader, such as `head`, has closed the pipe. Throws OutputFailure for any other reason not to write. */
function stopAtBrokenPipe(error: unknown): void {
  if ((error as NodeJS.ErrnoException).code === 'EPIPE') process.exit();
  throw new OutputFailure(failureOf('', error).why);
}

/** Writes every byte, and waits for a slow reader. */
function writeAll(descriptor: number, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length; ) {
    try {
      at += files().writeSync(descriptor, bytes, at);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') stopAtBrokenPipe(error);
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
    }
  }
}
