/** Addresses as PTX has them: a name or a register with a constant added. */
import {
  apartBytes,
  constantOf,
  type Kernel,
  type ModuleMemory,
  type ModuleSymbol,
  type PointerType,
  type Space,
  spaceOf,
  type Value,
} from '../../ir/index.ts';
import type { Printer } from './printer.ts';
import { blockName } from './variables.ts';

/** The state space of the accesses through a pointer, `generic` where it is not known. */
export function stateSpace(p: Printer, pointer: Value): string {
  const space: Space = spaceOf(p.typeOf(pointer) as PointerType);
  if (space === 'constant') return p.areConstantsGlobal ? 'global' : 'const';
  if (space !== 'global') return space;
  const symbol = rootSymbol(p.kernel, pointer);
  return symbol && p.module.constants.has(symbol.name) ? 'const' : 'global';
}

/** The variable of the module that an address is computed from; undefined for other addresses, and where that is not known. */
export function rootSymbol(kernel: Kernel, pointer: Value): ModuleSymbol | undefined {
  let [base, offset] = [pointer, 0n];
  for (let inst = kernel.insts[base]!; inst.op === 'ptradd'; inst = kernel.insts[base]!) {
    offset += BigInt.asIntN(64, constantOf(kernel, inst.b) ?? 0n);
    base = inst.a;
  }
  const inst = kernel.insts[base]!;
  const memory = inst.op === 'param' ? kernel.params[inst.index]!.memory : undefined;
  return memory?.isApart ? nearest(memory, offset) : undefined;
}

/** The variable that an offset is from, where variables are apart. */
const nearest = ({ symbols }: ModuleMemory, offset: bigint): ModuleSymbol | undefined =>
  symbols[Math.round(Number(offset) / apartBytes) - 1];

interface Place {
  readonly base: Value;
  readonly offset: bigint;
}

/** A pointer without the constants that are added to it. */
export function placeOf(p: Printer, pointer: Value): Place {
  let [base, offset] = [pointer, 0n];
  for (let inst = p.kernel.insts[base]!; inst.op === 'ptradd'; inst = p.kernel.insts[base]!) {
    const by = constantOf(p.kernel, inst.b);
    if (by === undefined) break;
    offset += BigInt.asIntN(64, by);
    base = inst.a;
  }
  return { base, offset };
}

const sum = (name: string, offset: bigint): string => (offset === 0n ? name : `${name}+${offset}`);

/** The name of a place that has one, with its offset. */
export function symbolAt(p: Printer, { base, offset }: Place): { readonly name: string; readonly offset: bigint } | undefined {
  const inst = p.kernel.insts[base]!;
  if (inst.op === 'variable') return { name: p.variable(inst.name), offset };
  if (inst.op !== 'param') return undefined;
  const param = p.kernel.params[inst.index]!;
  if (param.memory) return memorySymbol(p, param.memory, base, offset);
  return inst.type === 'ptr.param' ? { name: p.parameter(inst.index), offset } : undefined;
}

/** A place in the module's own memory by the variable that is there. */
function memorySymbol(p: Printer, memory: ModuleMemory, base: Value, offset: bigint): { name: string; offset: bigint } {
  if (!memory.isApart) return { name: blockName(memory), offset };
  const found = nearest(memory, offset);
  if (!found) p.refuse(base, 'an address of a variable of the module', 'it is computed from that of another variable');
  return { name: found?.name ?? 'unknown', offset: offset - BigInt(found?.offset ?? 0) };
}

/** Whether a constant fits an address operand. */
const fits = (offset: bigint): boolean => offset >= -(2n ** 23n) && offset < 2n ** 23n;

