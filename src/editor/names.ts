/** Every mention of a name in a function, with what it means there. */
import { Diagnostics } from '../base/diagnostic.ts';
import type { Span } from '../base/source.ts';
import {
  type Flat,
  flatten,
  functionScope,
  type Instruction,
  lookUp,
  type Module,
  moduleScope,
  type Named,
  type Operand,
  type PtxFunction,
  partsOf,
  placeOf,
  type Scope,
  type Statement,
  type Variable,
} from '../ptx/index.ts';

/** What a name means. Two mentions mean the same if kind, place and name agree. */
export interface Meaning {
  readonly kind: 'register' | 'variable' | 'parameter' | 'label' | 'function';
  /** As declared: `%r` for the range `%r<12>`, `%r7` where it is declared alone. */
  readonly name: string;
  /** The declaration; absent for functions, which are found by their names. */
  readonly declared: Span | undefined;
  /** Whether the whole text can mention it. */
  readonly isOfModule: boolean;
}

/** A mention of a name. */
export interface Mention {
  readonly span: Span;
  readonly name: string;
  /** Undefined for a special register or a name that is not declared. */
  readonly meaning: Meaning | undefined;
  readonly isDeclaration: boolean;
}

/** The mentions of a function, in the order of the text, and the scope at each instruction. */
export interface Names {
  readonly mentions: readonly Mention[];
  readonly flat: readonly Flat[];
  /** The parameters and what is around the function. */
  readonly scope: Scope;
}

/** All mentions of names in a function; of its instructions only those that overlap a range, if there is one. */
export function namesOf(fn: PtxFunction, module: Module, range?: Span): Names {
  const ignored = new Diagnostics(module.file);
  const scope = functionScope(fn, moduleScope(module, ignored), ignored);
  const flat = flatten(fn.body ?? [], scope, ignored);
  const mentions: Mention[] = [];
  const declare = (variable: Variable, isParameter: boolean): void => {
    mentions.push({ span: variable.nameSpan, name: variable.name, meaning: meaningOfVariable(variable, isParameter), isDeclaration: true });
  };
  mentions.push({ span: fn.nameSpan, name: fn.name, meaning: functionMeaning(fn.name), isDeclaration: true });
  for (const param of [...fn.results, ...fn.params]) declare(param, true);
  for (const statement of statementsOf(fn.body ?? [])) {
    if (statement.kind === 'variable') declare(statement, false);
    if (statement.kind === 'label') mentions.push(labelMention(statement.name, statement.span));
  }
  for (const item of flat) {
    if (item.kind === 'instruction' && range && (item.instruction.span.end <= range.start || item.instruction.span.start >= range.end))
      continue;
    if (item.kind === 'instruction') addInstruction(mentions, item.instruction, item.scope);
    else if (item.kind === 'targets') for (const { name, span } of item.directive.targets) mentions.push(mention(name, span, item.scope));
  }
  mentions.sort((a, b) => a.span.start - b.span.start);
  return { mentions, flat, scope };
}

/** The mention at an offset; of two that touch it, the one that starts there. */
export const mentionAt = ({ mentions }: Pick<Names, 'mentions'>, offset: number): Mention | undefined =>
  mentions.filter(({ span }) => span.start <= offset && offset <= span.end).at(-1);

/** Whether two mentions name the same: with a range of registers, one register of it. */
export function isSame(a: Mention, b: Mention): boolean {
  const [x, y] = [a.meaning, b.meaning];
  if (!x || !y) return x === y && a.name === b.name;
  if (x.kind !== y.kind || x.declared?.start !== y.declared?.start || x.name !== y.name) return false;
  // The declaration of a range is about all of its registers.
  return a.name === b.name || a.isDeclaration || b.isDeclaration;
}

/** The statements of all scopes, in order. */
export function* statementsOf(body: readonly Statement[]): Iterable<Exclude<Statement, { readonly kind: 'block' }>> {
  for (const statement of body) {
    if (statement.kind === 'block') yield* statementsOf(statement.body);
    else yield statement;
  }
}

function addInstruction(mentions: Mention[], { guard, operands }: Instruction, scope: Scope): void {
  if (guard) mentions.push(mention(guard.register, { start: guard.span.end - guard.register.length, end: guard.span.end }, scope));
  for (const operand of operands) addOperand(mentions, operand, scope);
}

function addOperand(mentions: Mention[], operand: Operand, scope: Scope): void {
  if (operand.kind === 'name' && operand.name !== '_') mentions.push(mention(operand.name, operand.span, scope));
  else if (operand.kind === 'element') mentions.push(elementMention(operand, scope));
  else if (operand.kind === 'index') mentions.push(mention(operand.name, startOf(operand), scope));
  for (const part of partsOf(operand)) addOperand(mentions, part, scope);
}

const startOf = ({ name, span }: { readonly name: string; readonly span: Span }): Span => ({
  start: span.start,
  end: span.start + name.length,
});

/** `%tid.x` is one name, and `%v.x` a lane of `%v`. */
function elementMention(operand: Operand & { kind: 'element' }, scope: Scope): Mention {
  const found = mention(operand.name, startOf(operand), scope);
  return found.meaning ? found : { ...found, name: `${operand.name}.${operand.element}`, span: operand.span };
}

function mention(name: string, span: Span, scope: Scope): Mention {
  const symbol = lookUp(scope, name);
  return { span, name, meaning: symbol && meaningOf(symbol, name), isDeclaration: false };
}

function labelMention(name: string, { start }: Span): Mention {
  const span = { start, end: start + name.length };
  return { span, name, meaning: { kind: 'label', name, declared: span, isOfModule: false }, isDeclaration: true };
}

const functionMeaning = (name: string): Meaning => ({ kind: 'function', name, declared: undefined, isOfModule: true });

function meaningOf(symbol: Named, name: string): Meaning {
  if (symbol.kind === 'function') return functionMeaning(symbol.name);
  const place = placeOf(symbol)!;
  if (symbol.kind === 'label') {
    const { start } = place;
    return { kind: 'label', name, declared: { start, end: start + name.length }, isOfModule: false };
  }
  if (symbol.kind === 'param') return { kind: 'parameter', name, declared: place, isOfModule: false };
  if (symbol.kind === 'variable') return { kind: 'variable', name, declared: place, isOfModule: symbol.isModule };
  if (symbol.kind === 'opaque') return { kind: 'register', name, declared: place, isOfModule: false };
  return { kind: 'register', name: declaredName(name, place), declared: place, isOfModule: false };
}

/** The name as its declaration has it: without the number, where it is one of a range. */
const declaredName = (name: string, { start, end }: Span): string => name.slice(0, Math.min(name.length, end - start));

function meaningOfVariable({ space, name, nameSpan }: Variable, isParameter: boolean): Meaning {
  const kind = space === 'reg' ? 'register' : isParameter ? 'parameter' : 'variable';
  return { kind, name, declared: nameSpan, isOfModule: false };
}

/** What variables of the module mean where they are declared. */
export const moduleMention = (variable: Variable): Mention => ({
  span: variable.nameSpan,
  name: variable.name,
  meaning: { kind: variable.space === 'reg' ? 'register' : 'variable', name: variable.name, declared: variable.nameSpan, isOfModule: true },
  isDeclaration: true,
});
