/**
 * What is known of a launch before its kernel runs: the sizes of its grid and block, the integers that it passes by value, and how much memory
 * there is. The vectorizer leaves out checks of addresses that these facts make needless.
 */

import type { KernelReflection } from '../../../air/index.ts';
import { product } from '../../../base/dim3.ts';
import { type Interval, type Kernel, type LaunchFacts, type Sreg, sregMax } from '../../../ir/index.ts';
import type { LaunchRequest } from '../../device.ts';
import { writeValuesOfSlot } from '../../launch-arguments.ts';
import type { DeviceMemory } from '../memory.ts';

/** The facts of a launch, with a text that is equal for launches with equal facts. */
export interface KnownLaunch extends LaunchFacts {
  readonly memoryBytes: number;
  readonly key: string;
}

/** Parameters by value above this size are arrays, whose elements are no sizes. */
const maxValueBytes = 256;

/** The facts of a request. */
export function launchFacts(
  memory: DeviceMemory,
  { params, reflection }: { readonly params: Kernel['params']; readonly reflection: KernelReflection },
  request: LaunchRequest,
): KnownLaunch {
  const values = params.map(({ kind, slot, size }) => {
    if (kind !== 'value' || size > maxValueBytes) return undefined;
    const bytes = new Uint8Array(size);
    writeValuesOfSlot(reflection, request.args, slot, bytes);
    return bytes;
  });
  const { grid, block } = request;
  // Few different numbers, so that code is seldom chosen anew.
  const memoryBytes = 2 ** Math.ceil(Math.log2(memory.memory.buffer.byteLength));
  return {
    memoryBytes,
    sreg: (name) => sregOf(name, grid, block),
    valueOf: (param, offset, bits) => integerAt(values[param], offset, bits),
    key: [grid, block, memoryBytes, ...values].join(';'),
  };
}

/** A special register in all threads. */
function sregOf(name: Sreg, grid: LaunchRequest['grid'], block: LaunchRequest['block']): Interval | undefined {
  const below = (count: number): Interval => ({ min: 0n, max: BigInt(Math.max(count, 1) - 1) });
  const [, kind, axis] = /^(\w+)\.([xyz])$/.exec(name) ?? [];
  if (kind === undefined || axis === undefined) {
    if (name === 'tid.linear') return below(product(block));
    return name in sregMax ? { min: 0n, max: sregMax[name as keyof typeof sregMax] } : undefined;
  }
  const at = 'xyz'.indexOf(axis);
  const [blocks, threads] = [grid[at]!, block[at]!];
  switch (kind) {
    case 'tid':
      return below(threads);
    case 'ctaid':
      return below(blocks);
    case 'ntid':
      return { min: BigInt(threads), max: BigInt(threads) };
    case 'nctaid':
      return { min: BigInt(blocks), max: BigInt(blocks) };
    default:
      return blocks * threads <= 2 ** 31 ? below(blocks * threads) : undefined;
  }
}

/** The bits of an integer in the bytes of a parameter. */
function integerAt(bytes: Uint8Array | undefined, offset: number, bits: number): bigint | undefined {
  const size = bits / 8;
  if (!bytes || !Number.isInteger(size) || offset < 0 || offset + size > bytes.length) return undefined;
  return bytes.subarray(offset, offset + size).reduceRight((all, byte) => (all << 8n) | BigInt(byte), 0n);
}
