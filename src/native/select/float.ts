/** Scalar arithmetic of f32 and f64, in the low lane of vector registers. */
import type { Places } from '../machine/types.ts';
import type { Inst, Value } from '../ssa/types.ts';
import { type Assembler, immediate, type MemoryOperand, type VectorOperand, vector } from '../x64/types.ts';
import { vectorOrSlot, vectorUse } from './operands.ts';
import type { Rule, Selection } from './types.ts';

type Float = 'f32' | 'f64';

/** The ending of mnemonics for a scalar of a type. */
export const scalarOf = (type: Float): 'ss' | 'sd' => (type === 'f32' ? 'ss' : 'sd');
const packedOf = (type: Float): 'ps' | 'pd' => (type === 'f32' ? 'ps' : 'pd');

/** The little-endian bytes of a number, `count` of them. */
export const bytesOfBits = (bits: bigint, count: number): number[] =>
  Array.from({ length: count }, (_, i) => Number((bits >> BigInt(8 * i)) & 0xffn));

/** 128 bits with the bits of a float in each lane. */
const inEachLane = (type: Float, bits: bigint): number[] => {
  const bytes = bytesOfBits(bits, type === 'f32' ? 4 : 8);
  return Array.from({ length: 16 }, (_, i) => bytes[i % bytes.length]!);
};

export const signBit = (type: Float): bigint => (type === 'f32' ? 1n << 31n : 1n << 63n);

/** The last operand of an instruction: a register, its slot, or a constant in memory. */
interface FloatSource {
  readonly uses: readonly number[];
  /** Whether it is a register, which may be read from its stack slot. */
  readonly isRegister: boolean;
  operand(out: Assembler, places: Places, first: number): VectorOperand | MemoryOperand;
}

function sourceOf(s: Selection, value: Value): FloatSource {
  const inst = s.definition(value);
  if (inst?.op === 'f32.const' || inst?.op === 'f64.const') {
    const bytes = bytesOfBits(inst.bits!, inst.op === 'f32.const' ? 4 : 8);
    return { uses: [], isRegister: false, operand: (out) => out.constant(bytes) };
  }
  const load = inst?.op === 'f32.load' || inst?.op === 'f64.load' ? s.memoryOf(value) : undefined;
  if (load) return { uses: load.address.uses, isRegister: false, operand: (_, places, first) => load.address.operand(places, first) };
  return { uses: [s.register(value)], isRegister: true, operand: (_, places, first) => vectorOrSlot(places, first) };
}

function addBinary(s: Selection, inst: Inst, mnemonic: string, a: Value, b: Value): void {
  const source = sourceOf(s, b);
  s.add({
    def: s.register(inst.result!),
    uses: [s.register(a), ...source.uses],
    ...(source.isRegister ? { inMemory: 1 } : {}),
    emit: (out, places) => out.emit(mnemonic, vector(places.def), vectorUse(places, 0), source.operand(out, places, 1)),
  });
}

const binary =
  (mnemonic: string, isCommutative: boolean): Rule =>
  (s, inst) => {
    const [a, b] = inst.args as [Value, Value];
    const isSwapped = isCommutative && s.definition(a)?.op.endsWith('.const') === true;
    addBinary(s, inst, mnemonic, isSwapped ? b : a, isSwapped ? a : b);
  };

/** An instruction on one scalar float. Its upper lanes, which mean nothing, are those of the operand. */
export const unaryFloat =
  (mnemonic: string): Rule =>
  (s, inst) => {
    s.add({
      def: s.register(inst.result!),
      uses: [s.register(inst.args[0]!)],
      emit: (out, places) => out.emit(mnemonic, vector(places.def), vectorUse(places, 0), vectorUse(places, 0)),
    });
  };

/**
 * The lesser of two numbers. The processor's minimum is its second operand where one is NaN or both are 0, so both orders together have the sign and
 * the NaN; taking away 0 makes that one quiet.
 */
const minimum =
  (type: Float): Rule =>
  (s, inst) => {
    const [scalar, packed] = [scalarOf(type), packedOf(type)];
    s.add({
      def: s.register(inst.result!),
      uses: inst.args.map((value) => s.register(value)),
      temps: ['vector'],
      emit(out, places) {
        const [to, temp] = [vector(places.def), vector(places.temps[0]!)];
        const [a, b] = [vectorUse(places, 0), vectorUse(places, 1)];
        out.emit(`vmin${scalar}`, temp, a, b);
        out.emit(`vmin${scalar}`, to, b, a);
        out.emit(`vor${packed}`, to, to, temp);
        out.emit(`vsub${scalar}`, to, to, out.constant(bytesOfBits(0n, type === 'f32' ? 4 : 8)));
      },
    });
  };

