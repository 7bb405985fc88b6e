/** Strings that a call hands over, as far as they are variables of the module whose address can be followed through the source. */
import { addTo } from '../base/group.ts';
import {
  type CheckedFunction,
  type CheckedInstruction,
  lookUp,
  type Named,
  type Operand,
  partsOf,
  type Register,
  type Scope,
} from '../ptx/index.ts';
import type { Variable } from '../ptx/syntax/ast.ts';
import { type Context, variableNamed } from './context.ts';
import { initialBytes, layoutOf } from './initializer.ts';

/** An operand with the scope in which its names are looked up. */
export interface Placed {
  readonly node: Operand;
  readonly scope: Scope;
}

/** The operand that is stored into a `.param` variable whole. */
export function storedIn(c: Context, operand: Operand): Placed | undefined {
  const variable = variableNamed(c, operand);
  const stores = variable && writesOf(c.frame.fn).get(variable);
  return stores?.length === 1 ? source(stores[0]!) : undefined;
}

function source({ match, scope }: CheckedInstruction): Placed | undefined {
  const node = match.operands[1]?.node;
  return node && { node, scope };
}

/** The variable whose address an operand is, through copies and `cvta`. */
export function variableAt(c: Context, operand: Placed | undefined): Variable | undefined {
  let at = operand;
  for (let turn = 0; turn < maxCopies && at?.node.kind === 'name'; turn++) {
    const symbol = lookUp(at.scope, at.node.name);
    if (symbol?.kind === 'variable') return symbol.variable;
    const writes = symbol?.kind === 'register' ? writesOf(c.frame.fn).get(symbol.register) : undefined;
    const isCopy = writes?.length === 1 && /^(mov|cvta)$/.test(writes[0]!.match.row.name);
    at = isCopy ? source(writes[0]!) : undefined;
  }
  return undefined;
}

/** Registers between a variable and where its address is handed over. */
const maxCopies = 8;

/** By register and by variable: the instructions of a function that write it, alone or with others. */
type Writes = ReadonlyMap<Register | Variable, readonly CheckedInstruction[]>;

const known = new WeakMap<CheckedFunction, Writes>();

function writesOf(fn: CheckedFunction): Writes {
  const found = known.get(fn) ?? findWrites(fn);
  known.set(fn, found);
  return found;
}

function findWrites({ items }: CheckedFunction): Writes {
  const writes = new Map<Register | Variable, CheckedInstruction[]>();
  for (const item of items) {
    if (item.kind !== 'instruction') continue;
    for (const target of targetsOf(item)) addTo(writes, target, item);
  }
  return writes;
}

function targetsOf({ match: { row, operands }, call, scope }: CheckedInstruction): Set<Register | Variable> {
  const targets = new Set<Register | Variable>();
  const note = (symbol: Named | undefined): void => {
    if (symbol?.kind === 'register') targets.add(symbol.register);
    if (symbol?.kind === 'vector') for (const lane of symbol.lanes) targets.add(lane);
    if (symbol?.kind === 'variable') targets.add(symbol.variable);
  };
  const work = [...operands.flatMap(({ slot, node }) => (slot.isDestination ? [node] : [])), ...(call?.results ?? [])];
  for (let node = work.pop(); node; node = work.pop()) {
    if (node.kind === 'name' || node.kind === 'element') note(lookUp(scope, node.name));
    work.push(...partsOf(node));
  }
  const address = row.name === 'st' ? operands[0]?.node : undefined;
  const base = address?.kind === 'address' && address.base.kind === 'name' ? lookUp(scope, address.base.name) : undefined;
  if (base?.kind === 'variable') targets.add(base.variable);
  return targets;
}

/** The initial bytes of a variable before the first 0. */
export function stringIn(variable: Variable): Uint8Array | undefined {
  const layout = layoutOf(variable);
  const bytes = layout && initialBytes(variable, layout);
  if (!(bytes instanceof Uint8Array)) return undefined;
  const end = bytes.indexOf(0);
  return end < 0 ? bytes : bytes.subarray(0, end);
}
