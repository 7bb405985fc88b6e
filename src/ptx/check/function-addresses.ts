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
export function addressedFunctions(module: Module): string[] {
  const numbers = functionNumbers(module);
  const entries = new Set(entryNames(module.items));
  const found = new Set(namesTaken(module).filter((name) => numbers.has(name) && !entries.has(name)));
  return [...found].sort((a, b) => Number(numbers.get(a)! - numbers.get(b)!));
}

/** The names of kernels whose address the module takes, which other kernels launch. */
export function addressedEntries(module: Module): ReadonlySet<string> {
  const entries = new Set(entryNames(module.items));
  return new Set(namesTaken(module).filter((name) => entries.has(name)));
}

function namesTaken({ items }: Module): string[] {
  const found: string[] = [];
  for (const item of items) {
    if (item.kind === 'variable' && item.init) found.push(...namesOf(item.init));
    if (item.kind === 'function') found.push(...addressedNames(item.body ?? []));
  }
  return found;
}

function addressedNames(body: readonly Statement[]): string[] {
  const names: string[] = [];
  const work = [...body];
  for (let statement = work.pop(); statement; statement = work.pop()) {
    if (statement.kind === 'block') work.push(...statement.body);
    if (statement.kind === 'directive' && statement.name === 'calltargets') names.push(...statement.targets.map(({ name }) => name));
    if (statement.kind === 'instruction' && statement.opcode === 'mov') names.push(...statement.operands.slice(1).flatMap(namesOf));
  }
  return names;
}

/** The names in an initial value or an operand. */
function namesOf(node: Initializer | Operand): string[] {
  if (node.kind === 'name') return [node.name];
  if (node.kind === 'vector' || node.kind === 'list') return node.elements.flatMap(namesOf);
  if (node.kind === 'apply' || node.kind === 'cast') return namesOf(node.operand);
  return node.kind === 'binary' ? [...namesOf(node.left), ...namesOf(node.right)] : [];
}
