/** Checks the header of a module: version, target and the order of directives. Source: PTX ISA 9.0, 11.1; ptxas 13.0 decides. */
import { closest } from '../../base/closest.ts';
import type { Diagnostics } from '../../base/diagnostic.ts';
import {
  architectureNames,
  architectureOf,
  mayExist,
  newestArchitecture,
  pragmas,
  ptxVersions,
  targetOptions,
  versionNumber,
  versionText,
} from '../model/versions.ts';
import type { Module, Statement, Version, Word } from '../syntax/ast.ts';

/** The declared version and target of a module; fields are absent if the declaration is missing or unknown. */
export interface DeclaredTarget {
  readonly version: number | undefined;
  /** The newest of several architectures. */
  readonly sm: number | undefined;
  /** The same architecture as written. */
  readonly target: string;
}

/** Under `--ptx-strict`, these warnings are errors. */
export const strictSeverity = (isStrict: boolean): { readonly severity?: 'error' } => (isStrict ? { severity: 'error' } : {});

/** Reports CM2101 to CM2107 and CM2112. Returns the declared version and target. */
export function checkHeader(module: Module, isStrict: boolean, diagnostics: Diagnostics): DeclaredTarget {
  checkOrder(module, diagnostics);
  if (module.version) checkVersion(module.version, isStrict, diagnostics);
  for (const word of module.targets) checkTarget(word, module.version, isStrict, diagnostics);
  checkTexturing(module.targets, diagnostics);
  checkMapping(module, diagnostics);
  checkAddressSize(module, diagnostics);
  checkPragmas(module, isStrict, diagnostics);
  return declaredBy(module);
}

function declaredBy({ version, targets }: Module): DeclaredTarget {
  let newest: { readonly sm: number; readonly target: string } | undefined;
  for (const { name } of targets) {
    const sm = architectureOf(name)?.sm;
    if (sm !== undefined && sm >= (newest?.sm ?? 0)) newest = { sm, target: name };
  }
  return { version: version && mayExist(version) ? versionNumber(version) : undefined, sm: newest?.sm, target: newest?.target ?? '' };
}

const ranks: Readonly<Record<string, number>> = { '.version': 0, '.target': 1, '.address_size': 2 };

/** The header directives have a fixed order, before all other items. Only `.target` may be repeated. */
function checkOrder({ file, headers, items, targets, lost }: Module, diagnostics: Diagnostics): void {
  const start = Math.min(headers[0]?.span.start ?? file.text.length, items[0]?.span.start ?? file.text.length);
  const first = { start, end: Math.min(start + 1, file.text.length) };
  for (const name of ['.version', '.target'])
    if (!lost && !headers.some((header) => header.name === name))
      diagnostics.report('CM2101', { what: `\`${name}\` is missing` }, { span: first });
  const architecture = targets.some(({ name }) => architectureOf(name) !== undefined || /^sm_/.test(name));
  if (targets.length > 0 && !architecture)
    diagnostics.report('CM2101', { what: '`.target` names no architecture' }, { span: targets[0]!.span });
  const before = items[0]?.span.start ?? Number.POSITIVE_INFINITY;
  headers.forEach(({ name, span }, i) => {
    const previous = headers[i - 1];
    const isLate = span.start > before;
    if (!isLate && (!previous || ranks[previous.name]! <= ranks[name]!)) return;
    const after = isLate ? 'a declaration' : `\`${previous!.name}\``;
    diagnostics.report('CM2101', { what: `\`${name}\` stands after ${after}` }, { span });
  });
}

function checkVersion(version: Version, isStrict: boolean, diagnostics: Diagnostics): void {
  const text = `${version.major}.${version.minor}`;
  if (ptxVersions.includes(text)) return;
  const last = ptxVersions.at(-1)!;
  const { span } = version;
  if (mayExist(version)) {
    diagnostics.report('CM2105', { what: `PTX ${text}`, last }, { span, ...strictSeverity(isStrict) });
    return;
  }
  const above = ptxVersions.findIndex((one) => Number(one) > versionNumber(version));
  const near = ptxVersions.slice(Math.max(0, above - 1), above + 1).join(' and ');
  diagnostics.report('CM2102', { version: text, near }, { span });
}

