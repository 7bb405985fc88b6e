/** The libraries of the system that Metal is reached through, by path, and addresses in them. */
import type { Ffi } from '../bun.ts';
import { cText } from './flat.ts';

/** Paths; one and the same library may stand in for several. */
export interface SystemLibraries {
  /** Objective-C's runtime. */
  readonly objc: string;
  readonly metal: string;
  /** C. */
  readonly system: string;
  readonly dispatch: string;
  /** Opened first: what the others need to be there. */
  readonly also: readonly string[];
}

/** Those of macOS. Without CoreGraphics, a program without a window has no default device. */
export const macLibraries: SystemLibraries = {
  objc: '/usr/lib/libobjc.A.dylib',
  metal: '/System/Library/Frameworks/Metal.framework/Metal',
  system: '/usr/lib/libSystem.B.dylib',
  dispatch: '/usr/lib/libSystem.B.dylib',
  also: ['/System/Library/Frameworks/CoreGraphics.framework/CoreGraphics', '/System/Library/Frameworks/Foundation.framework/Foundation'],
};

/** RTLD_NOW, on macOS as on Linux. */
const now = 2;

const loader = {
  dlopen: { args: ['ptr', 'i32'], returns: 'ptr' },
  dlsym: { args: ['ptr', 'ptr'], returns: 'ptr' },
} as const;

/** Opens what has to be there and is asked for nothing by name, which bun:ffi cannot. */
export function openAlso(ffi: Ffi, { system, also }: SystemLibraries): void {
  const { dlopen } = ffi.dlopen(system, loader).symbols;
  for (const path of also) if (dlopen(cText(path), now) === null) throw new Error(`${path} cannot be opened`);
}

/** Addresses of symbols, from the first library that has each; 0 for one that none has. */
export function addressesOf(ffi: Ffi, libraries: SystemLibraries, names: readonly string[]): BigUint64Array {
  const { dlopen, dlsym } = ffi.dlopen(libraries.system, loader).symbols;
  const { also, objc, metal, system, dispatch } = libraries;
  const opened = [...also, objc, metal, dispatch, system].map((path) => dlopen(cText(path), now)).filter((handle) => handle !== null);
  const find = (name: string): bigint => {
    for (const handle of opened) {
      const found = dlsym(handle, cText(name));
      if (found) return BigInt(found);
    }
    return 0n;
  };
  return BigUint64Array.from(names, find);
}
