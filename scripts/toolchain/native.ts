/**
 * A clang of this machine in place of the one that is WebAssembly, for jobs that compile many programs: of the same release, it gives the same
 * code in a tenth of the time. Paths of the files in memory are those below a folder that has links to them.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Toolchain, Tree } from './clang.ts';

/** Where the folders are that a compiler in memory sees at `/usr`, `/sysroot`, `/cuda` and `/src`. */
export type Roots = Readonly<Record<'usr' | 'sysroot' | 'cuda' | 'src', string>>;

/** Opens the compiler in a folder `bin`; `roots.usr` has the headers of `@yowasp/clang`. */
export function nativeToolchain(bin: string, roots: Roots): Toolchain {
  const root = mkdtempSync(join(tmpdir(), 'clang-'));
  process.on('exit', () => rmSync(root, { recursive: true, force: true }));
  for (const [name, folder] of Object.entries(roots)) symlinkSync(folder, join(root, name));
  const place = (word: string): string => word.replace(/^(-I|-L)?\/(usr|sysroot|cuda|src)(?=\/|$)/, `$1${root}/$2`);
  let count = 0;
  return {
    async run(args, files, messages = (text) => void process.stderr.write(text)) {
      const folder = join(root, `run${count++}`);
      mkdirSync(folder);
      const given = Object.entries(files).filter((entry): entry is [string, Uint8Array] => entry[1] instanceof Uint8Array);
      for (const [name, bytes] of given) writeFileSync(join(folder, name), bytes);
      const [tool = '', ...rest] = args;
      const { status, stdout, stderr } = spawnSync(join(bin, tool), rest.map(place), { cwd: folder, encoding: 'utf8', timeout: 300_000 });
      messages(`${stdout}${stderr}`.replaceAll(`${root}/`, '/'));
      const output = args[args.indexOf('-o') + 1] ?? '';
      const isThere = status === 0 && existsSync(join(folder, output));
      const result: Tree = isThere ? { [output]: new Uint8Array(readFileSync(join(folder, output))) } : {};
      rmSync(folder, { recursive: true });
      return isThere ? result : undefined;
    },
  };
}
