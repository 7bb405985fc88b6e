/** Raises the simdgroup functions that are emitted; `functions/simd.ts` has those that are only raised. */
import type { InstructionOf } from '../../bitcode/model.ts';
import type { Value } from '../../ir/index.ts';
import type { Intrinsic } from '../intrinsics.ts';
import type { Lanes } from '../types.ts';
import type { RaiseState } from './state.ts';

/** The result of a call of a simdgroup function; undefined for a barrier. */
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
    case 'lane':
      return [b.shuffle(a, b.zext('i32', lane))];
    default:
      return [b.reduce(a, { fold: form })];
  }
}
