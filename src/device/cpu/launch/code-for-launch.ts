/**
 * The vectorized code of a kernel for a launch. What is known of the launch decides which checks of addresses the code has, so that a kernel may
 * have several codes for blocks of one shape. Launches that need the same checks share one.
 */
import { firstTransforms, neededChecks } from '../../../engine/index.ts';
import { copyOf, type Kernel } from '../../../ir/index.ts';
import type { Dim3 } from '../../device.ts';
import type { KnownLaunch } from './launch-facts.ts';

/** Code, with the checks of addresses that it has as text; undefined of code that does not depend on a launch. */
export interface CodeWithChecks<T> {
  readonly code: T;
  readonly addressChecks: string | undefined;
}

/** Launches of which facts are used: a kernel that gets other numbers every time would be analyzed every time. */
export const maxKnownLaunches = 64;

/** Returns the code for blocks of a shape and for a launch; `compile` compiles code that there is not yet. */
export function codeForLaunches<T>(
  kernel: () => Kernel,
  compile: (block: Dim3, facts: KnownLaunch | undefined) => CodeWithChecks<T>,
): (block: Dim3, facts: KnownLaunch | undefined) => T {
  const codes = new Map<string, CodeWithChecks<T>[]>();
  const known = new Map<string, T>();
  let prepared: Kernel | undefined;
  /** The checks that code for a launch has. */
  const checksFor = (facts: KnownLaunch | undefined): string => {
    prepared ??= preparedCopy(kernel());
    return neededChecks(prepared, facts);
  };
  return (block, given) => {
    // The facts of a launch include the shape of its blocks.
    const found = known.get(given?.key ?? block.join());
    if (found !== undefined) return found;
    const shape = block.join();
    const isFull = known.size >= maxKnownLaunches;
    const facts = isFull ? undefined : given;
    const own = codes.get(shape) ?? [];
    codes.set(shape, own);
    const isAlike = own.length > 0 && own[0]!.addressChecks === undefined;
    const checks = own.length > 0 && !isAlike ? checksFor(facts) : undefined;
    let same = isAlike ? own[0] : own.find(({ addressChecks }) => checks !== undefined && addressChecks === checks);
    if (!same) {
      same = compile(block, facts);
      own.push(same);
    }
    if (!isFull) known.set(given?.key ?? shape, same.code);
    return same.code;
  };
}

function preparedCopy(kernel: Kernel): Kernel {
  const copy = copyOf(kernel);
  for (const { run } of firstTransforms) run(copy);
  return copy;
}
