/** Packs arguments by the kernel's reflection: pointers as locations in buffers, values as bytes of the parameter's type. */
import type { LaunchArgument } from '../device/device.ts';
import { type ElementType, elements, encodeValue, type Parameter, type Kernel as Reflection } from '../runtime/index.ts';
import { bytesIn, fits } from './arrays.ts';
import { type KernelBuffer, type Part, partOf } from './buffer.ts';
import { type Context, errorWith, type Memory } from './context.ts';
import { addressOf, placeAt } from './memory.ts';

/** A kernel argument: a buffer, an address or null for a pointer, a number for a value, bytes for a struct. */
export type KernelArgument = KernelBuffer | null | number | bigint | boolean | ArrayBufferView;

export interface Packed {
  readonly args: readonly LaunchArgument[];
  /** The memory that the launch uses. */
  readonly uses: readonly Memory[];
}

/** A parameter with its context for messages. */
interface Target {
  readonly context: Context;
  readonly kernel: Reflection;
  readonly parameter: Parameter;
  readonly index: number;
}

/** Packs all given arguments; the launch checks their number. */
export function pack(context: Context, kernel: Reflection, given: readonly unknown[]): Packed {
  const uses = new Set<Memory>();
  const args = given.map((value, index): LaunchArgument => {
    const parameter = kernel.params[index];
    if (!parameter) return { kind: 'bytes', bytes: new Uint8Array(0) };
    const target = { context, kernel, parameter, index };
    return parameter.kind === 'buffer' ? pointer(target, value, uses) : { kind: 'bytes', bytes: valueBytes(target, value, uses) };
  });
  return { args, uses: [...uses] };
}

function pointer(target: Target, value: unknown, uses: Set<Memory>): LaunchArgument {
  if (value === null) return { kind: 'null' };
  const part = usable(target, value);
  if (!part && typeof value !== 'bigint') throw unfit(target, 'a pointer', value);
  const place = part ?? placeAt(target.context, value as bigint);
  if (!place) throw errorWith('CM5064', { address: `0x${(value as bigint).toString(16)}` });
  uses.add(place.memory);
  return { kind: 'buffer', buffer: place.memory.low!, offset: place.start };
}

/** The buffer of an argument; undefined for any other value. Throws if the kernel cannot use it. */
function usable({ context }: Target, value: unknown): Part | undefined {
  const part = partOf(value);
  if (!part) return undefined;
  if (part.context !== context) throw errorWith('CM5062', { what: 'buffer' });
  part.assertUsable();
  part.assertKernelVisible('a kernel argument');
  return part;
}

function valueBytes(target: Target, value: unknown, uses: Set<Memory>): Uint8Array {
  const { size, isUnused } = target.parameter;
  // PTX declares a pointer that is not used as an integer.
  if (value === null && isUnused) return new Uint8Array(size);
  const part = usable(target, value);
  if (part && size === 8) {
    uses.add(part.memory);
    return encodeValue('u64', addressOf(part.memory) + BigInt(part.start));
  }
  if (ArrayBuffer.isView(value)) return bytesIn(value).slice();
  const element = scalarType(target.parameter);
  const wanted = element ?? `${size} bytes of an unknown type`;
  const number = typeof value === 'boolean' ? Number(value) : value;
  if (!element || (typeof number !== 'number' && typeof number !== 'bigint') || !fits(element, number)) throw unfit(target, wanted, value);
  return encodeValue(element, number);
}

/** The type of a value; undefined for a struct or an unknown type. */
export const scalarType = ({ element, size }: Parameter): ElementType | undefined =>
  element && elements[element].size === size ? element : undefined;

const unfit = ({ kernel, parameter, index }: Target, wanted: string, value: unknown): Error =>
  errorWith('CM5070', { kernel: kernel.name, name: parameter.name, index, wanted, given: describe(value) });

function describe(value: unknown): string {
  if (partOf(value)) return 'a buffer';
  if (ArrayBuffer.isView(value)) return `a ${value.constructor.name}, which is host memory`;
  if (typeof value === 'bigint') return `${value}n`;
  return typeof value === 'object' || typeof value === 'function' ? 'an object' : String(value);
}
