/** Types, constants and what a backend does exactly, in WGSL. */
import { bitsOf, elementOf, isPointer, isVector, lanesOf, type ScalarType, type Type } from '../../ir/index.ts';
import { atom, type Expression, made, operators, strength } from '../expression.ts';
import { decimal, integer } from '../rules.ts';
import type { Store } from './helpers/memory.ts';

/** What a backend computes exactly; WGSL promises none of it. */
export interface Exactness {
  /** Subnormal f32 are no zeros, and comparisons with a NaN are false. */
  readonly subnormals: boolean;
  /** A product and a sum are rounded each for itself. */
  readonly separate: boolean;
  /** `fma` has one rounding. */
  readonly fused: boolean;
  /** `fma` has one rounding where no operand is subnormal and the result is not near one. */
  readonly fusedNormal: boolean;
  /** Quotients and square roots of f32 are correctly rounded. */
  readonly division: boolean;
  /** Whether the functions of the language may stand for the approximate ones. */
  readonly approximate: boolean;
}

/** Nothing is taken for granted. */
export const portable: Exactness = {
  subnormals: false,
  separate: false,
  fused: false,
  fusedNormal: false,
  division: false,
  approximate: false,
};
/** `--fp fast`: the language as it is. */
export const fast: Exactness = { subnormals: true, separate: true, fused: true, fusedNormal: true, division: true, approximate: true };

/** The state while a kernel is printed. */
export interface WgslState {
  readonly exact: Exactness;
  /** By space of an access: its memory. Parameters by value and constants are not written. */
  readonly stores: Readonly<Record<'global' | 'shared' | 'local' | 'param' | 'constant', Store>>;
  /** Whether local memory starts at `local_start`, because an invocation runs several threads. */
  readonly hasLocalStart: boolean;
  /** By parameter: where it is in the words of the launch, in bytes. */
  readonly offsets: readonly number[];
}

const names: Readonly<Record<ScalarType, string>> = {
  i1: 'bool',
  i8: 'u32',
  i16: 'u32',
  i32: 'u32',
  i64: 'u64',
  f16: 'u32',
  bf16: 'u32',
  f32: 'f32',
  f64: 'u64',
};

/** The type of a value's variable. Two numbers of 64 bits are four words. */
export function typeName(type: Type): string {
  if (isPointer(type)) return 'u64';
  if (!isVector(type)) return type === 'void' ? 'void' : names[type];
  const element = names[elementOf(type)];
  return element === 'u64' ? 'vec4<u32>' : `vec${lanesOf(type)}<${element}>`;
}

/** Types of 64 bits: pairs of words. */
export const isWide = (type: Type): boolean => isPointer(type) || (!isVector(type) && type !== 'void' && bitsOf(type) === 64);

/** `name(a, b)`; a comparison as an argument is in parentheses, since `<` and `>` enclose template arguments as well. */
export function call(name: string, ...parts: Expression[]): Expression {
  const text = parts.map((part) => (part.strength === strength.less ? `(${part.text})` : part.text)).join(', ');
  return made(`${name}(${text})`, strength.primary, parts);
}

const chains = new Set(['+', '*', '&', '|', '^', '&&', '||']);
/** `a operator b`, with the parentheses that the grammar demands: operators of different kinds do not mix, but for sums of products and comparisons of sums. */
export function infix(operator: string, a: Expression, b: Expression): Expression {
  const own = operators[operator]!;
  const isPlain = own === strength.product || own === strength.sum;
  const isComparison = own === strength.less || own === strength.equal;
  const fits = (part: Expression, isLeft: boolean): boolean => {
    if (part.strength >= strength.unary) return true;
    if (isLeft && part.strength === own && (chains.has(operator) || isPlain)) return isPlain || part.text.includes(` ${operator} `);
    if (isComparison) return part.strength === strength.sum || part.strength === strength.product;
    return isPlain && part.strength > own;
  };
  const text = (part: Expression, isLeft: boolean): string => (fits(part, isLeft) ? part.text : `(${part.text})`);
  return made(`${text(a, true)} ${operator} ${text(b, false)}`, own, [a, b]);
}

