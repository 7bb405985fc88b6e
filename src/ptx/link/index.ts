/**
 * Links PTX modules to one: what `nvlink` does with machine code, done with the text. Declarations precede their uses in PTX, so the result has
 * the functions' heads first, then the variables, then the bodies.
 * Source: PTX ISA 9.0, 11.6 (linking directives); nvcc 13.0, "Separate Compilation".
 */
import type { Diagnostics } from '../../base/diagnostic.ts';
import type { AliasDirective, FileDirective, Item, Module, PtxFunction, Variable } from '../syntax/ast.ts';
import { headerOf } from './header.ts';
import { type Resolution, resolveSymbols } from './symbols.ts';
import { endOfHead, identifiersIn, rewrite } from './text.ts';

export { isSystemFunction } from './symbols.ts';

/** A piece of the result. */
interface Piece {
  readonly module: number;
  readonly text: string;
}

/**
 * The text of the linked module; undefined after reporting CM4075 to CM4078 to the diagnostics of the module of the place. The modules have no
 * syntax errors.
 */
export function linkModules(modules: readonly Module[], diagnosticsOf: (module: number) => Diagnostics): string | undefined {
  const before = modules.map((_, i) => diagnosticsOf(i).list.length);
  const header = headerOf(modules, diagnosticsOf);
  const resolution = resolveSymbols(modules, modules.map(usesOf), diagnosticsOf);
  if (modules.some((_, i) => diagnosticsOf(i).list.length > before[i]!)) return undefined;
  const files = filesOf(modules);
  const pieces = [...headsOf(modules, resolution), ...variablesOf(modules, resolution), ...bodiesOf(modules, resolution)];
  const texts = pieces.map(({ module, text }) => rewrite(text, resolution.renamed[module]!, files.offsets[module]!));
  return [header, ...files.lines, ...texts, ''].join('\n');
}

/** How often a module has each identifier. */
function usesOf({ file }: Module): ReadonlyMap<string, number> {
  const uses = new Map<string, number>();
  for (const name of identifiersIn(file.text)) uses.set(name, (uses.get(name) ?? 0) + 1);
  return uses;
}

/** The `.file` directives of all modules, and what is added to the numbers of each module. */
function filesOf(modules: readonly Module[]): { readonly lines: readonly string[]; readonly offsets: readonly number[] } {
  const lines: string[] = [];
  const offsets: number[] = [];
  let next = 0;
  for (const { items, file } of modules) {
    const own = items.filter((item): item is FileDirective => item.kind === 'directive' && item.name === 'file');
    offsets.push(next);
    for (const { span } of own) lines.push(rewrite(file.text.slice(span.start, span.end), new Map(), next));
    next += Math.max(0, ...own.map(({ index }) => index));
  }
  return { lines, offsets };
}

const isFunction = (item: Item): item is PtxFunction => item.kind === 'function';

/** The heads of functions: all that are kept, and entries that another item names. */
function headsOf(modules: readonly Module[], { kept }: Resolution): Piece[] {
  const heads: Piece[] = [];
  modules.forEach(({ items, file }, module) => {
    const own = new Set<string>();
    for (const item of items.filter(isFunction)) {
      if (!kept.has(item) || item.isEntry || own.has(item.name)) continue;
      own.add(item.name);
      heads.push({ module, text: `${file.text.slice(item.span.start, endOfHead(file.text, item.nameSpan.end))};` });
    }
  });
  return heads;
}

/** The variables that are kept, those that others point to before these. */
function variablesOf(modules: readonly Module[], { kept, renamed }: Resolution): Piece[] {
  interface Declared extends Piece {
    readonly names: readonly string[];
    readonly uses: ReadonlySet<string>;
  }
  const all: Declared[] = [];
  modules.forEach(({ items, file }, module) => {
    const final = (name: string): string => renamed[module]!.get(name) ?? name;
    const seen = new Set<number>();
    for (const item of items) {
      if (item.kind !== 'variable' || !kept.has(item) || seen.has(item.span.start)) continue;
      seen.add(item.span.start);
      const text = file.text.slice(item.span.start, item.span.end);
      const together = items.filter((other): other is Variable => other.kind === 'variable' && other.span.start === item.span.start);
      all.push({ module, text, names: together.map(({ name }) => final(name)), uses: new Set([...identifiersIn(text)].map(final)) });
    }
  });
  const byName = new Map(all.flatMap((each) => each.names.map((name) => [name, each] as const)));
  const ordered = new Set<Declared>();
  const open = new Set<Declared>();
  const visit = (each: Declared): void => {
    if (ordered.has(each) || open.has(each)) return;
    open.add(each);
    for (const name of each.uses) {
      const other = byName.get(name);
      if (other && other !== each) visit(other);
    }
    ordered.add(each);
  };
  for (const each of all) visit(each);
  return [...ordered];
}

/** The bodies of functions and entries, and aliases behind them. */
function bodiesOf(modules: readonly Module[], { kept }: Resolution): Piece[] {
  const bodies: Piece[] = [];
  const aliases: Piece[] = [];
  modules.forEach(({ items, file }, module) => {
    const slice = ({ span }: Item): Piece => ({ module, text: file.text.slice(span.start, span.end) });
    const isKept = ({ alias }: AliasDirective): boolean =>
      items.some((item) => isFunction(item) && item.name === alias.name && kept.has(item));
    for (const item of items) {
      if (isFunction(item) && item.body && kept.has(item)) bodies.push(slice(item));
      else if (item.kind === 'directive' && item.name === 'alias' && isKept(item)) aliases.push(slice(item));
      else if (item.kind === 'directive' && item.name === 'pragma') bodies.push(slice(item));
    }
  });
  return [...bodies, ...aliases];
}
