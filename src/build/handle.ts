/** What operations take: values in registers, elements of memory, and constants. */
import { type Operand as Node, printOperand } from '../ptx/index.ts';
import { fail } from './fail.ts';
import { literal } from './literal.ts';
import { nameNode, registerNode } from './nodes.ts';
import { type Scope, type Trace, trace } from './trace.ts';
import { type TypeName, types } from './types.ts';

/** A value in a register. */
export interface Handle<T extends TypeName = TypeName> {
  /** The name of its type. */
  readonly type: T;
  /** @internal */
  readonly register: string;
  /** @internal */
  readonly scope: Scope;
}

/** An element of memory, which an operation loads. */
export interface Readable<T extends TypeName = TypeName> {
  /** The name of its type. */
  readonly type: T;
  /** Loads it. */
  get(): Handle<T>;
}

/** An operand of a type: a value, an element of memory, which is loaded, or a constant, which has to fit the type. */
export type Operand<T extends TypeName> = Handle<T> | Readable<T> | number | bigint;

const isConstant = (given: unknown): given is number | bigint | boolean => ['number', 'bigint', 'boolean'].includes(typeof given);

/** The node of an operand, in a register or as a constant. Throws CM5085, CM5086 and CM5087. */
export function nodeOf(type: TypeName, given: Operand<TypeName> | boolean, mayBeConstant = true): Node {
  if (isConstant(given)) return constantNode(type, given, mayBeConstant);
  if (typeof given !== 'object' || given === null) return fail('CM5086', { wanted: type, given: String(given) });
  const handle = 'get' in given && !('register' in given) ? given.get() : (given as Handle);
  if (!('register' in handle)) return fail('CM5086', { wanted: type, given: 'an object' });
  if (handle.type !== type) fail('CM5086', { wanted: type, given: handle.type });
  if (!handle.scope.isOpen) fail('CM5087', { type });
  return registerNode(handle.register);
}

/** The node of an operand in a register. */
export const inRegister = (type: TypeName, given: Operand<TypeName> | boolean): Node => nodeOf(type, given, false);

function constantNode(type: TypeName, given: number | bigint | boolean, mayBeConstant: boolean): Node {
  const { node, isImmediate } = literal(type, given);
  if (isImmediate && mayBeConstant) return node;
  return nameNode(computed(type, `mov.${moveType(type)}`, [node]));
}

/** The type of moves: `mov` has no types of 8 bits, halves and pairs. */
export function moveType(type: TypeName): string {
  const { bits, kind } = types[type];
  if (kind === 'pred') return 'pred';
  return kind === 'float' && bits >= 32 ? type : `b${Math.max(16, bits)}`;
}

/** Registers that change, so that an instruction with one of them is not like another one before. */
const mutable = new WeakMap<Trace, Set<string>>();

/** Notes a register as one that changes. */
export function noteMutable(register: string): void {
  const to = trace();
  mutable.set(to, (mutable.get(to) ?? new Set()).add(register));
}

/** Whether a register changes. */
const isMutable = (register: string): boolean => mutable.get(trace())?.has(register) ?? false;

/** The register of a value, or of a copy of what a variable has now. */
export const settled = ({ type, register }: Handle): string =>
  isMutable(register) ? added(type, `mov.${moveType(type)}`, [nameNode(register)]) : register;

/**
 * The register with the result of an instruction that has no effect besides it. An instruction that was added before, in a scope that is open,
 * is not added again.
 */
export function computed(type: TypeName, name: string, operands: readonly Node[]): string {
  const to = trace();
  const changing = mutable.get(to);
  const texts = operands.map(printOperand);
  if (changing && texts.some((text) => changing.has(text.replace(/^!/, '')))) return added(type, name, operands);
  const key = `${type} ${name} ${texts.join(', ')}`;
  const known = to.known(key);
  if (known !== undefined) return known;
  const register = added(type, name, operands);
  to.scope.known.set(key, register);
  return register;
}

/** The register with the result of an instruction that is added. */
export function added(type: TypeName, name: string, operands: readonly Node[]): string {
  const to = trace();
  const register = to.fresh(type);
  to.emit(name, [nameNode(register), ...operands]);
  return register;
}

/** A predicate as the guard of an instruction. @internal */
export const conditionOf = (condition: Handle<'pred'>, negated: boolean) => ({
  register: (inRegister('pred', condition) as { name: string }).name,
  negated,
});
