/** The shim as a library: unpacked from the program, at a given path, or compiled by Bun's own C compiler. */
import { chmodSync, lstatSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeFile } from '../../files/index.ts';
import { bunFfi, type Ffi } from '../bun.ts';
import { bindingOver, type MetalBinding } from './binding.ts';
import { abi, type Flat, flatTypes } from './flat.ts';
import { dylib, source } from './shim.generated.ts';
import { addressesOf, type SystemLibraries } from './system.ts';

/** The binding over a shim at a path. Throws if it cannot be loaded or has another version. */
export function openShim(path: string): MetalBinding {
  const ffi = ffiOrThrow();
  return bindingOver(withSameVersion(ffi.dlopen(path, flatTypes as never).symbols as unknown as Flat), ffi, {
    way: 'the shim',
    hasBlocks: true,
  });
}

const unzip = (text: string): Uint8Array => Bun.gunzipSync(Buffer.from(text, 'base64'));

/** The path of the shim for macOS, which is written if it is not there. Throws if no folder is safe. */
export function unpackShim(folder = privateFolder()): string {
  const path = join(folder, `libcumetal-${dylib.sha256.slice(0, 16)}.dylib`);
  const bytes = unzip(dylib.packed);
  // The content is compared, because the machine may have stopped during an earlier write.
  if (!hasContent(path, bytes)) {
    writeFile(path, bytes, { mode: 0o600 });
  }
  return path;
}

function hasContent(path: string, bytes: Uint8Array): boolean {
  try {
    return readFileSync(path).equals(bytes);
  } catch {
    return false;
  }
}

/** A folder that only this user can write: the usual one, or a new one if another user owns a folder of that name. */
function privateFolder(): string {
  const user = process.getuid?.() ?? 0;
  const path = join(tmpdir(), `cumetal-${user}`);
  try {
    mkdirSync(path, { mode: 0o700, recursive: true });
    const found = lstatSync(path);
    if (found.isDirectory() && found.uid === user) {
      if ((found.mode & 0o077) !== 0) chmodSync(path, 0o700);
      return path;
    }
  } catch {
    // Falls through to a new folder.
  }
  return mkdtempSync(join(tmpdir(), 'cumetal-'));
}

/**
 * The binding over a shim that Bun's TinyCC compiles here. The shim includes no header and links no library, so that no developer tools are
 * needed: external functions are passed by address. Throws if it does not compile.
 */
export function compileShim(libraries: SystemLibraries): MetalBinding {
  const ffi = ffiOrThrow();
  const folder = mkdtempSync(join(tmpdir(), 'cumetal-cc-'));
  try {
    const path = join(folder, 'shim.c');
    writeFileSync(path, unzip(source.packed));
    const symbols = { ...flatTypes, cm_bind: { args: ['ptr'], returns: 'void' } };
    const { symbols: made } = ffi.cc({ source: path, define: { CM_TABLE: '1' }, flags: ['-nostdlib'], symbols } as never);
    const flat = made as unknown as Flat & { cm_bind(table: BigUint64Array): void };
    flat.cm_bind(addressesOf(ffi, libraries, externalSymbols));
    return bindingOver(withSameVersion(flat), ffi, { way: 'the shim, compiled at run time', hasBlocks: true });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** In the order of `table` in shim.c. */
const externalSymbols = [
  'objc_msgSend',
  'objc_msgSend_stret',
  'objc_getClass',
  'sel_registerName',
  'objc_autoreleasePoolPush',
  'objc_autoreleasePoolPop',
  'MTLCreateSystemDefaultDevice',
  'MTLCopyAllDevices',
  'dispatch_data_create',
  'memcpy',
  'strlen',
  'usleep',
  '_NSConcreteStackBlock',
] as const;

function withSameVersion(flat: Flat): Flat {
  const found = flat.cm_abi();
  if (found !== abi) throw new Error(`the shim has version ${found}, but version ${abi} is needed`);
  return flat;
}

function ffiOrThrow(): Ffi {
  const ffi = bunFfi();
  if (!ffi) throw new Error('foreign functions need Bun');
  return ffi;
}
