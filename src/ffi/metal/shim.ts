/** The shim as a library: the one that is part of the program, unpacked; any other by its path; or made by Bun's own C compiler. */
import { chmodSync, lstatSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bunFfi, type Ffi } from '../bun.ts';
import { bindingOver, type MetalBinding } from './binding.ts';
import { abi, type Flat, flatTypes } from './flat.ts';
import { dylib, source } from './shim.generated.ts';
import { addressesOf, type SystemLibraries } from './system.ts';

/** The binding over a shim at a path; throws where it cannot be loaded, or is another version's. */
export function openShim(path: string): MetalBinding {
  const ffi = ffiOrThrow();
  return bindingOver(checked(ffi.dlopen(path, flatTypes as never).symbols as unknown as Flat), ffi, { way: 'the shim', hasBlocks: true });
}

const unpacked = (text: string): Uint8Array => Bun.gunzipSync(Buffer.from(text, 'base64'));

/** The path of the shim for macOS, written where it does not lie already; throws where no place for it is safe. */
export function unpackShim(folder = ownFolder()): string {
  const path = join(folder, `libcumetal-${dylib.sha256.slice(0, 16)}.dylib`);
  const bytes = unpacked(dylib.packed);
  // What lies there is looked at, for a machine may have stopped while it was written.
  if (!isThere(path, bytes)) {
    const partial = `${path}.${process.pid}`;
    writeFileSync(partial, bytes, { mode: 0o600 });
    renameSync(partial, path);
  }
  return path;
}

function isThere(path: string, bytes: Uint8Array): boolean {
  try {
    return readFileSync(path).equals(bytes);
  } catch {
    return false;
  }
}

/** A folder that only this user can write: the usual one, or a new one where somebody else has taken its name. */
function ownFolder(): string {
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
    // Falls through to a new one.
  }
  return mkdtempSync(join(tmpdir(), 'cumetal-'));
}

/**
 * The binding over a shim that Bun's TinyCC compiles here. It looks for no header and no library, so it needs no developer
 * tools: what the shim calls outside it is given by address. Throws where it does not compile.
 */
export function compileShim(libraries: SystemLibraries): MetalBinding {
  const ffi = ffiOrThrow();
  const folder = mkdtempSync(join(tmpdir(), 'cumetal-cc-'));
  try {
    const path = join(folder, 'shim.c');
    writeFileSync(path, unpacked(source.packed));
    const symbols = { ...flatTypes, cm_bind: { args: ['ptr'], returns: 'void' } };
    const { symbols: made } = ffi.cc({ source: path, define: { CM_TABLE: '1' }, flags: ['-nostdlib'], symbols } as never);
    const flat = made as unknown as Flat & { cm_bind(table: BigUint64Array): void };
    flat.cm_bind(addressesOf(ffi, libraries, outside));
    return bindingOver(checked(flat), ffi, { way: 'the shim, compiled here', hasBlocks: true });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** In the order of `table` in shim.c. */
const outside = [
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

function checked(flat: Flat): Flat {
  const found = flat.cm_abi();
  if (found !== abi) throw new Error(`the shim is of version ${found}, and ${abi} is wanted`);
  return flat;
}

function ffiOrThrow(): Ffi {
  const ffi = bunFfi();
  if (!ffi) throw new Error('foreign functions need Bun');
  return ffi;
}
