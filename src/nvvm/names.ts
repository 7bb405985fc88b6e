/** Identifiers of PTX for the names of an LLVM module. Source: PTX ISA 9.0, 4.4; the replacement of dots is that of LLVM's NVPTX target. */
import type { GlobalVariable, Function as LlvmFunction } from '../bitcode/index.ts';

/** Names by symbol, unique in the module. */
export type Names = ReadonlyMap<GlobalVariable | LlvmFunction, string>;

/** Gives each symbol its name. */
export function nameSymbols(symbols: readonly (GlobalVariable | LlvmFunction)[]): Names {
  const names = new Map<GlobalVariable | LlvmFunction, string>();
  const used = new Set<string>();
  for (const symbol of symbols) {
    const wanted = identifier(symbol.name);
    let name = wanted;
    for (let i = 1; used.has(name); i++) name = `${wanted}_$${i}`;
    used.add(name);
    names.set(symbol, name);
  }
  return names;
}

function identifier(name: string): string {
  const legal = name.replace(/[^A-Za-z0-9_$]/g, '_$_');
  return /^[A-Za-z]|^[_$]./.test(legal) ? legal : `$_${legal}`;
}
