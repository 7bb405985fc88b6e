/** Copies of the working tree to plant faults in: the sources are copied, all else is linked to. */
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** What imports sources by relative paths, so that a link to it would lead back to the tree. */
const copied: ReadonlySet<string> = new Set(['src', 'spec', 'scripts', 'bench', 'package.json', 'tsconfig.json', 'bunfig.toml']);
const left: ReadonlySet<string> = new Set(['.git', 'dist']);

export interface Copies {
  /** The folder of all copies. */
  readonly home: string;
  /** Makes one more; its folder. */
  make(): string;
  /** Removes all. */
  remove(): void;
}

export function openCopies(root: string): Copies {
  const home = mkdtempSync(join(tmpdir(), 'cumetal-mutants-'));
  let count = 0;
  return {
    home,
    make() {
      const to = join(home, String(count++));
      mkdirSync(to);
      for (const name of readdirSync(root)) {
        if (left.has(name)) continue;
        if (copied.has(name)) cpSync(join(root, name), join(to, name), { recursive: true });
        else symlinkSync(join(root, name), join(to, name));
      }
      return to;
    },
    remove: () => rmSync(home, { recursive: true, force: true }),
  };
}

/** Puts a text in place of a file of a copy for as long as a task takes. */
export async function withText<T>(
  copy: string,
  file: string,
  texts: { readonly put: string; readonly back: string },
  task: () => Promise<T>,
) {
  writeFileSync(join(copy, file), texts.put);
  try {
    return await task();
  } finally {
    writeFileSync(join(copy, file), texts.back);
  }
}
