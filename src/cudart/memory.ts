/** Memory: device pointers are bigints within an allocation of `cudaMalloc`; host pointers are typed arrays. */
import { type Buffer, type Device, type MemoryPool, ModuleSymbol } from '../api/index.ts';
import { answer, answerAsync, type cudaError_t, type cudaStream_t, currentDevice, deviceAt, type Ref, refuse, streamOf } from './state.ts';

/** An address of device memory; 0n is null. */
export type DevicePointer = bigint;
/** Host memory: a typed array or another view. */
export type HostPointer = ArrayBufferView;

/** The direction of a copy, with the numbers of CUDA. */
export const cudaMemcpyKind = {
  cudaMemcpyHostToHost: 0,
  cudaMemcpyHostToDevice: 1,
  cudaMemcpyDeviceToHost: 2,
  cudaMemcpyDeviceToDevice: 3,
  cudaMemcpyDefault: 4,
} as const;
/** A direction of a copy. */
export type cudaMemcpyKind = (typeof cudaMemcpyKind)[keyof typeof cudaMemcpyKind];

type Bytes = Buffer<'u8', 'device'>;

/** The allocations of each device by start address. */
const allocations = new WeakMap<Device, Map<DevicePointer, Allocated>>();

/** An allocation, and the pool that it is of. */
interface Allocated {
  readonly buffer: Bytes | Buffer<'u8', 'unified'>;
  readonly pool: MemoryPool | undefined;
}

/** Page-locked memory by its array buffer. */
const pinned = new WeakMap<ArrayBufferLike, Buffer<'u8', 'staging'>>();

function pointersOf(device: Device): NonNullable<ReturnType<typeof allocations.get>> {
  const known = allocations.get(device) ?? new Map();
  allocations.set(device, known);
  return known;
}

function take(pointer: Ref<DevicePointer>, bytes: number, state: 'device' | 'unified'): void {
  pointer.value = 0n;
  if (bytes === 0) return;
  const device = currentDevice();
  const buffer = device.allocate('u8', bytes, state);
  pointer.value = buffer.address;
  allocated(device, buffer as Bytes);
}

/** Notes an allocation, which is freed by its address. */
export function allocated(device: Device, buffer: Bytes, pool?: MemoryPool): void {
  pointersOf(device).set(buffer.address, { buffer, pool });
}

/** Frees an allocation by its address; refuses any other address. */
export function freeAllocated(device: Device, pointer: DevicePointer, free: (buffer: Bytes, pool: MemoryPool | undefined) => void): void {
  const pointers = pointersOf(device);
  const { buffer, pool } = pointers.get(pointer) ?? refuse('cudaErrorInvalidValue');
  free(buffer as Bytes, pool);
  pointers.delete(pointer);
}

/** Allocates zeroed device memory. */
export const cudaMalloc = (pointer: Ref<DevicePointer>, bytes: number): cudaError_t => answer(() => take(pointer, bytes, 'device'));

/** Allocates managed memory, which the host accesses by `cumetalHostView`. */
export const cudaMallocManaged = (pointer: Ref<DevicePointer>, bytes: number): cudaError_t => answer(() => take(pointer, bytes, 'unified'));

/** A view of managed memory from a pointer on; invalid while work uses it. An extension: in CUDA the host uses the pointer itself. */
export const cumetalHostView = (view: Ref<Uint8Array>, pointer: DevicePointer, bytes: number): cudaError_t =>
  answer(() => {
    for (const [start, { buffer }] of pointersOf(currentDevice()))
      if (pointer >= start && pointer < start + BigInt(buffer.byteLength) && 'view' in buffer) {
        view.value = buffer.part(Number(pointer - start), bytes).view;
        return;
      }
    refuse('cudaErrorInvalidValue');
  });

/** Frees memory when the pending work has finished. Null is ignored. */
export const cudaFree = (pointer: DevicePointer): cudaError_t =>
  answer(() => {
    if (pointer !== 0n) freeAllocated(currentDevice(), pointer, (buffer) => buffer.free());
  });