function checkTarget({ name, span }: Word, version: Version | undefined, isStrict: boolean, diagnostics: Diagnostics): void {
  if ((targetOptions as readonly string[]).includes(name)) return;
  const architecture = architectureOf(name);
  if (!architecture || (architecture.since === undefined && architecture.sm <= newestArchitecture)) {
    const near = closest(name, [...architectureNames(), ...targetOptions]);
    diagnostics.report('CM2103', { name }, { span, ...(near === undefined ? {} : { help: `did you mean \`${near}\`?` }) });
    return;
  }
  const { since } = architecture;
  if (since === undefined)
    diagnostics.report('CM2105', { what: `\`${name}\``, last: `\`sm_${newestArchitecture}\`` }, { span, ...strictSeverity(isStrict) });
  else if (version && mayExist(version) && versionNumber(version) < since) {
    const holes = { version: `${version.major}.${version.minor}`, target: name, since: versionText(since) };
    diagnostics.report('CM2106', holes, { span, ...strictSeverity(isStrict) });
  }
}

function checkTexturing(targets: readonly Word[], diagnostics: Diagnostics): void {
  const modes = targets.filter(({ name }) => name.startsWith('texmode_'));
  const other = modes.find(({ name }) => name !== modes[0]!.name);
  if (other) diagnostics.report('CM2104', { name: other.name, why: `the module has \`${modes[0]!.name}\`` }, { span: other.span });
}

/**
 * Checks `map_f64_to_f32`. The manual demands f32 arithmetic for f64 instructions on architectures without f64; an H200 computes them in
 * f64. Compilers for those architectures always write the option, so that it matters only if the module uses f64.
 */
function checkMapping({ targets, items }: Module, diagnostics: Diagnostics): void {
  const word = targets.find(({ name }) => name === 'map_f64_to_f32');
  if (!word) return;
  const has = targets.find(({ name }) => (architectureOf(name)?.sm ?? 0) >= 13);
  const isUsed = items.some((item) => item.kind === 'function' && usesDoubles(item.body ?? []));
  const why = has
    ? `\`${has.name}\` has doubles`
    : isUsed
      ? 'the module uses f64, which the manual and GPUs then compute differently'
      : undefined;
  if (why !== undefined) diagnostics.report('CM2104', { name: word.name, why }, { span: word.span });
}

function usesDoubles(body: readonly Statement[]): boolean {
  const work = [...body];
  for (let statement = work.pop(); statement; statement = work.pop()) {
    // Not as arguments of one call, of which Node takes some hundred thousand.
    if (statement.kind === 'block') for (const each of statement.body) work.push(each);
    if (statement.kind === 'instruction' && statement.modifiers.includes('f64')) return true;
  }
  return false;
}

function checkAddressSize({ addressSize, headers }: Module, diagnostics: Diagnostics): void {
  if (addressSize === undefined || addressSize === 32 || addressSize === 64) return;
  const header = headers.find(({ name }) => name === '.address_size');
  diagnostics.report('CM2107', { bits: addressSize }, header ? { span: header.span } : {});
}

/** Checks the pragmas of the module and of function heads. Pragmas inside bodies are only hints for the assembler's optimizer. */
function checkPragmas({ items }: Module, isStrict: boolean, diagnostics: Diagnostics): void {
  for (const item of items) {
    const found = item.kind === 'function' ? item.directives : item.kind === 'directive' ? [item] : [];
    for (const directive of found) {
      if (directive.name !== 'pragma' || !('values' in directive)) continue;
      for (const value of directive.values) checkPragma(String(value), directive.span, isStrict, diagnostics);
    }
  }
}

function checkPragma(value: string, span: Word['span'], isStrict: boolean, diagnostics: Diagnostics): void {
  const word = value.trim().split(/[\s=]/)[0] ?? '';
  if (!(pragmas as readonly string[]).includes(word)) diagnostics.report('CM2112', { name: value }, { span, ...strictSeverity(isStrict) });
}
