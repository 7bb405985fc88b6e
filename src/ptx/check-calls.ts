/**
 * Calls against prototypes, and declarations of functions against one another. Calls are checked whatever their row says of
 * compiling them. Source: PTX ISA 9.0, 7.1, 9.7.12 (call), 11.2 and 11.3; ptxas 13.0 where the manual leaves it open.
 */
import type { Diagnostics } from '../base/diagnostic.ts';
import type { Span } from '../base/source.ts';
import type { Instruction, Module, Operand, PtxFunction, TargetsDirective, Variable, Word } from './ast.ts';
import { reportUndeclared } from './check-operands.ts';
import { printOperand } from './print.ts';
import { type LabelPlace, lookUp, type Scope } from './scope.ts';
import { agrees, bitsOfType } from './types.ts';

/** What a call is held against. */
interface Prototype {
  readonly name: string;
  readonly results: readonly Variable[];
  readonly params: readonly Variable[];
}

/** Functions that are declared again with other parameters. Reports CM1110 and CM1109. */
export function checkPrototypes(module: Module, diagnostics: Diagnostics): void {
  const first = new Map<string, PtxFunction>();
  const defined = new Set<string>();
  for (const item of module.items) {
    if (item.kind !== 'function') continue;
    const { name, nameSpan, body, linkage } = item;
    const before = first.get(name);
    if (!before) first.set(name, item);
    const what = before ? disagreement(before, item) : undefined;
    const more = before ? { more: [{ span: before.nameSpan, text: 'declared here before' }] } : {};
    if (what !== undefined) diagnostics.report('CM1110', { name, what }, { span: nameSpan, ...more });
    else if (body && linkage === 'extern')
      diagnostics.report('CM1110', { name, what: '`.extern` functions have no body' }, { span: nameSpan });
    else if (!body && defined.has(name)) diagnostics.report('CM1109', { name }, { span: nameSpan });
    if (body) defined.add(name);
  }
}

function disagreement(a: PtxFunction, b: PtxFunction): string | undefined {
  if (a.isEntry !== b.isEntry) return 'one is an entry and the other is not';
  if (b.body && a.linkage === 'extern' && b.linkage !== 'extern' && !a.body) return 'a function of another module cannot be defined here';
  for (const [words, mine, other] of [
    ['parameters', a.params, b.params],
    ['results', a.results, b.results],
  ] as const) {
    if (mine.length !== other.length) return `with ${mine.length} ${words}, and now with ${other.length}`;
    const at = mine.findIndex((variable, i) => !isAlike(variable, other[i]!));
    if (at >= 0) return `its ${words} differ, first at number ${at + 1}`;
  }
  return undefined;
}

const isAlike = (a: Variable, b: Variable): boolean =>
  a.type === b.type && a.space === b.space && a.vector === b.vector && elementsOf(a) === elementsOf(b) && alignOf(a) === alignOf(b);

const elementsOf = ({ dims }: Variable): number => dims.reduce<number>((all, dim) => all * (dim ?? 0), 1);

const bitsOf = ({ type, vector }: Variable): number => bitsOfType(type) * (vector ? Number(vector[1]) : 1);

const alignOf = (variable: Variable): number => variable.align ?? bitsOf(variable) / 8;

/** A `call` or `brx`: its target and what it hands over. Reports CM1101, CM1106, CM1107 and CM1111 to CM1113. */
export function checkTransfer(instruction: Instruction, scope: Scope, functions: Functions, diagnostics: Diagnostics): void {
  if (instruction.opcode === 'call') checkCall(instruction, scope, functions, diagnostics);
  else if (instruction.opcode === 'brx') checkIndexed(instruction, scope, diagnostics);
}

/** The functions of a module by name, the first declaration of each. */
export type Functions = ReadonlyMap<string, PtxFunction>;

export function functionsOf({ items }: Module): Functions {
  const functions = new Map<string, PtxFunction>();
  for (const item of items) if (item.kind === 'function' && !functions.has(item.name)) functions.set(item.name, item);
  return functions;
}

interface Call {
  readonly scope: Scope;
  readonly span: Span;
  readonly diagnostics: Diagnostics;
}

function checkCall(instruction: Instruction, scope: Scope, functions: Functions, diagnostics: Diagnostics): void {
  const { operands, span } = instruction;
  const results = operands[0]?.kind === 'list' ? operands[0].elements : [];
  const rest = operands[0]?.kind === 'list' ? operands.slice(1) : operands;
  const target = rest[0];
  if (target?.kind !== 'name') {
    const operand = target ? printOperand(target) : 'nothing';
    diagnostics.report('CM1106', { operand, wanted: 'a function or a register', given: 'something else' }, { span: target?.span ?? span });
    return;
  }
  const args = rest[1]?.kind === 'list' ? rest[1].elements : [];
  const label = rest.slice(1).find((each) => each.kind === 'name');
  const call: Call = { scope, span, diagnostics };
  const prototype = prototypeOf(call, target, label?.kind === 'name' ? label : undefined, functions);
  if (!prototype) return;
  checkList(call, prototype, 'results', results, prototype.results);
  checkList(call, prototype, 'parameters', args, prototype.params);
}

type Target = Operand & { kind: 'name' };

