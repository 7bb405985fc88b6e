/** Symbols of the modules that are linked: which declarations and definitions of all modules have one name in common. */
import type { Diagnostics } from '../../base/diagnostic.ts';
import { addTo } from '../../base/group.ts';
import type { Span } from '../../base/source.ts';
import { bitsOf, elementsOf } from '../check/arguments.ts';
import { disagreement } from '../check/calls.ts';
import type { Linkage, Module, PtxFunction, Variable } from '../syntax/ast.ts';

/** An item of a module with a name of its own. */
export interface Symbol {
  /** Of the module. */
  readonly module: number;
  readonly name: string;
  readonly item: PtxFunction | Variable;
  readonly linkage: Linkage | undefined;
  /** `tentative` of `.common`, whose largest definition counts unless there is another. */
  readonly kind: 'declaration' | 'definition' | 'tentative';
}

/** What a link makes of its symbols. */
export interface Resolution {
  /** Items that the result has, those that define a name before those that only declare it. */
  readonly kept: ReadonlySet<Symbol['item']>;
  /** By module: the names that change, since another module has them too. */
  readonly renamed: readonly ReadonlyMap<string, string>[];
}

/** Functions of the device's system, which no module defines. */
export const isSystemFunction = (name: string): boolean =>
  /^(vprintf|malloc|free|__assertfail|__trap|__nv_\w*|cuda[A-Z]\w*|cudaCDP\w*|__cudaCDP\w*)$/.test(name);

/** The symbols of a module. A declaration has the linkage of the definition in the same module. */
export function symbolsOf(module: Module, number: number): Symbol[] {
  const linkages = new Map<string, Linkage | undefined>();
  const found: Omit<Symbol, 'linkage'>[] = [];
  for (const item of module.items) {
    if (item.kind !== 'function' && item.kind !== 'variable') continue;
    const { name, linkage } = item;
    const isDefinition = item.kind === 'function' ? item.body !== undefined : linkage !== 'extern';
    const kind = linkage === 'common' ? 'tentative' : isDefinition ? 'definition' : 'declaration';
    if (kind !== 'declaration' || !linkages.has(name)) linkages.set(name, linkage);
    found.push({ module: number, name, item, kind });
  }
  for (const item of module.items) {
    if (item.kind !== 'directive' || item.name !== 'alias') continue;
    const at = found.findIndex(({ name }) => name === item.alias.name);
    if (at >= 0) found[at] = { ...found[at]!, kind: 'definition' };
  }
  return found.map((symbol) => ({
    ...symbol,
    linkage: symbol.item.kind === 'function' && symbol.item.isEntry ? 'visible' : linkages.get(symbol.name),
  }));
}

/** Dynamic shared memory, which every module names as it likes. */
const isDynamicShared = ({ item }: Symbol): boolean => item.kind === 'variable' && item.space === 'shared' && item.linkage === 'extern';

/** Whether other modules see a symbol. */
const isExternal = (symbol: Symbol): boolean => symbol.linkage !== undefined && !isDynamicShared(symbol);

const isOpaque = ({ type }: Variable): boolean => type.endsWith('ref');

/** Bytes of a variable whose dimensions are known. */
const sizeOf = (variable: Variable): number => (bitsOf(variable) / 8) * elementsOf(variable);

/** A place in a file. */
export function placeIn(module: Module, { start }: Span): string {
  const { line, column } = module.file.position(start);
  return `${module.file.path}:${line}:${column}`;
}

/**
 * Resolves the symbols of all modules. Reports CM4075 for a name that is used and that no module defines, CM4076 for two definitions, CM4077 for
 * declarations that differ; `report` is given the module of the place.
 */
