/**
 * Checks calls against prototypes, and declarations of functions against each other. Calls are checked whether or not they can be compiled.
 * Source: PTX ISA 9.0, 7.1, 9.7.12 (call), 11.2 and 11.3; ptxas 13.0 where the manual leaves a rule open.
 */
import type { Diagnostics } from '../../base/diagnostic.ts';
import type { Span } from '../../base/source.ts';
import type { Instruction, Module, Operand, PtxFunction, TargetsDirective, Variable, Word } from '../syntax/ast.ts';
import { type CallParts, callParts } from '../syntax/call-parts.ts';
import { printOperand } from '../syntax/print.ts';
import { type ArgumentContext, alignOf, bitsOf, checkArgument, elementsOf } from './arguments.ts';
import type { Builtin, CheckedCall, Choices } from './checked.ts';
import { addressedFunctions, functionNumbers } from './function-addresses.ts';
import { reportUndeclared } from './operands.ts';
import { refuseMissingBody, refusePointerCall, refuseVariadic } from './refuse-calls.ts';
import { type LabelPlace, lookUp, mayBeDeclared, type Scope } from './scope.ts';

/** The signature that a call must match. */
interface Prototype {
  readonly name: string;
  readonly results: readonly Variable[];
  readonly params: readonly Variable[];
}

/** Checks that repeated declarations of a function agree. Reports CM1110 and CM1109. */
export function checkPrototypes(module: Module, diagnostics: Diagnostics): void {
  const first = new Map<string, PtxFunction>();
  const defined = new Set<string>();
  for (const item of module.items) {
    if (item.kind !== 'function') continue;
    const { name, nameSpan, body, linkage } = item;
    const before = first.get(name);
    if (!before) first.set(name, item);
    const what = before && !module.lost?.has(name) ? disagreement(before, item) : undefined;
    const more = before ? { more: [{ span: before.nameSpan, text: 'first declared here' }] } : {};
    if (what !== undefined) diagnostics.report('CM1110', { name, what }, { span: nameSpan, ...more });
    else if (body && linkage === 'extern')
      diagnostics.report('CM1110', { name, what: '`.extern` functions have no body' }, { span: nameSpan });
    else if (!body && defined.has(name)) diagnostics.report('CM1109', { name }, { span: nameSpan });
    if (body) defined.add(name);
  }
}

/** How two declarations of a function differ; undefined if they agree. */
export function disagreement(a: PtxFunction, b: PtxFunction): string | undefined {
  if (a.isEntry !== b.isEntry) return 'one is an entry and the other is not';
  if (b.body && a.linkage === 'extern' && b.linkage !== 'extern' && !a.body) return 'a function of another module cannot be defined here';
  for (const [words, mine, other] of [
    ['parameters', a.params, b.params],
    ['results', a.results, b.results],
  ] as const) {
    if (mine.length !== other.length) return `with ${mine.length} ${words}, and now with ${other.length}`;
    const at = mine.findIndex((variable, i) => !hasSameLayout(variable, other[i]!));
    if (at >= 0) return `its ${words} differ, first at number ${at + 1}`;
  }
  return undefined;
}

const hasSameLayout = (a: Variable, b: Variable): boolean =>
  a.type === b.type && a.space === b.space && a.vector === b.vector && elementsOf(a) === elementsOf(b) && alignOf(a) === alignOf(b);

/** The functions of a module, by name. */
export interface Functions {
  /** The first declaration of each function. */
  readonly declared: ReadonlyMap<string, PtxFunction>;
  /** The functions with a body. An alias maps to its target. */
  readonly defined: ReadonlyMap<string, PtxFunction>;
  readonly module: Module;
  /** Whether functions without a body are called as they are. */
  readonly keepsExternal: boolean;
  /** Found when the first call through a register asks: that takes a walk over the module. */
  readonly addresses: () => Addresses;
}

/** The numbers of functions, and the functions whose address the module takes. */
interface Addresses {
  readonly numbers: ReadonlyMap<string, bigint>;
  readonly taken: readonly string[];
}

function addressesOf(module: Module): Addresses {
  const numbers = functionNumbers(module);
  return { numbers, taken: addressedFunctions(module, numbers) };
}

