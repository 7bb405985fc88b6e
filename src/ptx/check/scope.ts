/**
 * Scopes of names in a function body. Braces open scopes. A lookup searches from the innermost scope outwards, then the parameters of the
 * function and the variables of the module. A range `%r<12>` declares twelve names in one entry.
 */
import type { Label as DiagnosticLabel, Diagnostics } from '../../base/diagnostic.ts';
import type { Span } from '../../base/source.ts';
import { type Register, registerTypes } from '../model/types.ts';
import type {
  Block,
  Instruction,
  Label,
  Module,
  PrototypeDirective,
  PtxFunction,
  Statement,
  TargetsDirective,
  Variable,
} from '../syntax/ast.ts';

/** The kinds of symbols. */
export type Named =
  | { readonly kind: 'register'; readonly register: Register }
  /** `isWhole`: a register of 128 bits, whose lanes are its halves. */
  | { readonly kind: 'vector'; readonly lanes: readonly Register[]; readonly isWhole?: true }
  | { readonly kind: 'opaque'; readonly variable: Variable }
  | { readonly kind: 'variable'; readonly variable: Variable; readonly isModule: boolean }
  | { readonly kind: 'param'; readonly variable: Variable; readonly index: number; readonly isResult: boolean }
  | { readonly kind: 'label'; readonly label: LabelPlace }
  | { readonly kind: 'function'; readonly name: string };

/** A label. Identity matters, because several scopes may hold a label of the same name. */
export interface LabelPlace {
  readonly name: string;
  readonly span: Span;
  /** The list or prototype that the label names; absent for a position in the code. */
  readonly list?: TargetsDirective | PrototypeDirective;
}

/** A register range `%r<12>`. */
interface Range {
  readonly variable: Variable;
  readonly count: number;
}

/** State for reports of undeclared names. */
export interface Missing {
  /** Words of lines that could not be parsed: any of them may be declared there. */
  readonly unparsed: ReadonlySet<string>;
  /** Names already reported in this function. Each name is reported once. */
  readonly reported: Set<string>;
}

/** The names of one pair of braces. */
export interface Scope {
  readonly parent: Scope | undefined;
  readonly names: Map<string, Named>;
  readonly ranges: Map<string, Range>;
  readonly missing: Missing;
}

/** A flattened body: instructions and lists with their scopes, and labels at their positions. */
export type Flat =
  | { readonly kind: 'instruction'; readonly instruction: Instruction; readonly scope: Scope }
  | { readonly kind: 'targets'; readonly directive: TargetsDirective; readonly scope: Scope }
  | LabelItem;

interface LabelItem {
  readonly kind: 'label';
  readonly label: LabelPlace;
}

export const lanes = ['x', 'y', 'z', 'w'] as const;

const newScope = (parent: Scope | undefined, missing: Missing): Scope => ({ parent, names: new Map(), ranges: new Map(), missing });

/** The scope of the module: variables and functions. Reports CM1109 for a second definition. */
export function moduleScope(module: Module, diagnostics: Diagnostics): Scope {
  const scope = newScope(undefined, { unparsed: module.lost ?? new Set(), reported: new Set() });
  const defined = new Map<string, Span>();
  for (const item of module.items) {
    if (item.kind === 'variable' || item.kind === 'function') {
      if (!isDefinition(item)) {
        if (defined.has(item.name)) continue;
      } else if (defined.has(item.name))
        diagnostics.report('CM1109', { name: item.name }, { span: item.nameSpan, ...earlierDeclaration(defined.get(item.name)) });
      else defined.set(item.name, item.nameSpan);
    }
    if (item.kind === 'variable' && item.space !== 'reg') scope.names.set(item.name, { kind: 'variable', variable: item, isModule: true });
    else if (item.kind === 'variable') declare(scope, item);
    else if (item.kind === 'function') scope.names.set(item.name, { kind: 'function', name: item.name });
  }
  return scope;
}

/** A function may be declared before its definition, and an external variable repeatedly. */
const isDefinition = (item: Variable | PtxFunction): boolean =>
  item.kind === 'function' ? item.body !== undefined : item.linkage !== 'extern';

/** The scope of a function's head. Reports CM1109. */
export function functionScope(entry: PtxFunction, module: Scope, diagnostics: Diagnostics): Scope {
  const scope = newScope(module, { unparsed: module.missing.unparsed, reported: new Set() });
  // `_` is a placeholder for parameters without a name.
  [...entry.params, ...entry.results].forEach((variable, index) => {
    if (variable.name === '_') return;
    const taken = scope.names.get(variable.name);
    if (taken) diagnostics.report('CM1109', { name: variable.name }, { span: variable.nameSpan, ...earlierDeclaration(placeOf(taken)) });
    else if (variable.space === 'reg') declare(scope, variable);
    else scope.names.set(variable.name, { kind: 'param', variable, index, isResult: index >= entry.params.length });
  });
  return scope;
}