export function resolveSymbols(
  modules: readonly Module[],
  used: readonly ReadonlyMap<string, number>[],
  diagnosticsOf: (module: number) => Diagnostics,
): Resolution {
  const all = modules.flatMap(symbolsOf);
  const kept = new Set<Symbol['item']>();
  const external = new Map<string, Symbol[]>();
  for (const symbol of all.filter(isExternal)) addTo(external, symbol.name, symbol);
  for (const [name, symbols] of external) {
    const chosen = chosenOf(symbols, modules, diagnosticsOf);
    reportDisagreements(chosen, symbols, modules, diagnosticsOf);
    const isUsed =
      chosen.kind !== 'declaration' ||
      symbols.some((symbol) => (used[symbol.module]!.get(name) ?? 0) > declarationsIn(symbols, symbol.module));
    if (chosen.kind === 'declaration' && isUsed && !isSystemFunction(name))
      diagnosticsOf(chosen.module).report('CM4075', { name }, { span: chosen.item.nameSpan });
    if (isUsed) kept.add(chosen.item);
  }
  const renamed = modules.map(() => new Map<string, string>());
  const taken = new Set(used.flatMap((names) => [...names.keys()]));
  const owners = new Map<string, number>();
  for (const symbol of all) {
    const { name, module } = symbol;
    if (isExternal(symbol)) continue;
    kept.add(symbol.item);
    const owner = external.has(name) ? -1 : (owners.get(name) ?? module);
    owners.set(name, owner);
    if (owner === module || renamed[module]!.has(name)) continue;
    let fresh = `${name}$${module + 1}`;
    while (taken.has(fresh)) fresh += '$';
    taken.add(fresh);
    renamed[module]!.set(name, fresh);
  }
  return { kept, renamed };
}

const declarationsIn = (symbols: readonly Symbol[], module: number): number => symbols.filter((symbol) => symbol.module === module).length;

/** The symbol that the result has: a definition that is not weak, the largest tentative one, the first weak one, or a declaration. */
function chosenOf(symbols: readonly Symbol[], modules: readonly Module[], diagnosticsOf: (module: number) => Diagnostics): Symbol {
  const definitions = symbols.filter(({ kind }) => kind === 'definition');
  const [strong, ...others] = definitions.filter(({ linkage }) => linkage !== 'weak');
  for (const { module, name, item } of others) {
    const first = placeIn(modules[strong!.module]!, strong!.item.nameSpan);
    diagnosticsOf(module).report('CM4076', { name }, { span: item.nameSpan, notes: [`first defined at ${first}`] });
  }
  if (strong) return strong;
  const tentative = symbols.filter(({ kind }) => kind === 'tentative');
  const bytes = ({ item }: Symbol): number => (item.kind === 'variable' ? sizeOf(item) : 0);
  if (tentative.length > 0) return tentative.reduce((a, b) => (bytes(b) > bytes(a) ? b : a));
  return definitions[0] ?? symbols[0]!;
}

function reportDisagreements(
  chosen: Symbol,
  symbols: readonly Symbol[],
  modules: readonly Module[],
  diagnosticsOf: (module: number) => Diagnostics,
): void {
  for (const symbol of symbols) {
    if (symbol.module === chosen.module) continue;
    const what = differenceOf(chosen, symbol);
    if (what === undefined) continue;
    const place = placeIn(modules[chosen.module]!, chosen.item.nameSpan);
    const notes = [`${chosen.kind === 'declaration' ? 'declared' : 'defined'} at ${place}`];
    diagnosticsOf(symbol.module).report('CM4077', { name: symbol.name, what }, { span: symbol.item.nameSpan, notes });
  }
}

function differenceOf({ item: a }: Symbol, { item: b, kind }: Symbol): string | undefined {
  if (a.kind === 'function' && b.kind === 'function') {
    const named = ({ params, results, ...rest }: PtxFunction): PtxFunction => ({
      ...rest,
      params,
      results,
      linkage: undefined,
      body: undefined,
    });
    return disagreement(named(a), named(b));
  }
  if (a.kind === 'function' || b.kind === 'function') return 'one is a function and the other is a variable';
  if (a.space !== b.space) return `one is in \`.${a.space}\` and the other in \`.${b.space}\``;
  const isOpen = elementsOf(b) === 0 || b.dims.includes(undefined) || a.dims.includes(undefined);
  if (!isOpen && kind !== 'tentative' && sizeOf(a) !== sizeOf(b)) return `one has ${sizeOf(a)} bytes and the other ${sizeOf(b)}`;
  return isOpaque(a) === isOpaque(b) ? undefined : 'one is opaque and the other is not';
}
