/**
 * Floating-point arithmetic. Halves use the instructions for halves; bfloats are computed in single precision and rounded, which is
 * exact for one operation, as single precision has more than twice their bits.
 * Source: LLVM Language Reference, "Floating-Point"; PTX ISA 9.0, 9.7.3 to 9.7.6.
 */
import type { BinaryOpcode, Instruction, InstructionOf, Predicate, Value } from '../../bitcode/index.ts';
import { refuse } from '../refused.ts';
import { type FunctionState, into } from '../state.ts';
import { containerBits, intPrefix, signExtended, truncated } from './integers.ts';

/** The name of a type of LLVM. */
export type FloatName = 'half' | 'bfloat' | 'float' | 'double';

const prefixes: Readonly<Record<FloatName, string>> = { half: 'rs', bfloat: 'rs', float: 'f', double: 'fd' };
const suffixes: Readonly<Record<FloatName, string>> = { half: 'f16', bfloat: 'bf16', float: 'f32', double: 'f64' };
/** The register prefix of a float. */
export const floatPrefix = (name: FloatName): string => prefixes[name];
/** Fast-math flags of the model. */
export const fastMath = { reciprocal: 16, contract: 32, approximate: 64 } as const;

/** `.ftz` where single-precision subnormals are flushed. */
export const flush = (s: FunctionState, ...names: FloatName[]): string => (s.flushes && names.includes('float') ? '.ftz' : '');

/** A bfloat as a float, exactly. */
export const widenedBfloat = (s: FunctionState, text: string): string =>
  into(s, 'f', 'mov.b32', `{${into(s, 'rs', 'mov.b16', 0)}, ${text}}`);
const narrowedBfloat = (s: FunctionState, text: string): string => into(s, 'rs', 'cvt.rn.bf16.f32', text);

/** Computes on bfloats as floats. */
function asFloats(s: FunctionState, operands: readonly string[], compute: (floats: readonly string[]) => string): string {
  return narrowedBfloat(s, compute(operands.map((each) => widenedBfloat(s, each))));
}

const words: Partial<Readonly<Record<BinaryOpcode, string>>> = { fadd: 'add.rn', fsub: 'sub.rn', fmul: 'mul.rn' };

/** A sum, difference, product or quotient. */
export function floatBinary(
  s: FunctionState,
  opcode: BinaryOpcode,
  name: FloatName,
  flags: number,
  [a, b]: readonly [string, string],
): string {
  if (name === 'bfloat') return asFloats(s, [a, b], ([x, y]) => floatBinary(s, opcode, 'float', flags, [x!, y!]));
  if (opcode === 'fdiv') return quotient(s, name, flags, a, b);
  const word = words[opcode] ?? refuse(`\`${opcode}\``);
  return into(s, prefixes[name], `${word}${flush(s, name)}.${suffixes[name]}`, a, b);
}

function quotient(s: FunctionState, name: FloatName, flags: number, a: string, b: string): string {
  if (name === 'half') {
    const single = into(s, 'f', 'div.rn.f32', into(s, 'f', 'cvt.f32.f16', a), into(s, 'f', 'cvt.f32.f16', b));
    return into(s, 'rs', 'cvt.rn.f16.f32', single);
  }
  if (name === 'double') return into(s, 'fd', 'div.rn.f64', a, b);
  const rounding = flags & fastMath.approximate ? 'full' : 'rn';
  return into(s, 'f', `div.${rounding}${flush(s, name)}.f32`, a, b);
}

/** a * b + c, rounded once. */
export function fusedProduct(s: FunctionState, name: FloatName, a: string, b: string, c: string): string {
  if (name === 'bfloat') return into(s, 'rs', 'fma.rn.bf16', a, b, c);
  return into(s, prefixes[name], `fma.rn${flush(s, name)}.${suffixes[name]}`, a, b, c);
}

export function negated(s: FunctionState, name: FloatName, a: string): string {
  if (name === 'bfloat' || name === 'half') return into(s, 'rs', 'xor.b16', a, '0x8000');
  return into(s, prefixes[name], `neg${flush(s, name)}.${suffixes[name]}`, a);
}

/** The magnitude. */
export function magnitude(s: FunctionState, name: FloatName, a: string): string {
  if (name === 'bfloat' || name === 'half') return into(s, 'rs', 'and.b16', a, '0x7fff');
  return into(s, prefixes[name], `abs${flush(s, name)}.${suffixes[name]}`, a);
}

/** The square root, correctly rounded unless the flags allow an approximation. */
export function squareRoot(s: FunctionState, name: FloatName, flags: number, a: string): string {
  if (name === 'bfloat') return asFloats(s, [a], ([x]) => squareRoot(s, 'float', flags, x!));
  if (name === 'half') return into(s, 'rs', 'cvt.rn.f16.f32', into(s, 'f', 'sqrt.rn.f32', into(s, 'f', 'cvt.f32.f16', a)));
  const rounding = name === 'float' && flags & fastMath.approximate ? 'approx' : 'rn';
  return into(s, prefixes[name], `sqrt.${rounding}${flush(s, name)}.${suffixes[name]}`, a);
}

/** An operation of one or two operands that has a form for each type; bfloats are computed as floats. */
export function floatOperation(s: FunctionState, word: string, name: FloatName, operands: readonly string[]): string {
  if (name === 'bfloat') return asFloats(s, operands, (floats) => floatOperation(s, word, 'float', floats));
  return into(s, prefixes[name], `${word}${flush(s, name)}.${suffixes[name]}`, ...operands);
}