/**
 * A pair of braces during flattening. A name is visible from its declaration on, so a declaration after an instruction opens a nested
 * scope.
 */
interface Braces {
  readonly statements: readonly Statement[];
  at: number;
  /** The innermost scope. */
  scope: Scope;
  /** Scopes to check for duplicates: those of these braces, and for a body the parameters. */
  readonly taken: Scope[];
  /** Whether an instruction refers to the innermost scope. */
  isReferenced: boolean;
}

/** Flattens the body of a function. `outer` holds the parameters. Reports CM1109. */
export function flatten(body: readonly Statement[], outer: Scope, diagnostics: Diagnostics): Flat[] {
  const out: Flat[] = [];
  const work: Braces[] = [open(body, outer, [outer], diagnostics)];
  for (let top = work.at(-1); top; top = work.at(-1)) {
    const statement = top.statements[top.at++];
    if (!statement) work.pop();
    else if (statement.kind === 'label') pushLabel(out, statement.name, statement.span, top.taken[0]!);
    else if (statement.kind === 'variable') declareOnce(top, statement, diagnostics);
    else if (isTargets(statement)) out.push({ kind: 'targets', directive: statement, scope: top.scope });
    else if (statement.kind === 'block' || statement.kind === 'instruction') {
      top.isReferenced = true;
      if (statement.kind === 'block') work.push(open((statement as Block).body, top.scope, [], diagnostics));
      else out.push({ kind: 'instruction', instruction: statement, scope: top.scope });
    }
  }
  return out;
}

/** Opens a scope. Labels are visible from its start, variables from their declaration. */
function open(statements: readonly Statement[], parent: Scope, also: readonly Scope[], diagnostics: Diagnostics): Braces {
  const scope = newScope(parent, parent.missing);
  const taken = [scope, ...also];
  for (const [i, statement] of statements.entries()) {
    if (statement.kind !== 'label') continue;
    const symbol = taken.map((each) => each.names.get(statement.name)).find((each) => each !== undefined);
    if (symbol) diagnostics.report('CM1109', { name: statement.name }, { span: statement.span, ...earlierDeclaration(placeOf(symbol)) });
    else scope.names.set(statement.name, { kind: 'label', label: labelPlace(statement, statements[i + 1]) });
  }
  return { statements, at: 0, scope, taken, isReferenced: false };
}

function labelPlace({ name, span }: Label, next: Statement | undefined): LabelPlace {
  const isList = next?.kind === 'directive' && (next.name === 'callprototype' || isTargets(next));
  return isList ? { name, span, list: next as TargetsDirective | PrototypeDirective } : { name, span };
}

const isTargets = (statement: Statement): statement is TargetsDirective =>
  statement.kind === 'directive' && (statement.name === 'branchtargets' || statement.name === 'calltargets');

function declareOnce(braces: Braces, variable: Variable, diagnostics: Diagnostics): void {
  const taken = braces.taken.map((scope) => conflictingDeclaration(scope, variable)).find((each) => each !== undefined);
  if (taken) {
    diagnostics.report('CM1109', { name: variable.name }, { span: variable.nameSpan, ...earlierDeclaration(taken) });
    return;
  }
  if (braces.isReferenced) {
    braces.scope = newScope(braces.scope, braces.scope.missing);
    braces.taken.push(braces.scope);
    braces.isReferenced = false;
  }
  declare(braces.scope, variable);
}

/** The declaration in a scope that conflicts with a variable or a register range. Functions never conflict here. */
function conflictingDeclaration(scope: Scope, { space, name, regCount }: Variable): Span | undefined {
  const symbol = scope.names.get(name);
  if (space !== 'reg' || regCount === undefined) return (symbol && placeOf(symbol)) ?? rangeOf(scope, name)?.variable.nameSpan;
  const within = [...scope.names].find(([one]) => isInRange(one, name, regCount));
  return scope.ranges.get(name)?.variable.nameSpan ?? (within && placeOf(within[1]));
}

/** A secondary label at an earlier declaration. */
const earlierDeclaration = (span: Span | undefined): { readonly more?: readonly DiagnosticLabel[] } =>
  span ? { more: [{ span, text: 'first declared here' }] } : {};

/** The span of a symbol's declaration; undefined for functions. */
export function placeOf(symbol: Named): Span | undefined {
  switch (symbol.kind) {
    case 'register':
      return symbol.register.declaredAt;
    case 'vector':
      return symbol.lanes[0]?.declaredAt;
    case 'label':
      return symbol.label.span;
    case 'function':
      return undefined;
    default:
      return symbol.variable.nameSpan;
  }
}

function pushLabel(out: Flat[], name: string, span: Span, scope: Scope): void {
  const symbol = scope.names.get(name);
  if (symbol?.kind === 'label' && symbol.label.span === span && !symbol.label.list) out.push({ kind: 'label', label: symbol.label });
}

