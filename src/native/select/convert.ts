/** Conversions between integers and floats. */
import type { Places } from '../machine/types.ts';
import type { Inst } from '../ssa/types.ts';
import { type Assembler, general, immediate, type Label, vector } from '../x64/types.ts';
import { bytesOfBits, scalarOf, unaryFloat } from './float.ts';
import { generalUse, vectorUse } from './operands.ts';
import type { Rule, Selection } from './types.ts';

type Float = 'f32' | 'f64';

const floatBytes = { f32: 4, f64: 8 } as const;

/** The bits of 2^63. */
const twoTo63 = { f32: 0x5f00_0000n, f64: 0x43e0_0000_0000_0000n } as const;

const floatConstant = (out: Assembler, type: Float, bits: bigint) => out.constant(bytesOfBits(bits, floatBytes[type]));

/** Sets the flags by a comparison of use number 0 with 0. */
const compareWithZero = (out: Assembler, places: Places, type: Float): void =>
  out.emit(`vucomi${scalarOf(type)}`, vectorUse(places, 0), floatConstant(out, type, 0n));

/**
 * An integer of `from` bytes as a float, by the signed conversion. A u32 is one of 8 bytes, because its upper half is 0. The result's register is
 * cleared before, as the conversion keeps its upper lanes and would wait for them.
 */
const fromSigned =
  (to: Float, from: 4 | 8): Rule =>
  (s, inst) => {
    s.add({
      def: s.register(inst.result!),
      uses: [s.register(inst.args[0]!)],
      emit(out, places) {
        clear(out, places.def);
        out.emit(`vcvtsi2${scalarOf(to)}`, vector(places.def), vector(places.def), generalUse(places, 0, from));
      },
    });
  };

const clear = (out: Assembler, register: number): void => out.emit('vxorps', vector(register), vector(register), vector(register));

/** A u64 as a float. Without AVX-512, half of a large one is converted, with the lost bit kept for the rounding, and doubled. */
const fromU64 =
  (to: Float): Rule =>
  (s, inst) => {
    const scalar = scalarOf(to);
    const isDirect = s.features.avx512;
    s.add({
      def: s.register(inst.result!),
      uses: [s.register(inst.args[0]!)],
      temps: isDirect ? [] : ['general', 'general'],
      emit(out, places) {
        const result = vector(places.def);
        const from = generalUse(places, 0, 8);
        clear(out, places.def);
        if (isDirect) return out.emit(`vcvtusi2${scalar}`, result, result, from);
        const [half, bit] = [places.temps[0]!, places.temps[1]!];
        const [large, done] = [out.newLabel(), out.newLabel()];
        out.emit('test', from, from);
        out.jumpIf('s', large);
        out.emit(`vcvtsi2${scalar}`, result, result, from);
        out.jump(done);
        out.bind(large);
        out.emit('mov', general(half), from);
        out.emit('mov', general(bit, 4), general(places.uses[0]!, 4));
        out.emit('shr', general(half), immediate(1));
        out.emit('and', general(bit, 4), immediate(1));
        out.emit('or', general(half), general(bit));
        out.emit(`vcvtsi2${scalar}`, result, result, general(half));
        out.emit(`vadd${scalar}`, result, result, result);
        out.bind(done);
      },
    });
  };

/** What is done where the float is out of range: the jump to a trap, or code that sets the result and goes on. */
interface Conversion {
  readonly from: Float;
  readonly isSigned: boolean;
  readonly trap: Label | undefined;
}

const least64 = 1n << 63n;

/** A float as an integer of 32 bits: as one of 64 bits, which has to be that of its lower half. */
function emitTo32(out: Assembler, places: Places, { from, isSigned, trap }: Conversion): void {
  const [to, extended] = [places.def, places.temps[0]!];
  out.emit(`vcvtt${scalarOf(from)}2si`, general(to), vectorUse(places, 0));
  if (isSigned) out.emit('movsxd', general(extended), general(to, 4));
  else out.emit('mov', general(extended, 4), general(to, 4));
  out.emit('cmp', general(extended), general(to));
  if (trap) {
    out.jumpIf('ne', trap);
    // The upper half of an i32 is 0.
    if (isSigned) out.emit('mov', general(to, 4), general(to, 4));
    return;
  }
  const [done, other] = [out.newLabel(), out.newLabel()];
  out.jumpIf('e', isSigned ? other : done);
  out.emit('xor', general(to, 4), general(to, 4));
  compareWithZero(out, places, from);
  out.jumpIf(isSigned ? 'p' : 'be', done);
  out.emit('mov', general(to, 4), immediate(isSigned ? 0x7fff_ffff : 0xffff_ffff));
  if (isSigned) {
    out.jumpIf('a', done);
    out.emit('mov', general(to, 4), immediate(0x8000_0000));
    out.jump(done);
    out.bind(other);
    out.emit('mov', general(to, 4), general(to, 4));
  } else out.bind(other);
  out.bind(done);
}

/** A float as an i64. The conversion has the least integer for what is out of range. */
function emitToI64(out: Assembler, places: Places, { from, trap }: Conversion): void {
  const to = general(places.def);
  const done = out.newLabel();
  out.emit(`vcvtt${scalarOf(from)}2si`, to, vectorUse(places, 0));
  out.emit('cmp', to, immediate(1));
  out.jumpIf('no', done);
  if (trap) {
    // Of the floats with this result only -2^63 is in range: the next one below is out of it, and no float of either type lies between.
    out.emit(
      `vucomi${scalarOf(from)}`,
      vectorUse(places, 0),
      floatConstant(out, from, twoTo63[from] | (from === 'f32' ? 1n << 31n : least64)),
    );
    out.jumpIf('ne', trap);
    out.jumpIf('p', trap);
  } else {
    const isNumber = out.newLabel();
    compareWithZero(out, places, from);
    out.jumpIf('np', isNumber);
    out.emit('xor', general(places.def, 4), general(places.def, 4));
    out.bind(isNumber);
    out.jumpIf('be', done);
    out.emit('mov', to, immediate(least64 - 1n));
  }
  out.bind(done);
}

