/** Replacements of values while a pass runs, and writing them into the kernel. */
import { edgesOf, type Kernel, type Value } from '../kernel.ts';
import { mapBlock } from '../operands.ts';

export interface Substitution {
  /** Replaces `from` by `to`, which may itself be replaced later. */
  replace(from: Value, to: Value): void;
  /** The replacement of a value, through chains of replacements; the value itself if there is none. */
  of(value: Value): Value;
  has(value: Value): boolean;
  /** How many values were replaced. */
  count(): number;
}

/** A substitution that replaces nothing yet. */
export function substitution(): Substitution {
  const targets = new Map<Value, Value>();
  const of = (value: Value): Value => {
    let end = value;
    for (let next = targets.get(end); next !== undefined; next = targets.get(end)) end = next;
    // Shortens the chain, so that long ones are walked once.
    for (let at = value; at !== end; ) {
      const next = targets.get(at)!;
      targets.set(at, end);
      at = next;
    }
    return end;
  };
  return {
    replace: (from, to) => void targets.set(from, to),
    of,
    has: (value) => targets.has(value),
    count: () => targets.size,
  };
}

/** Writes a substitution into every use of a kernel. */
export function substitute(kernel: Kernel, { of, count }: Substitution): void {
  if (count() === 0) return;
  for (const block of kernel.blocks) mapBlock(kernel.insts, block, of);
}

/** Removes from their blocks the instructions that a substitution replaces, and writes it into every use. */
export function replaceAll(kernel: Kernel, s: Substitution): void {
  if (s.count() === 0) return;
  for (const block of kernel.blocks) block.body = block.body.filter((value) => !s.has(value));
  substitute(kernel, s);
}

/** Removes the block parameters for which `isKept` is false, with the arguments that edges pass for them; returns whether there were any. */
export function dropParams(kernel: Kernel, isKept: (param: Value) => boolean): boolean {
  const narrowed = new Set(kernel.blocks.filter((block) => !block.params.every(isKept)));
  if (narrowed.size === 0) return false;
  for (const { end } of kernel.blocks)
    for (const edge of edgesOf(end)) {
      const { block, args } = edge;
      if (narrowed.has(block)) edge.args = args.filter((_, i) => isKept(block.params[i]!));
    }
  for (const block of narrowed) block.params = block.params.filter(isKept);
  return true;
}