export function functionsOf(module: Module, keepsExternal = false): Functions {
  const { items } = module;
  const declared = new Map<string, PtxFunction>();
  const defined = new Map<string, PtxFunction>();
  for (const item of items) {
    if (item.kind !== 'function') continue;
    if (!declared.has(item.name)) declared.set(item.name, item);
    if (item.body && !defined.has(item.name)) defined.set(item.name, item);
  }
  for (const item of items) {
    if (item.kind !== 'directive' || item.name !== 'alias') continue;
    const prototypeCount = defined.get(item.aliasee.name);
    if (prototypeCount && !prototypeCount.isEntry && !defined.has(item.alias.name)) defined.set(item.alias.name, prototypeCount);
  }
  let addresses: Addresses | undefined;
  return {
    declared,
    defined,
    module,
    keepsExternal,
    addresses() {
      addresses ??= addressesOf(module);
      return addresses;
    },
  };
}

/**
 * The call with its callee, or with every possible callee if a register holds the address. Undefined after reporting CM1101, CM1106, CM1107
 * or CM1111 to CM1113, or CM2040 for a call that cannot be compiled because the callee is unknown or has no body.
 */
export function checkCall(
  instruction: Instruction,
  scope: Scope,
  functions: Functions,
  diagnostics: Diagnostics,
): readonly CheckedCall[] | undefined {
  const { declared } = functions;
  const before = diagnostics.list.length;
  const parts = callParts(instruction);
  const { callee, results, args, stray } = parts;
  if (callee?.kind !== 'name') {
    const operand = callee ? printOperand(callee) : 'nothing';
    const span = callee?.span ?? instruction.span;
    diagnostics.report('CM1106', { operand, wanted: 'a function or a register', given: 'something else' }, { span });
    return undefined;
  }
  if (stray) {
    const holes = { operand: printOperand(stray), wanted: 'a list in parentheses', given: 'something else' };
    diagnostics.report('CM1106', holes, { span: stray.span });
    return undefined;
  }
  const prototype = prototypeOf(parts, callee, scope, declared, diagnostics);
  if (!prototype || mayBeDeclared(scope, prototype.name)) return undefined;
  const passing = (kind: ArgumentContext['kind']): ArgumentContext => ({ name: prototype.name, kind, scope, diagnostics });
  checkList(passing('results'), instruction.span, results, prototype.results);
  checkList(passing('parameters'), instruction.span, args, prototype.params);
  if (lookUp(scope, callee.name)?.kind !== 'function') {
    const targets = diagnostics.list.length > before ? [] : targetsOf(parts, prototype, scope, functions, diagnostics);
    const { numbers } = functions.addresses();
    const among: Choices = { register: callee, numbers: [...new Set(targets.map(({ name }) => numbers.get(name)!))] };
    if (diagnostics.list.length > before) return undefined;
    if (targets.length === 0) return void refusePointerCall(callee.name, callee.span, diagnostics);
    return targets.map((fn) => ({ fn, span: callee.span, results, args, choice: { among, number: numbers.get(fn.name)! } }));
  }
  const found = calledByName(callee, functions, diagnostics);
  return found && diagnostics.list.length === before ? [{ ...found, span: callee.span, results, args }] : undefined;
}

/** The function of a name, as it is called. Undefined after reporting CM2040. */
function calledByName(
  { name, span }: Target,
  { declared, defined, keepsExternal }: Functions,
  diagnostics: Diagnostics,
): Pick<CheckedCall, 'fn' | 'builtin' | 'isExternal'> | undefined {
  const fn = defined.get(name);
  if (fn) return isVariadic(fn.params) ? void refuseVariadic(name, span, diagnostics) : { fn };
  const other = declared.get(name);
  if (other && isBuiltin(other)) return { fn: other, builtin: other.name };
  if (other && keepsExternal && !isVariadic(other.params) && !other.isEntry) return { fn: other, isExternal: true };
  return void refuseMissingBody(name, span, diagnostics);
}

/**
 * The possible callees of a call through a register: the functions of its list, or every function of the module whose address is taken and
 * whose signature matches the prototype.
 */
function targetsOf(
  { label }: CallParts,
  prototype: Prototype,
  scope: Scope,
  functions: Functions,
  diagnostics: Diagnostics,
): PtxFunction[] {
  const place = lookUp(scope, label!.name);
  const list = place?.kind === 'label' && place.label.list?.name === 'calltargets' ? place.label.list.targets : undefined;
  const names = list ? list.map(({ name }) => name) : functions.addresses().taken;
  const found = names.flatMap((name) => {
    const fn = functions.defined.get(name);
    if (!fn && list) refuseMissingBody(name, label!.span, diagnostics);
    return fn && hasSignatureOf(fn, prototype) ? [fn] : [];
  });
  return [...new Set(found)];
}

