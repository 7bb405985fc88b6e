/** Command lines without a process: what they write to the streams and to files, over files in memory and on the disk. */
import { main } from '../../src/cli/main.ts';
import { processTerminal, type Terminal } from '../../src/cli/terminal/index.ts';

export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
  readonly written: Readonly<Record<string, Uint8Array>>;
}

/** Runs `cumetal` with these words. `files` are read before those of the disk; nothing is written to the disk. */
export async function commandLine(
  words: readonly string[],
  files: Readonly<Record<string, string | Uint8Array>> = {},
  env: Readonly<Record<string, string>> = {},
): Promise<Ran> {
  let [out, err] = ['', ''];
  const written: Record<string, Uint8Array> = {};
  const { readInput: _, makeExecutable: __, ...own } = processTerminal();
  const terminal: Terminal = {
    ...own,
    color: { out: false, err: false },
    env,
    out(text) {
      out += text;
    },
    outBytes(bytes) {
      out += new TextDecoder('latin1').decode(bytes);
    },
    err(text) {
      err += text;
    },
    readFile(path) {
      const found = written[path] ?? files[path];
      if (found === undefined) return own.readFile(path);
      return typeof found === 'string' ? new TextEncoder().encode(found) : found;
    },
    writeFile(path, bytes) {
      written[path] = bytes;
      return undefined;
    },
  };
  return { code: await main(words, terminal), out, err, written };
}
