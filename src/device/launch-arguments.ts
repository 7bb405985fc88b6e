/** The arguments of a launch by buffer slot. Parameters of the source and slots differ: several parameters by value may share one slot. */
import type { KernelReflection } from '../air/abi.ts';
import type { LaunchArgument } from './device.ts';

/** A buffer argument of a validated launch; undefined for a slot that no buffer argument is bound to. */
export function bufferOfSlot(
  { params }: KernelReflection,
  args: readonly LaunchArgument[],
  slot: number,
): Extract<LaunchArgument, { readonly kind: 'buffer' }> | undefined {
  // Loops, because each launch asks for each of its slots.
  for (let i = 0; i < params.length; i++) {
    if (params[i]!.slot !== slot) continue;
    const argument = args[i];
    return argument?.kind === 'buffer' ? argument : undefined;
  }
  return undefined;
}

/** Writes the by-value arguments of a slot into the bytes that the slot is bound to, each at the offset of its parameter. */
export function writeValuesOfSlot({ params }: KernelReflection, args: readonly LaunchArgument[], slot: number, bytes: Uint8Array): void {
  for (let i = 0; i < params.length; i++) {
    const param = params[i]!;
    if (param.slot !== slot) continue;
    const argument = args[i]!;
    if (argument.kind === 'bytes') bytes.set(argument.bytes, param.offset ?? 0);
    else if (argument.kind === 'buffer' && param.kind === 'bytes' && !param.isUnused) writeAddress(argument, bytes, param.offset ?? 0);
  }
}

/** Writes the address of a buffer, for a kernel that passes it on. */
function writeAddress({ buffer, offset = 0 }: LaunchArgument & { readonly kind: 'buffer' }, bytes: Uint8Array, at: number): void {
  new DataView(bytes.buffer, bytes.byteOffset).setBigUint64(at, buffer.deviceAddress() + BigInt(offset), true);
}
