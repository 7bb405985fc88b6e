/**
 * Memory between the launches of a procedure. A driver of NVIDIA takes longer to allocate and to free memory than many kernels run, and freeing waits for the GPU:
 * what a procedure has used is kept for later ones. Work of the same stream may use it at once, because that comes later.
 */
import { elementBytes } from '../api/arrays.ts';
import type { Arrays, Device, KernelBuffer, Stream } from '../api/index.ts';

/** The part of a device's memory that is kept at most. */
const share = 1 / 16;
/** Memory that is kept serves for sizes down to this part of it. */
const least = 1 / 2;
/** Memory is allocated in multiples of so many bytes. */
const step = 65536;

type Lane = Stream['lane'];
type Bytes = KernelBuffer<'u8'>;
/** Memory that is not used, but perhaps by earlier work of a stream. */
interface Kept {
  readonly bytes: Bytes;
  readonly lane: Lane;
}

/** What is kept for each device, since it was opened or reset. */
const reserveOf = new WeakMap<Device, { readonly age: number; readonly list: Kept[] }>();
/** The memory that a buffer is the start of. */
const wholes = new WeakMap<object, Bytes>();

/** The memory that is kept for a device. It is freed where another allocation needs it. */
function listOf(device: Device): Kept[] {
  const { context } = device.defaultStream;
  const { age } = context;
  const known = reserveOf.get(device);
  if (known?.age === age) return known.list;
  const list: Kept[] = [];
  reserveOf.set(device, { age, list });
  const trimForOthers = (): void => {
    for (const { bytes } of list.splice(0)) bytes.free();
  };
  context.pools.add({ trimToThreshold: () => undefined, trimForOthers });
  return list;
}

const laneOf = (device: Device, stream: Stream | undefined): Lane => (stream ?? device.defaultStream).lane;
const rounded = (bytes: number): number => Math.ceil(bytes / step) * step;

/** Memory whose contents are not defined, for work of a stream. `giveScratch` ends its use, when that work is enqueued. */
export function takeScratch<E extends keyof Arrays>(
  device: Device,
  stream: Stream | undefined,
  element: E,
  length: number,
): KernelBuffer<E> {
  const count = Math.max(1, length);
  if (device.info.kind !== 'cuda') return device.allocate(element, count) as unknown as KernelBuffer<E>;
  const size = count * elementBytes(element);
  const [list, lane] = [listOf(device), laneOf(device, stream)];
  const at = list.findIndex(
    ({ bytes, lane: of }) =>
      bytes.byteLength >= size && rounded(size) >= least * bytes.byteLength && (of === lane || of.last === undefined),
  );
  const bytes = at >= 0 ? list.splice(at, 1)[0]!.bytes : (device.allocate('u8', rounded(size)) as unknown as Bytes);
  const buffer = (bytes.part(0, size) as Bytes).as(element) as unknown as KernelBuffer<E>;
  wholes.set(buffer, bytes);
  return buffer;
}

/** Ends the use of memory by work that is enqueued later. */
export function giveScratch(device: Device, stream: Stream | undefined, buffer: KernelBuffer): void {
  const bytes = wholes.get(buffer);
  if (!bytes) return buffer.free();
  const list = listOf(device);
  const held = list.reduce((sum, each) => sum + each.bytes.byteLength, bytes.byteLength);
  if (held > share * Number(device.info.properties?.totalGlobalMem ?? 0)) bytes.free();
  else list.push({ bytes, lane: laneOf(device, stream) });
}
