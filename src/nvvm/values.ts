/** Operands: the registers and constants of values, and addresses. */
import type { Constant, GlobalVariable, Function as LlvmFunction, Value } from '../bitcode/index.ts';
import { spell } from '../bitcode/index.ts';
import { elementOf, offsetOf, type Part, partsOf, registerBits, sizeOf } from './layout.ts';
import { refuse } from './refused.ts';
import { spaceNumbers, spaceWords } from './spaces.ts';
import { type FunctionState, into, type ModuleState, type Place } from './state.ts';

/** The operands of a value's parts: registers, or numbers where an instruction takes them. A pointer is generic unless its type names a space. */
export function partsFor(s: FunctionState, value: Value): readonly string[] {
  if (value.type.kind === 'pointer') return [pointerFor(s, value)];
  const known = s.parts.get(value);
  if (known) return known;
  if (value.kind === 'instruction' || value.kind === 'argument') return refuse('a use of a value before its definition');
  return constantParts(s, value);
}

/** The only part of a value. */
export const operand = (s: FunctionState, value: Value): string =>
  partsFor(s, value)[0] ?? refuse(`an operand of type ${spell(value.type)}`);

/** The parts in registers, for instructions that take no numbers. */
export function registersFor(s: FunctionState, value: Value): readonly string[] {
  const placed = partsOf(value.type);
  return partsFor(s, value).map((text, i) => inRegister(s, text, placed[i]!.part));
}

/** A part in a register. */
export function inRegister(s: FunctionState, text: string, part: Part): string {
  if (text.startsWith('%')) return text;
  if (part.kind === 'float' && (part.name === 'float' || part.name === 'double'))
    return into(s, part.name === 'float' ? 'f' : 'fd', part.name === 'float' ? 'mov.f32' : 'mov.f64', text);
  const bits = registerBits(part);
  return into(s, bits === 16 ? 'rs' : bits === 32 ? 'r' : 'rd', `mov.b${bits}`, text);
}

// ── constants ──

/** The operands of a constant's parts. */
function constantParts(s: FunctionState, value: Constant): readonly string[] {
  if (value.kind !== 'constant') return refuse('the value of a symbol');
  switch (value.form) {
    case 'int':
      return intTexts(s, value.value, value.type.bits);
    case 'float':
      return [floatText(s, value.type.name, value.bits)];
    case 'null':
    case 'undef':
    case 'poison':
      return partsOf(value.type).map(({ part }) => zeroText(s, part));
    case 'aggregate':
      return value.elements.flatMap((element) => partsFor(s, element));
    case 'cast':
      if (value.opcode === 'ptrtoint') return [truncatedAddress(s, pointerFor(s, value.value), value.type)];
      return value.opcode === 'bitcast' ? partsFor(s, value.value) : refuse(`a constant ${value.opcode}`);
    case 'binary':
      return [constantBinary(s, value)];
    default:
      return refuse(`a constant of form ${value.form}`);
  }
}

function truncatedAddress(s: FunctionState, address: string, type: Value['type']): string {
  if (type.kind !== 'int') return refuse(`an address as ${spell(type)}`);
  if (type.bits === 64) return address;
  return type.bits === 32 ? into(s, 'r', 'cvt.u32.u64', address) : refuse(`an address of ${type.bits} bits`);
}

const constantMnemonics: Readonly<Record<string, string>> = {
  add: 'add.s64',
  sub: 'sub.s64',
  and: 'and.b64',
  or: 'or.b64',
  xor: 'xor.b64',
};

function constantBinary(s: FunctionState, value: Extract<Constant, { form: 'binary' }>): string {
  const mnemonic = constantMnemonics[value.opcode];
  const { type } = value;
  if (!mnemonic || type.kind !== 'int' || type.bits !== 64) return refuse(`a constant ${value.opcode}`);
  return into(s, 'rd', mnemonic, operand(s, value.a), operand(s, value.b));
}

function zeroText(s: FunctionState, part: Part): string {
  if (part.kind === 'float') return floatText(s, part.name, 0n);
  return part.kind === 'int' && part.bits === 1 ? into(s, 'p', 'mov.pred', 0) : '0';
}

/** Integers below the width of their register are zero-extended there, at all times. */
function intTexts(s: FunctionState, value: bigint, bits: number): string[] {
  if (bits === 1) return [into(s, 'p', 'mov.pred', value === 0n ? 0 : 1)];
  if (bits <= 64) return [String(bits === 32 || bits === 64 ? BigInt.asIntN(bits, value) : value)];
  return Array.from({ length: Math.ceil(bits / 64) }, (_, i) => String(BigInt.asIntN(64, value >> BigInt(64 * i))));
}

const hex = (bits: bigint, digits: number): string => bits.toString(16).padStart(digits, '0');

function floatText(s: FunctionState, name: 'half' | 'bfloat' | 'float' | 'double', bits: bigint): string {
  if (name === 'float') return `0f${hex(bits, 8)}`;
  return name === 'double' ? `0d${hex(bits, 16)}` : into(s, 'rs', 'mov.b16', `0x${hex(bits, 4)}`);
}

// ── addresses ──

/** Where a pointer points. */
export function placeOf(s: FunctionState, value: Value): Place {
  const known = s.places.get(value);
  if (known) return known;
  const parts = s.parts.get(value);
  if (parts) return { base: parts[0]!, offset: 0, space: s.spaces.of(value) };
  if (value.kind === 'instruction' || value.kind === 'argument') return refuse('a use of an address before its definition');
  return constantPlace(s.module, value) ?? computedPlace(s, value);
}

