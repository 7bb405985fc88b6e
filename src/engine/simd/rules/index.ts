/**
 * Instruction selection of the SIMD compiler: a total table with one entry per op of the IR, most of them vector rules. `per-lane`: the scalar
 * compiler's rule for each lane. `emitter`: not vector by vector, `emit/instructions.ts` writes it. `scalar-path`: a kernel with this op runs on
 * the scalar path.
 */
import type { InstOf, Op, Value } from '../../../ir/index.ts';
import type { LaneGroup, PartWriter } from '../lanes/lane-group.ts';
import { leadingZeros, reverseBits } from './bits.ts';
import { bitcast, floatToInt, intToFloat, narrowFloat, signExtend, truncate, widenFloat, windowed, zeroExtend } from './convert.ts';
import { approximate, compareFloat, float1, float2, floatChoice, flushed, fma, reciprocal, signBit } from './float.ts';
import { bits, choice, compareInt, divided, highProduct, integer, populated, product, shift } from './integer.ts';
import { select, vectorOf } from './select.ts';

/** A vector rule; it gives undefined for types without a vector form, which are emitted per lane. */
export type SimdRule<K extends Op> = (s: LaneGroup, inst: InstOf<K>, value: Value) => PartWriter | undefined;

const rules: { [K in Op]: SimdRule<K> | 'per-lane' | 'emitter' | 'scalar-path' } = {
  const: 'emitter',
  param: 'emitter',
  variable: 'emitter',
  sreg: 'emitter',
  arg: 'emitter',
  add: integer('add', 'xor'),
  sub: integer('sub', 'xor'),
  mul: product,
  smulhi: highProduct('s'),
  umulhi: highProduct('u'),
  sdiv: divided('s', 'quotient'),
  udiv: divided('u', 'quotient'),
  srem: divided('s', 'remainder'),
  urem: divided('u', 'remainder'),
  and: bits('and'),
  or: bits('or'),
  xor: bits('xor'),
  shl: shift('shl'),
  lshr: shift('shr_u'),
  ashr: shift('shr_s'),
  smin: choice('min_s'),
  smax: choice('max_s'),
  umin: choice('min_u'),
  umax: choice('max_u'),
  clz: leadingZeros,
  popcount: populated,
  bitrev: reverseBits,
  icmp: compareInt,
  fadd: float2('add'),
  fsub: float2('sub'),
  fmul: float2('mul'),
  fdiv: float2('div'),
  fma,
  fsqrt: float1('sqrt'),
  fneg: signBit('neg'),
  fabs: signBit('abs'),
  ftz: flushed,
  fmin: floatChoice('min'),
  fmax: floatChoice('max'),
  frint: float1('nearest'),
  ftrunc: float1('trunc'),
  ffloor: float1('floor'),
  fceil: float1('ceil'),
  fexp2: approximate('exp2'),
  flog2: approximate('log2'),
  fsin: approximate('sin'),
  fcos: approximate('cos'),
  ftanh: approximate('tanh'),
  frcp: reciprocal,
  frsqrt: approximate('rsqrt'),
  fcmp: compareFloat,
  trunc: truncate,
  zext: zeroExtend,
  sext: signExtend,
  bitcast,
  fptosi: floatToInt('s'),
  fptoui: floatToInt('u'),
  sitofp: intToFloat('s'),
  uitofp: intToFloat('u'),
  fpext: widenFloat,
  fptrunc: narrowFloat,
  call1: 'scalar-path',
  call2: 'scalar-path',
  call3: 'scalar-path',
  fetch: 'scalar-path',
  exchange: 'scalar-path',
  select,
  vec2: vectorOf,
  vec4: vectorOf,
  extract: (s, inst) => (part) => s.element(inst.a, inst.lane, part),
  ptradd: integer('add', 'xor'),
  ptrtoint: (s, inst) => windowed(s, inst.a, inst.a, 'sub'),
  inttoptr: (s, inst, value) => windowed(s, inst.a, value, 'add'),
  isspace: 'scalar-path',
  load: 'emitter',
  store: 'emitter',
  atomic: 'emitter',
  cas: 'emitter',
  fence: 'emitter',
  clock: 'per-lane',
  barrier: 'emitter',
  shuffle: 'emitter',
  ballot: 'emitter',
  reduce: 'emitter',
  matmul: 'scalar-path',
  mma: 'emitter',
  syncwarp: 'emitter',
  shufflesync: 'scalar-path',
  ballotsync: 'scalar-path',
  reducesync: 'scalar-path',
  warpsync: 'scalar-path',
  yield: 'scalar-path',
  members: 'scalar-path',
  within: 'emitter',
  addressable: 'emitter',
  aligned: 'emitter',
  guard: 'emitter',
  input: 'scalar-path',
  asm: 'scalar-path',
  output: 'scalar-path',
  mark: 'scalar-path',
};

/** The writer of a value's vectors; undefined where it is emitted per lane. */
export function partWriter(s: LaneGroup, value: Value): PartWriter | undefined {
  const inst = s.kernel.insts[value]!;
  const rule = rules[inst.op];
  return typeof rule === 'string' ? undefined : (rule as unknown as SimdRule<never>)(s, inst as never, value);
}

/** Whether a kernel with this op runs on the scalar path. */
export const needsScalarPath = (op: Op): boolean => rules[op] === 'scalar-path';
