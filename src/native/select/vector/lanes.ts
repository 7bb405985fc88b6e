/** Single lanes: splats, `extract_lane`, `replace_lane`. Integers are in general registers, floats in the low lane of vector registers. */
import type { Register } from '../../machine/types.ts';
import { bytesOfType, type Inst, type Value } from '../../ssa/types.ts';
import {
  type Assembler,
  type GeneralOperand,
  general,
  immediate,
  type MemoryOperand,
  type Operand,
  sized,
  vector,
} from '../../x64/types.ts';
import type { Rule, Selection } from '../types.ts';
import { scalarMultiplyAdd } from './fused.ts';
import { custom, defineConstant, extractPart, lanesOf, partOf, resultOf, splatLoadOf, type Width, widthOf } from './steps.ts';

type Lane = 1 | 2 | 4 | 8;
const suffix = { 1: 'b', 2: 'w', 4: 'd', 8: 'q' } as const;

/** Type and bytes of the lanes of an operation. */
function laneOf({ op }: Inst): { isFloat: boolean; bytes: Lane } {
  const [, type, bits] = /^([if])(\d+)x/.exec(op)!;
  return { isFloat: type === 'f', bytes: (Number(bits) / 8) as Lane };
}

/** The general register of a lane: 32 bits at least. */
const generalOf = (number: number, lane: Lane): GeneralOperand => general(number, lane === 8 ? 8 : 4);

/** The bits of a constant scalar. */
function constantBits(s: Selection, inst: Inst): bigint | undefined {
  const definition = s.definition(inst.args[0]!);
  return definition && /^[if](32|64)\.const$/.test(definition.op) ? definition.bits : undefined;
}

export const splat: Rule = (s, inst) => {
  const { isFloat, bytes: lane } = laneOf(inst);
  const bytes = widthOf(s, inst.result!);
  const bits = constantBits(s, inst);
  if (bits !== undefined) return defineConstant(s, resultOf(s, inst), bytes, lanesOf(BigInt.asUintN(8 * lane, bits), lane));
  const def = resultOf(s, inst);
  const mnemonic = isFloat ? (lane === 4 ? 'vbroadcastss' : bytes === 16 ? 'vmovddup' : 'vbroadcastsd') : `vpbroadcast${suffix[lane]}`;
  const address = splatLoadOf(s, inst);
  if (address)
    return custom(s, { def, uses: address.uses }, (out, places) =>
      out.emit(mnemonic, vector(places.def, bytes), address.operand(places, 0)),
    );
  const uses = [s.register(inst.args[0]!)];
  if (isFloat)
    return custom(s, { def, uses, inMemory: 0 }, (out, places, operand) => out.emit(mnemonic, vector(places.def, bytes), operand(0, 16)));
  custom(s, { def, uses }, (out, places) => {
    const from = generalOf(places.uses[0]!, lane);
    if (s.features.avx512) return out.emit(mnemonic, vector(places.def, bytes), from);
    out.emit(lane === 8 ? 'vmovq' : 'vmovd', vector(places.def), from);
    out.emit(mnemonic, vector(places.def, bytes), vector(places.def));
  });
};

/** A vector of 16 bytes of which a lane is taken: one in a register, or a part of a wide one. */
interface Holder {
  readonly register: Register;
  readonly bytes: Width;
  readonly part: number;
}

function holderOf(s: Selection, value: Value): Holder {
  const found = partOf(s, value);
  const whole = found?.wide ?? value;
  return { register: s.register(whole), bytes: widthOf(s, whole), part: found?.part ?? 0 };
}

/** Adds an instruction that takes a lane: from memory, if its vector is in a stack slot, or from a register that has the part. */
function addExtract(
  s: Selection,
  inst: Inst,
  lane: Lane,
  fromSlot: (out: Assembler, to: number, from: MemoryOperand) => void,
  fromRegister: (out: Assembler, to: number, from: number) => void,
): void {
  const { register, bytes, part } = holderOf(s, inst.args[0]!);
  const more = part === 0 ? { isMove: inst.lane === 0 && inst.op.startsWith('f') } : { temps: ['vector'] as const };
  custom(s, { def: resultOf(s, inst), uses: [register], inMemory: 0, ...more }, (out, { def, uses, temps, slot }) => {
    if (slot) return fromSlot(out, def, { ...slot, displacement: slot.displacement + 16 * part + inst.lane! * lane });
    if (part > 0) out.emit(extractPart(s), vector(temps[0]!), vector(uses[0]!, bytes), immediate(part));
    fromRegister(out, def, part > 0 ? temps[0]! : uses[0]!);
  });
}

/** Lanes of f32 and f64: the lowest one is in its place. */
const extractFloat: Rule = (s, inst) => {
  if (scalarMultiplyAdd(s, inst)) return;
  const lane = inst.lane!;
  const bytes = bytesOfType(s.typeOf(inst.result!)) as 4 | 8;
  addExtract(
    s,
    inst,
    bytes,
    (out, to, from) => out.emit(bytes === 4 ? 'vmovss' : 'vmovsd', vector(to), from),
    (out, to, number) => {
      const from = vector(number);
      if (lane === 0) return to === number ? undefined : out.emit('vmovaps', vector(to), from);
      if (bytes === 8) return out.emit('vunpckhpd', vector(to), from, from);
      if (lane === 1) return out.emit('vmovshdup', vector(to), from);
      out.emit('vpermilps', vector(to), from, immediate(lane));
    },
  );
};

export const extract: Rule = (s, inst) => {
  const { isFloat, bytes: lane } = laneOf(inst);
  if (isFloat) return extractFloat(s, inst);
  const isSigned = inst.op.endsWith('_s');
  addExtract(
    s,
    inst,
    lane,
    (out, number, from) => {
      const to = generalOf(number, lane);
      if (lane >= 4) out.emit('mov', to, from);
      else out.emit(isSigned ? 'movsx' : 'movzx', to, sized(from, lane as 1 | 2));
    },
    (out, number, from) => {
      const to = generalOf(number, lane);
      if (inst.lane === 0 && lane >= 4) return out.emit(lane === 8 ? 'vmovq' : 'vmovd', to, vector(from));
      out.emit(`vpextr${suffix[lane]}`, to, vector(from), immediate(inst.lane!));
      if (isSigned) out.emit('movsx', to, general(number, lane as 1 | 2));
    },
  );
};

export const replace: Rule = (s, inst) => {
  const { isFloat, bytes: lane } = laneOf(inst);
  const uses = inst.args.map((arg) => s.register(arg));
  custom(s, { def: resultOf(s, inst), uses }, (out, places) => {
    const [to, from] = [vector(places.def), vector(places.uses[0]!)];
    const number = places.uses[1]!;
    const emit = (mnemonic: string, operand: Operand, bits?: number): void =>
      out.emit(mnemonic, to, from, operand, ...(bits === undefined ? [] : [immediate(bits)]));
    if (!isFloat) return emit(`vpinsr${suffix[lane]}`, generalOf(number, lane), inst.lane!);
    if (lane === 4) return emit('vinsertps', vector(number), inst.lane! << 4);
    emit(inst.lane === 0 ? 'vmovsd' : 'vunpcklpd', vector(number));
  });
};
