/**
 * Names of a function body. Braces open scopes; a name is looked up from the innermost scope outwards, then among the
 * parameters of the function and the variables of the module. `%r<12>` declares twelve names without making them.
 */
import type { Diagnostics } from '../base/diagnostic.ts';
import type { Span } from '../base/source.ts';
import type { ScalarType } from '../ir/index.ts';
import type { Block, Instruction, Module, PtxFunction, Statement, Variable } from './ast.ts';
import { registerTypes } from './types.ts';

/** A register of the source. Objects are compared by identity: scopes may hold several of one name. */
export interface Register {
  readonly name: string;
  /** The type in the declaration, without its dot. */
  readonly declared: string;
  /** What the register is held as. */
  readonly type: ScalarType;
}

/** What a name can stand for. */
export type Named =
  | { readonly kind: 'register'; readonly register: Register }
  | { readonly kind: 'vector'; readonly lanes: readonly Register[] }
  | { readonly kind: 'opaque'; readonly variable: Variable }
  | { readonly kind: 'variable'; readonly variable: Variable; readonly isModule: boolean }
  | { readonly kind: 'param'; readonly variable: Variable; readonly index: number }
  | { readonly kind: 'label'; readonly label: LabelPlace }
  | { readonly kind: 'function'; readonly name: string };

/** A label; identity matters, since scopes may hold several of one name. */
export interface LabelPlace {
  readonly name: string;
  readonly span: Span;
}

/** A range `%r<12>`. */
interface Range {
  readonly variable: Variable;
  readonly count: number;
}

/** The names of one pair of braces. */
export interface Scope {
  readonly parent: Scope | undefined;
  readonly names: Map<string, Named>;
  readonly ranges: Map<string, Range>;
}

/** A body without its braces: instructions with the scope their names belong to, and labels where they stand. */
export type Flat = { readonly kind: 'instruction'; readonly instruction: Instruction; readonly scope: Scope } | LabelItem;

interface LabelItem {
  readonly kind: 'label';
  readonly label: LabelPlace;
}

export const lanes = ['x', 'y', 'z', 'w'] as const;

const newScope = (parent: Scope | undefined): Scope => ({ parent, names: new Map(), ranges: new Map() });

/** The names of the module: variables and functions. */
export function moduleScope(module: Module): Scope {
  const scope = newScope(undefined);
  for (const item of module.items) {
    if (item.kind === 'variable' && item.space !== 'reg') scope.names.set(item.name, { kind: 'variable', variable: item, isModule: true });
    else if (item.kind === 'variable') declare(scope, item);
    else if (item.kind === 'function') scope.names.set(item.name, { kind: 'function', name: item.name });
  }
  return scope;
}

/** The names of a function's head. */
export function functionScope(entry: PtxFunction, module: Scope): Scope {
  const scope = newScope(module);
  entry.params.forEach((variable, index) => void scope.names.set(variable.name, { kind: 'param', variable, index }));
  return scope;
}

/** The body of a function without its braces. */
export function flatten(body: readonly Statement[], outer: Scope, diagnostics: Diagnostics): Flat[] {
  const out: Flat[] = [];
  const work: { statements: readonly Statement[]; at: number; scope: Scope }[] = [open(body, outer, diagnostics)];
  for (let top = work.at(-1); top; top = work.at(-1)) {
    const statement = top.statements[top.at++];
    if (!statement) work.pop();
    else if (statement.kind === 'block') work.push(open((statement as Block).body, top.scope, diagnostics));
    else if (statement.kind === 'instruction') out.push({ kind: 'instruction', instruction: statement, scope: top.scope });
    else if (statement.kind === 'label') pushLabel(out, statement.name, top.scope);
    else if (statement.kind === 'variable') declareOnce(top.scope, statement, diagnostics);
  }
  return out;
}

/** Opens a scope: its labels are known from its start, its variables from their declaration. */
function open(statements: readonly Statement[], parent: Scope, diagnostics: Diagnostics) {
  const scope = newScope(parent);
  for (const statement of statements) {
    if (statement.kind !== 'label') continue;
    if (scope.names.has(statement.name)) diagnostics.report('CM1109', { name: statement.name }, { span: statement.span });
    else scope.names.set(statement.name, { kind: 'label', label: { name: statement.name, span: statement.span } });
  }
  return { statements, at: 0, scope };
}

function declareOnce(scope: Scope, variable: Variable, diagnostics: Diagnostics): void {
  const isRange = variable.space === 'reg' && variable.regCount !== undefined;
  const isTaken = isRange ? scope.ranges.has(variable.name) : scope.names.has(variable.name);
  if (isTaken) diagnostics.report('CM1109', { name: variable.name }, { span: variable.nameSpan });
  else declare(scope, variable);
}

function pushLabel(out: Flat[], name: string, scope: Scope): void {
  const symbol = scope.names.get(name);
  if (symbol?.kind === 'label') out.push({ kind: 'label', label: symbol.label });
}

function declare(scope: Scope, variable: Variable): void {
  if (variable.space === 'reg' && variable.regCount !== undefined) scope.ranges.set(variable.name, { variable, count: variable.regCount });
  else
    scope.names.set(
      variable.name,
      variable.space === 'reg' ? register(variable, variable.name) : { kind: 'variable', variable, isModule: false },
    );
}

function register(variable: Variable, name: string): Named {
  const type = registerTypes[variable.type];
  if (!type) return { kind: 'opaque', variable };
  const one = (lane: string): Register => ({ name: `${name}${lane}`, declared: variable.type, type });
  if (variable.vector === 'v8') return { kind: 'opaque', variable };
  if (variable.vector) return { kind: 'vector', lanes: lanes.slice(0, Number(variable.vector[1])).map((lane) => one(`.${lane}`)) };
  return { kind: 'register', register: one('') };
}

/** Names that a scope and those around it declare one by one, and the first few of each range: for suggestions. */
export function* namesIn(scope: Scope): Iterable<string> {
  for (let at: Scope | undefined = scope; at; at = at.parent) {
    yield* at.names.keys();
    for (const [prefix, { count }] of at.ranges) for (let i = 0; i < Math.min(count, 64); i++) yield `${prefix}${i}`;
  }
}

/** What a name stands for in a scope and those around it. */
export function lookUp(scope: Scope, name: string): Named | undefined {
  for (let at: Scope | undefined = scope; at; at = at.parent) {
    const symbol = at.names.get(name) ?? fromRange(at, name);
    if (symbol) return symbol;
  }
  return undefined;
}

/** `%r7` of a range `%r<12>`: every way to split the name is tried, since `%r1<5>` declares `%r10` too. */
function fromRange(scope: Scope, name: string): Named | undefined {
  if (scope.ranges.size === 0) return undefined;
  for (let at = name.length - 1; at > 0 && isDigit(name, at); at--) {
    const range = scope.ranges.get(name.slice(0, at));
    const digits = name.slice(at);
    if (!range || (digits.length > 1 && digits[0] === '0') || Number(digits) >= range.count) continue;
    const symbol = register(range.variable, name);
    scope.names.set(name, symbol);
    return symbol;
  }
  return undefined;
}

const isDigit = (text: string, at: number): boolean => text.charCodeAt(at) >= 48 && text.charCodeAt(at) <= 57;