function declare(scope: Scope, variable: Variable): void {
  if (variable.space === 'reg' && variable.regCount !== undefined) scope.ranges.set(variable.name, { variable, count: variable.regCount });
  else
    scope.names.set(
      variable.name,
      variable.space === 'reg' ? register(variable, variable.name) : { kind: 'variable', variable, isModule: false },
    );
}

/** The halves of a register of 128 bits, the lower first. */
const halvesOf = ({ nameSpan }: Variable, name: string): Register[] =>
  ['.low', '.high'].map((half) => ({ name: `${name}${half}`, declared: 'b64', type: 'i64', declaredAt: nameSpan }));

function register(variable: Variable, name: string): Named {
  const type = registerTypes[variable.type];
  if (variable.type === 'b128' && !variable.vector) return { kind: 'vector', lanes: halvesOf(variable, name), isWhole: true };
  if (!type) return { kind: 'opaque', variable };
  const one = (lane: string): Register => ({ name: `${name}${lane}`, declared: variable.type, type, declaredAt: variable.nameSpan });
  if (variable.vector === 'v8') return { kind: 'opaque', variable };
  if (variable.vector) return { kind: 'vector', lanes: lanes.slice(0, Number(variable.vector[1])).map((lane) => one(`.${lane}`)) };
  return { kind: 'register', register: one('') };
}

/** Individually declared names in a scope and its ancestors, and the first few of each range: candidates for suggestions. */
export function* namesIn(scope: Scope): Iterable<string> {
  for (let at: Scope | undefined = scope; at; at = at.parent) {
    yield* at.names.keys();
    for (const [prefix, { count }] of at.ranges) for (let i = 0; i < Math.min(count, 64); i++) yield `${prefix}${i}`;
  }
}

/** Whether an unparsed line may have declared a name or its range. */
export const mayBeDeclared = ({ missing: { unparsed: lost } }: Scope, name: string): boolean =>
  lost.size > 0 && (lost.has(name) || lost.has(name.replace(/\d+$/, '')) || lost.has(name.replace(/\.\w+$/, '')));

/** Looks a name up in a scope and its ancestors. */
export function lookUp(scope: Scope, name: string): Named | undefined {
  for (let at: Scope | undefined = scope; at; at = at.parent) {
    const symbol = at.names.get(name) ?? fromRange(at, name);
    if (symbol) return symbol;
  }
  return undefined;
}

/** The labels of a list, in order, resolved in the scope of the list. */
export function labelsOfList(scope: Scope, name: string): LabelPlace[] {
  let at: Scope | undefined = scope;
  while (at && !at.names.has(name)) at = at.parent;
  const symbol = at?.names.get(name);
  const words = symbol?.kind === 'label' && symbol.label.list && 'targets' in symbol.label.list ? symbol.label.list.targets : [];
  return words.flatMap((word) => {
    const target = lookUp(at!, word.name);
    return target?.kind === 'label' ? [target.label] : [];
  });
}

function fromRange(scope: Scope, name: string): Named | undefined {
  const range = rangeOf(scope, name);
  if (!range) return undefined;
  const symbol = register(range.variable, name);
  scope.names.set(name, symbol);
  return symbol;
}

/** `%r7` of a range `%r<12>`. Every split of the name is tried, because `%r1<5>` declares `%r10` too. */
function rangeOf({ ranges }: Scope, name: string): Range | undefined {
  if (ranges.size === 0) return undefined;
  let first = name.length;
  while (first > 1 && isDigit(name, first - 1)) first--;
  for (let at = first; at < name.length; at++) {
    const range = ranges.get(name.slice(0, at));
    if (range && isNumberBelow(name, at, range.count)) return range;
  }
  return undefined;
}

/** Whether the rest of a text is a decimal number below a bound, without leading zeros. */
const isNumberBelow = (text: string, at: number, count: number): boolean =>
  (text.charCodeAt(at) !== 48 || at === text.length - 1) && Number(text.slice(at)) < count;

/** The range that would contain a name if it had more registers. */
export function rangeAround(scope: Scope, name: string): Variable | undefined {
  const [, prefix = ''] = /^(.*?\D)(0|[1-9]\d*)$/.exec(name) ?? [];
  for (let at: Scope | undefined = scope; at; at = at.parent) {
    const range = at.ranges.get(prefix);
    if (range) return range.variable;
  }
  return undefined;
}

function isInRange(name: string, prefix: string, count: number): boolean {
  const digits = name.slice(prefix.length);
  return name.startsWith(prefix) && /^(0|[1-9]\d*)$/.test(digits) && Number(digits) < count;
}

const isDigit = (text: string, at: number): boolean => text.charCodeAt(at) >= 48 && text.charCodeAt(at) <= 57;