/** Whether a function has the parameters and results of a prototype, ignoring the kinds of numbers. */
function hasSignatureOf(fn: PtxFunction, { params, results }: Prototype): boolean {
  const haveSameSizes = (a: readonly Variable[], b: readonly Variable[]): boolean =>
    a.length === b.length && a.every((variable, i) => variable.space === b[i]!.space && bytesOf(variable) === bytesOf(b[i]!));
  return !isVariadic(fn.params) && haveSameSizes(fn.params, params) && haveSameSizes(fn.results, results);
}

const bytesOf = (variable: Variable): number => (bitsOf(variable) / 8) * elementsOf(variable);

type Target = Operand & { kind: 'name' };

function prototypeOf(
  { label }: CallParts,
  target: Target,
  scope: Scope,
  functions: Functions['declared'],
  diagnostics: Diagnostics,
): Prototype | undefined {
  const symbol = lookUp(scope, target.name);
  if (!symbol) return void reportUndeclared(target.name, target.span, scope, diagnostics);
  const reportNotCallable = (why: string): undefined =>
    diagnostics.report('CM1113', { name: target.name, why }, { span: target.span }) as undefined;
  if (symbol.kind === 'function') {
    const fn = functions.get(symbol.name);
    if (fn?.isEntry) return reportNotCallable('it is an entry');
    if (label) return reportNotCallable('a prototype is for calls through a register');
    return fn;
  }
  if (symbol.kind !== 'register') return reportNotCallable('it is neither a function nor a register');
  if (!label) return reportNotCallable('a call through a register needs the label of a prototype');
  const place = lookUp(scope, label.name);
  if (!place) return void reportUndeclared(label.name, label.span, scope, diagnostics);
  const list = place.kind === 'label' ? place.label.list : undefined;
  if (list?.name === 'callprototype') return { name: label.name, results: list.results, params: list.params };
  if (list?.name === 'calltargets') return functions.get(list.targets[0]?.name ?? '');
  return reportNotCallable(`\`${label.name}\` is not the label of a prototype`);
}

/** Whether a function is a CUDA built-in that is compiled: `__assertfail`, or `vprintf` as CUDA declares it. */
function isBuiltin(fn: PtxFunction): fn is PtxFunction & { readonly name: Builtin } {
  if (fn.name !== 'vprintf') return fn.name === '__assertfail';
  const bitsOf = (list: readonly Variable[]): string => list.map(({ type, dims }) => type.slice(1) + '[]'.repeat(dims.length)).join();
  return bitsOf(fn.params) === '64,64' && bitsOf(fn.results) === '32';
}

/** Whether a function is variadic. */
const isVariadic = (params: readonly Variable[]): boolean => params.at(-1)?.dims.includes(undefined) ?? false;

function checkList(passing: ArgumentContext, span: Span, given: readonly Operand[], wanted: readonly Variable[]): void {
  if (given.length !== wanted.length && !(isVariadic(wanted) && given.length >= wanted.length - 1)) {
    const { name, kind, diagnostics } = passing;
    diagnostics.report('CM1111', { what: `\`${name}\``, kind, wanted: wanted.length, given: given.length }, { span });
    return;
  }
  given.forEach((operand, i) => {
    if (wanted[i] && !wanted[i].dims.includes(undefined)) checkArgument(passing, operand, wanted[i]);
  });
}

/** Checks that `.branchtargets` lists labels and `.calltargets` functions. Reports CM1101 and CM1106. */
export function checkTargets({ name, targets }: TargetsDirective, scope: Scope, diagnostics: Diagnostics): void {
  for (const target of targets) checkListed(name, target, scope, diagnostics);
}

function checkListed(name: TargetsDirective['name'], { name: word, span }: Word, scope: Scope, diagnostics: Diagnostics): void {
  const symbol = lookUp(scope, word);
  if (!symbol) return reportUndeclared(word, span, scope, diagnostics);
  const isValid = name === 'branchtargets' ? symbol.kind === 'label' && isCodeLabel(symbol.label) : symbol.kind === 'function';
  if (isValid) return;
  const wanted = name === 'branchtargets' ? 'a label of an instruction' : 'a function';
  diagnostics.report('CM1106', { operand: word, wanted, given: 'something else' }, { span });
}

/** Whether a label marks a position in the code, rather than a list or a prototype. */
export const isCodeLabel = ({ list }: LabelPlace): boolean => list === undefined;
