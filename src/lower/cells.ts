/**
 * Memory that carries arguments and results: the `.param` variables of bodies, and the parameters of functions. Each is a local
 * variable of the thread, one for all calls of a function, since no function is called while it runs, or else memory of a frame on the
 * stack (`recursion.ts`). `ssa/promote-cells.ts` promotes variables whose address is not taken to values.
 */
import type { Variable as IrVariable, ScalarType, Value } from '../ir/index.ts';
import { bytesOf } from '../ir/index.ts';
import { type CheckedFunction, type CheckedInstruction, lookUp, type Operand, partsOf } from '../ptx/index.ts';
import type { Variable } from '../ptx/syntax/ast.ts';
import type { Cell, Context, StackPlace } from './context.ts';
import { layoutFault, layoutOf } from './initializer.ts';
import { stackAt } from './stack-memory.ts';
import { uniqueName } from './variables.ts';

/** The memory of a variable or parameter; nothing after reporting CM2045 or CM2050, once. */
export const cellOf = (c: Context, variable: Variable): Cell | undefined => c.frame.places.get(variable) ?? sharedCell(c, variable);

/** The memory that all calls of a function share. */
export function sharedCell(c: Context, variable: Variable): IrVariable | undefined {
  if (c.cells.has(variable)) return c.cells.get(variable);
  const made = makeCell(c, variable);
  c.cells.set(variable, made);
  if (made) c.kernel.variables.push(made);
  return made;
}

function makeCell(c: Context, variable: Variable): IrVariable | undefined {
  const { name, type, nameSpan, regCount } = variable;
  const layout = layoutOf(variable);
  if (!layout || regCount !== undefined) {
    c.diagnostics.report('CM2045', { name, type }, { span: nameSpan });
    return undefined;
  }
  const why = layoutFault(variable, layout);
  if (why !== undefined) {
    c.diagnostics.report('CM2050', { name, why }, { span: nameSpan });
    return undefined;
  }
  const { size, align } = layout;
  return { name: uniqueName(c.kernel, name), space: 'local', size, align, isDynamic: false, init: undefined, element: undefined };
}

/** The address of the first byte; null where the memory was refused. */
export function addressOfCell(c: Context, cell: Cell | undefined): Value {
  if (cell && 'frameAt' in cell) return addressOnStack(c, cell);
  return cell ? c.ir.variable('ptr.local', { name: cell.name }) : c.ir.const('ptr.local', 0);
}

/** The address of memory in a frame. */
export const addressOnStack = (c: Context, { frameAt, at }: StackPlace): Value =>
  stackAt(c, c.ir.add(c.registers.read(c.flow, frameAt), c.ir.const('i32', at)));

const at = ({ ir }: Context, pointer: Value, bytes: number): Value => (bytes === 0 ? pointer : ir.ptradd(pointer, ir.const('i64', bytes)));

/** Reads so many elements that follow one another. */
export function loadFrom(c: Context, cell: Cell | undefined, type: ScalarType, count: number): Value[] {
  const pointer = addressOfCell(c, cell);
  const bytes = bytesOf(type);
  return Array.from({ length: count }, (_, i) => c.ir.load(type, at(c, pointer, i * bytes), { align: bytes, volatile: false }));
}

/** Writes elements that follow one another. */
export function storeTo(c: Context, cell: Cell | undefined, values: readonly Value[]): void {
  const pointer = addressOfCell(c, cell);
  for (const [i, value] of values.entries()) {
    const bytes = bytesOf(c.ir.typeOf(value) as ScalarType);
    c.ir.store(at(c, pointer, i * bytes), value, { align: bytes, volatile: false });
  }
}

const chunks: readonly (readonly [bytes: number, type: ScalarType])[] = [
  [8, 'i64'],
  [4, 'i32'],
  [2, 'i16'],
  [1, 'i8'],
];

/** Copies all bytes, in pieces as wide as both alignments allow. */
export function copyCell(c: Context, from: Cell | undefined, to: Cell | undefined): void {
  if (!from || !to) return;
  const [source, target] = [addressOfCell(c, from), addressOfCell(c, to)];
  for (const { at: done, type } of chunksOf(to.size, Math.min(from.align, to.align))) {
    const align = bytesOf(type);
    const value = c.ir.load(type, at(c, source, done), { align, volatile: false });
    c.ir.store(at(c, target, done), value, { align, volatile: false });
  }
}

/** Memory in pieces as wide as its alignment allows. */
export function chunksOf(size: number, align: number): { readonly at: number; readonly type: ScalarType }[] {
  const found: { at: number; type: ScalarType }[] = [];
  for (let done = 0; done < size; ) {
    const [bytes, type] = chunks.find(([each]) => each <= align && done + each <= size) ?? chunks[3]!;
    found.push({ at: done, type });
    done += bytes;
  }
  return found;
}

const known = new WeakMap<CheckedFunction, ReadonlySet<Variable>>();

/**
 * The parameters and results of a function that are more than read and written, respectively, by their names: their memory is their own,
 * so that nothing that is done to it is seen by the caller before the call returns.
 */
export function ownedBy(fn: CheckedFunction): ReadonlySet<Variable> {
  const found = known.get(fn) ?? findOwned(fn);
  known.set(fn, found);
  return found;
}

function findOwned({ items, fn: { params } }: CheckedFunction): Set<Variable> {
  const owned = new Set<Variable>();
  for (const item of items) {
    if (item.kind !== 'instruction') continue;
    for (const [node, use] of usesIn(item)) {
      const symbol = node.kind === 'name' || node.kind === 'index' ? lookUp(item.scope, node.name) : undefined;
      if (symbol?.kind !== 'param') continue;
      if (use !== (params.includes(symbol.variable) ? 'ld' : 'st')) owned.add(symbol.variable);
    }
  }
  return owned;
}

/** The names in an instruction, each with the opcode that accesses it; those whose address is taken have none. */
function usesIn({ match }: CheckedInstruction): [Operand, string | undefined][] {
  const uses: [Operand, string | undefined][] = [];
  const work: Operand[] = [];
  for (const { node, slot } of match.operands) {
    if (slot.isAddress && node.kind === 'address') {
      uses.push([node.base, match.instruction.opcode]);
      work.push(...node.rest);
    } else work.push(node);
  }
  for (let node = work.pop(); node; node = work.pop()) {
    uses.push([node, undefined]);
    work.push(...partsOf(node));
  }
  return uses;
}