/** The same through single precision where halves have no form. */
export function singleOperation(s: FunctionState, word: string, name: FloatName, operands: readonly string[]): string {
  if (name !== 'half') return floatOperation(s, word, name, operands);
  const floats = operands.map((each) => into(s, 'f', 'cvt.f32.f16', each));
  return into(s, 'rs', 'cvt.rn.f16.f32', floatOperation(s, word, 'float', floats));
}

const comparisons: Partial<Readonly<Record<Predicate, string>>> = {
  oeq: 'eq',
  ogt: 'gt',
  oge: 'ge',
  olt: 'lt',
  ole: 'le',
  one: 'ne',
  ord: 'num',
  uno: 'nan',
  ueq: 'equ',
  fugt: 'gtu',
  fuge: 'geu',
  fult: 'ltu',
  fule: 'leu',
  une: 'neu',
};

/** A comparison of floats. */
export function compareFloats(s: FunctionState, predicate: Predicate, name: FloatName, a: string, b: string): string {
  if (predicate === 'true' || predicate === 'false') return into(s, 'p', 'mov.pred', predicate === 'true' ? 1 : 0);
  const word = comparisons[predicate] ?? refuse(`fcmp ${predicate}`);
  const [type, x, y]: [FloatName, string, string] = name === 'bfloat' ? ['float', widenedBfloat(s, a), widenedBfloat(s, b)] : [name, a, b];
  return into(s, 'p', `setp.${word}${flush(s, type)}.${suffixes[type]}`, x, y);
}

// ── conversions ──

/** A float in another precision. */
export function convertedFloat(s: FunctionState, from: FloatName, to: FloatName, text: string): string {
  if (from === to) return text;
  if (from === 'bfloat') return convertedFloat(s, 'float', to, widenedBfloat(s, text));
  if (to === 'bfloat')
    return from === 'double'
      ? refuse('a double rounded to bfloat')
      : narrowedBfloat(s, from === 'half' ? convertedFloat(s, 'half', 'float', text) : text);
  const order: readonly FloatName[] = ['half', 'float', 'double'];
  const rounding = order.indexOf(to) < order.indexOf(from) ? '.rn' : '';
  return into(s, prefixes[to], `cvt${rounding}${flush(s, from, to)}.${suffixes[to]}.${suffixes[from]}`, text);
}

/** An integer of 1 to 64 bits towards zero; a float beyond its range has no result in LLVM. */
export function floatToInteger(s: FunctionState, from: FloatName, bits: number, isSigned: boolean, text: string): string {
  if (from === 'bfloat') return floatToInteger(s, 'float', bits, isSigned, widenedBfloat(s, text));
  const width = bits === 1 ? 16 : bits;
  const result = into(
    s,
    intPrefix(width),
    `cvt.rzi${flush(s, from)}.${isSigned ? 's' : 'u'}${containerBits(width)}.${suffixes[from]}`,
    text,
  );
  return bits === 1 ? into(s, 'p', 'setp.ne.u16', result, 0) : truncated(s, result, bits);
}

/** The float nearest to an integer of 1 to 64 bits. */
export function integerToFloat(s: FunctionState, to: FloatName, bits: number, isSigned: boolean, text: string): string {
  if (bits === 1) return integerToFloat(s, to, 16, isSigned, into(s, 'rs', 'selp.b16', isSigned ? -1 : 1, 0, text));
  // Integers of up to 24 bits are floats, so that rounding to bfloat is the only one.
  if (to === 'bfloat')
    return bits <= 24
      ? narrowedBfloat(s, integerToFloat(s, 'float', bits, isSigned, text))
      : refuse(`an integer of ${bits} bits rounded to bfloat`);
  const source = isSigned ? signExtended(s, text, bits) : text;
  const register = source.startsWith('%') ? source : into(s, intPrefix(bits), `mov.b${containerBits(bits)}`, source);
  return into(s, prefixes[to], `cvt.rn.${suffixes[to]}.${isSigned ? 's' : 'u'}${containerBits(bits)}`, register);
}

// ── contraction ──

/** A sum or difference with a product that is computed as one fused operation. */
export interface Contraction {
  readonly product: InstructionOf<'binary'>;
  readonly addend: Value;
  /** Signs of the product and of the addend. */
  readonly negatesProduct: boolean;
  readonly negatesAddend: boolean;
}

const isProduct = (value: Value): value is InstructionOf<'binary'> =>
  value.kind === 'instruction' && value.op === 'binary' && value.opcode === 'fmul' && (value.flags & fastMath.contract) !== 0;

/**
 * The contraction of an instruction, as LLVM's NVPTX target makes them: whenever both operations may be contracted. Of two products, the one
 * with fewer uses is fused.
 */
export function contractionOf(inst: Instruction, uses: ReadonlyMap<Value, number>): Contraction | undefined {
  if (inst.op !== 'binary' || (inst.opcode !== 'fadd' && inst.opcode !== 'fsub') || (inst.flags & fastMath.contract) === 0)
    return undefined;
  const { a, b } = inst;
  const isDifference = inst.opcode === 'fsub';
  const countOf = (value: Value): number => uses.get(value) ?? 0;
  const takesFirst = isProduct(a) && !(isProduct(b) && countOf(a) > countOf(b));
  if (takesFirst) return { product: a, addend: b, negatesProduct: false, negatesAddend: isDifference };
  return isProduct(b) ? { product: b, addend: a, negatesProduct: isDifference, negatesAddend: false } : undefined;
}