/** Allocates page-locked host memory; asynchronous copies read it when they execute. */
export const cudaMallocHost = (memory: Ref<Uint8Array>, bytes: number): cudaError_t =>
  answer(() => {
    const buffer = currentDevice().allocate('u8', bytes, 'staging');
    memory.value = buffer.view;
    pinned.set(buffer.view.buffer, buffer);
  });

/** Frees page-locked host memory. */
export const cudaFreeHost = (memory: HostPointer): cudaError_t =>
  answer(() => {
    const buffer = pinned.get(memory.buffer) ?? refuse('cudaErrorInvalidValue');
    pinned.delete(memory.buffer);
    buffer.free();
  });

/** Copies in stream order. Pageable host memory is read immediately, and written when the copy executes. */
export const cudaMemcpyAsync = (
  to: DevicePointer | HostPointer,
  from: DevicePointer | HostPointer,
  bytes: number,
  kind: cudaMemcpyKind,
  stream?: cudaStream_t,
): cudaError_t => answer(() => void copy(to, from, bytes, kind, stream));

/** Copies and waits for completion. */
export const cudaMemcpy = (
  to: DevicePointer | HostPointer,
  from: DevicePointer | HostPointer,
  bytes: number,
  kind: cudaMemcpyKind,
): Promise<cudaError_t> => answerAsync(async () => copy(to, from, bytes, kind, 0)?.ended());

type Copied = ReturnType<Stream['copy']> | undefined;
type Stream = ReturnType<typeof streamOf>;

function copy(
  to: DevicePointer | HostPointer,
  from: DevicePointer | HostPointer,
  bytes: number,
  kind: cudaMemcpyKind,
  stream: cudaStream_t,
): Copied {
  if (!(kind in sides)) refuse('cudaErrorInvalidMemcpyDirection');
  const [toHost, fromHost] = [typeof to !== 'bigint', typeof from !== 'bigint'];
  const wanted = sides[kind];
  if (wanted && (wanted.toHost !== toHost || wanted.fromHost !== fromHost)) refuse('cudaErrorInvalidValue');
  if (bytes === 0) return undefined;
  const order = streamOf(stream);
  if (typeof to !== 'bigint') {
    const target = hostBytes(to, bytes);
    if (typeof from === 'bigint') return order.fetch(target, deviceBytes(from, bytes));
    const source = hostBytes(from, bytes);
    return order.call(() => target.set(source));
  }
  const target = deviceBytes(to, bytes);
  return order.copy<'u8'>(target, typeof from === 'bigint' ? deviceBytes(from, bytes) : sourceOf(from, bytes));
}

/** The host sides of a copy by its kind; `cudaMemcpyDefault` depends on the pointers. */
const sides: Readonly<Record<cudaMemcpyKind, { readonly toHost: boolean; readonly fromHost: boolean } | undefined>> = {
  0: { toHost: true, fromHost: true },
  1: { toHost: false, fromHost: true },
  2: { toHost: true, fromHost: false },
  3: { toHost: false, fromHost: false },
  4: undefined,
};

const deviceBytes = (pointer: DevicePointer, bytes: number): Bytes => currentDevice().at(pointer).part(0, bytes);

function hostBytes({ buffer, byteOffset, byteLength }: HostPointer, bytes: number): Uint8Array {
  if (!(Number.isInteger(bytes) && bytes >= 0 && bytes <= byteLength)) refuse('cudaErrorInvalidValue');
  return new Uint8Array(buffer, byteOffset, bytes);
}

/** The source of a copy: page-locked memory is read when the copy executes, other memory immediately. */
function sourceOf(from: HostPointer, bytes: number): Uint8Array | Buffer<'u8', 'staging'> {
  const taken = hostBytes(from, bytes);
  return pinned.get(from.buffer)?.part(from.byteOffset, bytes) ?? taken;
}

