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

/** A substitution that replaces nothing yet, with room for a number of values once it does: more take time to make room for. */
export function substitution(room = 0): Substitution {
  // By value, one more than its replacement: every pass asks for every operand, and most values have none.
  let targets = new Int32Array(0);
  let count = 0;
  const of = (value: Value): Value => {
    if (value >= targets.length || targets[value] === 0) return value;
    let end: number = value;
    for (let next = targets[end]; next !== undefined && next > 0; next = targets[end]) end = next - 1;
    // Shortens the chain, so that long ones are walked once.
    for (let at: number = value; at !== end; ) {
      const next = targets[at]! - 1;
      targets[at] = end + 1;
      at = next;
    }
    return end as Value;
  };
  return {
    replace(from, to) {
      if (from >= targets.length) targets = longer(targets, Math.max(room, from + 1));
      if (targets[from] === 0) count++;
      targets[from] = to + 1;
    },
    of,
    has: (value) => value < targets.length && targets[value] !== 0,
    count: () => count,
  };
}

/** The same numbers in an array of at least a length, with zeros behind them. */
function longer(numbers: Int32Array<ArrayBuffer>, length: number): Int32Array<ArrayBuffer> {
  const result = new Int32Array(Math.max(64, length, 2 * numbers.length));
  result.set(numbers);
  return result;
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
