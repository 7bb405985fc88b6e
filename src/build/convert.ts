/** Conversions. Source: PTX ISA 9.0, 9.7.9.21 (cvt) and 9.7.9.5 (mov). */
import { fromSingle, toSingle } from './arithmetic.ts';
import { computed, type Handle, inRegister, moveType, nodeOf, settled } from './handle.ts';
import { integerNode, nameNode } from './nodes.ts';
import { isFloat, type TypeName, types } from './types.ts';

/** How a conversion rounds, and what it does with what the type cannot hold. */
export interface ConvertOptions {
  /**
   * `rn` (nearest, ties to even), `rz` (to zero), `rm` (down), `rp` (up). By default floats become integers to zero, as in C, and everything
   * else rounds to the nearest.
   */
  readonly round?: 'rn' | 'rz' | 'rm' | 'rp';
  /** Clamps integers to the range of the type, where they would wrap. Floats that become integers are clamped always. */
  readonly sat?: boolean;
  /** Flushes subnormal f32 to zero. */
  readonly ftz?: boolean;
}

/** A value as another type. */
export function convert(from: Handle, to: TypeName, options: ConvertOptions = {}): string {
  const { type } = from;
  const node = inRegister(type, from);
  if (type === to && !options.round) return settled(from);
  if (to === 'pred') return toTruth(type, node);
  if (type === 'pred') return ofTruth(to, node);
  if (type === 'bf16') return convertSingle(toSingle(type, node), to, options);
  if (to === 'bf16') {
    const single = type === 'f32' ? undefined : computed('f32', 'cvt.f32.f16', [node]);
    return computed(to, `cvt.${options.round === 'rz' ? 'rz' : 'rn'}.bf16.f32`, [single === undefined ? node : nameNode(single)]);
  }
  return computed(to, `cvt${roundingOf(type, to, options)}${options.ftz ? '.ftz' : ''}${options.sat ? '.sat' : ''}.${to}.${type}`, [node]);
}

/** An f32 as another type. */
const convertSingle = (register: string, to: TypeName, options: ConvertOptions): string => {
  if (to === 'f32') return register;
  if (to === 'bf16') return fromSingle(to, register);
  return computed(to, `cvt${roundingOf('f32', to, options)}${options.sat ? '.sat' : ''}.${to}.f32`, [nameNode(register)]);
};

const toTruth = (type: TypeName, node: ReturnType<typeof nodeOf>): string =>
  computed('pred', isFloat(type) ? `setp.neu.${type}` : `setp.ne.${type}`, [node, nodeOf(type, 0)]);

function ofTruth(to: TypeName, node: ReturnType<typeof nodeOf>): string {
  const { bits, kind } = types[to];
  const word = kind === 'float' && bits >= 32 ? to : `b${Math.max(16, bits)}`;
  return computed(to, `selp.${word}`, [nodeOf(to, 1), nodeOf(to, 0), node]);
}

function roundingOf(from: TypeName, to: TypeName, { round }: ConvertOptions): string {
  const [source, result] = [isFloat(from), isFloat(to)];
  if (source && !result) return `.${round ?? 'rz'}i`;
  if (source && from === to) return `.${round ?? 'rn'}i`;
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
export const copied = (type: TypeName, node: ReturnType<typeof nodeOf>): string => computed(type, `mov.${moveType(type)}`, [node]);

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
