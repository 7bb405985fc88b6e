/**
 * What is known of a launch before its kernel runs: the sizes of its grid and block, the integers that it passes by value, the alignment of its
 * buffers, and how much memory there is. The compilers leave out checks of addresses that these facts make needless.
 */

import type { KernelReflection } from '../../../air/index.ts';
import { product } from '../../../base/dim3.ts';
import type { MemoryFacts } from '../../../engine/index.ts';
import { type Interval, isHidden, type Kernel, type Sreg, sregMax, zerosIn } from '../../../ir/index.ts';
import type { LaunchRequest } from '../../device.ts';
import { bufferOfSlot, writeValuesOfSlot } from '../../launch-arguments.ts';
import { addressOf } from '../buffer.ts';
import type { DeviceMemory } from '../memory.ts';

/** The facts of a launch, with a text that is equal for launches with equal facts. */
export interface KnownLaunch extends MemoryFacts {
  readonly key: string;
  /** Whether all buffers are aligned for every access. */
  readonly areBuffersAligned: boolean;
}

/** The trailing zeros of an address that is aligned for every access. */
export const maxPointerZeros = 5;

/** Parameters by value above this size are arrays, whose elements are no sizes. */
const maxValueBytes = 256;

/** The facts of a request. */
export function launchFacts(
  { memory, bound }: { readonly memory: DeviceMemory; readonly bound?: ((slot: number) => bigint) | undefined },
  { params, reflection }: { readonly params: Kernel['params']; readonly reflection: KernelReflection },
  request: LaunchRequest,
): KnownLaunch {
  const values = params.map(({ kind, slot, size }) => {
    if (kind !== 'value' || size > maxValueBytes) return undefined;
    const bytes = new Uint8Array(size);
    writeValuesOfSlot(reflection, request.args, slot, bytes);
    return bytes;
  });
  const addresses = params.map((param): number | bigint | undefined => {
    if (param.kind !== 'pointer' || isHidden(param)) return undefined;
    return bound ? bound(param.slot) : addressIn(reflection, request, param.slot);
  });
  const zeros = addresses.map((address) => (address === undefined ? maxPointerZeros : pointerZeros(address)));
  const { grid, block } = request;
  // A pointer may lie behind all memory. Few different numbers, so that code is seldom chosen anew.
  const end = addresses.reduce<number>((end, address) => (address === undefined ? end : Math.max(end, Number(address) + 1)), 0);
  const memoryBytes = 2 ** Math.ceil(Math.log2(Math.max(memory.memory.buffer.byteLength, end)));
  return {
    memoryBytes,
    sreg: (name) => sregOf(name, grid, block),
    valueOf: (param, offset, bits) => integerAt(values[param], offset, bits),
    pointerZeros: (param) => zeros[param]!,
    areBuffersAligned: zeros.every((each) => each === maxPointerZeros),
    key: keyOf(request, memoryBytes, zeros, values),
  };
}

/** A text of the facts. Launches make one each, so it is put together without arrays of texts. */
function keyOf(
  { grid, block }: LaunchRequest,
  memoryBytes: number,
  zeros: readonly number[],
  values: readonly (Uint8Array | undefined)[],
): string {
  let key = `${grid[0]},${grid[1]},${grid[2]};${block[0]},${block[1]},${block[2]};${memoryBytes};`;
  // Each is one digit.
  for (const each of zeros) key += each;
  for (const bytes of values) {
    key += ';';
    if (!bytes) continue;
    let at = 0;
    for (; at + 4 <= bytes.length; at += 4)
      key += `,${bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24)}`;
    for (; at < bytes.length; at++) key += `,${bytes[at]}`;
  }
  return key;
}

/** The address of the buffer that is bound to a slot; 0 if there is none. */
function addressIn(reflection: KernelReflection, { args }: LaunchRequest, slot: number): number {
  const argument = bufferOfSlot(reflection, args, slot);
  return argument ? (addressOf(argument.buffer) ?? 0) + (argument.offset ?? 0) : 0;
}

/** The trailing zeros of an address, as far as they matter. */
function pointerZeros(address: number | bigint): number {
  if (typeof address === 'bigint') return Math.min(maxPointerZeros, zerosIn(address));
  const low = address >>> 0;
  return low === 0 ? maxPointerZeros : Math.min(maxPointerZeros, 31 - Math.clz32(low & -low));
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
