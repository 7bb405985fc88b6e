/**
 * Makes the shim by the C compiler of the machine, once: the library that is preloaded, and small ones by the names of NVIDIA's libraries, which
 * a program asks for when it starts.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import recorder from './driver-record.c' with { type: 'text' };
import type { ShimSource } from './source.ts';

/** The libraries of a program, in one folder. */
export interface Shim {
  readonly folder: string;
  /** The path of the library that is preloaded. */
  readonly preload: string;
}

/** Why there is no shim. */
export interface ShimFailure {
  readonly compiler: string;
  readonly why: string;
}

/** Libraries of NVIDIA by name, with the version of their symbols that programs ask for. */
const libraries: Readonly<Record<string, string | undefined>> = {
  'libcudart.so.11.0': 'libcudart.so.11.0',
  'libcudart.so.12': 'libcudart.so.12',
  'libcudart.so.13': 'libcudart.so.13',
  'libcuda.so.1': undefined,
};

export const preloadName = 'libcumetal-exec.so';

/** The shim in a folder below `folder` that is named after its content; made there if it is not. */
export function buildShim(source: ShimSource, folder: string, compiler: string): Shim | ShimFailure {
  return build({ ...source, hasLibraries: true }, folder, compiler);
}

/** The library in front of NVIDIA's driver, which records launches. */
export function buildRecorder(folder: string, compiler: string): Shim | ShimFailure {
  return build({ shim: recorder, included: {}, hasLibraries: false }, folder, compiler);
}

interface Source extends ShimSource {
  readonly hasLibraries: boolean;
}

function build({ shim, included, hasLibraries }: Source, folder: string, compiler: string): Shim | ShimFailure {
  const hash = createHash('sha256')
    .update([shim, ...Object.entries(included).flat(), compiler].join('\0'))
    .digest('hex')
    .slice(0, 16);
  const place = join(folder, `exec-${hash}`);
  const made: Shim = { folder: place, preload: join(place, preloadName) };
  if (existsSync(made.preload)) return made;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  // It appears whole or not at all, whoever else makes it.
  const draft = mkdtempSync(join(folder, '.exec-'));
  try {
    writeFileSync(join(draft, 'shim.c'), shim);
    for (const [name, text] of Object.entries(included)) writeFileSync(join(draft, name), text);
    const why = compile(draft, compiler, hasLibraries);
    if (why !== undefined) return { compiler, why };
    try {
      renameSync(draft, place);
    } catch (error) {
      if (!existsSync(made.preload)) throw error;
    }
    return made;
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

function compile(folder: string, compiler: string, hasLibraries: boolean): string | undefined {
  // Nothing in it takes time, but compiling it does.
  const common = ['-shared', '-fPIC', '-O0', '-w'];
  const first = call(compiler, [...common, '-fvisibility=hidden', '-Wl,-z,defs', '-pthread', '-o', preloadName, 'shim.c', '-ldl'], folder);
  if (first !== undefined || !hasLibraries) return first;
  writeFileSync(join(folder, 'empty.c'), '');
  for (const [name, version] of Object.entries(libraries)) {
    const script = version === undefined ? [] : ['-Wl,--version-script=versions'];
    if (version !== undefined) writeFileSync(join(folder, 'versions'), `${version} { };\n`);
    const libs = ['-Wl,--no-as-needed', `-Wl,-soname,${name}`, '-Wl,-rpath,$ORIGIN', '-o', name, 'empty.c', '-L.', `-l:${preloadName}`];
    const why = call(compiler, [...common, '-nostartfiles', ...script, ...libs], folder);
    if (why !== undefined) return why;
  }
  return undefined;
}

function call(compiler: string, args: readonly string[], cwd: string): string | undefined {
  const { status, error, stderr } = spawnSync(compiler, args, {
    cwd,
    encoding: 'utf8',
    stdio: ['ignore', 'ignore', 'pipe'],
    timeout: 120_000,
  });
  if (error) return (error as NodeJS.ErrnoException).code === 'ENOENT' ? `there is no \`${compiler}\` on this machine` : error.message;
  return status === 0 ? undefined : stderr.trim().split('\n').slice(0, 5).join('\n') || `exit code ${status}`;
}
