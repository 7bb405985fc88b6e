/**
 * Device code of a `.cu` file alone: whoever loads its PTX writes static variables by their names, as nvcc has them. The compiler cannot know, and
 * would take their first value for the only one.
 */
import type { Diagnostics } from '../../base/diagnostic.ts';
import { keepingLines, staticVariables, withPlainNames } from '../../program/index.ts';
import { type Clang, compileDevice, type DeviceCode, type SourceOptions } from '../../toolchain/index.ts';

/** Compiles the device half of a file, with the static variables that it declares itself. */
export async function compileDeviceOnly(clang: Clang, options: SourceOptions, diagnostics: Diagnostics): Promise<DeviceCode> {
  const own = options.files.get(options.path);
  const text = own === undefined ? '' : new TextDecoder().decode(own);
  const kept = staticVariables(text);
  if (kept.length === 0) return compileDevice(clang, options, diagnostics);
  const files = new Map([...options.files, [options.path, new TextEncoder().encode(`${text}\n${keepingLines(kept)}`)] as const]);
  const { ptx, messages } = await compileDevice(clang, { ...options, files }, diagnostics);
  return { ptx: ptx && withPlainNames(ptx, kept), messages };
}
