/**
 * Steps of vector code: single instructions of AVX2 or AVX-512 whose sources are registers or constants, of which the rules are made.
 *
 * With AVX-512 a register may have a number above 15, which only the EVEX encoding reaches. An instruction that VEX alone has is therefore chosen when the
 * registers are known (`isVex`), and the mask registers k1 to k7 are free inside any instruction.
 */
import type { MachineInst, Places, Register, RegisterClass } from '../../machine/types.ts';
import { bytesOfType, type Inst, type Value } from '../../ssa/types.ts';
import { type Assembler, immediate, type MemoryOperand, type Operand, vector } from '../../x64/types.ts';
import type { Address, Selection } from '../types.ts';

/** Bytes of a vector that an instruction works on. */
export type Width = 16 | 32 | 64;

/** A constant vector: bytes that repeat in it, 1 to 64 of them, a power of two. */
export interface Pattern {
  readonly pattern: readonly number[];
}

/** A load that an instruction does itself: of the whole vector, or of one element for all lanes (AVX-512). */
export interface Loaded {
  readonly address: Address;
  readonly isBroadcast: boolean;
}

/** What an instruction reads; only the last source may be no register. */
export type Source = Register | Pattern | Loaded;

export const isRegister = (source: Source): source is Register => typeof source === 'number';
export const isPattern = (source: Source): source is Pattern => typeof source === 'object' && 'pattern' in source;

/** The bytes of a number in memory. */
const bytesOfNumber = (bits: bigint, bytes: number): number[] =>
  Array.from({ length: bytes }, (_, i) => Number((BigInt.asUintN(64, bits) >> BigInt(8 * i)) & 0xffn));

/** Constants with one number in all lanes of so many bytes. */
export const lanesOf = (bits: number | bigint, bytes: 1 | 2 | 4 | 8): Pattern => ({ pattern: bytesOfNumber(BigInt(bits), bytes) });
export const bytesPattern = (...pattern: number[]): Pattern => ({ pattern });

const numbers = new DataView(new ArrayBuffer(8));
/** A constant with one float in all lanes. */
export function floatLanes(value: number, bytes: 4 | 8): Pattern {
  if (bytes === 4) numbers.setFloat32(0, value, true);
  else numbers.setFloat64(0, value, true);
  return { pattern: Array.from({ length: bytes }, (_, i) => numbers.getUint8(i)) };
}

export const zeros: Pattern = { pattern: [0] };
export const ones: Pattern = { pattern: [0xff] };

const patterns = new WeakMap<readonly number[], Pattern>();

/** The shortest pattern that repeats in bytes. */
export function patternOf(bytes: readonly number[]): Pattern {
  const known = patterns.get(bytes);
  if (known) return known;
  let length = bytes.length;
  while (length > 1 && bytes.every((byte, i) => byte === bytes[i % (length / 2)])) length /= 2;
  const pattern = { pattern: bytes.slice(0, length) };
  patterns.set(bytes, pattern);
  return pattern;
}

export const repeated = ({ pattern }: Pattern, bytes: number): number[] =>
  Array.from({ length: bytes }, (_, i) => pattern[i % pattern.length]!);

const isAll = ({ pattern }: Pattern, byte: number): boolean => pattern.every((each) => each === byte);
export const isZeros = (pattern: Pattern): boolean => isAll(pattern, 0);
export const isOnes = (pattern: Pattern): boolean => isAll(pattern, 0xff);