function computedPlace(s: FunctionState, value: Constant): Place {
  if (value.kind === 'constant' && value.form === 'cast' && value.opcode === 'inttoptr')
    return { base: operand(s, value.value), offset: 0, space: spaceNumbers.generic };
  return refuse('a constant address');
}

/** The place of a constant address: a symbol and an offset, or a number; undefined for others. */
export function constantPlace(module: ModuleState, value: Constant): Place | undefined {
  // A weak variable without a definition is at 0, since nothing is linked later.
  if (value.kind === 'global' && isMissing(value)) return { base: '0', offset: 0, space: value.type.space };
  if (value.kind === 'global') return { base: nameOf(module, value), offset: 0, space: spaceOfGlobal(value) };
  if (value.kind === 'function') return { base: nameOf(module, value), offset: 0, space: spaceNumbers.generic };
  switch (value.form) {
    case 'null':
    case 'undef':
    case 'poison':
      return { base: '0', offset: 0, space: value.type.kind === 'pointer' ? value.type.space : 0 };
    case 'cast': {
      if (value.opcode === 'inttoptr' && value.value.kind === 'constant' && value.value.form === 'int')
        return { base: String(value.value.value), offset: 0, space: spaceNumbers.generic };
      return value.opcode === 'addrspacecast' || value.opcode === 'bitcast' ? constantPlace(module, value.value) : undefined;
    }
    case 'gep': {
      const base = constantPlace(module, value.base);
      const by = constantOffset(value.sourceType, value.indices);
      return base && by !== undefined ? { ...base, offset: base.offset + by } : undefined;
    }
    default:
      return undefined;
  }
}

/** Whether a variable is weak and has no definition. */
export const isMissing = ({ linkage, init }: GlobalVariable): boolean => linkage === 'extern_weak' && init === undefined;

/** Variables without a space of their own are in global memory. */
export const spaceOfGlobal = ({ type }: GlobalVariable): number => (type.space === 0 ? spaceNumbers.global : type.space);

export const nameOf = (module: ModuleState, symbol: GlobalVariable | LlvmFunction): string =>
  module.names.get(symbol) ?? refuse(`the symbol ${symbol.name}`);

/** The offset of constant indices in bytes; undefined if one is not constant. */
export function constantOffset(sourceType: Value['type'], indices: readonly Value[]): number | undefined {
  let offset = 0;
  let type = sourceType;
  for (const [i, index] of indices.entries()) {
    if (index.kind !== 'constant' || index.form !== 'int') return undefined;
    const n = Number(BigInt.asIntN(index.type.bits, index.value));
    if (i === 0) offset += n * sizeOf(type);
    else {
      offset += type.kind === 'struct' ? offsetOf(type, n) : n * sizeOf(elementOf(type, 0));
      type = elementOf(type, type.kind === 'struct' ? n : 0);
    }
  }
  return Number.isSafeInteger(offset) ? offset : undefined;
}

/** A place as the operand of an access. Offsets of PTX have 32 bits. */
export function addressText(s: FunctionState, at: Place, offset = 0): string {
  const by = at.offset + offset;
  if (Math.abs(by) >= 2 ** 31) return `[${materialize(s, { ...at, offset: by })}]`;
  return by === 0 ? `[${at.base}]` : `[${at.base}+${by}]`;
}

const isRegisterOrNumber = (base: string): boolean => /^[%\d-]/.test(base);

/** The address as a register of its own space. */
export function materialize(s: FunctionState, at: Place): string {
  const base = isRegisterOrNumber(at.base) ? at.base : into(s, 'rd', 'mov.u64', at.base);
  if (at.offset !== 0) return into(s, 'rd', 'add.s64', base.startsWith('%') ? base : into(s, 'rd', 'mov.b64', base), at.offset);
  return base;
}

/** The address as a generic one. */
export function genericAddress(s: FunctionState, at: Place): string {
  const own = materialize(s, at);
  if (at.space === spaceNumbers.generic || !own.startsWith('%')) return own;
  return into(s, 'rd', `cvta${spaceWords[at.space] ?? refuse(`state space ${at.space}`)}.u64`, own);
}

/** The register of a pointer: generic, unless its type names a space. */
export function pointerFor(s: FunctionState, value: Value): string {
  const at = placeOf(s, value);
  const named = value.type.kind === 'pointer' ? value.type.space : 0;
  return named === 0 ? genericAddress(s, at) : addressIn(s, at, named);
}

/** The address in a space. */
export function addressIn(s: FunctionState, at: Place, space: number): string {
  if (at.space === space) return materialize(s, at);
  if (space === spaceNumbers.generic) return genericAddress(s, at);
  const generic = genericAddress(s, at);
  // The null pointer of every space is 0 in LLVM's IR.
  if (!generic.startsWith('%')) return generic;
  return into(s, 'rd', `cvta.to${spaceWords[space] ?? refuse(`state space ${space}`)}.u64`, generic);
}

/** The type of a move or a selection of a part. */
export function moveType(part: Part): string {
  if (part.kind === 'float' && part.name === 'float') return 'f32';
  if (part.kind === 'float' && part.name === 'double') return 'f64';
  const bits = registerBits(part);
  return bits === 1 ? 'pred' : `b${bits}`;
}
