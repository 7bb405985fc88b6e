/** Removes instructions and parameters whose results nothing needs. What may trap stays. */
import { edgesInto, placesOf, removeParams } from './params.ts';
import { type Effect, effectOf } from './signature.ts';
import type { End, Inst, SsaFunction, Value } from './types.ts';

const removable: readonly Effect[] = ['pure', 'constant', 'global.get'];

export function removeDead(fn: SsaFunction): void {
  const { blocks, types } = fn;
  const definitions = definitionsOf(fn);
  const places = placesOf(fn);
  const into = edgesInto(fn);
  const isNeeded = ({ op, args }: Inst): boolean => {
    const effect = effectOf(op);
    return effect === 'trap' ? mayTrap(op, definitions[args[1]!]) : !removable.includes(effect);
  };
  const isAlive = new Uint8Array(types.length);
  const left: Value[] = [];
  const need = (value: Value): void => {
    if (isAlive[value]) return;
    isAlive[value] = 1;
    left.push(value);
  };
  for (const { insts, end } of blocks) {
    for (const inst of insts) if (isNeeded(inst)) inst.args.forEach(need);
    readByEnd(end).forEach(need);
  }
  while (left.length > 0) {
    const value = left.pop()!;
    const inst = definitions[value];
    if (inst) inst.args.forEach(need);
    else {
      const place = places.get(value);
      if (place) for (const { args } of into[place.block]!) need(args[place.position]!);
    }
  }
  for (const block of blocks) block.insts = block.insts.filter((inst) => isNeeded(inst) || isAlive[inst.result!]);
  removeParams(fn, new Set([...places.keys()].filter((param) => !isAlive[param])), into);
}

/** The instruction of each value, in an array without holes. */
function definitionsOf({ blocks, types }: SsaFunction): (Inst | undefined)[] {
  const definitions: (Inst | undefined)[] = Array(types.length).fill(undefined);
  for (const { insts } of blocks) for (const inst of insts) if (inst.result !== undefined) definitions[inst.result] = inst;
  return definitions;
}

/** A division by a constant other than 0 and -1 does not trap. */
function mayTrap(op: string, divisor: Inst | undefined): boolean {
  const bits = op.includes('trunc') ? undefined : divisor?.bits;
  return bits === undefined || bits === 0n || bits === (op.startsWith('i32') ? 0xffffffffn : 0xffffffffffffffffn);
}

/** What an end reads besides what its edges pass. */
const readByEnd = (end: End): readonly Value[] =>
  end.op === 'branch' ? [end.cond] : end.op === 'switch' ? [end.index] : end.op === 'return' ? end.values : [];