/** Instructions of AVX-512 whose last source may be one element of memory for all lanes, by the bytes of the element. */
const broadcasting: ReadonlyMap<string, 4 | 8> = new Map([
  ...(
    'vpaddd vpsubd vpmulld vpminsd vpmaxsd vpminud vpmaxud vpandd vpord vpxord vpandnd vpternlogd vpabsd vaddps vsubps vmulps vdivps vminps vmaxps ' +
    'vrangeps vcmpps vpcmpd vpcmpud vandps vorps vxorps vandnps vpunpckldq vpunpckhdq vpermd vblendmps vpackssdw vpackusdw vsqrtps ' +
    'vfmadd132ps vfmadd213ps vfmadd231ps vfmsub132ps vfmsub213ps vfmsub231ps vfnmadd132ps vfnmadd213ps vfnmadd231ps ' +
    'vfnmsub132ps vfnmsub213ps vfnmsub231ps'
  )
    .split(' ')
    .map((name): [string, 4] => [name, 4]),
  ...(
    'vpaddq vpsubq vpmullq vpmuldq vpmuludq vpabsq vaddpd vsubpd vmulpd vdivpd vminpd vmaxpd vrangepd vcmppd vpcmpq vpcmpuq vblendmpd vpunpcklqdq ' +
    'vpunpckhqdq vsqrtpd vfmadd132pd vfmadd213pd vfmadd231pd vfmsub132pd vfmsub213pd vfmsub231pd vfnmadd132pd vfnmadd213pd vfnmadd231pd ' +
    'vfnmsub132pd vfnmsub213pd vfnmsub231pd'
  )
    .split(' ')
    .map((name): [string, 8] => [name, 8]),
]);

/** A constant as the last source of an instruction on `bytes`. */
export function patternOperand(out: Assembler, mnemonic: string, constant: Pattern, bytes: number): MemoryOperand {
  const element = out.features.avx512 ? broadcasting.get(mnemonic) : undefined;
  if (element && constant.pattern.length <= element) return { ...out.constant(repeated(constant, element)), isBroadcast: true };
  return out.constant(repeated(constant, bytes));
}

/** The registers of the address of a source. */
export const addressUses = (source: Source): readonly Register[] => (isRegister(source) || isPattern(source) ? [] : source.address.uses);

/** A constant or a load as the last source of an instruction on `bytes`; the registers of an address are those in `uses` from `first` on. */
export function memoryOperand(
  out: Assembler,
  mnemonic: string,
  source: Pattern | Loaded,
  bytes: number,
  places: Places,
  first: number,
): MemoryOperand {
  if (isPattern(source)) return patternOperand(out, mnemonic, source, bytes);
  const operand = source.address.operand(places, first);
  return source.isBroadcast ? { ...operand, isBroadcast: true } : operand;
}

/** Loads a constant into a register. */
function loadPattern(out: Assembler, constant: Pattern, bytes: Width, to: number): void {
  const { pattern } = constant;
  const low = vector(to);
  if (isZeros(constant)) out.emit(to < 16 ? 'vpxor' : 'vpxord', low, low, low);
  else if (isOnes(constant) && out.features.avx512) out.emit('vpternlogd', ...Array<Operand>(3).fill(vector(to, bytes)), immediate(0xff));
  else if (isOnes(constant)) out.emit('vpcmpeqd', ...Array<Operand>(3).fill(vector(to, bytes)));
  else if (pattern.length <= 4) out.emit('vbroadcastss', vector(to, bytes), out.constant(repeated(constant, 4)));
  else if (pattern.length === 8) out.emit(bytes === 16 ? 'vmovddup' : 'vbroadcastsd', vector(to, bytes), out.constant(pattern));
  else if (pattern.length === 16 && bytes > 16)
    out.emit(out.features.avx512 ? 'vbroadcastf32x4' : 'vbroadcastf128', vector(to, bytes), out.constant(pattern));
  else out.emit('vmovups', vector(to, bytes), out.constant(repeated(constant, bytes)));
}

/** Makes a register a constant. */
export function defineConstant(s: Selection, to: Register, bytes: Width, constant: Pattern): void {
  const how = (out: Assembler, place: number): void => loadPattern(out, constant, bytes, place);
  s.remake(to, how);
  s.add({ def: to, uses: [], emit: (out, { def }) => how(out, def) });
}

/** A register with a constant. */
export function constantRegister(s: Selection, bytes: Width, constant: Pattern): Register {
  const to = s.fresh('vector', bytes);
  defineConstant(s, to, bytes, constant);
  return to;
}

/** Whether all registers have numbers that VEX reaches. */
export const isVex = (...registers: readonly number[]): boolean => registers.every((each) => each < 16);

