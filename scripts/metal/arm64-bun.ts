/**
 * Gets the Bun of this checkout for Linux on arm64, from npm, into the user's cache, for the specs that run an emulated one:
 * `bun scripts/metal/arm64-bun.ts`. They also want Debian's qemu-user-static, gcc-aarch64-linux-gnu and libc6-dev-arm64-cross.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

const { bun: version } = JSON.parse(readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8')).devDependencies;
const cache = join(homedir(), '.cache/cumetal');
const target = join(cache, 'bun-linux-aarch64');

function run(command: string, words: readonly string[], cwd: string): void {
  const { status, stderr } = spawnSync(command, words, { cwd, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${command} ${words.join(' ')}: ${stderr}`);
}

mkdirSync(cache, { recursive: true });
const folder = mkdtempSync(join(cache, 'new-'));
run('npm', ['pack', '--silent', `@oven/bun-linux-aarch64@${version}`], folder);
run('tar', ['xzf', readdirSync(folder)[0]!], folder);
rmSync(target, { recursive: true, force: true });
renameSync(join(folder, 'package'), target);
rmSync(folder, { recursive: true });
console.log(join(target, 'bin/bun'));
