/** Leaf values, which every use emits anew: constants, parameters, variables, special registers. */
import {
  affine,
  elementOf,
  type Inst,
  type InstOf,
  isPointer,
  type Kernel,
  operandsOf,
  type Sreg,
  spaceOf,
  terminatorOperands,
  uniform,
  type Value,
  varying,
} from '../../../ir/index.ts';
import type { Code } from '../../../wasm/index.ts';
import { writeConstant } from '../../codegen/values.ts';
import { sregShape } from '../analysis/lane-shapes.ts';
import type { SimdPlan } from '../analysis/plan.ts';
import { addStride, type LaneGroup, longOf, numberOf, shapeOf } from './lane-group.ts';
import { longs, shapeName, words } from './vectors.ts';

/** Locals of special registers in a group: the base of uniform and affine ones, vectors of varying ones. */
export interface LeafLocals {
  readonly base: ReadonlyMap<Sreg, number>;
  /** Special registers of the block: a local each, read once for all groups. */
  readonly blocks: ReadonlyMap<Sreg, number>;
  readonly vectors: ReadonlyMap<Sreg, readonly number[]>;
  /** By parameter of the kernel: a local with its address as an i32. */
  readonly params: ReadonlyMap<number, number>;
}

/** Pushes a uniform value, or the base of an affine one. */
export function pushLeafScalar(s: LaneGroup, starts: LeafLocals, value: Value): void {
  const inst = s.kernel.insts[value]!;
  switch (inst.op) {
    case 'const':
      return writeConstant(s.code, numberOf(s, value), inst.bits);
    case 'param':
      if (longOf(s, value)) return s.code.at('global.get', s.host.params[inst.index]!);
      return s.code.at('local.get', starts.params.get(inst.index)!);
    case 'variable':
      return pushVariable(s, value, inst);
    case 'sreg':
      return pushSreg(s, starts, inst.name);
  }
}

function pushVariable(s: LaneGroup, value: Value, { name, type }: InstOf<'variable'>): void {
  const { code, plan } = s;
  const space = isPointer(type) ? spaceOf(type) : 'shared';
  pushWindow(s, space as 'shared');
  code.i32(plan.offsets.get(name)!);
  code.op('i32.add');
  if (longOf(s, value)) code.op('i64.extend_i32_u');
}

/** Pushes the address at which the window of a space starts for the first lane, as an i32. */
export function pushWindow({ code, frame }: LaneGroup, space: 'shared' | 'constant' | 'local'): void {
  code.at('local.get', frame[space]);
}

/** The value of a special register that is constant in a block of a known size. */
function constantSreg(name: Sreg, { block: [nx, ny, nz], threads }: SimdPlan): number | undefined {
  switch (name) {
    case 'ntid.x':
      return nx;
    case 'ntid.y':
      return ny;
    case 'ntid.z':
      return nz;
    case 'nwarpid':
      return (threads + 31) >> 5;
    case 'tid.x':
      return nx === 1 ? 0 : undefined;
    case 'tid.y':
      return ny === 1 ? 0 : undefined;
    case 'tid.z':
      return nz === 1 ? 0 : undefined;
    default:
      return undefined;
  }
}

function pushSreg({ code, host, plan }: LaneGroup, { base, blocks }: LeafLocals, name: Sreg): void {
  const known = constantSreg(name, plan);
  if (known !== undefined) return code.i32(known);
  const local = base.get(name) ?? blocks.get(name);
  if (local !== undefined) return code.at('local.get', local);
  code.at('global.get', host.globals[name as 'nctaid.x']);
}

/** Pushes one vector of a leaf value. */
export function pushLeafPart(s: LaneGroup, starts: LeafLocals, value: Value, part: number): void {
  const { code } = s;
  const inst = s.kernel.insts[value]!;
  if (inst.op === 'const') return code.v128(constantWords(s, value, inst));
  if (inst.op === 'sreg' && shapeOf(s, value) === varying) {
    const vectors = starts.vectors.get(inst.name);
    if (vectors) return code.at('local.get', vectors[part]!);
  }
  const shape = s.plan.shapes.shape[value]!;
  pushLeafScalar(s, starts, value);
  code.op(`${shapeName[numberOf(s, value)]}.splat`);
  const stride = strideOfLeaf(s, inst, value);
  if (stride !== 0 && shape !== uniform && !longOf(s, value)) addStride(s, stride, part);
  if (stride !== 0 && shape !== uniform && longOf(s, value)) {
    code.v128([2 * part * stride, 0, (2 * part + 1) * stride, 0]);
    code.op('i64x2.add');
  }
}

