/**
 * Addresses: of `[a+4]` operands as IR pointers, and of variables as integers. An address in a register is an integer, which
 * the IR makes a pointer of; `recover-pointers` finds its root afterwards.
 */
import type { Span } from '../base/source.ts';
import { type PointerType, type Space, typeOf, type Value } from '../ir/index.ts';
import type { AccessSpace, Address, AddressOperand, Operand } from '../ptx/index.ts';
import { clusterRank, type Distances, integerConstant, lookUp, type Named, ownAddress, printOperand, rankOfAddress } from '../ptx/index.ts';
import { addressOfCell, addressOnStack, cellOf } from './cells.ts';
import { type Context, isEntry, readRegister } from './context.ts';
import { layoutOf } from './initializer.ts';
import { memoryParam } from './module-memory.ts';
import { untagged } from './passes/tagged-addresses.ts';
import { asInt } from './ssa/convert.ts';

/** A symbol with its state space, or an integer. */
type Base =
  | { readonly kind: 'pointer'; readonly value: Value; readonly space: Space; readonly isCell?: true; readonly isConst?: boolean }
  | { readonly kind: 'integer'; readonly value: Value };

/** The value that rows pass as `AddressOperand`. */
export const addressOperand = (node: Operand): AddressOperand => node as unknown as AddressOperand;

/** The pointer of an address operand. Reports CM2049 where the operand is none that is understood. */
export function pointerTo(c: Context, operand: AddressOperand, named: AccessSpace): Value {
  const node = operand as unknown as Address;
  const space = spaceIn(c, named);
  const base = node.kind === 'address' ? baseOf(c, node.base) : undefined;
  if (!base) return unusable(c, node, space, 'only a register, a variable or a number with a constant offset is an address');
  if (base.kind === 'integer' && named === 'shared::cluster' && c.remote) return remotePointer(c, c.remote, base.value, node.offset);
  if (base.kind === 'integer') return fromInteger(c, base.value, node.offset, space);
  // As in the source: constants that hosts write are in global memory.
  const [declared, asked] = [base.isConst ? 'constant' : base.space, named === 'constant' ? named : space];
  // A variable by its name: which memory a generic access reaches is known.
  const isNamed = space === 'generic' && declared !== 'constant' && declared !== 'param' && !base.isCell;
  if (declared === asked || isNamed || (base.isCell && named === 'param')) return offset(c, base.value, node.offset);
  const [have, want] =
    base.space === 'param' && space === 'local' ? ['a parameter of the kernel', 'those of functions'] : memoryWords(declared, asked);
  return unusable(c, node, space, `\`${printOperand(node.base)}\` is ${have} and the instruction accesses ${want}`);
}

const memoryWords = (have: Space, want: Space): [string, string] => [`in ${have} memory`, `${want} memory`];

/**
 * Where the memory is that an instruction means: the parameters of an entry are the kernel's, those of a function memory of the
 * thread; constants that hosts write are part of global memory.
 */
function spaceIn(c: Context, space: AccessSpace): Space {
  if (space === 'constant' && c.globals.constants) return 'global';
  if (space === 'param::func') return 'local';
  if (space === 'param::entry') return 'param';
  if (space === 'shared::cluster') return 'shared';
  return space === 'param' && !isEntry(c.frame) ? 'local' : space;
}

function unusable(c: Context, node: Operand, space: Space, why: string): Value {
  c.diagnostics.report('CM2049', { operand: printOperand(node), why }, { span: node.span });
  return c.ir.const(`ptr.${space}`, 0);
}

/** Offsets of 32-bit addresses are added in 32 bits, where they wrap as the hardware's do. */
function fromInteger(c: Context, value: Value, bytes: bigint, space: Space): Value {
  const type: PointerType = `ptr.${space}`;
  if (typeOf(c.kernel, value) === 'i64') {
    // What is in a register may be a generic address, whose tag would be lost in that of another block.
    const address = space === 'shared' && c.remote ? untagged(c.ir, value) : value;
    return offset(c, c.ir.inttoptr(type, address), bytes);
  }
  const sum = bytes === 0n ? value : c.ir.add(value, c.ir.const(c.ir.typeOf(value), bytes));
  return c.ir.inttoptr(type, c.ir.zext('i64', sum));
}

