/** Float ops as PTX. What an architecture does not have for halves and bfloats is computed in single precision and rounded once more. */
import { bitsOf, type FcmpPredicate, type Kernel, type Op, type Type, type Value } from '../../ir/index.ts';
import { type Estimate, flushable, integralRoundings, rootOf } from './idioms.ts';
import type { Printer, Rule, Rules } from './printer.ts';

type Unary = { readonly a: Value; readonly type: Type };
type Binary = Unary & { readonly b: Value };

/** The first architectures with arithmetic of halves, and with that of bfloats: fused sums, and all of it. */
const halves = 53;
const fusedBfloats = 80;
const allBfloats = 90;

const isHalf = (type: Type): boolean => type === 'f16' || type === 'bf16';

/** A half or bfloat as a float. */
export function asFloat(p: Printer, register: string, type: Type): string {
  if (type === 'f32') return register;
  const made = p.temp('f32');
  if (type === 'f16') p.line(`cvt.f32.f16 ${made}, ${register};`);
  else {
    const zero = p.temp('i16');
    p.line(`mov.b16 ${zero}, 0;`);
    p.line(`mov.b32 ${made}, {${zero}, ${register}};`);
  }
  return made;
}

/** Rounds a float to a half or bfloat. */
export function fromFloat(p: Printer, to: string, type: Type, register: string): void {
  if (type === 'f16') return p.line(`cvt.rn.f16.f32 ${to}, ${register};`);
  if (p.module.sm >= 80) {
    p.needs(7);
    return p.line(`cvt.rn.bf16.f32 ${to}, ${register};`);
  }
  const [bits, odd, high, isNan] = [p.temp('i32'), p.temp('i32'), p.temp('i16'), p.temp('i1')];
  p.line(`mov.b32 ${bits}, ${register};`);
  p.line(`shr.u32 ${odd}, ${bits}, 16;`);
  p.line(`and.b32 ${odd}, ${odd}, 1;`);
  p.line(`add.s32 ${bits}, ${bits}, ${odd};`);
  p.line(`add.s32 ${bits}, ${bits}, 32767;`);
  p.line(`shr.u32 ${bits}, ${bits}, 16;`);
  p.line(`cvt.u16.u32 ${high}, ${bits};`);
  p.line(`setp.nan.f32 ${isNan}, ${register}, ${register};`);
  p.line(`selp.b16 ${to}, 32767, ${high}, ${isNan};`);
}

/** An instruction in single precision on halves or bfloats. */
function throughFloat(p: Printer, text: string, operands: readonly Value[], value: Value): void {
  const type = p.typeOf(value);
  const result = p.temp('f32');
  const given = operands.map((operand) => asFloat(p, p.reg(operand), p.typeOf(operand)));
  p.line(`${text} ${[result, ...given].join(', ')};`);
  fromFloat(p, p.reg(value), type, result);
}

/** Whether PTX leaves it to the assembler to fuse a sum and a product: where the source does not say how they are rounded. */
const mayContract = (p: Printer, value: Value, name: string): boolean =>
  new RegExp(`^(?:@\\S+\\s+)?${name}\\.f(?:32|64)\\b`).test(p.written(value) ?? '');

type Sum = 'add' | 'sub' | 'mul';

const arithmetic =
  (name: Sum) =>
  (p: Printer, inst: Binary, value: Value): void => {
    const { a, b, type } = inst;
    if (!isHalf(type)) {
      const rounding = mayContract(p, value, name) ? '' : '.rn';
      return p.line(`${name}${rounding}.${type} ${p.reg(value)}, ${p.reg(a)}, ${p.operand(b)};`);
    }
    const { sm } = p.module;
    if (sm < (type === 'f16' ? halves : fusedBfloats)) return throughFloat(p, `${name}.rn.f32`, [a, b], value);
    if (type === 'bf16' && sm < allBfloats) return asFused(p, name, inst, value);
    p.needs(type === 'f16' ? 4.2 : 7.8);
    p.line(`${name}.rn.${type} ${p.reg(value)}, ${p.reg(a)}, ${p.reg(b)};`);
  };

/** 1, -1 and -0: a * 1 + b, b * -1 + a and a * b + -0 have one rounding, as a sum, a difference and a product. */
const fusedFactors: Readonly<Record<Sum, string>> = { add: '0x3f80', sub: '0xbf80', mul: '0x8000' };

/** Arithmetic of bfloats as a fused sum. */
function asFused(p: Printer, name: Sum, { a, b }: Binary, value: Value): void {
  const [x, y, factor] = [p.reg(a), p.reg(b), p.temp('bf16')];
  p.needs(7);
  p.line(`mov.b16 ${factor}, ${fusedFactors[name]};`);
  const operands = { add: [x, factor, y], sub: [y, factor, x], mul: [x, y, factor] }[name];
  p.line(`fma.rn.bf16 ${[p.reg(value), ...operands].join(', ')};`);
}

