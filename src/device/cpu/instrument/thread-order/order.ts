/**
 * The order in which a launch executes blocks, warps and threads, if the request sets one. The same seed gives the same order on every
 * machine. Source: Luby and Rackoff, "How to Construct Pseudorandom Permutations" (1988), with steps repeated until the result is in range.
 */
import type { Diagnostics } from '../../../../base/diagnostic.ts';
import { product } from '../../../../base/dim3.ts';
import type { LaunchRequest, Order } from '../../../device.ts';
import type { DeviceMemory } from '../../memory.ts';
import type { Observer } from '../../observe/observer.ts';
import { type OrderImport, orderGlobal } from './state.ts';

/** A permutation of the numbers from 0 up to a count. */
export type Permutation = (index: number) => number;

/** A hash of a number: the finalizer of MurmurHash3. */
function mixed(bits: number): number {
  let x = bits | 0;
  x = Math.imul(x ^ (x >>> 16), 0x85ebca6b);
  x = Math.imul(x ^ (x >>> 13), 0xc2b2ae35);
  return (x ^ (x >>> 16)) >>> 0;
}

const rounds = 4;

/** A permutation of up to 2^52 numbers that needs no memory. */
export function permutationOf(order: Order, count: number, salt: number): Permutation {
  if (order.kind === 'in-order') return (index) => index;
  if (order.kind !== 'rand') return (index) => count - 1 - index;
  let half = 1;
  while (4 ** half < count) half++;
  const size = 2 ** half;
  const keys = Array.from({ length: rounds }, (_, i) => mixed(mixed(order.seed) + mixed(salt) + i));
  const step = (index: number): number => {
    let [left, right] = [Math.floor(index / size), index % size];
    for (const key of keys) [left, right] = [right, ((left ^ mixed(right + key)) & (size - 1)) >>> 0];
    return left * size + right;
  };
  return (index) => {
    let at = step(index);
    while (at >= count) at = step(at);
    return at;
  };
}

/** Starts the order of a launch; undefined after reporting CM6012. */
export function startOrder(
  memory: DeviceMemory,
  { kernel, grid, block }: LaunchRequest,
  order: Order,
  diagnostics: Diagnostics,
): Observer | undefined {
  const threads = product(block);
  const table = memory.take(4 * threads);
  if (table === undefined) {
    diagnostics.report('CM6012', { bytes: 4 * threads, what: `the order of a launch of \`${kernel}\`` });
    return undefined;
  }
  const warps = Math.ceil(threads / 32);
  const blocks = product(grid);
  const blockAt = permutationOf(order, blocks, 0);
  let [salt, next] = [0, 0];
  let warpAt: Permutation = (index) => index;
  let global: ((name: string) => WebAssembly.Global) | undefined;
  const imports: Record<OrderImport, (...args: never[]) => unknown> = {
    nextBlock(): number {
      if (next === blocks) return 0;
      const at = blockAt(next++);
      global!('ctaid.x').value = at % grid[0];
      global!('ctaid.y').value = Math.floor(at / grid[0]) % grid[1];
      global!('ctaid.z').value = Math.floor(at / (grid[0] * grid[1]));
      return 1;
    },
    arrange(first: number, end: number): void {
      const at = permutationOf(order, end - first, ++salt);
      const to = new Int32Array(memory.memory.buffer, table, threads);
      for (let i = first; i < end; i++) to[i] = first + at(i - first);
    },
    warpAt(first: number): number {
      if (first === 0) warpAt = permutationOf(order, warps, ++salt);
      return 32 * warpAt(first / 32);
    },
  };
  return {
    imports,
    begin(of) {
      global = of;
      of(orderGlobal).value = table;
    },
    end: () => memory.give(table),
  };
}