/** The pointer of an address that may be in another block of the cluster. */
function remotePointer(c: Context, remote: Distances, value: Value, bytes: bigint): Value {
  const { ir } = c;
  const wide = ir.typeOf(value) === 'i64' ? untagged(ir, value) : ir.zext('i64', value);
  return offset(c, ir.inttoptr('ptr.shared', ownAddress(ir, wide, remote)), bytes);
}

const offset = (c: Context, pointer: Value, bytes: bigint): Value =>
  bytes === 0n ? pointer : c.ir.ptradd(pointer, c.ir.const('i64', bytes));

function baseOf(c: Context, node: Operand): Base | undefined {
  if (node.kind === 'name' || node.kind === 'index' || node.kind === 'element') return symbolBase(c, node);
  const constant = integerConstant(node);
  return constant === undefined ? undefined : { kind: 'integer', value: c.ir.const('i64', constant) };
}

function symbolBase(c: Context, node: Operand & { kind: 'name' | 'index' | 'element' }): Base | undefined {
  const symbol = lookUp(c.scope, node.name);
  if (node.kind === 'name' && symbol?.kind === 'register') {
    const value = asInt(c.ir, readRegister(c, symbol.register));
    return { kind: 'integer', value };
  }
  if (node.kind === 'element') return undefined;
  const pointer = symbolPointer(c, node.name, node.span);
  if (!pointer || node.kind === 'name') return pointer;
  return indexed(c, pointer, node);
}

/** `a[2]`: elements of the array. */
function indexed(c: Context, pointer: Base, node: Operand & { kind: 'index' }): Base | undefined {
  const symbol = lookUp(c.scope, node.name);
  const layout = symbol?.kind === 'variable' || symbol?.kind === 'param' ? layoutOf(symbol.variable) : undefined;
  const index = integerConstant(node.index);
  return layout && index !== undefined ? { ...pointer, value: offset(c, pointer.value, index * BigInt(layout.element)) } : undefined;
}

/** The address of a variable that was refused, so that its uses are not reported too. */
const refusedSpaces: Readonly<Record<string, Space>> = { const: 'constant', shared: 'shared', local: 'local' };

/** The address of a variable or parameter; a null pointer after a refusal. */
function symbolPointer(c: Context, name: string, use: Span): (Base & { kind: 'pointer' }) | undefined {
  const symbol = lookUp(c.scope, name);
  if (symbol?.kind === 'param') return parameter(c, symbol);
  if (symbol?.kind !== 'variable') return undefined;
  if (symbol.variable.space === 'param')
    return { kind: 'pointer', value: addressOfCell(c, cellOf(c, symbol.variable)), space: 'local', isCell: true };
  const place = c.frame.places.get(symbol.variable);
  if (place) return { kind: 'pointer', value: addressOnStack(c, place), space: 'local' };
  const at = c.globals.offsets.get(symbol.variable);
  if (at !== undefined) {
    const block = c.ir.param('ptr.global', { index: memoryParam(c.kernel, c.globals.memory) });
    const isConst = symbol.variable.space === 'const' ? ({ isConst: true } as const) : {};
    return { kind: 'pointer', value: offset(c, block, BigInt(at)), space: 'global', ...isConst };
  }
  const variable = c.variables(symbol.variable, use);
  if (variable && symbol.isModule && c.natives) variable.isOfModule = true;
  const space: Space = variable?.space ?? refusedSpaces[symbol.variable.space] ?? 'global';
  const value = variable ? c.ir.variable(`ptr.${space}`, { name: variable.name }) : c.ir.const(`ptr.${space}`, 0);
  return { kind: 'pointer', value, space };
}

