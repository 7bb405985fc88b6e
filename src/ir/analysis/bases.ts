/**
 * Which integers are addresses: an integer made from a pointer by `ptrtoint`, with offsets added, selected, or handed along
 * as a block parameter. Where a value is an address of one space on every way it can come about, it is `based` there.
 */
import { edgesOf, type Inst, type Kernel, type Value } from '../kernel.ts';
import { isPointer, type Space, spaceOf } from '../types.ts';
import { type Cfg, cfgOf } from './cfg.ts';

/** `none`: no address at all; `mixed`: an address of one space here and something else there, or the sum of two. */
export type Base = Space | 'none' | 'mixed';

/** How what comes together at a block parameter or a selection is taken. */
export interface BaseOptions {
  /** Whether what has no base counts as an address of global memory where it meets one. */
  readonly unknownIsGlobal?: true;
}

/** The base of every value that is reached; absent for others. Values sink from unknown to a space to `mixed`, so this ends. */
export function basesOf(kernel: Kernel, cfg: Cfg = cfgOf(kernel), { unknownIsGlobal }: BaseOptions = {}): (Base | undefined)[] {
  const joined = unknownIsGlobal ? joinedAsGlobal : joinedStrictly;
  const bases: (Base | undefined)[] = new Array(kernel.insts.length);
  for (let changed = true; changed; ) {
    changed = false;
    const set = (value: Value, base: Base | undefined): void => {
      if (base === undefined || bases[value] === base) return;
      bases[value] = base;
      changed = true;
    };
    for (const id of cfg.order) {
      const block = kernel.blocks[id]!;
      for (const value of block.body) set(value, baseOf(kernel, kernel.insts[value]!, bases, joined));
      for (const { block: to, args } of edgesOf(block.end))
        for (const [i, arg] of args.entries()) set(to.params[i]!, joined(bases[to.params[i]!], bases[arg]));
    }
  }
  return bases;
}

function baseOf(kernel: Kernel, inst: Inst, bases: readonly (Base | undefined)[], joined: typeof joinedStrictly): Base | undefined {
  switch (inst.op) {
    case 'ptrtoint': {
      const { type } = kernel.insts[inst.a]!;
      return isPointer(type) ? spaceOf(type) : 'none';
    }
    case 'add':
      return summed(bases[inst.a], bases[inst.b]);
    case 'sub':
      // A difference of two addresses is none.
      return bases[inst.b] === 'none' || bases[inst.b] === undefined ? bases[inst.a] : 'none';
    case 'select':
      return isPointer(inst.type) ? 'none' : joined(bases[inst.a], bases[inst.b]);
    default:
      return 'none';
  }
}

function joinedStrictly(a: Base | undefined, b: Base | undefined): Base | undefined {
  if (a === undefined || b === undefined || a === b) return a ?? b;
  return 'mixed';
}

function joinedAsGlobal(a: Base | undefined, b: Base | undefined): Base | undefined {
  return (a === 'none' && b === 'global') || (a === 'global' && b === 'none') ? 'global' : joinedStrictly(a, b);
}

function summed(a: Base | undefined, b: Base | undefined): Base | undefined {
  if (a === 'none') return b;
  if (b === 'none') return a;
  return a === undefined || b === undefined ? (a ?? b) : 'mixed';
}
