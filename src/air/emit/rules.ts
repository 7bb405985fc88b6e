/**
 * The AIR rule of each IR op: a total record. If LLVM leaves a result undefined (shift counts, division by zero), the rule adds code for
 * the IR's defined result, unless constants make it unnecessary.
 */
import { bug } from '../../base/bug.ts';
import type { BinaryOpcode, CastOpcode, Constant, Value as LlvmValue, Predicate } from '../../bitcode/model.ts';
import { type Type, type TypeOf, types } from '../../bitcode/types.ts';
import {
  bitsOf,
  type FcmpPredicate,
  type Inst,
  type InstOf,
  type Op,
  productFunctionName,
  type ScalarType,
  type Service,
  type Value,
} from '../../ir/index.ts';
import { i32Constant, intConstant } from '../constants.ts';
import { barrierOperands, clockName, fenceOperands, intrinsicFor, intrinsicOf } from '../intrinsics.ts';
import { oneOf, reciprocalFlags } from '../reciprocal.ts';
import { hasFences } from '../targets.ts';
import { asInteger, llvmType } from './address.ts';
import { atomicRule, casRule } from './atomic-rules.ts';
import type { KernelEmitter } from './emitter.ts';
import { flushRule } from './flush-rule.ts';
import { constantValue, undef } from './function-builder.ts';
import { elementAt, matmulRule, mmaRule } from './matrix-rules.ts';
import { loadRule, storeRule } from './memory-rules.ts';
import { productRule } from './product-rules.ts';
import {
  ballotRule,
  ballotsyncRule,
  markRule,
  reduceRule,
  reducesyncRule,
  shuffleRule,
  shufflesyncRule,
  syncwarpRule,
  warpsyncRule,
} from './warp-rules.ts';

type Rule<K extends Op> = (e: KernelEmitter, inst: InstOf<K>, value: Value) => LlvmValue | undefined;
type AirRules = { [K in Op]: Rule<K> };
type Two = { a: Value; b: Value };

const binary =
  (opcode: BinaryOpcode) =>
  (e: KernelEmitter, { a, b }: Two): LlvmValue =>
    e.b.binary(opcode, e.value(a), e.value(b));

const cast =
  (opcode: CastOpcode) =>
  (e: KernelEmitter, inst: { a: Value; type: Inst['type'] }): LlvmValue =>
    e.b.cast(opcode, e.value(inst.a), llvmType(inst.type));

/** The smaller or larger of two integers, by compare and select, which every target supports. */
const choose =
  (predicate: Predicate) =>
  (e: KernelEmitter, { a, b }: Two): LlvmValue => {
    const [x, y] = [e.value(a), e.value(b)];
    return e.b.select(e.b.icmp(predicate, x, y), x, y);
  };

/** Float arithmetic by an LLVM instruction. */
const floatBinary =
  (opcode: BinaryOpcode) =>
  (e: KernelEmitter, inst: Two & Inst): LlvmValue =>
    inst.type === 'bf16' ? viaF32(e, [inst.a, inst.b], (x) => e.b.binary(opcode, x[0]!, x[1]!)) : binary(opcode)(e, inst);

/** A quotient of 1 with the flags by which Apple's fast arithmetic takes the reciprocal of the GPU, which is as exact. */
const reciprocal: Rule<'frcp'> = (e, { a, type }) =>
  e.b.emit('binary', llvmType(type), { opcode: 'fdiv', a: oneOf(type), b: e.value(a), flags: reciprocalFlags });

/** bf16 arithmetic in f32: a sum, product or quotient of two 8-bit significands, rounded to 24 bits and then to 8, is correctly rounded. */
function viaF32(e: KernelEmitter, operands: readonly Value[], compute: (x: LlvmValue[]) => LlvmValue): LlvmValue {
  const wide = operands.map((v) => e.b.cast('fpext', e.value(v), types.float));
  return e.b.cast('fptrunc', compute(wide), types.bfloat);
}

/** An op as an `air.*` function of the operand types. */
function intrinsic(e: KernelEmitter, inst: Inst, operands: readonly Value[], value: Value, extra: readonly LlvmValue[] = []): LlvmValue {
  const operand = e.kernel.insts[operands[0]!]!.type as ScalarType;
  const row = intrinsicFor(inst.op, inst.type as ScalarType, operand);
  if (row) return e.call(row, [...operands.map((v) => e.value(v)), ...extra]);
  refuse(e, value, `\`${inst.op}\` on ${operand}`, 'AIR has no function for it');
  return undef(llvmType(inst.type));
}