/**
 * The greater of two numbers. Where both orders of the processor's maximum differ, it is by a NaN, or by the sign of 0: their difference in bits is
 * then -0, and -0 - -0 is 0.
 */
const maximum =
  (type: Float): Rule =>
  (s, inst) => {
    const [scalar, packed] = [scalarOf(type), packedOf(type)];
    s.add({
      def: s.register(inst.result!),
      uses: inst.args.map((value) => s.register(value)),
      temps: ['vector'],
      emit(out, places) {
        const [to, temp] = [vector(places.def), vector(places.temps[0]!)];
        const [a, b] = [vectorUse(places, 0), vectorUse(places, 1)];
        out.emit(`vmax${scalar}`, temp, a, b);
        out.emit(`vmax${scalar}`, to, b, a);
        out.emit(`vxor${packed}`, to, to, temp);
        out.emit(`vor${packed}`, temp, temp, to);
        out.emit(`vsub${scalar}`, to, temp, to);
      },
    });
  };

/** Rounding to an integer, by its mode in the immediate; 8 keeps the flag of inexact results. */
const round =
  (type: Float, mode: number): Rule =>
  (s, inst) => {
    const mnemonic = `${s.features.avx512 ? 'vrndscale' : 'vround'}${scalarOf(type)}`;
    s.add({
      def: s.register(inst.result!),
      uses: [s.register(inst.args[0]!)],
      emit: (out, places) => out.emit(mnemonic, vector(places.def), vectorUse(places, 0), vectorUse(places, 0), immediate(8 | mode)),
    });
  };

/** A bitwise operation with a constant. */
const withBits =
  (type: Float, operation: 'vand' | 'vxor', bits: bigint): Rule =>
  (s, inst) => {
    s.add({
      def: s.register(inst.result!),
      uses: [s.register(inst.args[0]!)],
      emit: (out, places) =>
        out.emit(`${operation}${packedOf(type)}`, vector(places.def), vectorUse(places, 0), out.constant(inEachLane(type, bits))),
    });
  };

const copySign =
  (type: Float): Rule =>
  (s, inst) => {
    const packed = packedOf(type);
    const sign = inEachLane(type, signBit(type));
    const rest = inEachLane(type, signBit(type) - 1n);
    s.add({
      def: s.register(inst.result!),
      uses: inst.args.map((value) => s.register(value)),
      temps: ['vector'],
      emit(out, places) {
        const temp = vector(places.temps[0]!);
        out.emit(`vand${packed}`, temp, vectorUse(places, 1), out.constant(sign));
        out.emit(`vand${packed}`, vector(places.def), vectorUse(places, 0), out.constant(rest));
        out.emit(`vor${packed}`, vector(places.def), vector(places.def), temp);
      },
    });
  };

/** A constant: 0 without memory. */
const constant =
  (type: Float): Rule =>
  (s, inst) => {
    const bytes = bytesOfBits(inst.bits!, type === 'f32' ? 4 : 8);
    const def = s.register(inst.result!);
    const load = (out: Assembler, to: number): void => {
      if (inst.bits === 0n) out.emit('vxorps', vector(to), vector(to), vector(to));
      else out.emit(`vmov${scalarOf(type)}`, vector(to), out.constant(bytes));
    };
    s.remake(def, load);
    s.add({ def, uses: [], emit: (out, places) => load(out, places.def) });
  };

const ofType = (type: Float): Readonly<Record<string, Rule>> => {
  const scalar = scalarOf(type);
  return {
    [`${type}.const`]: constant(type),
    [`${type}.add`]: binary(`vadd${scalar}`, true),
    [`${type}.sub`]: binary(`vsub${scalar}`, false),
    [`${type}.mul`]: binary(`vmul${scalar}`, true),
    [`${type}.div`]: binary(`vdiv${scalar}`, false),
    [`${type}.sqrt`]: unaryFloat(`vsqrt${scalar}`),
    [`${type}.min`]: minimum(type),
    [`${type}.max`]: maximum(type),
    [`${type}.nearest`]: round(type, 0),
    [`${type}.floor`]: round(type, 1),
    [`${type}.ceil`]: round(type, 2),
    [`${type}.trunc`]: round(type, 3),
    [`${type}.abs`]: withBits(type, 'vand', signBit(type) - 1n),
    [`${type}.neg`]: withBits(type, 'vxor', signBit(type)),
    [`${type}.copysign`]: copySign(type),
  };
};

export const floatRules: Readonly<Record<string, Rule>> = { ...ofType('f32'), ...ofType('f64') };