/** A shared or local address that was 32 bits before: the number and the constant that is added to it, in 32 bits as well. */
function wordOf(p: Printer, { base, offset }: Place): Place | undefined {
  const cast = p.kernel.insts[base]!;
  const space = spaceOf(cast.type as PointerType);
  if (cast.op !== 'inttoptr' || (space !== 'shared' && space !== 'local')) return undefined;
  const wide = p.kernel.insts[cast.a]!;
  if (wide.op !== 'zext' || p.typeOf(wide.a) !== 'i32') return undefined;
  let [word, sum] = [wide.a, offset];
  for (let inst = p.kernel.insts[word]!; inst.op === 'add'; inst = p.kernel.insts[word]!) {
    const by = constantOf(p.kernel, inst.b);
    if (by === undefined) break;
    sum += BigInt.asIntN(32, by);
    word = inst.a;
  }
  return fits(sum) ? { base: word, offset: sum } : undefined;
}

/** The values that are added to the address of a variable of the module, where variables are apart and some are no constants. */
function addedToSymbol({ kernel }: Printer, pointer: Value): { readonly terms: readonly Value[]; readonly offset: bigint } | undefined {
  if (!rootSymbol(kernel, pointer)) return undefined;
  const terms: Value[] = [];
  let [base, offset] = [pointer, 0n];
  for (let inst = kernel.insts[base]!; inst.op === 'ptradd'; inst = kernel.insts[base]!) {
    const by = constantOf(kernel, inst.b);
    if (by === undefined) terms.push(inst.b);
    else offset += BigInt.asIntN(64, by);
    base = inst.a;
  }
  return terms.length > 0 ? { terms, offset } : undefined;
}

/** Puts the address of a variable of the module and what is added to it into a register; gives the constant that is left. */
function addToSymbol(p: Printer, pointer: Value, register: string): bigint | undefined {
  const added = addedToSymbol(p, pointer);
  if (!added) return undefined;
  const symbol = rootSymbol(p.kernel, pointer)!;
  p.line(`mov.b64 ${register}, ${symbol.name};`);
  for (const term of added.terms) p.line(`add.s64 ${register}, ${register}, ${p.reg(term)};`);
  return added.offset - BigInt(symbol.offset);
}

/** The text in the brackets of an access. */
export function addressText(p: Printer, pointer: Value, more = 0): string {
  if (addedToSymbol(p, pointer)) {
    const made = p.temp('i64');
    return sum(made, addToSymbol(p, pointer, made)! + BigInt(more));
  }
  const place = placeOf(p, pointer);
  const symbol = symbolAt(p, place);
  const offset = BigInt(more);
  const word = wordOf(p, place);
  if (word) return sum(p.reg(word.base), word.offset + offset);
  if (symbol) return sum(symbol.name, symbol.offset + offset);
  return fits(place.offset) ? sum(p.reg(place.base), place.offset + offset) : sum(p.reg(pointer), offset);
}

/** Gives the register of a pointer that is a sum. */
export function addPointer(p: Printer, value: Value): void {
  const left = addToSymbol(p, value, p.reg(value));
  if (left !== undefined) {
    if (left !== 0n) p.line(`add.s64 ${p.reg(value)}, ${p.reg(value)}, ${left};`);
    return;
  }
  const place = placeOf(p, value);
  const symbol = symbolAt(p, place);
  if (symbol) {
    p.line(`mov.b64 ${p.reg(value)}, ${symbol.name};`);
    if (symbol.offset !== 0n) p.line(`add.s64 ${p.reg(value)}, ${p.reg(value)}, ${symbol.offset};`);
    return;
  }
  const inst = p.kernel.insts[value]!;
  if (inst.op === 'ptradd') p.line(`add.s64 ${p.reg(value)}, ${p.reg(inst.a)}, ${p.operand(inst.b)};`);
}

/** The generic address of a pointer, as host and functions of the system take it. */
export function genericAddress(p: Printer, pointer: Value): string {
  const made = p.temp('i64');
  const space = stateSpace(p, pointer);
  p.line(`cvta.${space}.u64 ${made}, ${p.reg(pointer)};`);
  return made;
}
