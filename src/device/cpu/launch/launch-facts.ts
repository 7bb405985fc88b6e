/**
 * What is known of a launch before its kernel runs: the sizes of its grid and block, the integers that it passes by value, the alignment of its
 * buffers, and how much memory there is. The compilers leave out checks of addresses that these facts make needless.
 */

import type { KernelReflection } from '../../../air/index.ts';
import { product } from '../../../base/dim3.ts';
import type { MemoryFacts } from '../../../engine/index.ts';
import { type Interval, isHidden, type Kernel, type Sreg, sregMax, zerosIn } from '../../../ir/index.ts';
import type { Dim3, LaunchArgument, LaunchRequest } from '../../device.ts';
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

/** What facts depend on of a launch, with them: bytes by value, and addresses. */
interface Latest {
  readonly grid: Dim3;
  readonly block: Dim3;
  readonly memoryBytes: number;
  readonly args: readonly (Uint8Array | number | undefined)[];
  readonly facts: KnownLaunch;
}

/** The latest launches of each kernel, by its parameters: most launches are like one of them. */
const latest = new WeakMap<Kernel['params'], Latest[]>();
const maxLatest = 4;

interface Place {
  readonly memory: DeviceMemory;
  readonly bound?: ((slot: number) => bigint) | undefined;
}

interface WithParams {
  readonly params: Kernel['params'];
  readonly reflection: KernelReflection;
}

/** The facts of a request. */
export function launchFacts(place: Place, kernel: WithParams, request: LaunchRequest): KnownLaunch {
  if (place.bound) return factsOf(place, kernel, request);
  const memoryBytes = place.memory.memory.buffer.byteLength;
  const all = latest.get(kernel.params) ?? [];
  for (const each of all) if (each.memoryBytes === memoryBytes && isLike(each, request)) return each.facts;
  const facts = factsOf(place, kernel, request);
  const args = request.args.map(factOf);
  // Numbers of larger addresses are not exact, so that two of them may be equal.
  if (args.some((arg) => typeof arg === 'number' && !Number.isSafeInteger(arg))) return facts;
  const [grid, block]: [Dim3, Dim3] = [[...request.grid], [...request.block]];
  latest.set(kernel.params, [{ grid, block, memoryBytes, args, facts }, ...all.slice(0, maxLatest - 1)]);
  return facts;
}

/** What facts may depend on of an argument. Whoever launches may write other bytes to the same array afterwards. */
function factOf(arg: LaunchArgument): Uint8Array | number | undefined {
  if (arg.kind === 'buffer') return addressIn(arg);
  return arg.kind === 'bytes' && arg.bytes.length <= maxValueBytes ? new Uint8Array(arg.bytes) : undefined;
}

/** Whether facts are those of a launch in memory of the same size. */
function isLike({ grid, block, args }: Latest, request: LaunchRequest): boolean {
  for (let i = 0; i < 3; i++) if (grid[i] !== request.grid[i] || block[i] !== request.block[i]) return false;
  if (args.length !== request.args.length) return false;
  for (let i = 0; i < args.length; i++) {
    const [own, arg] = [args[i], request.args[i]!];
    if (arg.kind === 'bytes' && arg.bytes.length <= maxValueBytes) {
      if (typeof own !== 'object' || own.length !== arg.bytes.length) return false;
      for (let at = 0; at < own.length; at++) if (own[at] !== arg.bytes[at]) return false;
    } else if (own !== (arg.kind === 'buffer' ? addressIn(arg) : undefined)) return false;
  }
  return true;
}

const addressIn = ({ buffer, offset = 0 }: LaunchArgument & { readonly kind: 'buffer' }): number => (addressOf(buffer) ?? 0) + offset;

function factsOf({ memory, bound }: Place, { params, reflection }: WithParams, request: LaunchRequest): KnownLaunch {
  const values = params.map(({ kind, slot, size }) => {
    if (kind !== 'value' || size > maxValueBytes) return undefined;
    const bytes = new Uint8Array(size);
    writeValuesOfSlot(reflection, request.args, slot, bytes);
    return bytes;
  });
  const addresses = params.map((param): number | bigint | undefined => {
    if (param.kind !== 'pointer' || isHidden(param)) return undefined;
    return bound ? bound(param.slot) : addressAt(reflection, request, param.slot);
  });
  const zeros = addresses.map((address) => (address === undefined ? maxPointerZeros : pointerZeros(address)));
  const grid: Dim3 = [...request.grid];
  const block: Dim3 = [...request.block];
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
function addressAt(reflection: KernelReflection, { args }: LaunchRequest, slot: number): number {
  const argument = bufferOfSlot(reflection, args, slot);
  return argument ? addressIn(argument) : 0;
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
