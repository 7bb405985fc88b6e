/** Buffers at addresses, which the host reads and writes by copies. */
import type { DeviceBuffer, PartBuffer, Reservation } from './device.ts';

/** What a buffer does, as far as devices differ. */
interface Parts<C> {
  readonly context: C;
  readonly address: number;
  readonly size: number;
  readonly copies: Pick<DeviceBuffer, 'write' | 'read'>;
  /** Kernels may read the address from memory from now on. */
  seen?(): void;
  give(): void;
}

/** A buffer that belongs to a device. */
export interface AddressBuffer<C> extends DeviceBuffer {
  readonly context: C;
  readonly address: number;
  readonly isFree: boolean;
}

/** A buffer over memory that was taken. One that is freed reads as empty and keeps nothing. */
export function bufferAt<C>({ context, address, size, copies: { write, read }, seen, give }: Parts<C>): AddressBuffer<C> {
  let isFree = false;
  return {
    context,
    address,
    size,
    get isFree() {
      return isFree;
    },
    write: (bytes, offset) => {
      if (!isFree) write(bytes, offset);
    },
    read: () => (isFree ? new Uint8Array(0) : read()),
    deviceAddress() {
      seen?.();
      return BigInt(address);
    },
    free() {
      if (isFree) return;
      isFree = true;
      give();
    },
  };
}

/** Reserved memory at an address; `copies` are those of a range. */
export function reservedAt<C>(
  { context, address, size, seen, give }: Omit<Parts<C>, 'copies'>,
  copies: (address: number, size: number) => Parts<C>['copies'],
): Reservation {
  return {
    size,
    part(offset, bytes): PartBuffer {
      const at = address + offset;
      const part = { context, address: at, size: bytes, copies: copies(at, bytes), ...(seen ? { seen } : {}), give: () => undefined };
      return Object.assign(bufferAt(part), { begin: () => undefined });
    },
    free: give,
  };
}
