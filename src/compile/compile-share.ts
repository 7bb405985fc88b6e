/** Compiles a share of a module, and makes a metallib of all shares. */
import { Diagnostics } from '../base/diagnostic.ts';
import type { SourceFile } from '../base/source.ts';
import { checkSource } from './check-source.ts';
import { libraryOf } from './library.ts';
import { type Compiled, type CompileOptions, targetNameOf } from './options.ts';
import { bitcodeFor, checkedToAir, targetOf } from './pipeline.ts';
import { type CompiledEntry, entriesOfShare, type Share } from './shares.ts';

/** What became of a share: its entries and how many the module has; `unchecked` if the module has errors, which were reported. */
export type CompiledShare = { readonly entries: readonly CompiledEntry[]; readonly of: number } | 'unchecked' | undefined;

/**
 * Compiles the entries of a share, and checks the whole module. Undefined where an entry has findings: those of a module have an order, so that it
 * is to be compiled as one.
 */
export function compileShare(source: SourceFile, options: CompileOptions, share: Share, diagnostics: Diagnostics): CompiledShare {
  const own = new Diagnostics(source);
  const checked = checkSource(source, options, diagnostics);
  if (!checked) return 'unchecked';
  const lengths = checked.entries.map(({ fn: { span } }) => span.end - span.start);
  const mine = entriesOfShare(lengths, share);
  const modules = checkedToAir({ source, checked, mine }, options, own, bitcodeFor(options));
  if (!modules || own.list.length > 0) return undefined;
  const numbers = [...mine].sort((a, b) => a - b);
  const { kernels } = modules.reflection;
  return { entries: modules.made.map((made, i) => ({ ...made, entry: numbers[i]!, reflection: kernels[i]! })), of: lengths.length };
}

/** The metallib of all shares of a module. */
export function compiledOfShares(entries: readonly CompiledEntry[], options: CompileOptions): Compiled {
  const reflection = { abi: 1 as const, target: targetNameOf(options), kernels: entries.map((each) => each.reflection) };
  return { metallib: libraryOf(entries, targetOf(options), options), reflection };
}