/** Copies between memory of two devices in stream order: of a stream of either. */
export const cudaMemcpyPeerAsync = (
  to: DevicePointer,
  toDevice: number,
  from: DevicePointer,
  fromDevice: number,
  bytes: number,
  stream?: cudaStream_t,
): cudaError_t => answer(() => void copyPeer(to, toDevice, from, fromDevice, bytes, stream));

function copyPeer(
  to: DevicePointer,
  toDevice: number,
  from: DevicePointer,
  fromDevice: number,
  bytes: number,
  stream: cudaStream_t,
): Copied {
  if (bytes === 0) return undefined;
  const [target, source] = [deviceAt(toDevice).at(to).part(0, bytes), deviceAt(fromDevice).at(from).part(0, bytes)];
  return streamOf(stream).copy<'u8'>(target, source);
}

/** Copies between memory of two devices after their work so far, and waits for completion. */
export const cudaMemcpyPeer = (
  to: DevicePointer,
  toDevice: number,
  from: DevicePointer,
  fromDevice: number,
  bytes: number,
): Promise<cudaError_t> =>
  answerAsync(async () => {
    const devices = [deviceAt(toDevice), deviceAt(fromDevice)];
    for (const device of devices) await device.synchronize();
    await devices[0]!.defaultStream.copy<'u8'>(devices[0]!.at(to).part(0, bytes), devices[1]!.at(from).part(0, bytes)).ended();
  });

/** Sets bytes in the order of the legacy default stream. */
export const cudaMemset = (pointer: DevicePointer, value: number, bytes: number): cudaError_t => cudaMemsetAsync(pointer, value, bytes, 0);

/** Sets bytes in stream order. */
export const cudaMemsetAsync = (pointer: DevicePointer, value: number, bytes: number, stream?: cudaStream_t): cudaError_t =>
  answer(() => {
    if (bytes > 0) streamOf(stream).fill(deviceBytes(pointer, bytes), value & 0xff);
  });

const mustBeSymbol = (symbol: ModuleSymbol): ModuleSymbol => (symbol instanceof ModuleSymbol ? symbol : refuse('cudaErrorInvalidSymbol'));

/** Writes a variable of a module in stream order. */
export const cudaMemcpyToSymbolAsync = (
  symbol: ModuleSymbol,
  from: HostPointer,
  bytes: number,
  offset = 0,
  _kind: cudaMemcpyKind = cudaMemcpyKind.cudaMemcpyHostToDevice,
  stream?: cudaStream_t,
): cudaError_t => answer(() => void mustBeSymbol(symbol).write(hostBytes(from, bytes), { offset, stream: streamOf(stream) }));

/** Writes a variable of a module and waits for completion. */
export const cudaMemcpyToSymbol = (symbol: ModuleSymbol, from: HostPointer, bytes: number, offset = 0): Promise<cudaError_t> =>
  answerAsync(() =>
    mustBeSymbol(symbol)
      .write(hostBytes(from, bytes), { offset, stream: streamOf(0) })
      .ended(),
  );

/** Reads a variable of a module in stream order. */
export const cudaMemcpyFromSymbolAsync = (
  to: HostPointer,
  symbol: ModuleSymbol,
  bytes: number,
  offset = 0,
  _kind: cudaMemcpyKind = cudaMemcpyKind.cudaMemcpyDeviceToHost,
  stream?: cudaStream_t,
): cudaError_t => answer(() => void mustBeSymbol(symbol).fetch(hostBytes(to, bytes), { offset, stream: streamOf(stream) }));

/** Reads a variable of a module. */
export const cudaMemcpyFromSymbol = (to: HostPointer, symbol: ModuleSymbol, bytes: number, offset = 0): Promise<cudaError_t> =>
  answerAsync(() =>
    mustBeSymbol(symbol)
      .fetch(hostBytes(to, bytes), { offset, stream: streamOf(0) })
      .ended(),
  );