/** A part of a vector. */
export const part = (a: Expression, name: string): Expression =>
  made(`${a.strength < strength.primary ? `(${a.text})` : a.text}.${name}`, strength.primary, [a]);

export const word = (bits: bigint): Expression => atom(integer(bits, 'u'));

/** A constant. */
export function constant(type: ScalarType, bits: bigint): Expression {
  if (type === 'i1') return atom(bits === 1n ? 'true' : 'false');
  if (names[type] === 'u64') return atom(bits === 0n ? 'u64()' : `u64(${integer(bits & 0xffff_ffffn, 'u')}, ${integer(bits >> 32n, 'u')})`);
  if (type !== 'f32') return word(bits);
  const text = decimal(type, bits);
  const isSubnormal = (bits & 0x7f80_0000n) === 0n && (bits & 0x7fff_ffffn) !== 0n;
  if (text === undefined || isSubnormal || bits === 0x8000_0000n) return atom(`f32_of(${integer(bits, 'u')})`);
  // A short number may be above the largest float that it stands for.
  const isLarge = (bits & 0x7f80_0000n) >= 0x7f00_0000n;
  if (isLarge) return { ...atom(`bitcast<f32>(${integer(bits, 'u')})`), strength: strength.primary };
  return { ...atom(`${text}f`), strength: text.startsWith('-') ? strength.unary : strength.primary };
}

/** Reserved words of WGSL, its functions and types, and names that the text has itself. */
export const words =
  `NULL Self abstract active alignas alignof as asm asm_fragment async attribute auto await become binding_array cast catch
class co_await co_return co_yield coherent column_major common compile compile_fragment concept const_cast consteval constexpr constinit crate
debugger decltype delete demote demote_to_helper do dynamic_cast enum explicit export extends extern external fallthrough filter final finally
friend from fxgroup get goto groupshared highp impl implements import inline instanceof interface layout lowp macro macro_rules match mediump meta
mod module move mut mutable namespace new nil noexcept noinline nointerpolation non_coherent noncoherent noperspective null nullptr of operator
package packoffset partition pass patch pixelfragment precise precision premerge priv protected pub public readonly ref regardless register
reinterpret_cast require resource restrict self set shared sizeof smooth snorm static static_assert static_cast std subroutine super target
template this thread_local throw trait try type typedef typeid typename typeof union unless unorm unsafe unsized use using varying virtual volatile
wgsl where with writeonly yield alias break case const const_assert continue continuing default diagnostic discard else enable false fn for if let
loop override requires return struct switch true var while bool f16 f32 i32 u32 u64 array atomic ptr sampler vec2 vec3 vec4 vec2u vec3u vec4u
vec2f vec3f vec4f vec2i vec3i vec4i mat2x2 bitcast all any select arrayLength abs acos acosh asin asinh atan atanh atan2 ceil clamp cos cosh
countLeadingZeros countOneBits countTrailingZeros cross degrees determinant distance dot exp exp2 extractBits faceForward firstLeadingBit
firstTrailingBit floor fma fract frexp insertBits inverseSqrt ldexp length log log2 max min mix modf normalize pow quantizeToF16 radians reflect
refract reverseBits round saturate sign sin sinh smoothstep sqrt step tan tanh transpose trunc atomicLoad atomicStore atomicAdd storageBarrier
workgroupBarrier workgroupUniformLoad arena arena_words launch constants block_x block_y block_z block_threads shared_words thread_number tid group
states cells masks kinds progress progress_now progress_of_round index part group_threads saved local_start lowest other third isMet named mask isComplete state round warp_first warp_last is_met is_complete
block_barrier two_over_pi turn_word angle circle parts product rounded jam rank sign_rank fused_bits divided size_of flushed separate`.split(
    /\s+/,
  );