const unaryIntrinsic = (e: KernelEmitter, inst: Inst & { a: Value }, value: Value): LlvmValue => {
  if (inst.type !== 'bf16') return intrinsic(e, inst, [inst.a], value);
  const row = intrinsicFor(inst.op, 'f32', 'f32')!;
  return viaF32(e, [inst.a], (x) => e.call(row, x));
};
const minMax = (e: KernelEmitter, inst: Inst & Two, value: Value): LlvmValue => {
  if (inst.type !== 'bf16') return intrinsic(e, inst, [inst.a, inst.b], value);
  const row = intrinsicFor(inst.op, 'f32', 'f32')!;
  return viaF32(e, [inst.a, inst.b], (x) => e.call(row, x));
};

/** What kernels need of the CPU device, and why other targets do not have it. Devices of all targets have the other services. */
const services: Partial<Readonly<Record<Service, { readonly what: string; readonly why: string }>>> = {
  cluster: {
    what: 'a cluster of blocks (`%cluster_ctarank`, `mapa`, `barrier.cluster`)',
    why: 'the metallib is for the CPU device',
  },
  alone: { what: 'an access of 128 bits that is atomic', why: 'Apple GPUs have none' },
};

const clockHelp =
  '`--target cpu` compiles it for the CPU device; `--allow-fallback clock` has clocks count their readings, where no time is measured';

/** Reports an unsupported construct at its source location. */
export function refuse(e: KernelEmitter, value: Value, what: string, why: string, help?: string): void {
  const span = e.kernel.locs[value];
  const where = { ...(span ? { span } : {}), ...(help === undefined ? {} : { help }) };
  e.diagnostics.report('CM2090', { what, target: e.target.name, why }, where);
}

/** A shift whose count may reach the width: LLVM gives poison, the IR zeros or signs. */
const shift =
  (opcode: 'shl' | 'lshr' | 'ashr') =>
  (e: KernelEmitter, { a, b, type }: Two & { type: Inst['type'] }): LlvmValue => {
    const [x, count] = [e.value(a), e.value(b)];
    const int = llvmType(type) as TypeOf<'int'>;
    const known = constantValue(count);
    const last = intConstant(int, int.bits - 1);
    if (known === undefined ? isBelow(e, b, int.bits) : known < BigInt(int.bits)) return e.b.binary(opcode, x, count);
    if (opcode === 'ashr') return e.b.binary('ashr', x, e.b.select(e.b.icmp('ult', count, last), count, last));
    if (known !== undefined) return intConstant(int, 0);
    return e.b.select(e.b.icmp('ult', count, intConstant(int, int.bits)), e.b.binary(opcode, x, count), intConstant(int, 0));
  };

/** Whether an integer is below a bound for certain. */
const isBelow = (e: KernelEmitter, value: Value, bound: number): boolean => {
  const all = (1n << BigInt(bitsOf(e.kernel.insts[value]!.type))) - 1n;
  return (all & ~e.bits(value).zeros) < BigInt(bound);
};

/** Division as a total function: the op table defines x / 0 and min / -1. */
const divide =
  (opcode: 'sdiv' | 'udiv' | 'srem' | 'urem') =>
  (e: KernelEmitter, { a, b, type }: Two & { type: Inst['type'] }): LlvmValue => {
    const [x, y] = [e.value(a), e.value(b)];
    const int = llvmType(type) as TypeOf<'int'>;
    const known = constantValue(y);
    const ones = intConstant(int, -1n);
    const isSigned = opcode === 'sdiv' || opcode === 'srem';
    if (known !== undefined && known !== 0n && !(isSigned && known === (ones as { value: bigint }).value)) return e.b.binary(opcode, x, y);
    const one = intConstant(int, 1);
    const isZero = e.b.icmp('eq', y, intConstant(int, 0));
    const isMinusOne = isSigned ? e.b.icmp('eq', y, ones) : undefined;
    const safe = e.b.select(isMinusOne ? e.b.binary('or', isZero, isMinusOne) : isZero, one, y);
    const plain = e.b.binary(opcode, x, safe);
    const minus = opcode === 'sdiv' ? e.b.binary('sub', intConstant(int, 0), x) : intConstant(int, 0);
    const signed = isMinusOne ? e.b.select(isMinusOne, minus, plain) : plain;
    return e.b.select(isZero, opcode === 'sdiv' || opcode === 'udiv' ? ones : x, signed);
  };

/** The high half of a product, from a product of twice the width if there is one. */
const mulhi =
  (extend: 'sext' | 'zext') =>
  (e: KernelEmitter, inst: Inst & Two, value: Value): LlvmValue => {
    const bits = bitsOf(inst.type);
    if (bits === 64) return intrinsic(e, inst, [inst.a, inst.b], value);
    const wide = types.int(bits * 2);
    const product = e.b.binary('mul', e.b.cast(extend, e.value(inst.a), wide), e.b.cast(extend, e.value(inst.b), wide));
    return e.b.cast('trunc', e.b.binary('lshr', product, intConstant(wide, bits)), llvmType(inst.type));
  };

