/**
 * The stack of a thread, in local memory: frames of functions that may come to call themselves (`recursion.ts`), and the memory of `alloca`.
 * It grows upwards. The register `Context.stackTop` holds the offset of its first free byte, 0 where a kernel starts. Only the CPU device
 * has one, and says in a word how many bytes it has (`src/ir/services.ts`).
 */
import { alignUp } from '../base/bytes.ts';
import { bytesOf, type Variable as IrVariable, type ScalarType, stackAlign, stackBytes, type Value } from '../ir/index.ts';
import type { CheckedFunction, Register } from '../ptx/index.ts';
import type { Context } from './context.ts';

/** No name of PTX has such a dot in it. */
const stackName = 'cumetal.stack';

/** The variable that is the stack, in the form that a metallib has; it is the last of the kernel's local memory (`endWithStack`). */
function stackOf(c: Context): IrVariable {
  const { kernel } = c;
  const known = kernel.variables.find(({ name }) => name === stackName);
  if (known) return known;
  const made = { name: stackName, space: 'local', size: stackBytes, align: stackAlign, isDynamic: false, init: undefined } as const;
  const stack = { ...made, element: undefined };
  kernel.variables.push(stack);
  return stack;
}

/** Puts the stack behind all other variables, so that a device can give it another size. */
export function endWithStack(kernel: { variables: IrVariable[] }): void {
  kernel.variables.sort((a, b) => Number(a.name === stackName) - Number(b.name === stackName));
}

/** The address of a byte of the stack. */
export function stackAt(c: Context, offset: Value): Value {
  const base = c.ir.variable('ptr.local', { name: stackOf(c).name });
  return c.ir.ptradd(base, c.ir.zext('i64', offset));
}

export const stackTop = (c: Context): Value => c.registers.read(c.flow, c.stackTop);
export const setStackTop = (c: Context, top: Value): void => c.registers.write(c.flow, c.stackTop, top);

/** Whether a function moves the top of the stack by itself. */
export const movesStackTop = ({ items }: CheckedFunction): boolean =>
  items.some((item) => item.kind === 'instruction' && /^(alloca|stackrestore)$/.test(item.match.instruction.opcode));

/** Registers in memory, one after the other, the widest first. */
export function layOut(registers: readonly Register[], from: number): { readonly at: ReadonlyMap<Register, number>; readonly end: number } {
  const at = new Map<Register, number>();
  let end = from;
  for (const register of [...registers].sort((a, b) => bytesOf(heldAs(b)) - bytesOf(heldAs(a)))) {
    const bytes = bytesOf(heldAs(register));
    end = alignUp(end, bytes);
    at.set(register, end);
    end += bytes;
  }
  return { at, end };
}

/** Predicates are bytes in memory. */
const heldAs = ({ type }: Register): ScalarType => (type === 'i1' ? 'i8' : type);

export function storeRegister(c: Context, address: Value, register: Register, value: Value): void {
  const type = heldAs(register);
  c.ir.store(address, type === register.type ? value : c.ir.zext(type, value), { align: bytesOf(type), volatile: false });
}

export function loadRegister(c: Context, address: Value, register: Register): Value {
  const type = heldAs(register);
  const value = c.ir.load(type, address, { align: bytesOf(type), volatile: false });
  return type === register.type ? value : c.ir.icmp(value, c.ir.const(type, 0), { pred: 'ne' });
}
