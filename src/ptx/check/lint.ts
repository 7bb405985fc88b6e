/**
 * Lints of names: unused parameters, labels and registers of an entry. A mention in any scope counts as a use, so that a used name is never
 * reported.
 */
import type { Diagnostics } from '../../base/diagnostic.ts';
import type { Instruction, Item, Operand, PtxFunction, Statement } from '../syntax/ast.ts';
import { partsOf } from '../syntax/operand-parts.ts';

/** Reports CM2204 to CM2206 for an entry. `outside`: names that the rest of the module mentions (`namesOutside`). */
export function lintNames(fn: PtxFunction, outside: ReadonlySet<string>, diagnostics: Diagnostics): void {
  const statements = allStatements(fn.body ?? []);
  const used = new Set(outside);
  for (const statement of statements) addStatement(used, statement);
  for (const { name, nameSpan } of fn.params) if (!used.has(name)) diagnostics.report('CM2204', { name }, { span: nameSpan });
  for (const statement of statements) {
    if (statement.kind === 'label' && !used.has(statement.name) && !isGenerated(statement.name))
      diagnostics.report('CM2205', { name: statement.name }, { span: statement.span });
    if (statement.kind !== 'variable' || statement.space !== 'reg' || statement.regCount !== undefined) continue;
    if (!used.has(statement.name) && !compilerRegisters.has(statement.name))
      diagnostics.report('CM2206', { name: statement.name }, { span: statement.nameSpan });
  }
}

/** Names that debug sections mention: labels without a branch. */
export function namesOutside(items: readonly Item[]): Set<string> {
  const names = new Set<string>();
  for (const item of items) {
    if (item.kind !== 'section') continue;
    for (const line of item.items) if (line.kind === 'data') for (const value of line.values) addOperand(names, value);
  }
  return names;
}

/** Registers that nvcc always declares, used or not. */
const compilerRegisters = new Set(['%SP', '%SPL', 'temp_param_reg']);

/** Labels that compilers generate for themselves and for debuggers. */
const isGenerated = (label: string): boolean => /^(\$|L?(func_exec_begin|func_begin|func_end|tmp)\d+$)/.test(label);

/** The statements of all scopes, in order. */
function allStatements(body: readonly Statement[]): Statement[] {
  const out: Statement[] = [];
  const work = [...body].reverse();
  for (let statement = work.pop(); statement; statement = work.pop()) {
    if (statement.kind !== 'block') out.push(statement);
    else for (let i = statement.body.length - 1; i >= 0; i--) work.push(statement.body[i]!);
  }
  return out;
}

function addStatement(used: Set<string>, statement: Statement): void {
  if (statement.kind === 'instruction') addInstruction(used, statement);
  else if (statement.kind === 'variable' && statement.init) addOperand(used, statement.init);
  else if (statement.kind === 'directive' && 'targets' in statement) for (const { name } of statement.targets) used.add(name);
}

function addInstruction(used: Set<string>, { guard, operands }: Instruction): void {
  if (guard) used.add(guard.register);
  for (const operand of operands) {
    if (operand.kind === 'name') used.add(operand.name);
    else addOperand(used, operand);
  }
}

function addOperand(used: Set<string>, operand: Operand): void {
  if (operand.kind === 'name' || operand.kind === 'element' || operand.kind === 'index') used.add(operand.name);
  for (const part of partsOf(operand)) addOperand(used, part);
}