/** A float as a u64 by AVX-512, whose conversion has all bits for what is out of range. */
function emitToU64Direct(out: Assembler, places: Places, { from, trap }: Conversion): void {
  const to = general(places.def);
  out.emit(`vcvtt${scalarOf(from)}2usi`, to, vectorUse(places, 0));
  out.emit('cmp', to, immediate(-1));
  if (trap) return out.jumpIf('e', trap);
  const done = out.newLabel();
  out.jumpIf('ne', done);
  compareWithZero(out, places, from);
  out.jumpIf('a', done);
  out.emit('xor', general(places.def, 4), general(places.def, 4));
  out.bind(done);
}

/** A float as a u64 by conversions to i64: of the float itself below 2^63, else of the float less 2^63. */
function emitToU64(out: Assembler, places: Places, { from, trap }: Conversion): void {
  const to = general(places.def);
  const scalar = scalarOf(from);
  const rest = vector(places.temps[0]!);
  const [done, below, above] = [out.newLabel(), out.newLabel(), out.newLabel()];
  const bound = floatConstant(out, from, twoTo63[from]);
  out.emit(`vcvtt${scalar}2si`, to, vectorUse(places, 0));
  out.emit('test', to, to);
  out.jumpIf('ns', done);
  // The float is -1 or less, NaN, or 2^63 or more.
  out.emit(`vucomi${scalar}`, vectorUse(places, 0), bound);
  out.jumpIf('b', trap ?? below);
  out.emit(`vsub${scalar}`, rest, vectorUse(places, 0), bound);
  out.emit(`vcvtt${scalar}2si`, to, rest);
  out.emit('test', to, to);
  out.jumpIf('s', trap ?? above);
  out.emit('bts', to, immediate(63));
  if (!trap) {
    out.jump(done);
    out.bind(below);
    out.emit('xor', general(places.def, 4), general(places.def, 4));
    out.jump(done);
    out.bind(above);
    out.emit('mov', to, immediate(-1));
  }
  out.bind(done);
}

const toInteger =
  (to: 'i32' | 'i64', from: Float, isSigned: boolean, isSaturating: boolean): Rule =>
  (s, inst) => {
    const conversion: Conversion = { from, isSigned, trap: isSaturating ? undefined : s.trap('conversion') };
    const isDirect = s.features.avx512;
    const emit = to === 'i32' ? emitTo32 : isSigned ? emitToI64 : isDirect ? emitToU64Direct : emitToU64;
    s.add({
      def: resultOf(s, inst, to),
      uses: [s.register(inst.args[0]!)],
      temps: to === 'i32' ? ['general'] : isSigned || isDirect ? [] : ['vector'],
      emit: (out, places) => emit(out, places, conversion),
    });
  };

/** The register of the result, which no instruction may use if the conversion is there for its trap. */
const resultOf = (s: Selection, inst: Inst, to: 'i32' | 'i64'): number =>
  inst.result === undefined ? s.fresh('general', to === 'i32' ? 4 : 8) : s.register(inst.result);

const toGeneral =
  (mnemonic: string, bytes: 4 | 8): Rule =>
  (s, inst) => {
    s.add({
      def: s.register(inst.result!),
      uses: [s.register(inst.args[0]!)],
      emit: (out, places) => out.emit(mnemonic, general(places.def, bytes), vectorUse(places, 0)),
    });
  };

const toVector =
  (mnemonic: string, bytes: 4 | 8): Rule =>
  (s, inst) => {
    s.add({
      def: s.register(inst.result!),
      uses: [s.register(inst.args[0]!)],
      emit: (out, places) => out.emit(mnemonic, vector(places.def), generalUse(places, 0, bytes)),
    });
  };

const truncations: Record<string, Rule> = {};
for (const to of ['i32', 'i64'] as const)
  for (const from of ['f32', 'f64'] as const)
    for (const sign of ['s', 'u'] as const)
      for (const name of ['trunc', 'trunc_sat'] as const)
        truncations[`${to}.${name}_${from}_${sign}`] = toInteger(to, from, sign === 's', name === 'trunc_sat');

export const convertRules: Readonly<Record<string, Rule>> = {
  ...truncations,
  'f32.convert_i32_s': fromSigned('f32', 4),
  'f32.convert_i32_u': fromSigned('f32', 8),
  'f32.convert_i64_s': fromSigned('f32', 8),
  'f32.convert_i64_u': fromU64('f32'),
  'f64.convert_i32_s': fromSigned('f64', 4),
  'f64.convert_i32_u': fromSigned('f64', 8),
  'f64.convert_i64_s': fromSigned('f64', 8),
  'f64.convert_i64_u': fromU64('f64'),
  'f32.demote_f64': unaryFloat('vcvtsd2ss'),
  'f64.promote_f32': unaryFloat('vcvtss2sd'),
  'i32.reinterpret_f32': toGeneral('vmovd', 4),
  'i64.reinterpret_f64': toGeneral('vmovq', 8),
  'f32.reinterpret_i32': toVector('vmovd', 4),
  'f64.reinterpret_i64': toVector('vmovq', 8),
};
