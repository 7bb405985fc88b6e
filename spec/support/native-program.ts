/** Programs of the machine for specs: made by its C compiler of the sources in `spec/exec`, and run under this command line. */
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as assert from 'uvu/assert';
import { fatbinaryOf } from './hostile/container.ts';

const sources = join(import.meta.dirname, '../exec');

/** The words that start this command line from its sources. */
export const cumetal = [process.execPath, join(import.meta.dirname, '../../src/cli/start.ts')] as const;

export interface Ran {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Workshop {
  readonly folder: string;
  /** The environment in which `run` runs: files of sessions and of the cache are in the folder. */
  readonly env: Readonly<Record<string, string | undefined>>;
  cc(...words: string[]): void;
  run(words: readonly string[], more?: Readonly<Record<string, string>>): Ran;
  remove(): void;
}

/** A folder with sources by name, and `image.h`: a fatbinary of `kernels.ptx`, compressed. */
export function workshop(...names: string[]): Workshop {
  const folder = mkdtempSync(join(tmpdir(), 'cumetal-spec-exec-'));
  const env = { ...process.env, TMPDIR: folder, CUMETAL_CACHE_PATH: join(folder, 'cache'), CUMETAL_CACHE_DISABLE: '0' };
  for (const name of names) copyFileSync(join(sources, name), join(folder, name));
  const text = readFileSync(join(sources, 'kernels.ptx'));
  const image = fatbinaryOf(new Uint8Array(Bun.zstdCompressSync(text)), { flags: 0x8011, size: text.length });
  const bytes = `#define IMAGE {${image}}\nstatic const unsigned char image[] __attribute__((aligned(8), unused)) = IMAGE;\n`;
  writeFileSync(join(folder, 'image.h'), bytes);
  return {
    folder,
    env,
    cc(...words) {
      const { status, stderr } = spawnSync('cc', words, { cwd: folder, encoding: 'utf8' });
      assert.is(status, 0, stderr);
    },
    run(words, more = {}) {
      const [command, main] = cumetal;
      const { status, stdout, stderr } = spawnSync(command, [main, ...words], { cwd: folder, encoding: 'utf8', env: { ...env, ...more } });
      return { status, stdout, stderr };
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** Makes `lib/libcudart.so.12`, which has the names of `cuda.h` in the version that programs ask for, and nothing else: programs are linked to it. */
export function makeRuntimeNames({ folder, cc }: Workshop): void {
  const names = [...readFileSync(join(sources, 'cuda.h'), 'utf8').matchAll(/\b((?:__)?cuda\w+)\(/g)].map(([, name]) => name);
  writeFileSync(join(folder, 'stub.c'), names.map((name) => `void ${name}(void) {}\n`).join(''));
  writeFileSync(join(folder, 'versions'), 'libcudart.so.12 { global: *; };\n');
  mkdirSync(join(folder, 'lib'));
  const versions = ['-Wl,-soname,libcudart.so.12', '-Wl,--version-script=versions'];
  cc('-shared', '-fPIC', '-w', '-o', 'lib/libcudart.so.12', 'stub.c', ...versions);
}

/** The folders of sessions that are there. */
export const sessionsIn = ({ folder }: Workshop): string[] => readdirSync(folder).filter((name) => name.startsWith('cumetal-exec-'));
