/** What AIR's simdgroups do together, in the IR, whoever wrote it. */
import type { InstructionOf } from '../bitcode/model.ts';
import { type Builder, type Fold, folds, type Value } from '../ir/index.ts';
import type { Intrinsic, LaneForm, WarpForm } from './intrinsics.ts';
import type { Lanes, RaiseState } from './raise-state.ts';

/** What a call of a simdgroup function defines; nothing for a barrier. */
export function raiseWarp(state: RaiseState, row: Intrinsic, inst: InstructionOf<'call'>): Lanes | undefined {
  const { b } = state;
  const args = inst.args.flatMap((arg) => (arg.kind === 'metadata' || row.warp === 'barrier' ? [] : [state.scalar(arg)]));
  const [a, lane] = args as [Value, Value];
  const form = row.warp!;
  switch (form) {
    case 'barrier':
      b.syncwarp();
      return undefined;
    case 'ballot':
      return [b.zext('i64', b.ballot('i32', a))];
    case 'active':
      return [b.zext('i64', everyone(b))];
    case 'all':
      return [b.icmp(b.ballot('i32', b.xor(a, b.const('i1', 1))), b.const('i32', 0), { pred: 'eq' })];
    case 'any':
      return [b.icmp(b.ballot('i32', a), b.const('i32', 0), { pred: 'ne' })];
    case 'isFirst':
      return [b.icmp(b.sreg('i32', { name: 'laneid' }), first(b), { pred: 'eq' })];
    default:
      return [isFold(form) ? b.reduce(a, { fold: form }) : b.shuffle(a, laneOf(b, form, lane))];
  }
}

const isFold = (form: WarpForm): form is Fold => (folds as readonly string[]).includes(form);

const everyone = (b: Builder): Value => b.ballot('i32', b.const('i1', 1));

/** The lowest lane that takes part: the trailing zeros of the mask. */
const first = (b: Builder): Value => b.clz(b.bitrev(everyone(b)));

/** The lane that is read from. Shuffles up and down past an end read the own lane. */
function laneOf(b: Builder, form: LaneForm, operand: Value): Value {
  if (form === 'firstLane') return first(b);
  const own = b.sreg('i32', { name: 'laneid' });
  const given = b.zext('i32', operand);
  if (form === 'lane') return given;
  if (form === 'laneXor') return b.xor(own, given);
  const other = form === 'laneUp' ? b.sub(own, given) : b.add(own, given);
  return b.select(b.icmp(other, b.const('i32', 32), { pred: 'ult' }), other, own);
}
