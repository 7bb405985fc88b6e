/**
 * Checking: every instruction of the chosen functions is matched with its row, and its operands with what the row wants. The
 * result is what `src/lower` works on. All faults of a file are reported; an instruction with one is left out of the result.
 */
import { closest } from '../base/closest.ts';
import type { Diagnostics } from '../base/diagnostic.ts';
import type { SourceFile, Span } from '../base/source.ts';
import { type Instruction, instructionName, type Module, modifierSpan, type PtxFunction } from './ast.ts';
import { checkOperands, registerAt } from './check-operands.ts';
import { type FormMismatch, isMatch, matchForm } from './match.ts';
import type { Match } from './row.ts';
import { type Flat, flatten, functionScope, type LabelPlace, moduleScope, type Register, type Scope } from './scope.ts';
import { opcodesWithoutRow, rowsByName } from './table/index.ts';

export interface CheckedInstruction {
  readonly kind: 'instruction';
  readonly match: Match;
  readonly scope: Scope;
  readonly guard: { readonly register: Register; readonly negated: boolean } | undefined;
}

export type CheckedItem = CheckedInstruction | { readonly kind: 'label'; readonly label: LabelPlace };

export interface CheckedFunction {
  readonly fn: PtxFunction;
  /** Of the parameters; its parent is that of the module. */
  readonly scope: Scope;
  /** The body without its braces. */
  readonly items: readonly CheckedItem[];
}

/** A module of which the chosen entries are checked. */
export interface Checked {
  readonly module: Module;
  readonly entries: readonly CheckedFunction[];
}

export interface CheckOptions {
  /** Names of the entries to check; all by default. */
  readonly entries?: readonly string[];
  /** Functions that are no entries as well. */
  readonly functions?: boolean;
}

/** Checks a module. Reports CM11xx and CM2001; entries with errors are incomplete. */
export function check(module: Module, options: CheckOptions, diagnostics: Diagnostics): Checked {
  const scope = moduleScope(module, diagnostics);
  const bodies = module.items.filter((item): item is PtxFunction => item.kind === 'function' && item.body !== undefined);
  const entries = bodies.filter((fn) => fn.isEntry);
  for (const name of options.entries ?? []) if (!entries.some((fn) => fn.name === name)) reportNoEntry(name, entries, diagnostics);
  const chosen = entries.filter((fn) => !options.entries || options.entries.includes(fn.name));
  if (options.functions) for (const fn of bodies.filter((each) => !each.isEntry)) checkFunction(fn, scope, module.file, diagnostics);
  return { module, entries: chosen.map((fn) => checkFunction(fn, scope, module.file, diagnostics)) };
}

function reportNoEntry(name: string, entries: readonly PtxFunction[], diagnostics: Diagnostics): void {
  const names = entries.map((fn) => fn.name);
  const near = closest(name, names);
  const help = near !== undefined ? `did you mean \`${near}\`?` : `the file holds ${names.map((n) => `\`${n}\``).join(', ') || 'no entry'}`;
  diagnostics.report('CM1120', { name }, { help });
}

function checkFunction(fn: PtxFunction, module: Scope, file: SourceFile, diagnostics: Diagnostics): CheckedFunction {
  const scope = functionScope(fn, module, diagnostics);
  const items: CheckedItem[] = [];
  for (const item of flatten(fn.body ?? [], scope, diagnostics)) {
    const checked = item.kind === 'label' ? item : checkInstruction(item, file, diagnostics);
    if (checked) items.push(checked);
  }
  return { fn, scope, items };
}

function checkInstruction(
  { instruction, scope }: Flat & { kind: 'instruction' },
  file: SourceFile,
  diagnostics: Diagnostics,
): CheckedInstruction | undefined {
  const guard = instruction.guard && checkGuard(instruction.guard, scope, diagnostics);
  const form = matchForm(instruction.opcode, instruction.modifiers);
  if (!form) {
    reportOpcode(instruction, file, diagnostics);
    return undefined;
  }
  if (!isMatch(form)) {
    reportModifiers(instruction, form, file, diagnostics);
    return undefined;
  }
  const { status } = form.row;
  if (typeof status === 'object' && 'refused' in status) {
    const help = status.instead === undefined ? {} : { help: status.instead };
    diagnostics.report(
      'CM2001',
      { instruction: instructionName(instruction) },
      { span: instruction.opcodeSpan, label: status.refused, ...help },
    );
    return undefined;
  }
  const operands = checkOperands(instruction, form, scope, diagnostics);
  if (!operands || (instruction.guard && !guard)) return undefined;
  return { kind: 'instruction', match: { instruction, ...form, operands }, scope, guard };
}

function checkGuard(guard: NonNullable<Instruction['guard']>, scope: Scope, diagnostics: Diagnostics): CheckedInstruction['guard'] {
  const start = guard.span.end - guard.register.length;
  const span: Span = { start, end: guard.span.end };
  const register = registerAt(guard.register, span, scope, diagnostics);
  if (!register) return undefined;
  if (register.declared === 'pred') return { register, negated: guard.negated };
  diagnostics.report('CM1107', { operand: guard.register, have: register.declared, want: 'pred', form: 'a guard' }, { span });
  return undefined;
}

function reportOpcode(instruction: Instruction, file: SourceFile, diagnostics: Diagnostics): void {
  const { opcode } = instruction;
  if (opcodesWithoutRow.has(opcode)) {
    diagnostics.report('CM2001', { instruction: instructionName(instruction) }, { span: instruction.opcodeSpan });
    return;
  }
  const near = closest(opcode, [...rowsByName.keys(), ...opcodesWithoutRow]);
  const help = near === undefined ? {} : { help: `did you mean \`${near}\`?` };
  diagnostics.report('CM1102', { name: opcode }, { span: modifierSpan(file, instruction, -1), ...help });
}

/** Words that every sentence about modifiers lists at most. */
const listed = 12;

function reportModifiers(
  instruction: Instruction,
  { at, expected, apart }: FormMismatch,
  file: SourceFile,
  diagnostics: Diagnostics,
): void {
  const forms = rowsByName.get(instruction.opcode)!.map((row) => row.syntax);
  const notes = forms.length <= 4 ? forms.map((form) => `form: ${form}`) : [];
  const words = expected.map((word) => `.${word}`);
  const list = `${words.slice(0, listed).join(' ')}${words.length > listed ? ' …' : ''}`;
  const word = instruction.modifiers[at];
  if (word === undefined) {
    const end = instruction.opcodeSpan.end;
    diagnostics.report('CM1104', { instruction: instructionName(instruction), expected: list }, { span: { start: end - 1, end }, notes });
    return;
  }
  const near = closest(word, expected);
  const help = apart
    ? { help: `${apart.map((one) => `\`.${one}\``).join(' and ')} do not go together` }
    : near !== undefined
      ? { help: `did you mean \`.${near}\`?` }
      : words.length > 0
        ? { help: `what can stand here: ${list}` }
        : {};
  diagnostics.report(
    'CM1103',
    { modifier: word, instruction: instructionName(instruction) },
    { span: modifierSpan(file, instruction, at), notes, ...help },
  );
}
