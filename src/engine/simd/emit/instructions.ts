/** Instructions that are not emitted vector by vector: memory accesses, atomics, warp collectives, checks. */
import { type Block, bytesOf, type Inst, type InstOf, type Op, operandsOf, specOf, type Value, varying } from '../../../ir/index.ts';
import { withScratch } from '../../codegen/scratch.ts';
import { isWithinVariable } from '../analysis/value-range.ts';
import { maxFunctionBytes } from '../lanes/kernel-context.ts';
import { type LaneGroup, longOf, numberOf, shapeOf } from '../lanes/lane-group.ts';
import type { GroupValues } from '../lanes/values.ts';
import { shapeName, words } from '../lanes/vectors.ts';
import { exactFma } from '../rules/fma-f32.ts';
import { bias, writeScalar } from '../rules/scalar.ts';
import { writeAddressCheck } from './address-checks.ts';
import { ifActive, ifAnyActive, load, store } from './memory-access.ts';
import { rerolledStretches, writeRerolled } from './reroll.ts';
import { ballot, mma, reduce, shuffle } from './warp-collectives.ts';

/** Emits the body of a block, with its long straight-line stretches re-rolled. */
export function writeBlockBody(values: GroupValues, block: Block): void {
  const { rerolled, plan } = values.group;
  let at = 0;
  for (const run of rerolledStretches(values.group, block)) {
    for (; at < run.from; at++) writeGroupInstruction(values, block.body[at]!);
    rerolled.bytes = Math.max(rerolled.bytes, writeRerolled(values, block, run, plan.recordBytes));
    at = run.to;
  }
  for (; at < block.body.length; at++) writeGroupInstruction(values, block.body[at]!);
}

function writeGroupInstruction(values: GroupValues, value: Value): void {
  const s = values.group;
  // A function this large is dropped, so further code would be wasted.
  if (s.code.size > maxFunctionBytes) return;
  s.pool.begin();
  const inst = s.kernel.insts[value]!;
  if (isCheck(inst)) {
    writeCheck(s, inst);
    return values.finish(operandsOf(inst));
  }
  if (inst.op === 'load' ? inst.volatile : specOf(inst.op).effect !== 'pure') values.flushLoads();
  switch (inst.op) {
    case 'load':
      if (shapeOf(s, value) !== varying) return values.define(value);
      load(s, values, inst, value);
      break;
    case 'store':
      store(s, inst);
      break;
    case 'atomic':
    case 'cas':
      atomic(values, value);
      break;
    case 'ballot':
      ballot(values, inst, value);
      break;
    case 'reduce':
      reduce(values, inst, value);
      break;
    case 'shuffle':
      shuffle(values, inst, value);
      break;
    case 'mma':
      mma(values, inst, value);
      break;
    case 'fma':
      if (inst.type !== 'f32' || s.fma !== 'exact' || shapeOf(s, value) !== varying) return values.define(value);
      exactFma(values, inst, value);
      break;
    case 'fence':
      // Only other blocks, on other workers, can observe the order; the lanes of a group share one thread.
      if (s.host.isShared && inst.scope === 'device') s.code.op('atomic.fence');
      break;
    case 'barrier':
    case 'syncwarp':
      break;
    default:
      return values.define(value);
  }
  values.finish(operandsOf(inst));
}

type CheckInst = InstOf<'guard' | 'within' | 'members' | 'addressable' | 'aligned'>;

/** Instructions that check and leave memory unchanged. */
const isCheck = (inst: Inst): inst is CheckInst => checkOps.has(inst.op);
const checkOps: ReadonlySet<Op> = new Set<Op>(['guard', 'within', 'members', 'addressable', 'aligned']);

function writeCheck(s: LaneGroup, inst: CheckInst): void {
  if (writeAddressCheck(s, inst)) return;
  if (inst.op === 'guard') s.guards?.guard(s, inst);
  else if (inst.op === 'within') s.guards?.within(s, inst);
  else if (inst.op === 'members') s.guards?.members(s);
}

/** Per lane, with the rule of the scalar compiler. */
function atomic(values: GroupValues, value: Value): void {
  const s = values.group;
  const inst = s.kernel.insts[value]!;
  const hasIndices = (inst.op === 'atomic' || inst.op === 'cas') && shapeOf(s, inst.a) === varying && !longOf(s, inst.a);
  withScratch(s, 'v128', 2, ([sum, indices]) =>
    withScratch(s, numberOf(s, value), 1, ([number]) =>
      atomicPacks(values, value, { sum, number, indices: hasIndices ? indices : undefined }),
    ),
  );
}

interface AtomicScratch {
  /** The vector of old values. */
  readonly sum: number;
  /** One lane's old value. */
  readonly number: number;
  /** The memory indices of a pack, where they are computed as a vector. */
  readonly indices: number | undefined;
}

function atomicPacks(values: GroupValues, value: Value, { sum, number, indices }: AtomicScratch): void {
  const s = values.group;
  const { code, plan } = s;
  const isUsed = plan.uses[value]! > 0 || plan.crosses[value] === 1;
  const each = longOf(s, value) ? 2 : 4;
  const inst = s.kernel.insts[value]!;
  const indexAt = (lane: number) => () => {
    code.at('local.get', indices!);
    code.lane('i32x4.extract_lane', lane & 3);
  };
  /** Computes the indices of a pack. An address in the unmapped first page becomes an index at which every access traps. */
  const findIndices = (addr: Value, pack: number): void => {
    s.part(addr, pack);
    if (isWithinVariable(s.kernel, addr, bytesOf(inst.type))) return code.at('local.set', indices!);
    code.at('local.tee', indices!);
    code.v128(words(bias - 1));
    code.at('local.get', indices!);
    code.op('i32x4.ge_u');
    // The alignment is kept, because a misaligned atomic is a different fault.
    code.v128(words(-8));
    code.op('v128.and');
    code.op('v128.or');
    code.at('local.set', indices!);
  };
  const one = (lane: number): void => {
    writeScalar(s, value, lane, indices === undefined ? undefined : indexAt(lane));
    if (!isUsed) return code.op('drop');
    code.at('local.set', number);
    code.at('local.get', sum);
    code.at('local.get', number);
    code.lane(`${shapeName[numberOf(s, value)]}.replace_lane`, lane % each);
    code.at('local.set', sum);
  };
  for (let pack = 0; pack < plan.packs; pack++)
    ifAnyActive(s, pack, () => {
      if (indices !== undefined && (inst.op === 'atomic' || inst.op === 'cas')) findIndices(inst.a, pack);
      for (let lane = 4 * pack; lane < 4 * pack + 4; lane++) {
        ifActive(s, lane, () => one(lane));
        if (!isUsed || lane % each !== each - 1) continue;
        code.at('local.get', sum);
        values.put(value, 0, Math.floor(lane / each));
      }
    });
}
