/**
 * The checker: every instruction of the chosen functions is matched with its row, and its operands with the row's slots. `src/lower` takes
 * the result as input. All faults of a file are reported; a faulty instruction is missing in the result.
 */
import { closest } from '../../base/closest.ts';
import { namesMeant } from '../../base/demangle/index.ts';
import { Diagnostics } from '../../base/diagnostic.ts';
import type { SourceFile, Span } from '../../base/source.ts';
import { type Row, refusalFor } from '../model/row.ts';
import { versionText } from '../model/versions.ts';
import { type Instruction, instructionName, type Module, type PtxFunction } from '../syntax/ast.ts';
import { callParts } from '../syntax/call-parts.ts';
import { compiledRowsOf } from '../table/index.ts';
import { checkAddressWidth } from './address.ts';
import { reachedFunctions } from './call-graph.ts';
import { checkCall, checkPrototypes, checkTargets, type Functions, functionsOf } from './calls.ts';
import type { Checked, CheckedFunction, CheckedInstruction, CheckedItem } from './checked.ts';
import { checkBodyDeclarations, checkDeclarations } from './declarations.ts';
import { refuseDirectives } from './directives.ts';
import { addressedEntries } from './function-addresses.ts';
import { checkHeader, type DeclaredTarget, strictSeverity } from './header.ts';
import { lintNames, namesOutside } from './lint.ts';
import { lintFlow } from './lint-flow.ts';
import { lintProducts } from './lint-products.ts';
import { isMatch, matchForm, withFlush, withVectors } from './match.ts';
import { checkNames, checkOperands, registerAt } from './operands.ts';
import { newSearchBudget, reportModifiers, reportOpcode, type SearchBudget } from './report-forms.ts';
import { type Flat, flatten, functionScope, moduleScope, type Scope } from './scope.ts';
import { conversionHelp, typeDeclared } from './suggest.ts';

/** The options of `check`. */
export interface CheckOptions {
  /** Names of the entries to check; all by default. */
  readonly entries?: readonly string[];
  /** Also check functions that no entry calls. `faults` omits refusals in them, because they are not compiled. */
  readonly functions?: boolean | 'faults';
  /** Whether violations that only an assembler rejects, and that do not affect the output, are errors instead of warnings. */
  readonly isStrict?: boolean;
  /** Whether to report lints (CM22xx), which do not affect the output. */
  readonly lints?: boolean;
  /** Whether functions without a body may be called, because the module becomes PTX again. */
  readonly keepsExternal?: boolean;
  /** The numbers, among the entries to check, of those that this process compiles; the others are left to other processes. */
  readonly share?: (entries: readonly PtxFunction[]) => ReadonlySet<number>;
}

/** Shared by the checks of all instructions of a module. */
interface Context {
  readonly file: SourceFile;
  readonly stated: DeclaredTarget;
  readonly addressSize: number | undefined;
  readonly functions: Functions;
  readonly isStrict: boolean;
  /** Forms already reported as too new. */
  readonly tooNew: Set<Row>;
  readonly searches: SearchBudget;
}

/** Checks a module. Reports CM11xx, CM2001, CM2002, CM21xx and, if enabled, CM22xx. An entry with errors is incomplete. */
export function check(module: Module, options: CheckOptions, diagnostics: Diagnostics): Checked {
  const scope = moduleScope(module, diagnostics);
  const bodies = module.items.filter((item): item is PtxFunction => item.kind === 'function' && item.body !== undefined);
  const entries = bodies.filter((fn) => fn.isEntry);
  const wanted = options.entries && new Set(options.entries.flatMap((name) => entriesMeant(name, entries, module, diagnostics)));
  const launched = wanted && addressedEntries(module);
  const all = entries.filter((fn) => !wanted || wanted.has(fn.name) || launched!.has(fn.name));
  const mine = options.share?.(all);
  const chosen = mine ? all.filter((_, number) => mine.has(number)) : all;
  const c = contextOf(module, options, diagnostics);
  checkPrototypes(module, diagnostics);
  checkDeclarations(module, scope, diagnostics);
  const outside = options.lints ? namesOutside(module.items) : undefined;
  const checked = chosen.map((fn) => checkEntry(fn, scope, c, outside, diagnostics));
  const { functions, recursions } = reachedFunctions(checked, (fn) => checkFunction(fn, scope, c, diagnostics));
  if (options.functions)
    for (const fn of bodies) if (!fn.isEntry && !functions.has(fn)) checkDevice(fn, scope, c, options.functions === 'faults', diagnostics);
  const unchecked = mine ? all.filter((_, number) => !mine.has(number)) : [];
  return { module, entries: checked, unchecked, functions, recursions };
}