const fused: Rule<'fma'> = (p, { a, b, c, type }, value) => {
  if (!isHalf(type)) return p.line(`fma.rn.${type} ${p.reg(value)}, ${p.reg(a)}, ${p.operand(b)}, ${p.operand(c)};`);
  const first = type === 'f16' ? halves : fusedBfloats;
  if (p.module.sm < first) return p.refuse(value, `a fused sum of ${type}`, `it needs sm_${first}`);
  p.needs(type === 'f16' ? 4.2 : 7);
  p.line(`fma.rn.${type} ${p.reg(value)}, ${p.reg(a)}, ${p.reg(b)}, ${p.reg(c)};`);
};

/** An instruction of single and double precision alone. */
const wide =
  (name: string) =>
  (p: Printer, inst: Unary & { readonly b?: Value }, value: Value): void => {
    const operands = inst.b === undefined ? [inst.a] : [inst.a, inst.b];
    if (isHalf(inst.type)) return throughFloat(p, `${name}.f32`, operands, value);
    p.line(`${name}.${inst.type} ${[p.reg(value), p.reg(inst.a), ...(inst.b === undefined ? [] : [p.operand(inst.b)])].join(', ')};`);
  };

/** A quotient of 1 is a reciprocal. */
const quotient = (p: Printer, inst: Binary, value: Value): void => {
  const isOne = !isHalf(inst.type) && ['0f3F800000', '0d3FF0000000000000'].includes(p.operand(inst.a));
  if (isOne) p.line(`rcp.rn.${inst.type} ${p.reg(value)}, ${p.reg(inst.b)};`);
  else wide('div.rn')(p, inst, value);
};

/** A minimum or maximum. */
const extreme =
  (name: 'min' | 'max') =>
  (p: Printer, { a, b, type }: Binary, value: Value): void => {
    if (!isHalf(type)) return p.line(`${name}.${type} ${p.reg(value)}, ${p.reg(a)}, ${p.operand(b)};`);
    if (p.module.sm < 80) return throughFloat(p, `${name}.f32`, [a, b], value);
    p.needs(7);
    p.line(`${name}.${type} ${p.reg(value)}, ${p.reg(a)}, ${p.reg(b)};`);
  };

/** To an integral value. */
const integral =
  (rounding: string) =>
  (p: Printer, { a, type }: Unary, value: Value): void => {
    if (type === 'bf16') return throughFloat(p, `cvt.${rounding}.f32.f32`, [a], value);
    p.line(`cvt.${rounding}.${type}.${type} ${p.reg(value)}, ${p.reg(a)};`);
  };

/** A sign by bits where something sees them, so that a NaN has it too; `neg` and `abs` of the source stay. */
const sign =
  (name: 'neg' | 'abs') =>
  (p: Printer, { a, type }: Unary, value: Value): void => {
    const bits = bitsOf(type);
    const d = p.reg(value);
    const isWritten = (): boolean => new RegExp(`^(?:@\\S+\\s+)?${name}\\.f(?:32|64)\\b`).test(p.written(value) ?? '');
    if (!isHalf(type) && (!p.isSeen(value) || isWritten())) return p.line(`${name}.${type} ${d}, ${p.reg(a)};`);
    const top = 1n << BigInt(bits - 1);
    const mask = `0x${(name === 'neg' ? top : top - 1n).toString(16)}`;
    const text = name === 'neg' ? 'xor' : 'and';
    if (isHalf(type)) return p.line(`${text}.b16 ${d}, ${p.reg(a)}, ${mask};`);
    const own = p.temp(bits === 32 ? 'i32' : 'i64');
    p.line(`mov.b${bits} ${own}, ${p.reg(a)};`);
    p.line(`${text}.b${bits} ${own}, ${own}, ${mask};`);
    p.line(`mov.b${bits} ${d}, ${own};`);
  };

const near = 'its approximation in PTX is not within a few units in the last place everywhere';

/** PTX has the reciprocal root of a double as an approximation, and its reciprocal only rounded, or as an estimate. */
function reciprocalOfDouble(p: Printer, a: Value, value: Value): void {
  const root = rootOf(p.kernel, value);
  p.line(root === undefined ? `rcp.rn.f64 ${p.reg(value)}, ${p.reg(a)};` : `rsqrt.approx.f64 ${p.reg(value)}, ${p.reg(root)};`);
}

/** An estimate of a double. */
export function estimate(p: Printer, { text, a }: Estimate, value: Value): void {
  let operand = p.reg(a);
  if (p.typeOf(a) !== 'f64') {
    const made = p.temp('f64');
    p.line(`mov.b64 ${made}, ${operand};`);
    operand = made;
  }
  p.line(`${text} ${p.reg(value)}, ${operand};`);
}

