/** Conversions. Source: PTX ISA 9.0, 9.7.9.21 (cvt) and 9.7.9.5 (mov). */
import type { Operand as Node } from '../ptx/index.ts';
import { toSingle } from './arithmetic.ts';
import { fail } from './fail.ts';
import { computed, type Handle, inRegister, moveType, nodeOf, settled } from './handle.ts';
import { integerNode, nameNode } from './nodes.ts';
import { isFloat, type TypeName, types } from './types.ts';

/** How a conversion rounds, and what it does with what the type cannot hold. */
export interface ConvertOptions {
  /**
   * `rn` (nearest, ties to even), `rz` (to zero), `rm` (down), `rp` (up). By default floats become integers to zero, as in C, and everything
   * else rounds to the nearest. bf16 has `rn` and `rz`. A value of the same
   * type does not change: `rint` and others round floats to whole numbers.
   */
  readonly round?: 'rn' | 'rz' | 'rm' | 'rp';
  /** Clamps integers to the range of the integer type, where they would wrap. Floats that become integers are clamped always. */
  readonly sat?: boolean;
  /** Flushes subnormal f32 to zero. */
  readonly ftz?: boolean;
}

/** A value as another type. */
export function convert(from: Handle, to: TypeName, options: ConvertOptions = {}): string {
  const { type } = from;
  const node = inRegister(type, from);
  if (type === to) return settled(from);
  if (options.sat && isFloat(to)) fail('CM5088', { what: '`sat`', why: `${to} has infinities: integers are clamped` });
  if (to === 'pred') return toTruth(type, node);
  if (type === 'pred') return ofTruth(to, node);
  if (to === 'bf16') return toBfloat(type, node, options);
  if (type === 'bf16') return convert({ ...from, type: 'f32', register: toSingle(type, node) }, to, options);
  return computed(to, `cvt${roundingOf(type, to, options)}${options.ftz ? '.ftz' : ''}${options.sat ? '.sat' : ''}.${to}.${type}`, [node]);
}

/** Types whose values f32 has, all of them. */
const exactInSingle: readonly TypeName[] = ['f32', 'f16', 'u8', 's8', 'b8', 'u16', 's16', 'b16'];

/** A value as a bfloat, to the nearest or to zero: from an f32, because conversions of other types need sm_90. */
function toBfloat(type: TypeName, node: Node, { round = 'rn', ftz = false }: ConvertOptions): string {
  if (round === 'rm' || round === 'rp') fail('CM5088', { what: `\`${round}\``, why: 'bf16 is rounded to the nearest or to zero' });
  if (ftz) fail('CM5088', { what: '`ftz`', why: 'conversions to bf16 keep subnormal values' });
  const single =
    type === 'f32'
      ? node
      : nameNode(
          exactInSingle.includes(type) ? computed('f32', `cvt${roundingOf(type, 'f32', {})}.f32.${type}`, [node]) : toOdd(type, node),
        );
  return computed('bf16', `cvt.${round}.bf16.f32`, [single]);
}

/**
 * An f32 that stands for a value with more bits: to zero, with its last bit set where that is not exact, so that rounding it once more is
 * rounding once.
 */
function toOdd(type: TypeName, node: Node): string {
  const single = nameNode(computed('f32', `cvt.rz.f32.${type}`, [node]));
  const back = computed(type, `cvt${isFloat(type) ? '' : '.rzi'}.${type}.f32`, [single]);
  const isOther = computed('pred', isFloat(type) ? `setp.neu.${type}` : `setp.ne.${type}`, [nameNode(back), node]);
  const bits = nameNode(computed('b32', 'mov.b32', [single]));
  const odd = nameNode(computed('b32', 'or.b32', [bits, integerNode(1)]));
  const chosen = computed('b32', 'selp.b32', [odd, bits, nameNode(isOther)]);
  return computed('f32', 'mov.b32', [nameNode(chosen)]);
}

const toTruth = (type: TypeName, node: Node): string =>
  computed('pred', isFloat(type) ? `setp.neu.${type}` : `setp.ne.${type}`, [node, nodeOf(type, 0)]);

function ofTruth(to: TypeName, node: Node): string {
  const { bits, kind } = types[to];
  const word = kind === 'float' && bits >= 32 ? to : `b${Math.max(16, bits)}`;
  return computed(to, `selp.${word}`, [nodeOf(to, 1), nodeOf(to, 0), node]);
}

function roundingOf(from: TypeName, to: TypeName, { round }: ConvertOptions): string {
  const [source, result] = [isFloat(from), isFloat(to)];
  if (source && !result) return `.${round ?? 'rz'}i`;
  if (result && (!source || types[from].bits > types[to].bits)) return `.${round ?? 'rn'}`;
  return '';
}

/** The bits of a value as another type of the same width. */
export function reinterpret(from: Handle, to: TypeName): string {
  const node = inRegister(from.type, from);
  if (types[from.type].register === types[to].register) return settled(from);
  return computed(to, `mov.b${types[to].bits}`, [node]);
}

/** A copy in a register of its own. */
export const copied = (type: TypeName, node: Node): string => computed(type, `mov.${moveType(type)}`, [node]);

/** One half of a pair: the low one is 0. */
export function halfOf(from: Handle, half: 0 | 1): string {
  const to: TypeName = from.type === 'bf16x2' ? 'bf16' : from.type === 'f16x2' ? 'f16' : 'u16';
  const node = inRegister(from.type, from);
  const word = half === 0 ? node : nameNode(computed('b32', 'shr.u32', [node, integerNode(16)]));
  return computed(to, 'cvt.u16.u32', [word]);
}

/** A whole float next to a float: to the nearest even, down, up, or to zero. */
export const integral = (from: Handle, round: 'rn' | 'rm' | 'rp' | 'rz'): string =>
  computed(from.type, `cvt.${round}i.${from.type}.${from.type}`, [inRegister(from.type, from)]);
