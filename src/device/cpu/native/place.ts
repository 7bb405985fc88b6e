/** Puts native code into executable memory of this process. Stored code needs no more, so that this file does not load the compiler. */
import { placeCode } from '../../../ffi/native/code-pages.ts';
import type { NativeModule, NativeParts } from './module.ts';

/** The pages of each module, which live as long as it does. */
const pages = new WeakMap<NativeModule, unknown>();

/** Places code, which runs at any address; undefined where the system has no executable memory. */
export function placeCodeOf(parts: NativeParts, code: Uint8Array): NativeModule | undefined {
  const placed = placeCode(code);
  if (!placed) return undefined;
  const module = { ...parts, address: placed.address };
  pages.set(module, placed);
  return module;
}
