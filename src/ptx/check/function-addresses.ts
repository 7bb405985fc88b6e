/**
 * Addresses of functions. No function has one in AIR, so that each has a number in its place, from 1 on in the order of the module; a
 * call through a register tells by it which function is meant. A program may store such numbers, compare them and hand them to the
 * host and back; PTX says nothing of what they are. Source: PTX ISA 9.0, 9.7.12.5 (call) and 9.7.9.3 (mov).
 */
import type { Initialiser, Module, Operand, Statement } from '../syntax/ast.ts';

/** The number of each function that has a body; an alias has that of what it names. */
export function functionNumbers({ items }: Module): ReadonlyMap<string, bigint> {
  const numbers = new Map<string, bigint>();
  for (const item of items)
    if (item.kind === 'function' && item.body && !item.isEntry && !numbers.has(item.name)) numbers.set(item.name, BigInt(numbers.size + 1));
  for (const item of items) {
    if (item.kind !== 'directive' || item.name !== 'alias') continue;
    const meant = numbers.get(item.aliasee.name);
    if (meant !== undefined && !numbers.has(item.alias.name)) numbers.set(item.alias.name, meant);
  }
  return numbers;
}

/** The names of functions whose address the module takes: in a `mov`, in an initial value, in a list of targets. In the order of their numbers. */
export function addressedFunctions(module: Module): string[] {
  const numbers = functionNumbers(module);
  const found = new Set<string>();
  const note = (name: string): void => {
    if (numbers.has(name)) found.add(name);
  };
  for (const item of module.items) {
    if (item.kind === 'variable' && item.init) namesOf(item.init).forEach(note);
    if (item.kind === 'function') namesTaken(item.body ?? []).forEach(note);
  }
  return [...found].sort((a, b) => Number(numbers.get(a)! - numbers.get(b)!));
}

function namesTaken(body: readonly Statement[]): string[] {
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
function namesOf(node: Initialiser | Operand): string[] {
  if (node.kind === 'name') return [node.name];
  if (node.kind === 'vector' || node.kind === 'list') return node.elements.flatMap(namesOf);
  if (node.kind === 'apply' || node.kind === 'cast') return namesOf(node.operand);
  return node.kind === 'binary' ? [...namesOf(node.left), ...namesOf(node.right)] : [];
}