/** A parameter of the entry, or a parameter or result of the function that is being lowered. */
function parameter(c: Context, { variable, index }: Named & { kind: 'param' }): Base & { kind: 'pointer' } {
  if (isEntry(c.frame)) return { kind: 'pointer', value: c.ir.param('ptr.param', { index }), space: 'param' };
  return { kind: 'pointer', value: addressOfCell(c, c.frame.cells.get(variable)), space: 'local', isCell: true };
}

/** The address of a variable, of an element of one, or of a parameter as an integer in its space, as `mov` takes it. */
export function symbolAddress(c: Context, node: Operand & { kind: 'name' | 'index' }, use: Span): Value | undefined {
  const symbol = lookUp(c.scope, node.name);
  if (symbol?.kind === 'variable' && symbol.variable.space === 'param') {
    const pointer = unusable(c, node, 'local', 'an argument of a call has no address');
    return c.ir.ptrtoint('i64', pointer);
  }
  const pointer = symbolPointer(c, node.name, use);
  const place = pointer && node.kind === 'index' ? indexed(c, pointer, node) : pointer;
  return place && c.ir.ptrtoint('i64', place.value);
}

/** The address of a variable or a parameter for an instruction that stays as it is: that in its space, or a generic one. */
export function namedPointer(c: Context, node: Operand & { kind: 'name' | 'index' }, space: 'generic' | 'stated'): Value | undefined {
  const base = baseOf(c, node);
  if (base?.kind !== 'pointer' || base.isCell) return undefined;
  if (space === 'stated') return base.value;
  const address = c.ir.ptrtoint('i64', base.value);
  if (base.space !== 'global') c.evidence.generic.add(address);
  return address;
}

/** Whether a generic address lies in the constants of the module's memory. */
function isInConstants({ ir, kernel, globals: { memory, constants } }: Context, a: Value): Value {
  const block = ir.param('ptr.global', { index: memoryParam(kernel, memory) });
  const start = ir.ptrtoint('i64', ir.ptradd(block, ir.const('i64', constants?.start ?? 0)));
  return ir.icmp(ir.sub(a, start), ir.const('i64', constants?.size ?? 0), { pred: 'ult' });
}

/** Whether a generic address is of a space; constants that hosts write are a part of global memory. */
export function askSpace(c: Context, a: Value, named: Space | 'shared::cluster'): Value {
  const space = named === 'shared::cluster' ? 'shared' : named;
  if (named === 'shared' && c.remote) {
    const isOwn = c.ir.icmp(rankOfAddress(c.rows, a), clusterRank(c.rows), { pred: 'eq' });
    return c.ir.and(c.ir.isspace(a, { space }), isOwn);
  }
  const is = c.ir.isspace(a, { space });
  if (!c.globals.constants || (space !== 'constant' && space !== 'global')) return is;
  if (c.natives) c.rows.refuse('the constants of the module are variables of their own again');
  const inside = isInConstants(c, a);
  return space === 'constant' ? c.ir.or(is, inside) : c.ir.and(is, c.ir.xor(inside, c.ir.const('i1', 1)));
}

/**
 * A generic address from one in a space, or the reverse. Both are the same number here: a generic address that is not global
 * is marked, and `resolve-spaces` refuses whatever would see the number.
 */
export function convertAddress(c: Context, a: Value, named: AccessSpace, to: 'generic' | 'space'): Value {
  const isOpen = named === 'param' && !isEntry(c.frame);
  if (isOpen) c.rows.refuse('the address may be of a parameter of the kernel or of the function');
  const space = spaceIn(c, named);
  if (space === 'global' || space === 'generic') {
    c.evidence.addresses.add(a);
    return a;
  }
  const wide = c.ir.typeOf(a) === 'i64' ? a : c.ir.zext('i64', a);
  const pointer = c.ir.inttoptr(`ptr.${space}`, wide);
  const marked = c.ir.ptrtoint('i64', pointer);
  if (to === 'generic') c.evidence.generic.add(marked);
  else c.evidence.spaced.add(pointer);
  return marked;
}
