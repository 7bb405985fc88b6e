/** The headers of an installed compiler: in the folder of the cache, or in one of this process. */
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hexOf } from '../../base/bytes.ts';
import { type Clang, headers, type InstalledClang, loadInstalled, removeWithProcess, writeHeaders } from '../../toolchain/index.ts';
import { headersFolder, storeOf } from '../command/compile-cache.ts';
import { hostHash } from '../command/host-hash.ts';
import type { Terminal } from '../terminal/index.ts';
import type { ProgramToolchain } from './find.ts';

/** The compiler, with its headers where it finds them. */
export async function openInstalled(
  installed: InstalledClang,
  { clang, sysroot }: ProgramToolchain,
  terminal: Terminal,
  ofPackage: () => Promise<Clang>,
): Promise<Clang> {
  const cached = storeOf(terminal);
  const write = (folder: string): void => writeHeaders(folder, clang.resources, headers);
  const key = hexOf(hostHash.sha256(new TextEncoder().encode(JSON.stringify([clang.version, Object.entries(headers)]))));
  const folder = 'why' in cached ? ofProcess(write) : kept(headersFolder(cached.folder, key), write);
  return loadInstalled(installed, { usr: join(folder, 'usr'), cumetal: join(folder, 'cumetal'), sysroot: sysroot.folder }, ofPackage);
}

function ofProcess(write: (folder: string) => void): string {
  const folder = mkdtempSync(join(tmpdir(), 'cumetal-'));
  removeWithProcess(folder);
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  write(folder);
  return folder;
}

/** Written under another name first, so that no process sees a part. */
function kept(folder: string, write: (folder: string) => void): string {
  if (existsSync(folder)) return folder;
  mkdirSync(join(folder, '..'), { recursive: true, mode: 0o700 });
  const partial = mkdtempSync(`${folder}-`);
  write(partial);
  try {
    renameSync(partial, folder);
  } catch (error) {
    // Another process was first.
    rmSync(partial, { recursive: true, force: true });
    if (!existsSync(folder)) throw error;
  }
  return folder;
}
