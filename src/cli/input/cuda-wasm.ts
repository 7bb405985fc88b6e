/** `.cu` files without an installed compiler; the PTX is cached by everything that it is made of. */
import { resolve } from 'node:path';
import { hexOf } from '../../base/bytes.ts';
import type { Diagnostics } from '../../base/diagnostic.ts';
import { printable } from '../../base/printable.ts';
import type { SourceFile } from '../../base/source.ts';
import { deviceKey, includedFiles, loadClang, type SourceFiles, type ToolchainPackage } from '../../toolchain/index.ts';
import { buildId } from '../command/build-id.ts';
import { storeOf } from '../command/compile-cache.ts';
import { hostHash } from '../command/host-hash.ts';
import { type ExitCode, exit } from '../terminal/exit.ts';
import type { Terminal } from '../terminal/index.ts';
import { type CudaOptions, ptxSource } from './cuda-file.ts';
import { compileDeviceOnly } from './device-only.ts';

/** The PTX of a file, or the exit code after messages. */
export async function compileInWasm(
  path: string,
  found: ToolchainPackage,
  { folders: named, defines, standard }: CudaOptions,
  terminal: Terminal,
  diagnostics: Diagnostics,
): Promise<SourceFile | ExitCode> {
  const folders = named.map((folder) => resolve(folder));
  const files = includedFiles(path, folders);
  const options = { path: resolve(path), files, folders, defines, ...(standard === undefined ? {} : { standard }) };
  const key = keyOf(files, [found.version, deviceKey(options)]);
  const store = buildId === undefined ? undefined : storeOf(terminal);
  const known = store && 'store' in store ? store.store.read(key) : undefined;
  if (known) return ptxSource(path, new TextDecoder().decode(known));
  terminal.status?.(`compiling ${path}`);
  const { ptx, messages } = await compileDeviceOnly(await loadClang(found), options, diagnostics);
  terminal.status?.('');
  terminal.err(inFolder(messages));
  if (ptx === undefined) {
    if (!diagnostics.hasErrors) terminal.err(`error: clang could not compile \`${printable(path)}\`\n`);
    return exit.doesNotCompile;
  }
  if (store && 'store' in store && messages === '') store.store.write(key, new TextEncoder().encode(ptx));
  return ptxSource(path, ptx);
}

/** Messages with the paths of the current folder as a user would write them. */
const inFolder = (messages: string): string => messages.replaceAll(`${process.cwd()}/`, '');

function keyOf(files: SourceFiles, others: readonly string[]): string {
  const { sha256 } = hostHash;
  const list = [...files].sort(([a], [b]) => (a < b ? -1 : 1)).map(([path, bytes]) => [path, hexOf(sha256(bytes))]);
  return hexOf(sha256(new TextEncoder().encode(JSON.stringify(['cuda device', buildId, list, others]))));
}
