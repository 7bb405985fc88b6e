/** Conversions between types. Source: LLVM Language Reference, "Conversion Operations"; PTX ISA 9.0, 9.7.9.21 and 9.7.9.22. */
import type { InstructionOf, Type } from '../../bitcode/index.ts';
import { bitWidth, spell } from '../../bitcode/index.ts';
import { type Part, partsOf, registerBits } from '../layout.ts';
import { refuse } from '../refused.ts';
import { classOf, emit, type FunctionState, into, newRegister } from '../state.ts';
import { partsFor, registersFor } from '../values.ts';
import { convertedFloat, floatToInteger, integerToFloat } from './floats.ts';
import { containerBits, intPrefix, resized, truncated } from './integers.ts';
import { fromBits, toBits } from './memory.ts';

const elementOf = (type: Type): Type => (type.kind === 'vector' ? type.element : type);

/** A conversion, element by element; bitcasts move bits. */
export function selectCast(s: FunctionState, inst: InstructionOf<'cast'>): readonly string[] {
  const [from, to] = [inst.value.type, inst.type];
  if (inst.opcode === 'bitcast') return movedBits(s, from, to, registersFor(s, inst.value));
  const source = partsFor(s, inst.value);
  const count = from.kind === 'vector' ? from.count : 1;
  const each = source.length / count;
  return Array.from({ length: count }, (_, i) =>
    convert(s, inst.opcode, elementOf(from), elementOf(to), source.slice(i * each, (i + 1) * each)),
  ).flat();
}

function convert(
  s: FunctionState,
  opcode: InstructionOf<'cast'>['opcode'],
  from: Type,
  to: Type,
  source: readonly string[],
): readonly string[] {
  if (from.kind === 'pointer' || to.kind === 'pointer') return convertPointer(s, from, to, source[0]!);
  if (from.kind === 'int' && to.kind === 'int') return convertInteger(s, opcode, from.bits, to.bits, source);
  if (from.kind === 'float' && to.kind === 'float') return [convertedFloat(s, from.name, to.name, source[0]!)];
  const bits = from.kind === 'int' ? from.bits : to.kind === 'int' ? to.bits : 0;
  if (bits > 64) return refuse(`${opcode} of ${spell(from)} to ${spell(to)}`);
  if (from.kind === 'float') return [floatToInteger(s, from.name, bits, opcode === 'fptosi', source[0]!)];
  return to.kind === 'float' ? [integerToFloat(s, to.name, bits, opcode === 'sitofp', source[0]!)] : refuse(`${opcode} to ${spell(to)}`);
}

/** Integers as addresses, and the reverse; the address is generic or in the space of the pointer's type. */
function convertPointer(s: FunctionState, from: Type, to: Type, source: string): readonly string[] {
  const bits = from.kind === 'int' ? from.bits : to.kind === 'int' ? to.bits : 64;
  if (bits > 64) return refuse(`${spell(from)} to ${spell(to)}`);
  const register = source.startsWith('%') ? source : into(s, 'rd', 'mov.b64', source);
  return bits === 64
    ? [register]
    : convertInteger(s, from.kind === 'int' ? 'zext' : 'trunc', from.kind === 'int' ? bits : 64, from.kind === 'int' ? 64 : bits, [
        register,
      ]);
}

function convertInteger(s: FunctionState, opcode: string, from: number, to: number, source: readonly string[]): readonly string[] {
  const isSigned = opcode === 'sext';
  if (from > 64 || to > 64) return convertWide(s, isSigned, from, to, source);
  const [text] = source as [string];
  if (to === 1)
    return [into(s, 'p', `setp.ne.u${containerBits(from)}`, into(s, intPrefix(from), `and.b${containerBits(from)}`, text, 1), 0)];
  if (from === 1) {
    const yes = isSigned ? String((1n << BigInt(to)) - 1n) : '1';
    return [into(s, intPrefix(to), `selp.b${containerBits(to)}`, to === 64 && isSigned ? -1 : yes, 0, text)];
  }
  const register = text.startsWith('%') ? text : into(s, intPrefix(from), `mov.b${containerBits(from)}`, text);
  return [resized(s, register, from, to, isSigned)];
}

