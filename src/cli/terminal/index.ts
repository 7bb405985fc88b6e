/** The outside world as commands see it: two streams, files, the environment. Specs hand in one of their own. */
import type { Io, IoFailure } from '../../runtime/io.ts';

export interface Terminal extends Io {
  /** Results, and nothing else. */
  out(text: string): void;
  /** A result that is not text. */
  outBytes(bytes: Uint8Array): void;
  /** Diagnostics and everything that is not a result. */
  err(text: string): void;
  /** A line that the next one takes the place of, where a person looks at diagnostics; an empty one takes it away. */
  status?(text: string): void;
  /** Whether each stream takes colour. */
  readonly colour: { readonly out: boolean; readonly err: boolean };
  readonly env: Readonly<Record<string, string | undefined>>;
  /** As `readFile`, where there is a way that has less to load. */
  readSoon?(path: string): Promise<Uint8Array | IoFailure>;
  /** Ends when all that was written has been taken. */
  settled?(): Promise<void>;
}

/** Loaded when something needs it: Bun reads a file and writes a line without, and to load it is a tenth of a short run. */
const files = (): typeof import('node:fs') => process.getBuiltinModule('node:fs');

/** The process's own streams and files; `-` reads standard input. */
export function processTerminal(): Terminal {
  return {
    ...(typeof Bun === 'undefined' ? nodeOutput : bunOutput()),
    status,
    colour: {
      get out() {
        return wantsColour(standard.out);
      },
      get err() {
        return wantsColour(standard.err);
      },
    },
    env: process.env,
    readFile,
    writeFile: (path, bytes) => attempt(path, () => files().writeFileSync(path, bytes)) ?? undefined,
  };
}

const readFile = (path: string): Uint8Array | IoFailure =>
  attempt(path, () => new Uint8Array(files().readFileSync(path === '-' ? 0 : path)));

/** File descriptors. `process.stdout` would do, and costs a tenth of a short run to make. */
const standard = { out: 1, err: 2 } as const;

/** Whether a person sees what goes to standard error; asked for when there is a first line to show. */
let isSeen: boolean | undefined;

/** Written at once, past what waits to be written, for who shows it keeps the program busy. */
function status(text: string): void {
  isSeen ??= process.getBuiltinModule('node:tty').isatty(standard.err);
  if (isSeen) writeAll(standard.err, new TextEncoder().encode(`\r\x1b[K${text}`));
}

type Output = Pick<Terminal, 'out' | 'outBytes' | 'err' | 'readSoon' | 'settled'>;

const nodeOutput: Output = {
  out: (text) => writeAll(standard.out, new TextEncoder().encode(text)),
  outBytes: (bytes) => writeAll(standard.out, bytes),
  err: (text) => writeAll(standard.err, new TextEncoder().encode(text)),
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
    err(text) {
      take(() => {
        errors ??= Bun.stderr.writer();
        errors.write(text);
        return errors.flush();
      });
    },
    settled: async () => void (await last),
    async readSoon(path) {
      if (path === '-') return readFile(path);
      try {
        return await Bun.file(path).bytes();
      } catch (error) {
        return failureOf(path, error);
      }
    },
  };
}

/** `NO_COLOR` of any value but the empty one forbids colour. Source: no-color.org. */
const wantsColour = (descriptor: number): boolean =>
  hasColour() && isTerminal(descriptor) && !process.env.NO_COLOR && process.env.TERM !== 'dumb';

/** False where Bun has seen that neither stream takes colour. */
const hasColour = (): boolean => typeof Bun === 'undefined' || Bun.enableANSIColors;

/** A terminal is a character device; so is the null device, which does not mind colours. */
function isTerminal(descriptor: number): boolean {
  try {
    return files().fstatSync(descriptor).isCharacterDevice();
  } catch {
    return false;
  }
}

/** A reader such as `head` that has seen enough is no fault. */
function stopAtBrokenPipe(error: unknown): void {
  if ((error as NodeJS.ErrnoException).code !== 'EPIPE') throw error;
  process.exit();
}

/** Writes every byte, waiting where the reader is slow. */
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

const reasons: Record<string, string> = {
  ENOENT: 'no such file or folder',
  EISDIR: 'it is a folder',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  ENOTDIR: 'a part of the path is not a folder',
  ENOSPC: 'the disk is full',
  EROFS: 'the file system is read-only',
};

function attempt<T>(path: string, action: () => T): T | IoFailure {
  try {
    return action();
  } catch (error) {
    return failureOf(path, error);
  }
}

function failureOf(path: string, error: unknown): IoFailure {
  const code = (error as NodeJS.ErrnoException).code ?? '';
  return { why: reasons[code] ?? `${code || String(error)} (${path})` };
}

/** The files in a folder and in the folders inside, sorted; nothing where the path is no folder that can be read. */
export function filesIn(folder: string): string[] | undefined {
  try {
    const found = files().readdirSync(folder, { recursive: true, encoding: 'utf8' });
    return found.map((name) => `${folder.replace(/\/+$/, '')}/${name.replaceAll('\\', '/')}`).sort();
  } catch {
    return undefined;
  }
}

/** Whether a file is there. */
export function exists(path: string): boolean {
  try {
    return files().statSync(path).isFile();
  } catch {
    return false;
  }
}
