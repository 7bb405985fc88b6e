/**
 * Shifts of all lanes by one count modulo the bits of a lane. Processors have them for lanes of 16 bits and more, by a constant or by the lowest 64 bits of a
 * vector register. Bytes are shifted as lanes of 16 bits, and the bits that came from the other byte are masked.
 */
import type { Register } from '../../machine/types.ts';
import type { Inst, Value } from '../../ssa/types.ts';
import { general, immediate, vector } from '../../x64/types.ts';
import type { Rule, Selection } from '../types.ts';
import { logic } from './logic.ts';
import {
  bytesPattern,
  constantRegister,
  copyTo,
  custom,
  lanesOf,
  ones,
  type Pattern,
  resultOf,
  type Source,
  step,
  stepTo,
  type Width,
  widthOf,
} from './steps.ts';

type Lane = 1 | 2 | 4 | 8;
interface Shift {
  readonly lane: Lane;
  readonly op: 'shl' | 'shr_s' | 'shr_u';
}

const suffix = { 1: 'w', 2: 'w', 4: 'd', 8: 'q' } as const;
const kinds = { shl: 'vpsll', shr_s: 'vpsra', shr_u: 'vpsrl' } as const;
const mnemonicOf = (op: Shift['op'], lane: Lane): string => kinds[op] + suffix[lane];

/** The shift that an operation is. */
function shiftOf(name: string): Shift {
  const [, bits, op] = /^i(\d+)x\d+\.(shl|shr_[su])$/.exec(name)!;
  return { lane: (Number(bits) / 8) as Lane, op: op as Shift['op'] };
}

/** How far a shift goes: a number, or the register of a vector that has it. */
type By = { readonly constant: number } | { readonly register: Register };

/** The count of a shift, modulo the bits of a lane. */
function countOf(s: Selection, value: Value, lane: Lane): By {
  const bits = 8 * lane - 1;
  const constant = s.constant(value);
  if (constant !== undefined) return { constant: Number(constant & BigInt(bits)) };
  const inst = s.definition(value);
  const masks = inst?.op === 'i32.and' ? inst.args.map((arg) => s.constant(arg)) : [];
  const isMasked = masks.some((each) => each !== undefined && each <= BigInt(bits));
  const register = s.fresh('vector', 16);
  if (isMasked)
    custom(s, { def: register, uses: [s.register(value)] }, (out, { def, uses }) => out.emit('vmovd', vector(def), general(uses[0]!, 4)));
  else
    custom(s, { def: register, uses: [s.register(value)], temps: ['general'] }, (out, { def, uses, temps }) => {
      const count = general(temps[0]!, 4);
      out.emit('mov', count, general(uses[0]!, 4));
      out.emit('and', count, immediate(bits));
      out.emit('vmovd', vector(def), count);
    });
  return { register };
}

/** Shifts lanes that processors shift. */
function shiftTo(s: Selection, to: Register, shift: Shift, bytes: Width, source: Register | Pattern, by: By): void {
  const mnemonic = mnemonicOf(shift.op, shift.lane);
  if ('constant' in by) return stepTo(s, to, mnemonic, bytes, [source], { immediate: by.constant });
  const value = typeof source === 'object' ? constantRegister(s, bytes, source) : source;
  custom(s, { def: to, uses: [value, by.register] }, (out, { def, uses }) =>
    out.emit(mnemonic, vector(def, bytes), vector(uses[0]!, bytes), vector(uses[1]!)),
  );
}

function shifted(s: Selection, shift: Shift, bytes: Width, source: Register | Pattern, by: By): Register {
  const to = s.fresh('vector', bytes);
  shiftTo(s, to, shift, bytes, source, by);
  return to;
}

/** Extends the sign of values that a logical shift moved right: their sign is where `sign` has a 1. */
function extendSign(s: Selection, to: Register, lane: 1 | 8, bytes: Width, value: Register, sign: Source): void {
  const flipped = step(s, logic(s, 'xor'), bytes, [value, sign]);
  stepTo(s, to, lane === 1 ? 'vpsubb' : 'vpsubq', bytes, [flipped, sign]);
}

/** The bits of a byte that a shift leaves, in each byte. */
function keptBits(s: Selection, op: 'shl' | 'shr_u', bytes: Width, by: By): Source {
  if ('constant' in by) return bytesPattern(op === 'shl' ? (0xff << by.constant) & 0xff : 0xff >> by.constant);
  // The low byte of a word of ones that was shifted left has the mask; the high byte, if it was shifted right.
  const words = shifted(s, { lane: 2, op }, 16, ones, by);
  const low = op === 'shl' ? words : step(s, 'vpsrlw', 16, [words], { immediate: 8 });
  return step(s, 'vpbroadcastb', bytes, [low], { from: 16 });
}

function shiftBytes(s: Selection, inst: Inst, { op }: Shift, bytes: Width, by: By): void {
  const to = resultOf(s, inst);
  const direction = op === 'shl' ? 'shl' : 'shr_u';
  const moved = shifted(s, { lane: 1, op: direction }, bytes, s.register(inst.args[0]!), by);
  const kept = keptBits(s, direction, bytes, by);
  if (op !== 'shr_s') return stepTo(s, to, logic(s, 'and'), bytes, [moved, kept]);
  const clean = step(s, logic(s, 'and'), bytes, [moved, kept]);
  const sign = 'constant' in by ? bytesPattern(0x80 >> by.constant) : shifted(s, { lane: 2, op: 'shr_u' }, bytes, bytesPattern(0x80), by);
  extendSign(s, to, 1, bytes, clean, sign);
}

/** AVX2 has no arithmetic shift of 64 bits. */
function shiftSigned64(s: Selection, inst: Inst, bytes: Width, by: By): void {
  const signBit = lanesOf(1n << 63n, 8);
  const moved = shifted(s, { lane: 8, op: 'shr_u' }, bytes, s.register(inst.args[0]!), by);
  const sign = 'constant' in by ? lanesOf(1n << BigInt(63 - by.constant), 8) : shifted(s, { lane: 8, op: 'shr_u' }, bytes, signBit, by);
  extendSign(s, resultOf(s, inst), 8, bytes, moved, sign);
}

/** Every shift. */
export const shift: Rule = (s, inst) => {
  const wanted = shiftOf(inst.op);
  const bytes = widthOf(s, inst.result!);
  const by = countOf(s, inst.args[1]!, wanted.lane);
  if ('constant' in by && by.constant === 0) return copyTo(s, resultOf(s, inst), bytes, s.register(inst.args[0]!));
  if (wanted.lane === 1) return shiftBytes(s, inst, wanted, bytes, by);
  if (wanted.lane === 8 && wanted.op === 'shr_s' && !s.features.avx512) return shiftSigned64(s, inst, bytes, by);
  shiftTo(s, resultOf(s, inst), wanted, bytes, s.register(inst.args[0]!), by);
};