/** Limbs of 64 bits, the lowest first. */
function convertWide(s: FunctionState, isSigned: boolean, from: number, to: number, source: readonly string[]): readonly string[] {
  const count = Math.ceil(to / 64);
  const limbs = from > 64 ? [...source] : [convertInteger(s, isSigned ? 'sext' : 'zext', from, 64, source)[0]!];
  if (from === 64) limbs[0] = source[0]!;
  if (to <= 64) return to === 64 ? [limbs[0]!] : convertInteger(s, 'trunc', 64, to, [limbs[0]!]);
  if (isSigned && from % 64 !== 0 && from > 64) return refuse(`sext of an integer of ${from} bits`);
  const fill = isSigned && limbs.length < count ? into(s, 'rd', 'shr.s64', limbs[limbs.length - 1]!, 63) : into(s, 'rd', 'mov.b64', 0);
  while (limbs.length < count) limbs.push(fill);
  const last = to % 64;
  const kept = limbs.slice(0, count);
  return last === 0 ? kept : [...kept.slice(0, -1), truncated(s, kept[count - 1]!, last)];
}

/** The same bits as another type of the same width. */
function movedBits(s: FunctionState, from: Type, to: Type, source: readonly string[]): readonly string[] {
  const [a, b] = [partsOf(from), partsOf(to)].map((list) => list.map(({ part }) => part)) as [Part[], Part[]];
  const isAlike = a.length === b.length && a.every((part, i) => bitsOf(part) === bitsOf(b[i]!));
  if (isAlike) return source.map((text, i) => reinterpreted(s, text, a[i]!, b[i]!));
  if (bitWidth(from) !== bitWidth(to)) return refuse(`bitcast of ${spell(from)} to ${spell(to)}`);
  return repacked(s, a, b, source);
}

const bitsOf = (part: Part): number => (part.kind === 'int' ? part.bits : registerBits(part));

function reinterpreted(s: FunctionState, text: string, from: Part, to: Part): string {
  if (classOf(from) === classOf(to)) return text;
  return into(s, classOf(to), `mov.b${registerBits(to)}`, text);
}

/** Parts of other sizes: each is put together from the bits of those that it overlaps. */
function repacked(s: FunctionState, from: readonly Part[], to: readonly Part[], source: readonly string[]): readonly string[] {
  const whole = wholeRegisters(s, from, to, source);
  if (whole) return whole;
  let start = 0;
  const pieces = from.map((part, i) => {
    const at = start;
    start += bitsOf(part);
    return { at, bits: bitsOf(part), text: toBits(s, source[i]!, part) };
  });
  let first = 0;
  return to.map((part) => {
    const at = first;
    const bits = bitsOf(part);
    first += bits;
    const overlapping = pieces.filter((piece) => piece.at < at + bits && piece.at + piece.bits > at);
    const width = Math.max(bits, 2);
    const moved = overlapping.map((piece) => movedPiece(s, piece, at, width));
    const joined = moved.reduce((all, each) => into(s, intPrefix(width), `or.b${containerBits(width)}`, all, each));
    return fromBits(s, truncated(s, joined, width), bits / 8, part);
  });
}

/** The bits of a piece that a value of `bits` bits at the bit `at` has, at their place there. */
function movedPiece(s: FunctionState, piece: { at: number; bits: number; text: string }, at: number, bits: number): string {
  const right = Math.max(0, at - piece.at);
  const left = Math.max(0, piece.at - at);
  const own = Math.max(piece.bits, 2);
  const cut = right === 0 ? piece.text : into(s, intPrefix(own), `shr.u${containerBits(own)}`, piece.text, right);
  const wide = resized(s, cut, containerBits(own), containerBits(bits));
  return left === 0 ? wide : into(s, intPrefix(bits), `shl.b${containerBits(bits)}`, wide, left);
}

/** Two or four registers as one, and the reverse, which `mov` does; undefined for other shapes. */
function wholeRegisters(s: FunctionState, from: readonly Part[], to: readonly Part[], source: readonly string[]): string[] | undefined {
  const [few, many] = from.length < to.length ? [from, to] : [to, from];
  const ratio = many.length / few.length;
  const isRegular =
    (ratio === 2 || ratio === 4) &&
    few.every((part) => bitsOf(part) === bitsOf(few[0]!) && [32, 64].includes(bitsOf(part))) &&
    many.every((part) => bitsOf(part) === bitsOf(few[0]!) / ratio && bitsOf(part) >= 16);
  if (!isRegular) return undefined;
  const bits = bitsOf(few[0]!);
  if (from.length > to.length)
    return to.map((part, i) => into(s, classOf(part), `mov.b${bits}`, `{${source.slice(i * ratio, (i + 1) * ratio).join(', ')}}`));
  return from.flatMap((_, i) => {
    const registers = to.slice(i * ratio, (i + 1) * ratio).map((part) => newRegister(s, classOf(part)));
    emit(s, `mov.b${bits} {${registers.join(', ')}}, ${source[i]}`);
    return registers;
  });
}
