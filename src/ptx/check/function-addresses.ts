/**
 * Addresses of functions. AIR has no function addresses, so each function gets a number from 1 on, in source order, and a call through a
 * register compares numbers. A program may store and compare these numbers and exchange them with the host; PTX does not define their
 * values. The number of a kernel, which device code passes to a launch, is made of its name. Source: PTX ISA 9.0, 9.7.12.5 (call) and 9.7.9.3 (mov).
 */
import { entryNumber } from '../../base/entry-number.ts';
import type { Initializer, Module, Operand, Statement } from '../syntax/ast.ts';

const entryNames = (items: Module['items']): string[] =>
  items.flatMap((item) => (item.kind === 'function' && item.body && item.isEntry ? [item.name] : []));

/** The number of each function with a body, and of each kernel. An alias has the number of its target. */
export function functionNumbers({ items }: Module): ReadonlyMap<string, bigint> {
  const numbers = new Map<string, bigint>();
  for (const item of items)
    if (item.kind === 'function' && item.body && !item.isEntry && !numbers.has(item.name)) numbers.set(item.name, BigInt(numbers.size + 1));
  for (const name of entryNames(items)) numbers.set(name, entryNumber(name));
  for (const item of items) {
    if (item.kind !== 'directive' || item.name !== 'alias') continue;
    const targetOf = numbers.get(item.aliasee.name);
    if (targetOf !== undefined && !numbers.has(item.alias.name)) numbers.set(item.alias.name, targetOf);
  }
  return numbers;
}

/**
 * The names of functions whose address the module takes: in a `mov`, an initial value, or a list of targets. In the order of their numbers.
 */
export function addressedFunctions(module: Module, numbers: ReadonlyMap<string, bigint>): string[] {
  const entries = new Set(entryNames(module.items));
  const found = namesTaken(module, (name) => numbers.has(name) && !entries.has(name));
  return [...found].sort((a, b) => Number(numbers.get(a)! - numbers.get(b)!));
}

/** The names of kernels whose address the module takes, which other kernels launch. */
export function addressedEntries(module: Module): ReadonlySet<string> {
  const entries = new Set(entryNames(module.items));
  return namesTaken(module, (name) => entries.has(name));
}

/** The wanted names among those whose address is taken: a module has as many others as it has moves. */
function namesTaken({ items }: Module, isWanted: (name: string) => boolean): Set<string> {
  const found = new Set<string>();
  const note = (node: Initializer | Operand): void => {
    for (const name of namesOf(node)) if (isWanted(name)) found.add(name);
  };
  for (const item of items) {
    if (item.kind === 'variable' && item.init) note(item.init);
    if (item.kind === 'function') noteTaken(item.body ?? [], note);
  }
  return found;
}

function noteTaken(body: readonly Statement[], note: (node: Operand) => void): void {
  for (const statement of body) {
    if (statement.kind === 'block') noteTaken(statement.body, note);
    else if (statement.kind === 'directive' && statement.name === 'calltargets')
      for (const { name, span } of statement.targets) note({ kind: 'name', name, span });
    else if (statement.kind === 'instruction' && statement.opcode === 'mov')
      for (let i = 1; i < statement.operands.length; i++) note(statement.operands[i]!);
  }
}

/** The names in an initial value or an operand. */
function namesOf(node: Initializer | Operand): string[] {
  if (node.kind === 'name') return [node.name];
  if (node.kind === 'vector' || node.kind === 'list') return node.elements.flatMap(namesOf);
  if (node.kind === 'apply' || node.kind === 'cast') return namesOf(node.operand);
  return node.kind === 'binary' ? [...namesOf(node.left), ...namesOf(node.right)] : [];
}
