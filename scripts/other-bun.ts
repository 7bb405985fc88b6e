/**
 * Bun for another system, of the version of this checkout, from npm into the user's cache: `bun scripts/other-bun.ts [SYSTEM]…`, by default
 * Linux on arm64, for the specs that run an emulated one. They also want Debian's qemu-user-static, gcc-aarch64-linux-gnu and
 * libc6-dev-arm64-cross.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** Systems by the names that we give them, and what npm calls Bun for each. */
export const systems = {
  'darwin-arm64': 'bun-darwin-aarch64',
  'linux-x64': 'bun-linux-x64',
  'linux-arm64': 'bun-linux-aarch64',
} as const;
export type System = keyof typeof systems;

export const isSystem = (word: string): word is System => Object.hasOwn(systems, word);

const cache = join(homedir(), '.cache/cumetal');
const jsonOf = (path: string): { version: string; devDependencies: Record<string, string> } => JSON.parse(readFileSync(path, 'utf8'));
const wanted = jsonOf(join(import.meta.dirname, '../package.json')).devDependencies.bun!;

/** The path of Bun for a system, fetched where it is not there; throws where npm cannot. */
export function otherBun(system: System): string {
  const target = join(cache, systems[system]);
  const manifest = join(target, 'package.json');
  if (!existsSync(manifest) || jsonOf(manifest).version !== wanted) fetchBun(systems[system], target);
  return join(target, 'bin/bun');
}

function fetchBun(name: string, target: string): void {
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, 'new-'));
  try {
    run('npm', ['pack', '--silent', `@oven/${name}@${wanted}`], folder);
    run('tar', ['xzf', readdirSync(folder)[0]!], folder);
    rmSync(target, { recursive: true, force: true });
    renameSync(join(folder, 'package'), target);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function run(command: string, words: readonly string[], cwd: string): void {
  const { status, stderr } = spawnSync(command, words, { cwd, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${command} ${words.join(' ')}: ${stderr}`);
}

if (import.meta.main) {
  const words = process.argv.slice(2);
  for (const word of words.length > 0 ? words : ['linux-arm64']) {
    if (isSystem(word)) console.log(otherBun(word));
    else console.error(`other-bun: ${word} is none of ${Object.keys(systems).join(', ')}`);
  }
}