/** A module without its entries, and the check of an entry. */
export interface OpenedCheck {
  readonly checked: Checked;
  readonly check: (entry: PtxFunction) => CheckedFunction;
}

/**
 * As `check` without lints, of a module in which no function but the entries has a body, and whose entries have theirs only while they are checked and
 * compiled.
 */
export function openCheck(module: Module, options: Pick<CheckOptions, 'isStrict'>, diagnostics: Diagnostics): OpenedCheck {
  const scope = moduleScope(module, diagnostics);
  const c = contextOf(module, options, diagnostics);
  checkPrototypes(module, diagnostics);
  checkDeclarations(module, scope, diagnostics);
  const check = (entry: PtxFunction): CheckedFunction => {
    checkBodyDeclarations(entry.body ?? [], diagnostics);
    return checkEntry(entry, scope, c, undefined, diagnostics);
  };
  return { checked: { module, entries: [], unchecked: [], functions: new Map(), recursions: new Map() }, check };
}

const contextOf = (module: Module, { isStrict = false, keepsExternal = false }: CheckOptions, diagnostics: Diagnostics): Context => ({
  file: module.file,
  stated: checkHeader(module, isStrict, diagnostics),
  addressSize: module.addressSize,
  functions: functionsOf(module, keepsExternal),
  isStrict,
  tooNew: new Set(),
  searches: newSearchBudget(),
});

function checkDevice(fn: PtxFunction, scope: Scope, c: Context, faultsOnly: boolean, diagnostics: Diagnostics): void {
  const own = new Diagnostics(c.file);
  checkFunction(fn, scope, c, own);
  diagnostics.addAll(own.list.filter(({ code }) => !faultsOnly || !code.startsWith('CM20')));
}

/** Checks an entry. Lints run if `outside`, the names mentioned in the rest of the module, is given. */
function checkEntry(
  fn: PtxFunction,
  scope: Scope,
  c: Context,
  outside: ReadonlySet<string> | undefined,
  diagnostics: Diagnostics,
): CheckedFunction {
  const own = new Diagnostics(c.file);
  refuseDirectives(fn, own);
  const checked = checkFunction(fn, scope, c, own);
  diagnostics.addAll(own.list);
  if (!outside) return checked;
  lintNames(fn, outside, diagnostics);
  if (own.hasErrors) return checked;
  lintFlow(checked, diagnostics);
  lintProducts(checked, diagnostics);
  return checked;
}

/** The entry of a name, which may be the C++ name of a mangled one; none after reporting CM1120 or CM1121. */
function entriesMeant(name: string, entries: readonly PtxFunction[], module: Module, diagnostics: Diagnostics): readonly string[] {
  const names = entries.map((fn) => fn.name);
  const lost = [...(module.lost ?? [])];
  const meant = namesMeant(name, [...names, ...lost]);
  if (meant.length === 0) reportNoEntry(name, entries, diagnostics);
  if (meant.length < 2) return meant;
  diagnostics.report('CM1121', { name, count: meant.length, names: meant.map((n) => `\`${n}\``).join(', ') });
  return [];
}