/** Targets without the instruction flip the sign bit: a subtraction from -0 need not preserve a NaN's sign or a subnormal. */
function negate(e: KernelEmitter, { a, type }: InstOf<'fneg'>): LlvmValue {
  if (e.target.dialect.hasFneg) return e.b.emit('fneg', llvmType(type), { value: e.value(a), flags: 0 });
  const bits = bitsOf(type);
  const int = types.int(bits);
  const sign = intConstant(int, 1n << BigInt(bits - 1));
  return e.b.cast('bitcast', e.b.binary('xor', e.b.cast('bitcast', e.value(a), int), sign), llvmType(type));
}

const fcmpNames: Partial<Record<FcmpPredicate, Predicate>> = { ugt: 'fugt', uge: 'fuge', ult: 'fult', ule: 'fule' };

const toFloat = (e: KernelEmitter, inst: Inst & { a: Value }, value: Value): LlvmValue => {
  const from = bitsOf(e.kernel.insts[inst.a]!.type);
  if (inst.type !== 'bf16') return intrinsic(e, inst, [inst.a], value);
  // Through f32 the value would be rounded twice, unless f32 holds it exactly.
  if (from > 16) refuse(e, value, `an integer of ${from} bits to bf16`, 'it would be rounded twice');
  const op = inst.op as 'sitofp' | 'uitofp';
  const row = intrinsicFor(op, 'f32', e.kernel.insts[inst.a]!.type as ScalarType);
  return row ? e.b.cast('fptrunc', e.call(row, [e.value(inst.a)]), types.bfloat) : undef(types.bfloat);
};

const fromFloat = (e: KernelEmitter, inst: Inst & { a: Value }, value: Value): LlvmValue => {
  if (e.kernel.insts[inst.a]!.type !== 'bf16') return intrinsic(e, inst, [inst.a], value);
  const row = intrinsicFor(inst.op, inst.type as ScalarType, 'f32')!;
  return e.call(row, [e.b.cast('fpext', e.value(inst.a), types.float)]);
};

const vector = (e: KernelEmitter, inst: Inst, parts: readonly Value[]): LlvmValue => {
  const type = llvmType(inst.type);
  const values = parts.map((part) => e.value(part));
  const elements = values.filter((each): each is Constant => each.kind === 'constant');
  if (elements.length === values.length) return { kind: 'constant', form: 'aggregate', type, elements };
  return values.reduce<LlvmValue>(
    (sum, part, lane) => e.b.emit('insertelement', type, { vector: sum, value: part, index: i32Constant(lane) }),
    undef(type),
  );
};

function constant(inst: InstOf<'const'>): LlvmValue {
  const type: Type = llvmType(inst.type);
  if (type.kind === 'float') return { kind: 'constant', form: 'float', type, bits: inst.bits } satisfies Constant;
  return intConstant(type as TypeOf<'int'>, inst.bits);
}

const foreign = (e: KernelEmitter): never => bug(`${e.kernel.name} has instructions of PTX`);

