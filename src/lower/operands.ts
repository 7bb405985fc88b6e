/** Operands as values: reading those of an instruction, and writing its results. */
import { bug } from '../base/bug.ts';
import type { ScalarType, Value } from '../ir/index.ts';
import {
  type AddressOperand,
  type AnyLowered,
  type AnySources,
  immediateBits,
  integerConstant,
  isSignedType,
  laneOf,
  lookUp,
  type Match,
  type MatchedOperand,
  type Operand,
  type PtxType,
  printOperand,
  type Register,
  registerTypes,
  sink,
  specialRegisters,
} from '../ptx/index.ts';
import { addressOperand, symbolAddress } from './address.ts';
import { type Context, readRegister, writeRegister } from './context.ts';
import { keepsRegister } from './kept.ts';
import { nativeKernel, nativeRegister } from './native-code.ts';
import { reinterpret } from './ssa/convert.ts';

/** The sources of an instruction by the names in its row. */
export function readSources(c: Context, match: Match): AnySources {
  const sources: Record<string, Value | readonly Value[] | AddressOperand> = {};
  for (const operand of match.operands) {
    if (!operand.slot.isDestination) sources[operand.slot.name] = readSource(c, operand);
    for (const inside of operand.inBrackets ?? []) if (!inside.slot.isDestination) sources[inside.slot.name] = readSource(c, inside);
  }
  return sources;
}

/** A number that picks one of several: a register or a constant. */
export const readIndex = (c: Context, { node, type }: MatchedOperand): Value => readScalar(c, node, type);

function readSource(c: Context, { slot, node, type, lanes }: MatchedOperand): Value | readonly Value[] | AddressOperand {
  if (slot.isAddress) return addressOperand(node);
  if (lanes !== undefined) return elementsOf(c, node).map((element) => readElement(c, element, type));
  return readScalar(c, node, type);
}

/** The elements of a brace vector, or the lanes of a vector register. */
function elementsOf(c: Context, node: Operand): readonly (Operand | Register)[] {
  if (node.kind === 'vector') return node.elements;
  const symbol = node.kind === 'name' ? lookUp(c.scope, node.name) : undefined;
  return symbol?.kind === 'vector' ? symbol.lanes : bug(`no vector: ${printOperand(node)}`);
}

const isRegister = (element: Operand | Register): element is Register => 'declared' in element;

function readElement(c: Context, element: Operand | Register, type: PtxType): Value {
  return isRegister(element) ? asType(c, readRegister(c, element), type) : readScalar(c, element, type);
}

const asType = (c: Context, value: Value, type: PtxType): Value => reinterpret(c.ir, value, registerTypes[type] as ScalarType, false);

function readScalar(c: Context, node: Operand, type: PtxType): Value {
  if (node.kind === 'not') return c.ir.xor(readScalar(c, node.operand, type), c.ir.const('i1', 1));
  if (node.kind === 'name' || node.kind === 'element') {
    const named = readNamed(c, node);
    if (named !== undefined) return asType(c, named, type);
  }
  const sum = readSum(c, node) ?? readAddress(c, node);
  if (sum !== undefined) return asType(c, sum, type);
  const held = registerTypes[type] as ScalarType;
  const bits = immediateBits(node, held);
  return bits === undefined ? bug(`no value: ${printOperand(node)}`) : c.ir.const(held, bits);
}

/** `%r + 1`: the sum of an integer register and a constant, modulo the width of the register. */
function readSum(c: Context, node: Operand): Value | undefined {
  if (node.kind !== 'binary' || node.left.kind !== 'name') return undefined;
  const symbol = lookUp(c.scope, node.left.name);
  const by = symbol?.kind === 'register' ? integerConstant(node.right) : undefined;
  if (symbol?.kind !== 'register' || by === undefined) return undefined;
  const value = readRegister(c, symbol.register);
  return c.ir.add(value, c.ir.const(c.ir.typeOf(value) as ScalarType, by));
}

