/**
 * Device code of a `.cu` file alone: whoever loads its PTX writes static variables by their names, as nvcc has them. The compiler cannot know, and
 * would take their first value for the only one.
 */
import { Diagnostics } from '../../base/diagnostic.ts';
import { keepingLines, keptPrefix, staticVariables, withPlainNames } from '../../program/index.ts';
import { type Clang, compileDevice, type DeviceCode, type SourceOptions } from '../../toolchain/index.ts';

/** Compiles the device half of a file, with the static variables that it and its headers declare. */
export async function compileDeviceOnly(clang: Clang, options: SourceOptions, diagnostics: Diagnostics): Promise<DeviceCode> {
  const own = options.files.get(options.path);
  const text = own === undefined ? '' : new TextDecoder().decode(own);
  const ofFile = staticVariables(text);
  const inHeaders = [...options.files].flatMap(([path, bytes]) => (path === options.path ? [] : staticVariablesOf(bytes)));
  // Code that a program compiles while it runs has such lines already.
  const all = text.includes(keptPrefix) ? [] : [...new Set([...ofFile, ...inHeaders])];
  const tried = new Diagnostics();
  const whole = await compileKeeping(clang, options, { text, kept: all }, tried);
  // A condition may leave out a header, or what it declares.
  if (whole.ptx === undefined && all.length > ofFile.length && whole.messages.includes(keptPrefix))
    return compileKeeping(clang, options, { text, kept: ofFile }, diagnostics);
  diagnostics.addAll(tried.list);
  return whole;
}

/** Static variables of a header, of which most have none. */
function staticVariablesOf(bytes: Uint8Array): readonly string[] {
  const text = new TextDecoder().decode(bytes);
  return /\b__(?:constant|device)__\b/.test(text) ? staticVariables(text) : [];
}

interface Kept {
  readonly text: string;
  readonly kept: readonly string[];
}

async function compileKeeping(clang: Clang, options: SourceOptions, { text, kept }: Kept, to: Diagnostics): Promise<DeviceCode> {
  if (kept.length === 0) return compileDevice(clang, options, to);
  const files = new Map([...options.files, [options.path, new TextEncoder().encode(`${text}\n${keepingLines(kept)}`)] as const]);
  const { ptx, messages } = await compileDevice(clang, { ...options, files }, to);
  return { ptx: ptx && withPlainNames(ptx, kept), messages };
}
