/**
 * Bit-exact evaluation of every pure op: bits in, bits out, both zero-extended; a vector's first element is in its low bits. It is the one
 * definition of what an op computes; constant folding and the interpreter use it, and specs hold the devices to it.
 */
import {
  addFloat,
  bitLength,
  compareFloat,
  convertFloat,
  divFloat,
  type FloatFormat,
  floatFormats,
  floatOfInteger,
  floatToInteger,
  fmaFloat,
  type IntegralRounding,
  integralFloat,
  maxFloat,
  minFloat,
  mulFloat,
  signBitOf,
  sqrtFloat,
  subFloat,
} from '../base/float-exact.ts';
import type { Inst, InstOf } from './kernel.ts';
import { type FcmpPredicate, type IcmpPredicate, type Op, opNames, type ops } from './ops.ts';
import { bitsOf, elementOf, type FloatType, isFloat, type Type } from './types.ts';

type Pure = { [K in Op]: (typeof ops)[K]['effect'] extends 'pure' ? K : never }[Op];
/** Ops whose result follows from their operands and attributes alone. */
export type PureOp = Exclude<Pure, 'arg' | 'param' | 'variable' | 'sreg' | 'call1' | 'call2' | 'call3' | 'isspace' | Approximate>;

/** Ops that devices compute within a bound: no bits are the right ones. */
type Approximate = 'fexp2' | 'flog2' | 'fsin' | 'fcos' | 'ftanh' | 'frcp' | 'frsqrt';

/** The arguments of a rule besides the operand bits. */
interface Context<K extends Op> {
  readonly inst: InstOf<K>;
  /** Type of the first operand; the result type if there is none. */
  readonly type: Type;
  /** Width of `type` in bits. */
  readonly n: number;
}

type Rule<K extends Op> = (x: readonly bigint[], c: Context<K>) => bigint;

const signed = (n: number, value: bigint): bigint => BigInt.asIntN(n, value);
const flag = (holds: boolean): bigint => (holds ? 1n : 0n);
const formatOf = (type: Type): FloatFormat => floatFormats[type as FloatType];
const ones = (n: number): bigint => (1n << BigInt(n)) - 1n;

function smaller(a: bigint, b: bigint): bigint {
  if (a < b) return a;
  return b;
}

function larger(a: bigint, b: bigint): bigint {
  if (a > b) return a;
  return b;
}

const unsignedOp =
  (f: (a: bigint, b: bigint, n: number) => bigint) =>
  ([a, b]: readonly bigint[], { n }: { n: number }): bigint =>
    f(a!, b!, n);
const signedOp =
  (f: (a: bigint, b: bigint, n: number) => bigint) =>
  ([a, b]: readonly bigint[], { n }: { n: number }): bigint =>
    f(signed(n, a!), signed(n, b!), n);
const floatOp1 =
  (f: (format: FloatFormat, a: bigint) => bigint) =>
  ([a]: readonly bigint[], { type }: { type: Type }): bigint =>
    f(formatOf(type), a!);
const floatOp2 =
  (f: (format: FloatFormat, a: bigint, b: bigint) => bigint) =>
  ([a, b]: readonly bigint[], { type }: { type: Type }): bigint =>
    f(formatOf(type), a!, b!);
const integral = (rounding: IntegralRounding) => floatOp1((format, a) => integralFloat(format, a, rounding));
const joined = (x: readonly bigint[], { n }: { n: number }): bigint => x.reduceRight((rest, element) => (rest << BigInt(n)) | element, 0n);

const icmpRules = {
  eq: (a, b) => a === b,
  ne: (a, b) => a !== b,
  slt: (a, b, n) => signed(n, a) < signed(n, b),
  sle: (a, b, n) => signed(n, a) <= signed(n, b),
  sgt: (a, b, n) => signed(n, a) > signed(n, b),
  sge: (a, b, n) => signed(n, a) >= signed(n, b),
  ult: (a, b) => a < b,
  ule: (a, b) => a <= b,
  ugt: (a, b) => a > b,
  uge: (a, b) => a >= b,
} satisfies Record<IcmpPredicate, (a: bigint, b: bigint, n: number) => boolean>;

/** Which outcomes of a comparison each predicate holds for: below, equal, above, unordered. */
const fcmpRules = {
  oeq: '=',
  one: '<>',
  olt: '<',
  ole: '<=',
  ogt: '>',
  oge: '=>',
  ord: '<=>',
  ueq: '=?',
  une: '<>?',
  ult: '<?',
  ule: '<=?',
  ugt: '>?',
  uge: '=>?',
  uno: '?',
} satisfies Record<FcmpPredicate, string>;

function fcmp(format: FloatFormat, a: bigint, b: bigint, predicate: FcmpPredicate): boolean {
  const order = compareFloat(format, a, b);
  const outcome = order === undefined ? '?' : '<=>'[order + 1]!;
  return fcmpRules[predicate].includes(outcome);
}

