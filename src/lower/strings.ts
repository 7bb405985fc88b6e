/** Strings that a call hands over, as far as they are variables of the module whose address can be followed through the source. */
import type { Variable } from '../ptx/ast.ts';
import { type CheckedInstruction, lookUp, type Operand, partsOf, type Register, type Scope } from '../ptx/index.ts';
import { type Context, variableNamed } from './context.ts';
import { initialBytes, layoutOf } from './initialiser.ts';

/** An operand with the scope in which its names are looked up. */
export interface Placed {
  readonly node: Operand;
  readonly scope: Scope;
}

/** The operand that is stored into a `.param` variable whole. */
export function storedIn(c: Context, operand: Operand): Placed | undefined {
  const variable = variableNamed(c, operand);
  const stores = instructionsOf(c).filter(({ match: { row, operands }, scope }) => {
    const address = row.name === 'st' ? operands[0]?.node : undefined;
    const base = address?.kind === 'address' && address.base.kind === 'name' ? lookUp(scope, address.base.name) : undefined;
    return variable !== undefined && base?.kind === 'variable' && base.variable === variable;
  });
  return stores.length === 1 ? source(stores[0]!) : undefined;
}

const instructionsOf = (c: Context): CheckedInstruction[] =>
  c.frame.fn.items.flatMap((item) => (item.kind === 'instruction' ? [item] : []));

function source({ match, scope }: CheckedInstruction): Placed | undefined {
  const node = match.operands[1]?.node;
  return node && { node, scope };
}

/** The variable whose address an operand is, through copies and `cvta`. */
export function variableAt(c: Context, operand: Placed | undefined): Variable | undefined {
  let at = operand;
  for (let turn = 0; turn < mostCopies && at?.node.kind === 'name'; turn++) {
    const symbol = lookUp(at.scope, at.node.name);
    if (symbol?.kind === 'variable') return symbol.variable;
    if (symbol?.kind !== 'register') return undefined;
    const writes = instructionsOf(c).filter((item) => isWritten(item, symbol.register));
    const isCopy = writes.length === 1 && /^(mov|cvta)$/.test(writes[0]!.match.row.name);
    at = isCopy ? source(writes[0]!) : undefined;
  }
  return undefined;
}

/** Registers between a variable and where its address is handed over. */
const mostCopies = 8;

/** Whether an instruction writes a register, alone or with others. */
function isWritten({ match, call, scope }: CheckedInstruction, register: Register): boolean {
  const written = match.operands.flatMap(({ slot, node }) => (slot.isDestination ? [node] : []));
  const isIt = (node: Operand): boolean => {
    const symbol = node.kind === 'name' ? lookUp(scope, node.name) : undefined;
    return (symbol?.kind === 'register' && symbol.register === register) || partsOf(node).some(isIt);
  };
  return [...written, ...(call?.results ?? [])].some(isIt);
}

/** The bytes before the first 0 of what a variable holds at first. */
export function stringIn(variable: Variable): Uint8Array | undefined {
  const layout = layoutOf(variable);
  const bytes = layout && initialBytes(variable, layout);
  if (!(bytes instanceof Uint8Array)) return undefined;
  const end = bytes.indexOf(0);
  return end < 0 ? bytes : bytes.subarray(0, end);
}
