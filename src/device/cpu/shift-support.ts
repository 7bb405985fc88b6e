/** Which WebAssembly engine runs here, as far as the choice of instructions depends on it. */
import type { ShiftMode } from '../../engine/codegen/shift-mode.ts';

/** The engine's kind by how a program introduces itself to servers: Bun and Safari have JavaScriptCore, and so has every browser of iOS. */
export function shiftModeOf(userAgent: string): ShiftMode {
  const isJavaScriptCore = /\bBun\//.test(userAgent) || (/\bAppleWebKit\//.test(userAgent) && !/Chrom(e|ium)\//.test(userAgent));
  return isJavaScriptCore ? 'register' : 'immediate';
}

/** How the engine of this program shifts vectors by constants. Node before 21 has no `navigator`. */
export function shiftMode(): ShiftMode {
  const { navigator } = globalThis as { readonly navigator?: { readonly userAgent?: string } };
  return shiftModeOf(navigator?.userAgent ?? '');
}