/** The operand of number `index` of an instruction: its register, or its stack slot. */
export const placed = (inst: MachineInst, { uses, slot }: Places, index: number, bytes: Width): Operand =>
  slot !== undefined && inst.inMemory === index ? slot : vector(uses[index]!, bytes);

/** Shifts by an immediate have no form with memory in VEX. */
const isShift = /^vps(ll|rl|ra)[wdq]$/;

export interface StepOptions {
  readonly immediate?: number;
  /** Widths of the sources, where they are not those of the result. */
  readonly from?: Width;
  /** The source in whose register the result is. */
  readonly tied?: number;
}

/** Adds an instruction that writes `to` from its sources; a constant that is not the last source gets a register. */
export function stepTo(
  s: Selection,
  to: Register,
  mnemonic: string,
  bytes: Width,
  sources: readonly Source[],
  options: StepOptions = {},
): void {
  const { immediate: bits, from = bytes, tied } = options;
  const operands = sources.map((source, i) => (isPattern(source) && i < sources.length - 1 ? constantRegister(s, from, source) : source));
  const registers = operands.filter(isRegister);
  const last = operands.at(-1)!;
  const mayBeMemory =
    isRegister(last) && registers.indexOf(last) === registers.length - 1 && !(bits !== undefined && isShift.test(mnemonic));
  s.add({
    def: to,
    uses: [...registers, ...addressUses(last)],
    ...(tied === undefined ? {} : { tied }),
    ...(mayBeMemory ? { inMemory: registers.length - 1 } : {}),
    emit(out, places) {
      const read = registers.map((_, i) => placed(this, places, i, from));
      if (!isRegister(last)) read.push(memoryOperand(out, mnemonic, last, from, places, registers.length));
      if (tied !== undefined) read.splice(tied, 1);
      out.emit(mnemonic, vector(places.def, bytes), ...read, ...(bits === undefined ? [] : [immediate(bits)]));
    },
  });
}

/** The same with a new register as the result. */
export function step(s: Selection, mnemonic: string, bytes: Width, sources: readonly Source[], options: StepOptions = {}): Register {
  const to = s.fresh('vector', bytes);
  stepTo(s, to, mnemonic, bytes, sources, options);
  return to;
}

/** The bytes of the vector that a value is. */
export const widthOf = (s: Selection, value: Value): Width => bytesOfType(s.typeOf(value)) as Width;

/** The register of the result. */
export const resultOf = (s: Selection, inst: Inst): Register => s.register(inst.result!);

/** The constant that a vector is. */
export function patternOfValue(s: Selection, value: Value): Pattern | undefined {
  const definition = s.definition(value);
  return definition?.op === 'v128.const' ? patternOf(definition.bytes!) : undefined;
}

/** An operand as a source: a constant is read from memory, all others from registers. */
export const sourceOf = (s: Selection, value: Value): Register | Pattern => patternOfValue(s, value) ?? s.register(value);

/** Bytes of the elements that loads read for all lanes. */
const splatLoads: Readonly<Record<string, 4 | 8>> = { 'v128.load32_splat': 4, 'v128.load64_splat': 8 };
/** The same of loads of scalars, of which a splat is made. */
const scalarLoads: Readonly<Record<string, readonly [bytes: 4 | 8, splat: string]>> = {
  'f32.load': [4, 'f32x4.splat'],
  'i32.load': [4, 'i32x4.splat'],
  'f64.load': [8, 'f64x2.splat'],
  'i64.load': [8, 'i64x2.splat'],
};

/** A load that an operand is, or that it is the splat of: its result, and the bytes of the element if it is one for all lanes. */
function loadOf(s: Selection, value: Value): { readonly value: Value; readonly element: 4 | 8 | undefined } | undefined {
  const inst = ownedBy(s, value);
  if (!inst) return undefined;
  if (inst.op === 'v128.load' || inst.op in splatLoads) return { value, element: splatLoads[inst.op] };
  const scalar = inst.op.endsWith('.splat') ? ownedBy(s, inst.args[0]!) : undefined;
  const [bytes, splat] = scalarLoads[scalar?.op ?? ''] ?? [];
  return splat === inst.op ? { value: inst.args[0]!, element: bytes } : undefined;
}

