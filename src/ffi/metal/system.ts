/** Paths of the system libraries behind Metal, and addresses of symbols in them. */
import type { Ffi } from '../bun.ts';
import { cText } from './flat.ts';

/** Library paths; several may be the same library. */
export interface SystemLibraries {
  /** The Objective-C runtime. */
  readonly objc: string;
  readonly metal: string;
  /** The C library. */
  readonly system: string;
  readonly dispatch: string;
  /** Libraries that the others need; opened first. */
  readonly dependencies: readonly string[];
}

/** The libraries of macOS. Without CoreGraphics, a program without a window has no default device. */
export const macLibraries: SystemLibraries = {
  objc: '/usr/lib/libobjc.A.dylib',
  metal: '/System/Library/Frameworks/Metal.framework/Metal',
  system: '/usr/lib/libSystem.B.dylib',
  dispatch: '/usr/lib/libSystem.B.dylib',
  dependencies: [
    '/System/Library/Frameworks/CoreGraphics.framework/CoreGraphics',
    '/System/Library/Frameworks/Foundation.framework/Foundation',
  ],
};

/** RTLD_NOW, on macOS as on Linux. */
const rtldNow = 2;

const loader = {
  dlopen: { args: ['ptr', 'i32'], returns: 'ptr' },
  dlsym: { args: ['ptr', 'ptr'], returns: 'ptr' },
} as const;

/** Opens libraries of which no symbol is used, which bun:ffi cannot. */
export function openDependencies(ffi: Ffi, { system, dependencies: also }: SystemLibraries): void {
  const { dlopen } = ffi.dlopen(system, loader).symbols;
  for (const path of also) if (dlopen(cText(path), rtldNow) === null) throw new Error(`${path} cannot be opened`);
}

/** Addresses of symbols, from the first library that defines each; 0 if none does. */
export function addressesOf(ffi: Ffi, libraries: SystemLibraries, names: readonly string[]): BigUint64Array {
  const { dlopen, dlsym } = ffi.dlopen(libraries.system, loader).symbols;
  const { dependencies: also, objc, metal, system, dispatch } = libraries;
  const opened = [...also, objc, metal, dispatch, system].map((path) => dlopen(cText(path), rtldNow)).filter((handle) => handle !== null);
  const find = (name: string): bigint => {
    for (const handle of opened) {
      const found = dlsym(handle, cText(name));
      if (found) return BigInt(found);
    }
    return 0n;
  };
  return BigUint64Array.from(names, find);
}
