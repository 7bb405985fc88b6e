/** Turns of loops: how often a number that grows or shrinks passes a comparison with a bound. */
import type { IcmpPredicate } from '../ops.ts';
import { type Interval, isSingle, scaled } from './interval.ts';

/** A number that each turn of a loop changes and compares. All bounds are signed. */
export interface Progress {
  /** The number at the first comparison. */
  readonly first: Interval;
  /** What a turn adds. */
  readonly step: Interval;
  /** What it is compared with. */
  readonly bound: Interval;
  /** The numbers of the type. */
  readonly all: Interval;
  /** Whether the number and the bound are multiples of a number, in every turn. */
  readonly areMultiples: (of: bigint) => boolean;
}

const up = (number: bigint, by: bigint): bigint => (number <= 0n ? 0n : (number + by - 1n) / by);

/** How often the comparison holds at most before it fails; undefined where no bound is known, or where the number may wrap around. */
export function turnsWhile(pred: IcmpPredicate, progress: Progress): bigint | undefined {
  const { first, bound } = progress;
  const areNatural = first.min >= 0n && bound.min >= 0n;
  switch (pred) {
    case 'slt':
      return turnsBelow(progress, bound);
    case 'sle':
      return turnsBelow(progress, { min: bound.min + 1n, max: bound.max + 1n });
    case 'sgt':
      return turnsBelow(turned(progress), scaled(bound, -1n));
    case 'sge':
      return turnsBelow(turned(progress), { min: 1n - bound.max, max: 1n - bound.min });
    case 'ult':
      return areNatural ? turnsWhile('slt', progress) : undefined;
    case 'ule':
      return areNatural ? turnsWhile('sle', progress) : undefined;
    case 'ugt':
    case 'uge':
      // A step below 0 would be a large number.
      return areNatural ? turnsWhile(pred === 'ugt' ? 'sgt' : 'sge', { ...progress, all: { min: 0n, max: progress.all.max } }) : undefined;
    case 'ne':
      return turnsToBound(progress);
    case 'eq':
      return undefined;
  }
}

/** The same progress with all signs changed. */
const turned = ({ first, step, bound, all, areMultiples }: Progress): Progress => ({
  first: scaled(first, -1n),
  step: scaled(step, -1n),
  bound: scaled(bound, -1n),
  all: scaled(all, -1n),
  areMultiples,
});

/** A growing number that has to be below a bound. */
function turnsBelow({ first, step, all }: Progress, bound: Interval): bigint | undefined {
  const mayWrap = bound.max - 1n + step.max > all.max;
  return step.min < 1n || mayWrap ? undefined : up(bound.max - first.min, step.min);
}

/** A number that has to differ from a bound, and reaches it exactly. */
function turnsToBound(progress: Progress): bigint | undefined {
  const { first, step, bound, areMultiples } = growing(progress);
  if (!isSingle(step) || step.min < 1n || first.max > bound.min) return undefined;
  const reaches = isSingle(first) && isSingle(bound) ? (bound.min - first.min) % step.min === 0n : areMultiples(step.min);
  return reaches ? (bound.max - first.min) / step.min : undefined;
}

/** The progress, or that with all signs changed, so that the number grows. */
const growing = (progress: Progress): Progress => (progress.step.max < 0n ? turned(progress) : progress);
