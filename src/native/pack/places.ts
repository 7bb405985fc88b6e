/** Where accesses are, relative to values that their addresses are sums of. */
import { partsOfType, type Value } from '../ssa/types.ts';
import type { Node, Numbering } from './numbering.ts';
import { accessOf } from './ops.ts';

const space = 2 ** 32;

/** Bytes of memory: `count` from `at` bytes behind a root on, modulo 2^32. */
export interface Place {
  readonly root: Value;
  readonly at: number;
  readonly count: number;
}

/** The bytes that a load or store accesses. An address that is the sum of a value and a constant has that value as its root. */
export function placeOf({ insts, nodeOf, fn }: Numbering, node: Node): Place {
  const { op, args, offset = 0, result } = insts[node]!;
  const count = accessOf(op).bytes * partsOfType(fn.types[result ?? args.at(-1)!]!);
  const address = args[0]!;
  const sum = insts[nodeOf[address]!];
  const constant = sum?.op === 'i32.add' ? insts[nodeOf[sum.args[1]!]!] : undefined;
  if (constant?.op !== 'i32.const') return { root: address, at: offset, count };
  return { root: sum!.args[0]!, at: (Number(constant.bits) + offset) % space, count };
}

/**
 * The distance from one place to another with the same root, from 0 to below 2^32. A wrapped sum makes no difference: no memory has its last bytes that far
 * up, so that an access there traps.
 */
export const distance = (from: Place, to: Place): number => (to.at - from.at + space) % space;

/** Whether two accesses may have bytes in common. Places with different roots may be anywhere. */
export const mayAlias = (a: Place, b: Place): boolean => a.root !== b.root || distance(a, b) < a.count || distance(b, a) < b.count;