function prototypeOf(call: Call, target: Target, label: Target | undefined, functions: Functions): Prototype | undefined {
  const { scope, diagnostics } = call;
  const symbol = lookUp(scope, target.name);
  if (!symbol) return void reportUndeclared(target.name, target.span, scope, diagnostics);
  const cannot = (why: string): undefined => diagnostics.report('CM1113', { name: target.name, why }, { span: target.span }) as undefined;
  if (symbol.kind === 'function') {
    const fn = functions.get(symbol.name);
    if (fn?.isEntry) return cannot('it is an entry');
    if (label) return cannot('a prototype is for calls through a register');
    return fn;
  }
  if (symbol.kind !== 'register') return cannot('it is neither a function nor a register');
  if (!label) return cannot('a call through a register needs the label of a prototype');
  const place = lookUp(scope, label.name);
  if (!place) return void reportUndeclared(label.name, label.span, scope, diagnostics);
  const list = place.kind === 'label' ? place.label.list : undefined;
  if (list?.name === 'callprototype') return { name: label.name, results: list.results, params: list.params };
  if (list?.name === 'calltargets') return functions.get(list.targets[0]?.name ?? '');
  return cannot(`\`${label.name}\` is no label of a prototype`);
}

function checkList(
  call: Call,
  { name }: Prototype,
  kind: 'results' | 'parameters',
  given: readonly Operand[],
  wanted: readonly Variable[],
): void {
  const isOpen = wanted.at(-1)?.dims.includes(undefined) ?? false;
  if (given.length !== wanted.length && !(isOpen && given.length >= wanted.length - 1)) {
    call.diagnostics.report('CM1111', { what: `\`${name}\``, kind, wanted: wanted.length, given: given.length }, { span: call.span });
    return;
  }
  given.forEach((operand, i) => {
    if (wanted[i] && !wanted[i].dims.includes(undefined)) checkPassed(call, name, operand, wanted[i]);
  });
}

/** One argument or result against its place in the prototype. */
function checkPassed({ scope, diagnostics }: Call, name: string, operand: Operand, formal: Variable): void {
  if (operand.kind !== 'name' || operand.name === '_') return;
  const symbol = lookUp(scope, operand.name);
  if (!symbol) return reportUndeclared(operand.name, operand.span, scope, diagnostics);
  const where = { what: `\`${name}\``, operand: operand.name };
  if (symbol.kind === 'variable' || symbol.kind === 'param') {
    const { variable } = symbol;
    if (variable.space !== 'param' || isFitting(variable, formal)) return;
    diagnostics.report('CM1112', { ...where, have: sizeWords(variable), want: sizeWords(formal) }, { span: operand.span });
  } else if (symbol.kind === 'register') {
    const { declared } = symbol.register;
    const isFine = formal.space === 'reg' ? agrees(declared, formal.type, false) : bitsOfType(declared) === bitsOf(formal);
    if (isFine && formal.dims.length === 0) return;
    diagnostics.report('CM1112', { ...where, have: `type .${declared}`, want: sizeWords(formal) }, { span: operand.span });
  }
}

const isFitting = (have: Variable, want: Variable): boolean =>
  bitsOf(have) === bitsOf(want) && elementsOf(have) === elementsOf(want) && alignOf(have) === alignOf(want);

const sizeWords = (variable: Variable): string => {
  const dims = variable.dims.map((dim) => `[${dim ?? ''}]`).join('');
  return `type .${variable.type}${dims} aligned to ${alignOf(variable)}`;
};

function checkIndexed({ operands }: Instruction, scope: Scope, diagnostics: Diagnostics): void {
  const [index, list] = operands;
  if (list?.kind !== 'name') return;
  const symbol = lookUp(scope, list.name);
  if (!symbol) reportUndeclared(list.name, list.span, scope, diagnostics);
  else if (symbol.kind !== 'label' || symbol.label.list?.name !== 'branchtargets')
    diagnostics.report(
      'CM1106',
      { operand: list.name, wanted: 'the label of `.branchtargets`', given: 'something else' },
      { span: list.span },
    );
  const register = index?.kind === 'name' ? lookUp(scope, index.name) : undefined;
  if (index?.kind !== 'name' || register?.kind !== 'register' || agrees(register.register.declared, 'u32', false)) return;
  const holes = { operand: index.name, have: register.register.declared, form: 'the index of `brx.idx`', want: 'u32' };
  diagnostics.report('CM1107', holes, { span: index.span });
}

/** The words of `.branchtargets` are labels, those of `.calltargets` functions. Reports CM1101 and CM1106. */
export function checkTargets({ name, targets }: TargetsDirective, scope: Scope, diagnostics: Diagnostics): void {
  for (const target of targets) checkListed(name, target, scope, diagnostics);
}

function checkListed(name: TargetsDirective['name'], { name: word, span }: Word, scope: Scope, diagnostics: Diagnostics): void {
  const symbol = lookUp(scope, word);
  if (!symbol) return reportUndeclared(word, span, scope, diagnostics);
  const isFine = name === 'branchtargets' ? symbol.kind === 'label' && isPlace(symbol.label) : symbol.kind === 'function';
  if (isFine) return;
  const wanted = name === 'branchtargets' ? 'a label of an instruction' : 'a function';
  diagnostics.report('CM1106', { operand: word, wanted, given: 'something else' }, { span });
}

/** Whether a label names a place in the code, and no list or prototype. */
export const isPlace = ({ list }: LabelPlace): boolean => list === undefined;