/** An approximation in single precision. */
const approximate =
  (name: string, hasDoubles = false) =>
  (p: Printer, { a, type }: Unary, value: Value): void => {
    if (type === 'f64' && !hasDoubles) return p.refuse(value, `\`${name}\` of doubles`, 'PTX has no instruction for it');
    if (isHalf(type)) return throughFloat(p, `${name}.approx.f32`, [a], value);
    // A reciprocal root is never subnormal.
    if (name === 'rcp' && type === 'f64') return reciprocalOfDouble(p, a, value);
    const flushed = name === 'rsqrt' && type === 'f32' ? flushable(p.kernel, a) : undefined;
    if (flushed !== undefined) return p.line(`rsqrt.approx.ftz.f32 ${p.reg(value)}, ${p.reg(flushed)};`);
    p.line(`${name}.approx.${type} ${p.reg(value)}, ${p.reg(a)};`);
  };

/** The operand of an approximation whose result is flushed, where the instruction does that. */
const flushing: Partial<Record<Op, (kernel: Kernel, a: Value) => readonly [name: string, a: Value | undefined]>> = {
  // 1 whether the operand is subnormal or 0.
  fexp2: (_, a) => ['ex2', a],
  frcp: (kernel, a) => ['rcp', flushable(kernel, a)],
};

/** A float without subnormals. A NaN stays what it is where something sees its bits, which `cvt` does not keep. */
const flushed: Rule<'ftz'> = (p, { a }, value) => {
  const inst = p.kernel.insts[a]!;
  const [name, operand] = (inst.op === 'fexp2' || inst.op === 'frcp' ? flushing[inst.op]?.(p.kernel, inst.a) : undefined) ?? [];
  if (operand !== undefined) return p.line(`${name}.approx.ftz.f32 ${p.reg(value)}, ${p.reg(operand)};`);
  if (!p.isSeen(value)) return p.line(`cvt.ftz.f32.f32 ${p.reg(value)}, ${p.reg(a)};`);
  const [size, zero, isSubnormal] = [p.temp('f32'), p.temp('f32'), p.temp('i1')];
  p.line(`abs.f32 ${size}, ${p.reg(a)};`);
  p.line(`setp.lt.f32 ${isSubnormal}, ${size}, 0f00800000;`);
  p.line(`mul.rn.f32 ${zero}, ${p.reg(a)}, 0f00000000;`);
  p.line(`selp.f32 ${p.reg(value)}, ${zero}, ${p.reg(a)}, ${isSubnormal};`);
};

const refusedApproximation =
  (name: string) =>
  (p: Printer, _: Unary, value: Value): void =>
    p.refuse(value, name, near);

const comparisons: Readonly<Record<FcmpPredicate, string>> = {
  oeq: 'eq',
  one: 'ne',
  olt: 'lt',
  ole: 'le',
  ogt: 'gt',
  oge: 'ge',
  ord: 'num',
  ueq: 'equ',
  une: 'neu',
  ult: 'ltu',
  ule: 'leu',
  ugt: 'gtu',
  uge: 'geu',
  uno: 'nan',
};

const compare: Rule<'fcmp'> = (p, { a, b, pred }, value) => {
  const type = p.typeOf(a);
  const isNative = type === 'f16' ? p.module.sm >= halves : type === 'bf16' ? p.module.sm >= allBfloats : true;
  const word = comparisons[pred];
  if (isNative && isHalf(type)) {
    p.needs(type === 'f16' ? 4.2 : 7.8);
    return p.line(`setp.${word}.${type} ${p.reg(value)}, ${p.reg(a)}, ${p.reg(b)};`);
  }
  if (isNative) return p.line(`setp.${word}.${type} ${p.reg(value)}, ${p.reg(a)}, ${p.operand(b)};`);
  p.line(`setp.${word}.f32 ${p.reg(value)}, ${asFloat(p, p.reg(a), type)}, ${asFloat(p, p.reg(b), type)};`);
};

export const floatRules = {
  fadd: arithmetic('add'),
  fsub: arithmetic('sub'),
  fmul: arithmetic('mul'),
  fdiv: quotient,
  fma: fused,
  fsqrt: wide('sqrt.rn'),
  fneg: sign('neg'),
  fabs: sign('abs'),
  ftz: flushed,
  fmin: extreme('min'),
  fmax: extreme('max'),
  frint: integral(integralRoundings.frint!),
  ftrunc: integral(integralRoundings.ftrunc!),
  ffloor: integral(integralRoundings.ffloor!),
  fceil: integral(integralRoundings.fceil!),
  fexp2: approximate('ex2'),
  flog2: refusedApproximation('a logarithm'),
  fsin: refusedApproximation('a sine'),
  fcos: refusedApproximation('a cosine'),
  ftanh: refusedApproximation('a hyperbolic tangent'),
  frcp: approximate('rcp', true),
  frsqrt: approximate('rsqrt', true),
  fcmp: compare,
} satisfies Partial<Rules>;
