/** Removes instructions and parameters whose results nothing needs. What may trap stays. */
import { edgesInto, removeParams } from './params.ts';
import { type Effect, effectOf } from './signature.ts';
import type { End, Inst, SsaFunction, Value } from './types.ts';

const removable: readonly Effect[] = ['pure', 'constant', 'global.get'];

export function removeDead(fn: SsaFunction): void {
  const { blocks, types } = fn;
  const definitions: (Inst | undefined)[] = [];
  /** What edges pass to each parameter. */
  const passed = new Map<Value, Value[]>();
  for (const { insts } of blocks) for (const inst of insts) if (inst.result !== undefined) definitions[inst.result] = inst;
  const into = edgesInto(fn);
  blocks.forEach(({ params }, i) => {
    for (const [at, param] of params.entries())
      passed.set(
        param,
        into[i]!.map(({ args }) => args[at]!),
      );
  });
  /** A division by a constant other than 0 and -1 does not trap. */
  const isNeeded = ({ op, args }: Inst): boolean => {
    const effect = effectOf(op);
    if (effect !== 'trap') return !removable.includes(effect);
    const bits = op.includes('trunc') ? undefined : definitions[args[1]!]?.bits;
    return bits === undefined || bits === 0n || bits === (op.startsWith('i32') ? 0xffffffffn : 0xffffffffffffffffn);
  };
  const isAlive = new Uint8Array(types.length);
  const left: Value[] = [];
  const need = (value: Value): void => {
    if (isAlive[value]) return;
    isAlive[value] = 1;
    left.push(value);
  };
  for (const { insts, end } of blocks) {
    for (const inst of insts) if (isNeeded(inst)) for (const arg of inst.args) need(arg);
    for (const value of readByEnd(end)) need(value);
  }
  while (left.length > 0) {
    const value = left.pop()!;
    for (const arg of definitions[value]?.args ?? passed.get(value) ?? []) need(arg);
  }
  for (const block of blocks) block.insts = block.insts.filter((inst) => isNeeded(inst) || isAlive[inst.result!]);
  removeParams(fn, new Set([...passed.keys()].filter((param) => !isAlive[param])), into);
}

/** What an end reads besides what its edges pass. */
const readByEnd = (end: End): readonly Value[] =>
  end.op === 'branch' ? [end.cond] : end.op === 'switch' ? [end.index] : end.op === 'return' ? end.values : [];
