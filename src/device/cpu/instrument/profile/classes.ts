/** Of which class each op of the IR is, and how many floating-point operations. */
import { addressOf, bitsOf, bytesOf, elementOf, type Inst, type Kernel, type Op, type PointerType, spaceOf } from '../../../../ir/index.ts';
import type { AccessKind, Flops, OperationClass } from '../../../profile.ts';

/** `memory` is told by what is accessed; `none` is nothing that a thread executes. */
const classes: { readonly [K in Op]: OperationClass | 'memory' | 'none' } = {
  const: 'none',
  param: 'none',
  variable: 'none',
  sreg: 'none',
  arg: 'none',
  mark: 'none',
  members: 'none',
  within: 'none',
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
  fmin: 'float',
  fmax: 'float',
  fdiv: 'function',
  fsqrt: 'function',
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
  clock: 'other',
  load: 'memory',
  store: 'memory',
  atomic: 'atomic',
  cas: 'atomic',
  shuffle: 'warp',
  ballot: 'warp',
  reduce: 'warp',
  matmul: 'warp',
  syncwarp: 'warp',
  barrier: 'barrier',
  fence: 'barrier',
};

/** The class of an instruction; nothing for what no thread executes. */
export function classOf(kernel: Kernel, inst: Inst): OperationClass | undefined {
  const known = classes[inst.op];
  if (known !== 'memory') return known === 'none' ? undefined : known;
  const space = spaceOf(kernel.insts[addressOf(inst)!]!.type as PointerType);
  return space === 'global' || space === 'shared' || space === 'local' ? space : 'constant';
}

/** Sums, products, quotients, roots and functions are one, a fused multiply-add two; choices, signs and conversions none. */
const flopsByOp: Partial<Record<Op, number>> = {
  fadd: 1,
  fsub: 1,
  fmul: 1,
  fma: 2,
  fdiv: 1,
  fsqrt: 1,
  frsqrt: 1,
  fexp2: 1,
  flog2: 1,
  fsin: 1,
  fcos: 1,
  ftanh: 1,
};

/** Floating-point operations of one thread, by the width in which they are done. */
export function flopsOf({ op, type }: Inst): { readonly width: keyof Flops; readonly count: number } | undefined {
  const count = flopsByOp[op];
  if (count === undefined) return undefined;
  const bits = bitsOf(elementOf(type));
  return { width: bits === 64 ? 'f64' : bits === 32 ? 'f32' : 'f16', count };
}

/** An access that warps are watched at. */
export interface WatchedAccess {
  readonly space: 'global' | 'shared';
  readonly kind: AccessKind;
  /** Bytes of one thread. */
  readonly size: number;
}

/** The access that an instruction is, where it is one of global or shared memory. */
export function watchedAccess(kernel: Kernel, inst: Inst): WatchedAccess | undefined {
  const addr = addressOf(inst);
  if (addr === undefined) return undefined;
  const space = spaceOf(kernel.insts[addr]!.type as PointerType);
  if (space !== 'global' && space !== 'shared') return undefined;
  const kind = inst.op === 'load' || inst.op === 'store' ? inst.op : 'atomic';
  return { space, kind, size: bytesOf(inst.op === 'store' ? kernel.insts[inst.value]!.type : inst.type) };
}