/** Whether an operand is a load that its user may do as the last source of an instruction. */
function isFoldable(s: Selection, value: Value, mnemonic: string): boolean {
  const load = loadOf(s, value);
  return load !== undefined && (load.element === undefined || (s.features.avx512 && broadcasting.get(mnemonic) === load.element));
}

/** The last operand of an instruction: a constant, a load that has no other use, or a register. */
export function lastSourceOf(s: Selection, value: Value, mnemonic: string): Source {
  const load = isFoldable(s, value, mnemonic) ? loadOf(s, value)! : undefined;
  const found = load && s.memoryOf?.(load.value);
  return found ? { address: found.address, isBroadcast: load.element !== undefined } : sourceOf(s, value);
}

/** The memory that a splat of a scalar reads for all lanes, if nothing else uses the scalar. */
export function splatLoadOf(s: Selection, splat: Inst): Address | undefined {
  const scalar = ownedBy(s, splat.args[0]!);
  return scalar && scalarLoads[scalar.op]?.[1] === splat.op ? s.memoryOf?.(splat.args[0]!)?.address : undefined;
}

/** All operands of an instruction. */
export const sourcesOf = (s: Selection, values: readonly Value[], mnemonic: string): Source[] =>
  values.map((value, i) => (i === values.length - 1 ? lastSourceOf(s, value, mnemonic) : sourceOf(s, value)));

/** Both operands of an instruction that commutes, the one to be read from memory last. */
export function commuted(s: Selection, [a, b]: readonly Value[], mnemonic: string): [Value, Value] {
  const isMemory = (value: Value): boolean => patternOfValue(s, value) !== undefined || isFoldable(s, value, mnemonic);
  return isMemory(a!) && !isMemory(b!) ? [b!, a!] : [a!, b!];
}

/** The definition of an operand in the same block that has no other use: its user may compute it itself. */
export const ownedBy = (s: Selection, value: Value): Inst | undefined =>
  s.useCount(value) === 1 && s.isInBlock(value) ? s.definition(value) : undefined;

/** Whether an operand is most likely not used after the instruction being selected. */
export const dies = (s: Selection, value: Value): boolean => s.isLast(value) && s.isInBlock(value);

/** Adds an instruction with code of its own. */
export function custom(
  s: Selection,
  inst: Omit<MachineInst, 'emit'>,
  emit: (out: Assembler, places: Places, operand: (index: number, bytes: Width) => Operand) => void,
): void {
  s.add({
    ...inst,
    emit(out, places) {
      emit(out, places, (index, bytes) => placed(this, places, index, bytes));
    },
  });
}

export const temps = (...classes: RegisterClass[]): readonly RegisterClass[] => classes;

/** The same vector in another register. */
export function copyTo(s: Selection, to: Register, bytes: Width, from: Register): void {
  custom(s, { def: to, uses: [from], isMove: true, inMemory: 0 }, (out, { def, uses, slot }, operand) => {
    if (slot !== undefined || def !== uses[0]) out.emit('vmovups', vector(def, bytes), operand(0, bytes));
  });
}

/** A part of a wide vector, of which its user takes the bytes itself. */
export interface PartOf {
  readonly wide: Value;
  readonly part: number;
}

/**
 * The part of a wide vector that an operand is, if no instruction needs it by itself: it has no other use, or is used in another block. That is most often
 * a seldom executed one, and the part need not be taken on the way to others.
 */
export function partOf(s: Selection, value: Value): PartOf | undefined {
  const inst = s.definition(value);
  if (inst?.op !== 'vector.part' || s.typeOf(value) !== 'v128') return undefined;
  return s.useCount(value) === 1 || !s.isInBlock(value) ? { wide: inst.args[0]!, part: inst.lane! } : undefined;
}

/** The instruction that takes a part of 16 bytes, to a register or to memory. */
export const extractPart = (s: Selection): string => (s.features.avx512 ? 'vextractf32x4' : 'vextractf128');
