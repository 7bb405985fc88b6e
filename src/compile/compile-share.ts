/** Compiles a share of a module, and makes a metallib of all shares. */
import { Diagnostics } from '../base/diagnostic.ts';
import type { SourceFile } from '../base/source.ts';
import type { Checked, PtxFunction } from '../ptx/index.ts';
import { checkSource } from './check-source.ts';
import { libraryOf } from './library.ts';
import { type Compiled, type CompileOptions, targetNameOf } from './options.ts';
import { bitcodeFor, checkedToAir, targetOf } from './pipeline.ts';
import { type CompiledEntry, entriesOfShare, type Share } from './shares.ts';

/** What became of a share: its entries, how many the module has, and whether the check says nothing of it. */
export interface CompiledShare {
  readonly entries: readonly CompiledEntry[];
  readonly of: number;
  readonly isSilent: boolean;
}

/**
 * Checks and compiles the entries of a share, and what they call. Undefined where they have errors, or findings behind the check: those of a module have
 * an order, so that it is to be compiled as one.
 */
export function compileShare(source: SourceFile, options: CompileOptions, share: Share): CompiledShare | undefined {
  const [found, own] = [new Diagnostics(source), new Diagnostics(source)];
  let mine: ReadonlySet<number> = new Set();
  let of = 0;
  const shareOf = (entries: readonly PtxFunction[]): ReadonlySet<number> => {
    of = entries.length;
    mine = entriesOfShare(
      entries.map(({ span }) => span.end - span.start),
      share,
    );
    return mine;
  };
  const shared = checkSource(source, { ...options, share: shareOf }, found);
  // Functions that call themselves have the order in which all entries reach them.
  const isShared = shared?.recursions.size === 0;
  const whole = isShared ? undefined : shared && checkSource(source, options, found);
  const checked = isShared ? shared : whole && withoutOthers(whole, mine);
  if (!checked) return undefined;
  const modules = checkedToAir({ source, checked }, options, own, bitcodeFor(options));
  if (!modules || own.list.length > 0) return undefined;
  const numbers = [...mine].sort((a, b) => a - b);
  const { kernels } = modules.reflection;
  const entries = modules.made.map((made, i) => ({ ...made, entry: numbers[i]!, reflection: kernels[i]! }));
  return { entries, of, isSilent: found.list.length === 0 };
}

/** A module of which other processes compile all entries but these. */
const withoutOthers = (whole: Checked, mine: ReadonlySet<number>): Checked => ({
  ...whole,
  entries: whole.entries.filter((_, number) => mine.has(number)),
  unchecked: whole.entries.filter((_, number) => !mine.has(number)).map(({ fn }) => fn),
});

/** The metallib of all shares of a module. */
export function compiledOfShares(entries: readonly CompiledEntry[], options: CompileOptions): Compiled {
  const reflection = { abi: 1 as const, target: targetNameOf(options), kernels: entries.map((each) => each.reflection) };
  return { metallib: libraryOf(entries, targetOf(options), options), reflection };
}
