/** Memory that a launch on a GPU supplies for the hidden parameters of a kernel. */
import { defaultHeapBytes, heapSizeAt, type KernelParam, lockTableBytes, printBufferBytes, stackAlign } from '../ir/index.ts';
import { gridWorkspaceBytes, groupHead } from '../ir/services.ts';
import { type Launchable, launchesBytes, startOfLaunches } from './children.ts';
import type { Dispatch } from './cluster-groups.ts';
import type { LaunchRequest } from './device.ts';
import { emptyPrintBuffer } from './printed.ts';

/** Memory for a parameter. */
export interface Supplied {
  readonly bytes: number;
  /** Its first bytes; the others are zeros. */
  readonly start: Uint8Array;
  /** Whether later launches on the device have the same memory. */
  readonly lasts: boolean;
}

/** What it depends on besides the parameter. */
export interface Supply {
  readonly request: Dispatch;
  /** The kernels of the library. */
  readonly kernels: readonly Launchable[];
  /** Bytes of the stack in the code of the kernel. */
  readonly stackBytes: number;
}

const once = (bytes: number, start: Uint8Array = new Uint8Array(0)): Supplied => ({ bytes, start, lasts: false });

/** What a launch supplies for a parameter; undefined for one of the source, and for the module's variables. */
export function suppliedFor({ faults, formats, locks, service }: KernelParam, supply: Supply): Supplied | undefined {
  if (faults) return once(4);
  if (formats) return once(printBufferBytes, printStart());
  // Launches on a GPU do not overlap, so each has a lock table.
  if (locks) return once(lockTableBytes);
  switch (service) {
    case 'grid':
      return once(gridWorkspaceBytes);
    case 'stack':
      return once(stackAlign, word(supply.stackBytes));
    case 'launches':
      return once(launchesBytes, startOfLaunches(supply.kernels));
    case 'group':
      return once(groupHead.bytes, supply.request.groupHead);
    case 'heap':
      return heapOf(supply.request);
    default:
      return undefined;
  }
}

const word = (value: number): Uint8Array => new Uint8Array(Uint32Array.of(value).buffer);

let emptied: Uint8Array | undefined;
/** The head of an empty print buffer. */
function printStart(): Uint8Array {
  if (!emptied) {
    const buffer = new Uint8Array(printBufferBytes);
    emptyPrintBuffer(buffer);
    emptied = buffer.slice(0, 64);
  }
  return emptied;
}

/** A heap, which is as large as the first launch wants it. */
function heapOf({ heapBytes = defaultHeapBytes }: LaunchRequest): Supplied {
  const bytes = Math.max(64, Math.floor(heapBytes / 16) * 16);
  const start = new Uint8Array(heapSizeAt + 8);
  new DataView(start.buffer).setBigUint64(heapSizeAt, BigInt(bytes), true);
  return { bytes, start, lasts: true };
}