/** Registers, lanes of vector registers, special registers, `WARP_SZ`. */
function readNamed(c: Context, node: Operand & { kind: 'name' | 'element' }): Value | undefined {
  const special = specialRegisters.get(printOperand(node));
  if (special && c.natives && keepsRegister(c.natives, special.name)) return nativeRegister(c, special.name);
  if (special) return special.read(c.rows);
  if (node.kind === 'element') {
    const lane = laneOf(node, c.scope);
    return lane && readRegister(c, lane);
  }
  if (node.name === 'WARP_SZ') return c.ir.const('i32', 32);
  const symbol = lookUp(c.scope, node.name);
  if (symbol?.kind === 'function') return functionAddress(c, node);
  return symbol?.kind === 'register' ? readRegister(c, symbol.register) : undefined;
}

/** The number that represents the address of a function. Reports CM2040 for one without a body. */
function functionAddress(c: Context, { name, span }: Operand & { kind: 'name' }): Value {
  const kernel = c.natives && nativeKernel(c, name);
  if (kernel !== undefined) return kernel;
  const number = c.functionNumbers.get(name);
  const holes = { what: `\`${name}\`, the address of a function,`, why: 'its body is not in this module' };
  if (number === undefined) c.diagnostics.report('CM2040', holes, { span });
  return c.ir.const('i64', number ?? 0n);
}

/** `table`, `table+8`, `table[2]`: an address as an integer. */
function readAddress(c: Context, node: Operand): Value | undefined {
  if (node.kind === 'binary') {
    const base = readAddress(c, node.left);
    const offset = integerConstant(node.right);
    return base === undefined || offset === undefined ? undefined : c.ir.add(base, c.ir.const('i64', offset));
  }
  return node.kind === 'name' || node.kind === 'index' ? symbolAddress(c, node, node.span) : undefined;
}

/** The values of the registers of a destination. */
export const readDestination = (c: Context, { node, type, lanes }: MatchedOperand): readonly Value[] =>
  lanes === undefined ? [readScalar(c, node, type)] : elementsOf(c, node).map((element) => readElement(c, element, type));

/** Writes the result of a row to the destination of its instruction. */
export function writeResults(c: Context, match: Match, result: AnyLowered): void {
  const destination = match.operands[0];
  if (!destination?.slot.isDestination || result === undefined) return;
  const { slot, node, type, lanes } = destination;
  const other = match.operands[1];
  if (other?.slot.isDestination) {
    const both = result as Readonly<Record<string, Value | readonly Value[]>>;
    if (lanes === undefined) writeTo(c, node, both[slot.name] as Value, type);
    else writeElements(c, node, both[slot.name] as readonly Value[], type);
    writeTo(c, other.node, both[other.slot.name] as Value, other.type);
  } else if (slot.second !== undefined) {
    const both = result as Readonly<Record<string, Value | readonly Value[]>>;
    const [first, second] = node.kind === 'pair' ? [node.first, node.second] : [node, undefined];
    if (lanes === undefined) writeTo(c, first, both[slot.name] as Value, type);
    else writeElements(c, first, both[slot.name] as readonly Value[], type);
    if (second) writeTo(c, second, both[slot.second] as Value, slot.secondType.startsWith('.') ? type : (slot.secondType as PtxType));
  } else if (lanes !== undefined) writeElements(c, node, result as readonly Value[], type);
  else writeTo(c, node, result as Value, type);
}

/** The elements of a brace vector, or the lanes of a vector register. */
function writeElements(c: Context, node: Operand, values: readonly Value[], type: PtxType): void {
  elementsOf(c, node).forEach((element, i) => {
    if (isRegister(element)) write(c, element, values[i]!, type);
    else writeTo(c, element, values[i]!, type);
  });
}

function writeTo(c: Context, node: Operand, value: Value, type: PtxType): void {
  if (node.kind === 'name' && node.name === sink) return;
  const register = node.kind === 'element' ? laneOf(node, c.scope) : registerNamed(c, node);
  write(c, register ?? bug(`no register: ${printOperand(node)}`), value, type);
}

function registerNamed(c: Context, node: Operand): Register | undefined {
  const symbol = node.kind === 'name' ? lookUp(c.scope, node.name) : undefined;
  return symbol?.kind === 'register' ? symbol.register : undefined;
}

/** A register that is wider than the result takes it extended by the sign of the instruction's type. */
function write(c: Context, register: Register, value: Value, type: PtxType): void {
  writeRegister(c, register, reinterpret(c.ir, value, register.type, isSignedType(type)));
}
