/**
 * Instruction selection of the scalar compiler: a total table with one rule per op of the IR. A rule leaves the result on the stack. The SIMD
 * compiler calls the same rules for ops that it emits per lane.
 */
import { bug } from '../../base/bug.ts';
import type { InstOf, Op, Value } from '../../ir/index.ts';
import { flushingEmitter, isFlushedOp } from '../codegen/denormals.ts';
import { call, type Emitter, pushAll, typeOf } from '../codegen/emitter.ts';
import { integerHeldAs } from '../codegen/values.ts';
import { atomic, compareAndSwap } from './atomic-rules.ts';
import {
  bitcast,
  convertAddress,
  floatToInt,
  intToFloat,
  narrowFloat,
  signExtend,
  truncate,
  widenFloat,
  zeroExtend,
} from './conversion-rules.ts';
import { approximate, compareFloat, float1, float2, floatChoice, fma, reciprocal, signBit } from './float-rules.ts';
import { compareInt, highProduct, integer, integerCall, leadingZeros, reverseBits, shift, shiftSigned } from './integer-rules.ts';
import { checkAligned, load, select, store } from './memory-rules.ts';

const leaf = (e: Emitter, _: unknown, value: Value): void => e.leaf(value);
const foreign = (): never => bug('instructions of PTX in the IR of an engine');
const noCall = (): never => bug('a call in the IR of an engine; raising AIR inlines every function');

/** One worker runs all threads of a block, so only a fence for other blocks has an instruction, and only in memory that workers share. */
function fence(e: Emitter, { scope }: InstOf<'fence'>, value: Value): void {
  e.sanitizer?.fence(e, value);
  if (e.host.isShared && scope === 'device') e.code.op('atomic.fence');
}

const rules = {
  const: leaf,
  param: leaf,
  variable: leaf,
  sreg: leaf,
  arg: () => bug('a block parameter in a body'),
  add: integer('add'),
  sub: integer('sub'),
  mul: integer('mul'),
  smulhi: (e, inst) => highProduct(e, inst, true),
  umulhi: (e, inst) => highProduct(e, inst, false),
  sdiv: integerCall('sdiv'),
  udiv: integerCall('udiv'),
  srem: integerCall('srem'),
  urem: integerCall('urem'),
  and: integer('and'),
  or: integer('or'),
  xor: integer('xor'),
  shl: (e, inst) => shift(e, inst, 'shl'),
  lshr: (e, inst) => shift(e, inst, 'shr_u'),
  ashr: shiftSigned,
  smin: integerCall('smin'),
  smax: integerCall('smax'),
  umin: integerCall('umin'),
  umax: integerCall('umax'),
  clz: leadingZeros,
  popcount: (e, inst) => {
    e.values.push(inst.a);
    e.code.op(`${integerHeldAs(inst.type)}.popcnt`);
  },
  bitrev: reverseBits,
  icmp: compareInt,
  fadd: float2('add'),
  fsub: float2('sub'),
  fmul: float2('mul'),
  fdiv: float2('div'),
  fma,
  fsqrt: float1('sqrt'),
  fneg: (e, inst) => signBit(e, inst, 'neg'),
  fabs: (e, inst) => signBit(e, inst, 'abs'),
  ftz: (e, inst) => {
    e.values.push(inst.a);
    call(e, 'flush32');
  },
  fmin: floatChoice('fmin'),
  fmax: floatChoice('fmax'),
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
  fptosi: (e, inst) => floatToInt(e, inst, true),
  fptoui: (e, inst) => floatToInt(e, inst, false),
  sitofp: (e, inst) => intToFloat(e, inst, true),
  uitofp: (e, inst) => intToFloat(e, inst, false),
  fpext: widenFloat,
  fptrunc: narrowFloat,
  call1: noCall,
  call2: noCall,
  call3: noCall,
  fetch: noCall,
  exchange: noCall,
  select,
  vec2: (e, inst) => pushAll(e, [inst.a, inst.b]),
  vec4: (e, inst) => pushAll(e, [inst.a, inst.b, inst.c, inst.d]),
  extract: (e, inst) => e.values.pushLane(inst.a, inst.lane),
  ptradd: integer('add'),
  ptrtoint: (e, inst) => convertAddress(e, inst.a, typeOf(e, inst.a), 'i64.sub'),
  inttoptr: (e, inst) => convertAddress(e, inst.a, inst.type, 'i64.add'),
  isspace: () => bug('an isspace that lowering did not fold'),
  load,
  store,
  atomic,
  cas: compareAndSwap,
  fence,
  clock: (e, { name }) => e.code.at('call', e.host.functions[name]),
  // Sync points end a region: `schedule.ts` and `collective-function.ts` implement them, and nothing is left to do inside a region.
  barrier: () => {},
  shuffle: () => {},
  ballot: () => {},
  reduce: () => {},
  matmul: () => bug('a matmul that was not expanded'),
  mma: () => {},
  syncwarp: () => {},
  shufflesync: () => {},
  ballotsync: () => {},
  reducesync: () => {},
  warpsync: () => {},
  yield: () => {},
  // Only the fast sanitizer, which the SIMD compiler serves, has masks by themselves.
  members: () => {},
  input: foreign,
  asm: foreign,
  output: foreign,
  // Marks are read by observers, block by block.
  mark: () => {},
  // The fast sanitizer inserts access checks into kernels of the SIMD compiler only.
  within: () => {},
  addressable: () => {},
  aligned: checkAligned,
  guard: () => {},
} satisfies { [K in Op]: (e: Emitter, inst: InstOf<K>, value: Value) => void };

/** The rule of an op, which leaves the result on the stack. */
export const ruleOf = (op: Op): ((e: Emitter, inst: never, value: Value) => void) => rules[op];

/** Emits the instruction that defines a value, or defers it to its use. */
export function writeInstruction(e: Emitter, value: Value): void {
  const inst = e.kernel.insts[value]!;
  const isFlushed = e.isFlushing && isFlushedOp(inst.op);
  const by = isFlushed ? flushingEmitter(e) : e;
  e.values.define(value, () => {
    ruleOf(inst.op)(by, inst as never, value);
    if (isFlushed && inst.type === 'f32') call(e, 'flush32');
  });
  e.probe?.wrote(e, value);
}
