/**
 * The command line under test. `CUMETAL_SPEC_PROGRAM`, a JSON list of words, names an installed or shipped program, which then runs as a
 * process for every command (`spec/dist/installed-*.spec.ts`); without it the commands run from the sources.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import * as assert from 'uvu/assert';
import { main } from '../../src/cli/main.ts';
import { processTerminal, type Terminal } from '../../src/cli/terminal/index.ts';
import { root } from './examples.ts';

const named = process.env.CUMETAL_SPEC_PROGRAM;

/** Whether the program is an installed one. */
export const isInstalled = named !== undefined;
/** The words that start the program as a process. */
export const program: readonly string[] = named === undefined ? [process.execPath, join(root, 'src/cli/start.ts')] : JSON.parse(named);

export interface Ran {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

export interface ProcessOptions {
  readonly cwd?: string;
  /** Standard input; empty where absent. */
  readonly input?: string | Uint8Array;
  /** Variables beside those of this process. */
  readonly env?: Readonly<Record<string, string>>;
}

/** Standard output as bytes, beside it as UTF-8. */
interface Bytes extends Ran {
  readonly outBytes: Uint8Array;
}

/** Runs a command line as a process. A stack trace on standard error fails. */
export function cliProcess(words: readonly string[], { cwd, input = '', env = {} }: ProcessOptions = {}): Bytes {
  const [file, ...first] = program;
  const all = { ...process.env, ...env };
  const { status, stdout, stderr, error } = spawnSync(file!, [...first, ...words], {
    cwd,
    input,
    env: all,
    timeout: 60_000,
    maxBuffer: 2 ** 28,
  });
  if (error) throw error;
  const err = stderr.toString();
  assert.not.match(err, /\n\s+at .*:\d+:\d+/, 'a stack trace');
  return { code: status, out: stdout.toString(), outBytes: new Uint8Array(stdout), err };
}

/** The content of files by path, relative to the working directory; `-` is standard input. */
export type Files = Readonly<Record<string, string | Uint8Array>>;

/** What a command wrote: to the streams and to files. */
export interface Wrote extends Bytes {
  readonly files: Readonly<Record<string, Uint8Array>>;
}

/** Runs a command line beside some files, which are the only relative paths: in this process, or as the installed program. */
export async function cli(words: readonly string[], files: Files = {}): Promise<Wrote> {
  return isInstalled ? inFolder(words, files) : inMemory(words, files);
}

const bytesOf = (content: string | Uint8Array): Uint8Array => (typeof content === 'string' ? new TextEncoder().encode(content) : content);

async function inMemory(words: readonly string[], given: Files): Promise<Wrote> {
  const out: Uint8Array[] = [];
  let err = '';
  const files: Record<string, Uint8Array> = {};
  const real = processTerminal();
  const terminal: Terminal = {
    out: (text) => void out.push(bytesOf(text)),
    outBytes: (bytes) => void out.push(bytes.slice()),
    err(text) {
      err += text;
    },
    color: { out: false, err: false },
    env: {},
    readFile(path) {
      const content = files[path] ?? given[path];
      return content === undefined ? real.readFile(path) : bytesOf(content);
    },
    writeFile(path, bytes) {
      if (path.startsWith('/')) return real.writeFile(path, bytes);
      files[path] = bytes.slice();
      return undefined;
    },
  };
  const code = await main(words, terminal);
  const outBytes = new Uint8Array(Buffer.concat(out));
  return { code, out: new TextDecoder().decode(outBytes), outBytes, err, files };
}

function inFolder(words: readonly string[], given: Files): Wrote {
  const folder = mkdtempSync(join(tmpdir(), 'cumetal-spec-'));
  try {
    const { '-': input = '', ...placed } = given;
    for (const [path, content] of Object.entries(placed)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), content);
    }
    const ran = cliProcess(words, { cwd: folder, input });
    const paths = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    const files = paths.map((entry) => join(entry.parentPath, entry.name)).map((path) => [path.slice(folder.length + 1), path] as const);
    const written = files.filter(([path]) => given[path] === undefined).map(([path, full]) => [path, new Uint8Array(readFileSync(full))]);
    return { ...ran, files: Object.fromEntries(written) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
