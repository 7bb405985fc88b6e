/** Module symbols that a launch writes before it runs. */
import { closest } from '../base/closest.ts';
import type { Diagnostics } from '../base/diagnostic.ts';
import type { DeviceModule, DeviceSymbol } from '../device/device.ts';
import { type Io, readBytes } from './io.ts';
import { isNpyPath, readNpy } from './npy.ts';

/** A symbol by name, and the `.npy` or raw file that it is written from. */
export interface SymbolWrite {
  readonly name: string;
  readonly path: string;
}

/** Writes symbols from files; false after reporting CM5023, CM5025, CM5030 or CM5032. */
export function writeSymbols(module: DeviceModule, writes: readonly SymbolWrite[], io: Io, diagnostics: Diagnostics): boolean {
  const done = writes.map(({ name, path }) => {
    const symbol = symbolNamed(module, name, diagnostics);
    const bytes = symbol && bytesOf(io, path, diagnostics);
    if (!symbol || !bytes) return false;
    if (bytes.length === symbol.size) symbol.write(bytes);
    else diagnostics.report('CM5025', { name, size: symbol.size, path, given: bytes.length });
    return bytes.length === symbol.size;
  });
  return done.every(Boolean);
}

function symbolNamed({ symbols }: DeviceModule, name: string, diagnostics: Diagnostics): DeviceSymbol | undefined {
  const names = symbols.map((symbol) => symbol.name);
  const found = symbols.find((symbol) => symbol.name === name);
  if (found) return found;
  const near = closest(name, names);
  const help = near ? `did you mean \`${near}\`?` : `symbols that can be written: ${names.map((n) => `\`${n}\``).join(', ') || 'none'}`;
  diagnostics.report('CM5023', { name }, { help });
  return undefined;
}

function bytesOf(io: Io, path: string, diagnostics: Diagnostics): Uint8Array | undefined {
  const bytes = readBytes(io, path, diagnostics);
  if (!bytes || !isNpyPath(path)) return bytes;
  const array = readNpy(bytes);
  if (typeof array !== 'string') return array.data;
  diagnostics.report('CM5032', { path, why: array });
  return undefined;
}

/** Saves the contents of symbols; returns an action that restores them. */
export function saveSymbols({ symbols }: DeviceModule): () => void {
  const kept = symbols.map((symbol) => [symbol, symbol.read()] as const);
  return () => {
    for (const [symbol, bytes] of kept) symbol.write(bytes);
  };
}