const rules = {
  const: (_, { inst }) => inst.bits,
  add: unsignedOp((a, b) => a + b),
  sub: unsignedOp((a, b) => a - b),
  mul: unsignedOp((a, b) => a * b),
  smulhi: signedOp((a, b, n) => (a * b) >> BigInt(n)),
  umulhi: unsignedOp((a, b, n) => (a * b) >> BigInt(n)),
  sdiv: signedOp((a, b) => (b === 0n ? -1n : a / b)),
  udiv: unsignedOp((a, b) => (b === 0n ? -1n : a / b)),
  srem: signedOp((a, b) => (b === 0n ? a : a % b)),
  urem: unsignedOp((a, b) => (b === 0n ? a : a % b)),
  and: unsignedOp((a, b) => a & b),
  or: unsignedOp((a, b) => a | b),
  xor: unsignedOp((a, b) => a ^ b),
  shl: unsignedOp((a, b, n) => (b >= BigInt(n) ? 0n : a << b)),
  lshr: unsignedOp((a, b, n) => (b >= BigInt(n) ? 0n : a >> b)),
  ashr: unsignedOp((a, b, n) => signed(n, a) >> (b >= BigInt(n) ? BigInt(n) : b)),
  smin: signedOp(smaller),
  smax: signedOp(larger),
  umin: unsignedOp(smaller),
  umax: unsignedOp(larger),
  clz: ([a], { n }) => BigInt(n - bitLength(a!)),
  popcount: ([a]) => BigInt(a!.toString(2).replaceAll('0', '').length),
  bitrev: ([a], { n }) => BigInt(`0b${[...a!.toString(2).padStart(n, '0')].reverse().join('')}`),
  icmp: ([a, b], { inst, n }) => flag(icmpRules[inst.pred](a!, b!, n)),
  fadd: floatOp2(addFloat),
  fsub: floatOp2(subFloat),
  fmul: floatOp2(mulFloat),
  fdiv: floatOp2(divFloat),
  fma: ([a, b, c], { type }) => fmaFloat(formatOf(type), a!, b!, c!),
  fsqrt: floatOp1(sqrtFloat),
  fneg: floatOp1((format, a) => a ^ signBitOf(format)),
  fabs: floatOp1((format, a) => a & (signBitOf(format) - 1n)),
  ftz: ([a]) => ((a! & 0x7f80_0000n) === 0n ? a! & 0x8000_0000n : a!),
  fmin: floatOp2(minFloat),
  fmax: floatOp2(maxFloat),
  frint: integral('even'),
  ftrunc: integral('zero'),
  ffloor: integral('down'),
  fceil: integral('up'),
  fcmp: ([a, b], { inst, type }) => flag(fcmp(formatOf(type), a!, b!, inst.pred)),
  trunc: ([a]) => a!,
  zext: ([a]) => a!,
  sext: ([a], { n }) => signed(n, a!),
  bitcast: ([a]) => a!,
  fptosi: ([a], { inst, type }) => {
    const half = 1n << BigInt(bitsOf(inst.type) - 1);
    return floatToInteger(formatOf(type), a!, -half, half - 1n);
  },
  fptoui: ([a], { inst, type }) => floatToInteger(formatOf(type), a!, 0n, ones(bitsOf(inst.type))),
  sitofp: ([a], { inst, n }) => floatOfInteger(formatOf(inst.type), signed(n, a!)),
  uitofp: ([a], { inst }) => floatOfInteger(formatOf(inst.type), a!),
  fpext: ([a], { inst, type }) => convertFloat(formatOf(type), formatOf(inst.type), a!),
  fptrunc: ([a], { inst, type }) => convertFloat(formatOf(type), formatOf(inst.type), a!),
  select: ([cond, a, b]) => (cond === 1n ? a! : b!),
  vec2: joined,
  vec4: joined,
  extract: ([a], { inst, type }) => a! >> BigInt(inst.lane * bitsOf(elementOf(type))),
  ptradd: ([a, b]) => a! + b!,
  ptrtoint: ([a]) => a!,
  inttoptr: ([a]) => a!,
} satisfies { [K in PureOp]: Rule<K> };

/** Whether `evalOp` has a rule for an op. */
const isEvaluable = (op: Op): op is PureOp => Object.hasOwn(rules, op);

/** The ops that `evalOp` knows. */
export const evaluableOps: readonly PureOp[] = opNames.filter(isEvaluable);

/** The result bits of an evaluable instruction for given operand bits; `types` are the operands' types in order. */
export function evalOp(inst: InstOf<PureOp>, operands: readonly bigint[], types: readonly Type[]): bigint {
  const type = inst.op === 'select' ? inst.type : (types[0] ?? inst.type);
  const context = { inst, type, n: bitsOf(type) } as Context<never>;
  const rule = rules[inst.op] as Rule<never>;
  return BigInt.asUintN(bitsOf(inst.type), rule(operands, context));
}

/** Whether bits of a type are a NaN. */
export const isNan = (type: Type, bits: bigint): boolean => isFloat(type) && compareFloat(formatOf(type), bits, bits) === undefined;

/** Narrows an instruction to those that `evalOp` takes. */
export const isEvaluableInst = (inst: Inst): inst is InstOf<PureOp> => isEvaluable(inst.op);