/** The stride of a leaf value from lane to lane, also of one that is held as vectors elsewhere. */
function strideOfLeaf({ plan }: LaneGroup, inst: Inst, value: Value): number {
  if (plan.shapes.shape[value] === affine) return plan.shapes.stride[value]!;
  if (inst.op === 'variable') return inst.type === 'ptr.local' ? plan.windows.local : 0;
  if (inst.op !== 'sreg') return 0;
  const cut = { block: plan.block, lanes: plan.lanes, local: plan.windows.local };
  return sregShape(inst.name, cut) === affine ? 1 : 0;
}

/** A constant as a vector. */
export function constantWords(s: Pick<LaneGroup, 'plan' | 'kernel'>, value: Value, { bits, type }: InstOf<'const'>): number[] {
  if (elementOf(type) === 'i1') return words(bits === 1n ? -1 : 0);
  const number = numberOf(s, value);
  return number === 'i64' || number === 'f64' ? longs(bits) : words(Number(bits & 0xffff_ffffn));
}

/** Pushes one lane of a leaf value. */
export function pushLeafLane(s: LaneGroup, starts: LeafLocals, value: Value, lane: number): void {
  const { code } = s;
  const inst = s.kernel.insts[value]!;
  const vectors = inst.op === 'sreg' && shapeOf(s, value) === varying ? starts.vectors.get(inst.name) : undefined;
  if (vectors) {
    code.at('local.get', vectors[lane >> 2]!);
    return code.lane('i32x4.extract_lane', lane & 3);
  }
  pushLeafScalar(s, starts, value);
  const stride = Math.imul(strideOfLeaf(s, inst, value), lane);
  if (stride === 0) return;
  if (longOf(s, value)) code.i64(BigInt(stride));
  else code.i32(stride);
  code.op(longOf(s, value) ? 'i64.add' : 'i32.add');
}

/** The special registers and parameters that some blocks use. */
export function usedLeaves(kernel: Kernel, blocks: readonly number[]): { readonly sregs: Set<Sreg>; readonly params: Set<number> } {
  const used = { sregs: new Set<Sreg>(), params: new Set<number>() };
  const see = (value: Value): void => {
    const inst = kernel.insts[value]!;
    if (inst.op === 'sreg') used.sregs.add(inst.name);
    if (inst.op === 'param') used.params.add(inst.index);
  };
  for (const id of blocks) {
    const { body, end } = kernel.blocks[id]!;
    for (const value of body) operandsOf(kernel.insts[value]!).forEach(see);
    terminatorOperands(end).forEach(see);
  }
  return used;
}

/** Declares locals for the special registers and parameters that a function uses. The caller sets them. */
export function leafLocalsOf(plan: SimdPlan, code: Code, { sregs, params: used }: ReturnType<typeof usedLeaves>): LeafLocals {
  const cut = { block: plan.block, lanes: plan.lanes, local: plan.windows.local };
  const base = new Map<Sreg, number>();
  const vectors = new Map<Sreg, readonly number[]>();
  const blocks = new Map([...sregs].filter((name) => /^n?ctaid/.test(name)).map((name) => [name, code.local('i32')]));
  for (const name of sregs) {
    if (!/^(tid|gid|laneid|warpid)/.test(name)) continue;
    if (name.startsWith('gid')) blocks.set(`ctaid.${name.at(-1)}` as Sreg, code.local('i32'));
    if (sregShape(name, cut) === varying)
      vectors.set(
        name,
        Array.from({ length: plan.packs }, () => code.local('v128')),
      );
    else base.set(name, code.local('i32'));
  }
  const params = new Map([...used].map((index) => [index, code.local('i32')]));
  return { base, blocks, vectors, params };
}