function reportNoEntry(name: string, entries: readonly PtxFunction[], diagnostics: Diagnostics): void {
  const names = entries.map((fn) => fn.name);
  const near = closest(name, names);
  const help = near !== undefined ? `did you mean \`${near}\`?` : `the file holds ${names.map((n) => `\`${n}\``).join(', ') || 'no entry'}`;
  diagnostics.report('CM1120', { name }, { help });
}

function checkFunction(fn: PtxFunction, module: Scope, c: Context, diagnostics: Diagnostics): CheckedFunction {
  const scope = functionScope(fn, module, diagnostics);
  const items: CheckedItem[] = [];
  const flat = flatten(fn.body ?? [], scope, diagnostics);
  for (const item of flat) {
    if (item.kind === 'targets') checkTargets(item.directive, item.scope, diagnostics);
    if (item.kind === 'label') items.push(item);
    else if (item.kind === 'instruction') checkInstruction(item, c, items, diagnostics);
  }
  return { fn, scope, items };
}

/** Adds a checked instruction. A call with several possible callees is added once for each. */
function checkInstruction(
  { instruction, scope }: Flat & { kind: 'instruction' },
  c: Context,
  items: CheckedItem[],
  diagnostics: Diagnostics,
): void {
  const { file } = c;
  const guard = instruction.guard && checkGuard(instruction.guard, scope, diagnostics);
  const found = matchForm(instruction.opcode, instruction.modifiers, instruction.operands.length);
  const fitting = found && isMatch(found) && mayDiffer(instruction) ? withVectors(found, instruction) : found;
  const form = fitting && isMatch(fitting) && (c.stated.sm ?? 20) < 20 ? withFlush(fitting) : fitting;
  if (!form) {
    reportOpcode(instruction, file, diagnostics);
    return;
  }
  if (!isMatch(form)) {
    reportModifiers(instruction, form, file, c.searches, diagnostics);
    return;
  }
  checkSince(instruction, form.row, c, diagnostics);
  if (instruction.opcode === 'call') {
    const calls = checkCall(instruction, scope, c.functions, diagnostics);
    if (!calls || (instruction.guard && !guard)) return;
    const match = { instruction, row: rowOfCall(instruction) ?? form.row, modifiers: form.modifiers, operands: [] };
    for (const call of calls) items.push({ kind: 'instruction', match, scope, guard, call });
    return;
  }
  const refusal = refusalFor(form.row, c.stated);
  if (refusal) {
    const help = refusal.instead === undefined ? {} : { help: refusal.instead };
    const where = { span: instruction.opcodeSpan, label: refusal.refused, ...help };
    diagnostics.report('CM2001', { instruction: instructionName(instruction) }, where);
    checkNames(instruction, scope, diagnostics);
    return;
  }
  const operands = checkOperands(instruction, form, scope, diagnostics);
  if (!operands || (instruction.guard && !guard)) return;
  const match = { instruction, row: form.row, modifiers: form.modifiers, operands };
  if (c.addressSize === 64) checkAddressWidth(match, scope, diagnostics);
  items.push({ kind: 'instruction', match, scope, guard });
}

/** Whether an instruction has operands by which rows with the same modifiers differ. */
const mayDiffer = ({ operands }: Instruction): boolean => operands.some(({ kind }) => kind === 'vector' || kind === 'address');

/** The rows of calls differ in their lists, and not in the number of operands. */
function rowOfCall(instruction: Instruction): Row | undefined {
  const { results, args, label } = callParts(instruction);
  const written = [...(results.length > 0 ? ['(d)'] : []), 'f', ...(args.length > 0 ? ['(a)'] : []), ...(label ? ['t'] : [])];
  return compiledRowsOf('call').find(({ syntax }) => syntax === `call{.uni} ${written.join(', ')}`);
}

/** Reports each form once, because a module with an outdated header may use it many times. */
function checkSince(instruction: Instruction, row: Row, { stated, tooNew, isStrict }: Context, diagnostics: Diagnostics): void {
  const { ptx, sm } = row.since;
  if (tooNew.has(row)) return;
  const isVersionOld = stated.version !== undefined && stated.version < ptx;
  const isTargetOld = stated.sm !== undefined && stated.sm < sm;
  if (!isVersionOld && !isTargetOld) return;
  tooNew.add(row);
  const name = instructionName(instruction);
  const where = { span: instruction.opcodeSpan, ...strictSeverity(isStrict) };
  if (isVersionOld)
    diagnostics.report('CM2110', { instruction: name, since: versionText(ptx), stated: versionText(stated.version!) }, where);
  if (isTargetOld) diagnostics.report('CM2111', { instruction: name, since: sm, stated: stated.target }, where);
}

function checkGuard(guard: NonNullable<Instruction['guard']>, scope: Scope, diagnostics: Diagnostics): CheckedInstruction['guard'] {
  const start = guard.span.end - guard.register.length;
  const span: Span = { start, end: guard.span.end };
  const register = registerAt(guard.register, span, scope, diagnostics);
  if (!register) return undefined;
  if (register.declared === 'pred') return { register, negated: guard.negated };
  const holes = { operand: guard.register, have: register.declared, want: 'pred', form: 'a guard' };
  diagnostics.report('CM1107', holes, { span, ...typeDeclared(register), ...conversionHelp(register.declared, 'pred') });
  return undefined;
}
