/** The class of each IR op, and its number of floating-point operations. */
import { addressOf, bitsOf, bytesOf, elementOf, type Inst, type Kernel, type Op, type PointerType, spaceOf } from '../../../../ir/index.ts';
import type { AccessKind, Flops, OperationClass } from '../../../profile.ts';

/** `memory` depends on the space that is accessed; `none` is not executed by threads. */
const classes: { readonly [K in Op]: OperationClass | 'memory' | 'none' } = {
  const: 'none',
  param: 'none',
  variable: 'none',
  sreg: 'none',
  arg: 'none',
  input: 'none',
  asm: 'none',
  output: 'none',
  mark: 'none',
  members: 'none',
  yield: 'none',
  within: 'none',
  addressable: 'none',
  aligned: 'none',
  guard: 'none',
  add: 'integer',
  sub: 'integer',
  mul: 'integer',
  smulhi: 'integer',
  umulhi: 'integer',
  sdiv: 'integer',
  udiv: 'integer',
  srem: 'integer',
  urem: 'integer',
  and: 'integer',
  or: 'integer',
  xor: 'integer',
  shl: 'integer',
  lshr: 'integer',
  ashr: 'integer',
  smin: 'integer',
  smax: 'integer',
  umin: 'integer',
  umax: 'integer',
  clz: 'integer',
  popcount: 'integer',
  bitrev: 'integer',
  icmp: 'compare',
  fcmp: 'compare',
  select: 'compare',
  fadd: 'float',
  fsub: 'float',
  fmul: 'float',
  fma: 'float',
  fneg: 'float',
  fabs: 'float',
  ftz: 'float',
  fmin: 'float',
  fmax: 'float',
  fdiv: 'function',
  fsqrt: 'function',
  frcp: 'function',
  frsqrt: 'function',
  fexp2: 'function',
  flog2: 'function',
  fsin: 'function',
  fcos: 'function',
  ftanh: 'function',
  frint: 'convert',
  ftrunc: 'convert',
  ffloor: 'convert',
  fceil: 'convert',
  trunc: 'convert',
  zext: 'convert',
  sext: 'convert',
  fptosi: 'convert',
  fptoui: 'convert',
  sitofp: 'convert',
  uitofp: 'convert',
  fpext: 'convert',
  fptrunc: 'convert',
  bitcast: 'move',
  vec2: 'move',
  vec4: 'move',
  extract: 'move',
  ptradd: 'address',
  ptrtoint: 'address',
  inttoptr: 'address',
  isspace: 'address',
  call1: 'other',
  call2: 'other',
  call3: 'other',
  fetch: 'memory',
  exchange: 'warp',
  clock: 'other',
  load: 'memory',
  store: 'memory',
  atomic: 'atomic',
  cas: 'atomic',
  shuffle: 'warp',
  ballot: 'warp',
  reduce: 'warp',
  matmul: 'warp',
  mma: 'warp',
  syncwarp: 'warp',
  shufflesync: 'warp',
  ballotsync: 'warp',
  reducesync: 'warp',
  warpsync: 'warp',
  barrier: 'barrier',
  fence: 'barrier',
};

/** The class of an instruction; undefined for one that is not executed. */
export function classOf(kernel: Kernel, inst: Inst): OperationClass | undefined {
  const known = classes[inst.op];
  if (known !== 'memory') return known === 'none' ? undefined : known;
  const space = spaceOf(kernel.insts[addressOf(inst)!]!.type as PointerType);
  return space === 'global' || space === 'shared' || space === 'local' ? space : 'constant';
}

/** Arithmetic and functions count as one, a fused multiply-add as two; minimum, sign and conversions as none. */
const flopsByOp: Partial<Record<Op, number>> = {
  fadd: 1,
  fsub: 1,
  fmul: 1,
  fma: 2,
  fdiv: 1,
  fsqrt: 1,
  frcp: 1,
  frsqrt: 1,
  fexp2: 1,
  flog2: 1,
  fsin: 1,
  fcos: 1,
  ftanh: 1,
};

/** Floating-point operations of one thread, by their width. */
export function flopsOf({ op, type }: Inst): { readonly width: keyof Flops; readonly count: number } | undefined {
  const count = flopsByOp[op];
  if (count === undefined) return undefined;
  const bits = bitsOf(elementOf(type));
  return { width: bits === 64 ? 'f64' : bits === 32 ? 'f32' : 'f16', count };
}

/** An access that is profiled. */
export interface ProfiledAccess {
  readonly space: 'global' | 'shared';
  readonly kind: AccessKind;
  /** Bytes of one thread. */
  readonly size: number;
}

/** The access of an instruction, if it is to global or shared memory. */
export function profiledAccess(kernel: Kernel, inst: Inst): ProfiledAccess | undefined {
  const addr = addressOf(inst);
  if (addr === undefined) return undefined;
  const space = spaceOf(kernel.insts[addr]!.type as PointerType);
  if (space !== 'global' && space !== 'shared') return undefined;
  const kind = inst.op === 'load' || inst.op === 'store' ? inst.op : 'atomic';
  return { space, kind, size: bytesOf(inst.op === 'store' ? kernel.insts[inst.value]!.type : inst.type) };
}
