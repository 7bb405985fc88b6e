/** Which files a branch changes, as git sees it. */
import { spawnSync } from 'node:child_process';

export interface Changes {
  /** The branch that the changes are counted from, and its commit: `origin/main (f429058)`. */
  readonly base: string;
  /** Paths from the root of the project, those of files that are gone as well. */
  readonly files: readonly string[];
}

/** The first of these that exists is what a branch starts from. */
const mains = ['origin/main', 'main', 'HEAD'];

/** Everything since the branch left the main one: commits, what is not committed, and files that git does not know yet. */
export function changesOf(folder: string): Changes | undefined {
  const git = (...words: string[]): string[] | undefined => {
    const { status, stdout } = spawnSync('git', ['-C', folder, ...words], { encoding: 'utf8', env: process.env });
    return status === 0 ? stdout.split('\0').flatMap((part) => part.trim() || []) : undefined;
  };
  for (const main of mains) {
    const commit = git('merge-base', 'HEAD', main)?.[0];
    const known = commit && git('diff', '--name-only', '--no-renames', '-z', commit);
    if (!known) continue;
    const unknown = git('ls-files', '--others', '--exclude-standard', '-z') ?? [];
    return { base: `${main} (${commit.slice(0, 7)})`, files: [...known, ...unknown].sort() };
  }
  return undefined;
}