export const rules: AirRules = {
  const: (_, inst) => constant(inst),
  arg: () => undefined,
  param(e, { index }, value) {
    const { service } = e.kernel.params[index]!;
    const cpuOnly = service && services[service];
    if (cpuOnly && !e.target.allowsCpuOnly) refuse(e, value, cpuOnly.what, cpuOnly.why);
    return undefined;
  },
  variable: () => undefined,
  sreg: (e, { name }) => e.sreg(name),
  add: binary('add'),
  sub: binary('sub'),
  mul: binary('mul'),
  smulhi: mulhi('sext'),
  umulhi: mulhi('zext'),
  sdiv: divide('sdiv'),
  udiv: divide('udiv'),
  srem: divide('srem'),
  urem: divide('urem'),
  and: binary('and'),
  or: binary('or'),
  xor: binary('xor'),
  shl: shift('shl'),
  lshr: shift('lshr'),
  ashr: shift('ashr'),
  smin: choose('slt'),
  smax: choose('sgt'),
  umin: choose('ult'),
  umax: choose('ugt'),
  clz: (e, inst, value) => intrinsic(e, inst, [inst.a], value, [intConstant(types.i1, 0)]),
  popcount: unaryIntrinsic,
  bitrev: unaryIntrinsic,
  icmp: (e, { pred, a, b }) => e.b.icmp(pred, e.value(a), e.value(b)),
  fadd: floatBinary('fadd'),
  fsub: floatBinary('fsub'),
  fmul: floatBinary('fmul'),
  fdiv: floatBinary('fdiv'),
  fma: (e, inst, value) => intrinsic(e, inst, [inst.a, inst.b, inst.c], value),
  fsqrt: unaryIntrinsic,
  fneg: negate,
  fabs: unaryIntrinsic,
  ftz: flushRule,
  fmin: minMax,
  fmax: minMax,
  frint: unaryIntrinsic,
  ftrunc: unaryIntrinsic,
  ffloor: unaryIntrinsic,
  fceil: unaryIntrinsic,
  fexp2: unaryIntrinsic,
  flog2: unaryIntrinsic,
  fsin: unaryIntrinsic,
  fcos: unaryIntrinsic,
  ftanh: unaryIntrinsic,
  frcp: reciprocal,
  frsqrt: unaryIntrinsic,
  fcmp: (e, inst) => {
    const predicate = fcmpNames[inst.pred] ?? (inst.pred as Predicate);
    return e.b.emit('fcmp', types.i1, { predicate, a: e.value(inst.a), b: e.value(inst.b), flags: 0 });
  },
  trunc: cast('trunc'),
  zext: cast('zext'),
  sext: cast('sext'),
  bitcast: cast('bitcast'),
  fptosi: fromFloat,
  fptoui: fromFloat,
  sitofp: toFloat,
  uitofp: toFloat,
  fpext: cast('fpext'),
  fptrunc: cast('fptrunc'),
  call1: (e, { fn, a }) => e.callFunction(fn, [e.value(a)]),
  call2: (e, { fn, a, b }) => e.callFunction(fn, [e.value(a), e.value(b)]),
  call3: (e, { fn, a, b, c }) => e.callFunction(fn, [e.value(a), e.value(b), e.value(c)]),
  fetch: (e, { fn, a, b, c }) => e.callFunction(fn, [e.value(a), e.value(b), e.value(c)]),
  exchange: (e, { fn, a, b }) => e.callFunction(fn, [e.value(a), e.value(b)]),
  select: (e, { cond, a, b }) => e.b.select(e.value(cond), e.value(a), e.value(b)),
  vec2: (e, inst) => vector(e, inst, [inst.a, inst.b]),
  vec4: (e, inst) => vector(e, inst, [inst.a, inst.b, inst.c, inst.d]),
  extract: (e, { a, lane }) => elementAt(e, e.value(a), lane),
  ptradd: () => undefined,
  ptrtoint: (e, { a }) => asInteger(e, a),
  inttoptr: () => undefined,
  isspace: (e) => bug(`${e.kernel.name} has an address-space test that lowering did not resolve`),
  load: loadRule,
  store: storeRule,
  atomic: atomicRule,
  cas: casRule,
  fence: (e, { scope }, value) => {
    if (!hasFences(e.target))
      return void refuse(e, value, `a fence of the ${scope}`, 'AIR has fences from macOS 15 on', 'compile with `--target macos15`');
    const { memory, order, scope: scopes } = fenceOperands;
    e.call(intrinsicOf('air.atomic.fence')!, [i32Constant(memory), i32Constant(order), i32Constant(scopes[scope])]);
    return undefined;
  },
  clock: (e, { name }, value) => {
    if (e.target.allowsCpuOnly) return e.call(intrinsicOf(clockName(name))!, []);
    refuse(e, value, name === 'time' ? 'the time (`%globaltimer`)' : 'a clock (`%clock`, `%clock64`)', 'AIR has no clock', clockHelp);
    return undef(types.i64);
  },
  shuffle: shuffleRule,
  ballot: ballotRule,
  reduce: reduceRule,
  matmul: matmulRule,
  mma: (e, inst, value) => {
    if (e.target.allowsCpuOnly) return mmaRule(e, inst);
    if (e.kernel.functions?.has(productFunctionName(inst.form))) return productRule(e, inst);
    refuse(e, value, 'a product of matrices of a warp group, or of sparse or scaled matrices', 'AIR has none');
    return undef(llvmType(inst.type));
  },
  syncwarp: syncwarpRule,
  shufflesync: shufflesyncRule,
  ballotsync: ballotsyncRule,
  reducesync: reducesyncRule,
  warpsync: warpsyncRule,
  yield: (e) => bug(`${e.kernel.name} has a yield of the CPU device`),
  members: (e) => bug(`${e.kernel.name} has a mask of the fast sanitizer`),
  input: foreign,
  asm: foreign,
  output: foreign,
  mark: markRule,
  within: (e) => bug(`${e.kernel.name} has an access check of the CPU device`),
  addressable: (e) => bug(`${e.kernel.name} has an access check of the CPU device`),
  aligned: (e) => bug(`${e.kernel.name} has an access check of the CPU device`),
  guard: (e) => bug(`${e.kernel.name} has an access check of the CPU device`),
  barrier: (e) => {
    e.call(intrinsicOf('air.wg.barrier')!, [i32Constant(barrierOperands.memory), i32Constant(barrierOperands.scope)]);
    return undefined;
  },
};
