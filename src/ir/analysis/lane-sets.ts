/** Values that depend on the thread number alone, computed for every thread of the largest block. */
import { evalOp, isEvaluableInst } from '../eval.ts';
import type { Kernel, Value } from '../kernel.ts';
import { operandsOf } from '../operands.ts';
import { maxBlockThreads } from '../sregs.ts';

/** By thread: the bits of a value; undefined where it depends on something else. */
export type ThreadValues = (value: Value) => readonly bigint[] | undefined;

const lanes = 32;
export const maxWarps = maxBlockThreads / lanes;

/**
 * Computes values of constants and thread numbers. Thread t is lane t mod 32 of a warp; `tid.x` is t, up to a multiple of 32 for the whole warp, if
 * `areRowsAligned`.
 */
export function threadValuesOf(kernel: Kernel, areRowsAligned: boolean): ThreadValues {
  const known = new Map<Value, readonly bigint[] | undefined>();
  const threads = Array.from({ length: maxBlockThreads }, (_, thread) => thread);
  const compute = (value: Value): readonly bigint[] | undefined => {
    const inst = kernel.insts[value]!;
    if (inst.op === 'sreg') {
      if (inst.name === 'laneid') return threads.map((thread) => BigInt(thread % lanes));
      return inst.name === 'tid.linear' || (inst.name === 'tid.x' && areRowsAligned) ? threads.map(BigInt) : undefined;
    }
    if (inst.op === 'const') return threads.map(() => inst.bits);
    if (!isEvaluableInst(inst)) return undefined;
    const operands = operandsOf(inst);
    const bits = operands.map(bitsOf);
    if (!bits.every((each) => each !== undefined)) return undefined;
    const types = operands.map((operand) => kernel.insts[operand]!.type);
    return threads.map((thread) =>
      evalOp(
        inst,
        bits.map((each) => each[thread]!),
        types,
      ),
    );
  };
  const bitsOf: ThreadValues = (value) => {
    if (known.has(value)) return known.get(value);
    known.set(value, undefined);
    const found = compute(value);
    known.set(value, found);
    return found;
  };
  return bitsOf;
}

/** By warp: the lanes for which a condition has an answer. */
export function lanesWhere(conditions: readonly bigint[], answer: boolean): number[] {
  return Array.from({ length: maxWarps }, (_, warp) => {
    let found = 0;
    for (let lane = 0; lane < lanes; lane++) if ((conditions[warp * lanes + lane] === 1n) === answer) found |= 1 << lane;
    return found;
  });
}

/** Whether the lanes of each warp, which are active together, name themselves and no other lanes by their masks. */
export function areMasksWithin(masks: readonly bigint[], active: readonly number[]): boolean {
  return active.every((together, warp) => {
    for (let lane = 0; lane < lanes; lane++) {
      const mask = Number(BigInt.asIntN(32, masks[warp * lanes + lane]!));
      if ((together >>> lane) & 1 && ((mask & ~together) !== 0 || ((mask >>> lane) & 1) === 0)) return false;
    }
    return true;
  });
}
