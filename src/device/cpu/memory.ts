/**
 * The device's memory: one WebAssembly memory that grows, with an allocator of blocks. An index in it is the address that kernels see. The
 * first page is never allocated, so that null pointers are caught.
 */
import { endGuardBytes, margin } from '../../engine/codegen/memory-margin.ts';

const pageBytes = 65536;
/** Alignment of blocks: several cache lines, and more than any type requires. */
const alignment = 256;
/**
 * Processors compare the low 12 bits of addresses first, so that a load which aliases an earlier store modulo 4096 waits for it ("4K
 * aliasing"). Blocks whose size is a multiple of this stride would all start at aliasing addresses.
 */
const aliasStride = 4096;
/** Additional bytes of such blocks. They cycle through 16 starts, and the starts of three blocks in a row are far from each other. */
const colorStride = 5 * alignment;
/** Most pages: 4 GiB without the guard at its end, which also leaves room for an access that starts at the last byte. */
const maxPages = 65536 - endGuardBytes / pageBytes;
/** Fewest pages that the memory must be able to grow to. */
const minMaxPages = 256;

/** The addresses from `from` to below `to`, of which pointers may be that no access follows. Both ends are far from addresses that wrap around. */
export const pointerRange = { from: pageBytes, to: maxPages * pageBytes } as const;

export interface DeviceMemory {
  readonly memory: WebAssembly.Memory;
  /** Whether workers can share it. */
  readonly isShared: boolean;
  /** Allocates a block, whose address is a multiple of a power of two; undefined if memory is exhausted. */
  take(bytes: number, atMultipleOf?: number): number | undefined;
  /** Frees a block by the address that `take` returned. */
  give(address: number): void;
  /** A view of the bytes, valid until the next `take`. */
  view(address: number, bytes: number): Uint8Array;
  /** A view that stays valid when the memory grows; undefined if the JavaScript engine has none. */
  lastingView(address: number, bytes: number): Uint8Array | undefined;
}

/** A memory in an engine that supports buffers which stay attached when it grows. */
type Resizable = WebAssembly.Memory & { toResizableBuffer?(): ArrayBuffer };

interface Span {
  start: number;
  end: number;
}

/** An empty memory, shared with workers or not. */
export function newMemory(isShared = false): DeviceMemory {
  const memory = emptyMemory(isShared);
  const free: Span[] = [{ start: pageBytes + margin, end: 2 * pageBytes - margin }];
  const taken = new Map<number, number>();
  let isLasting = false;
  return {
    memory,
    isShared,
    take(bytes, atMultipleOf = 1) {
      const size = sizeOf(bytes);
      const place = ({ start }: Span): number => Math.ceil(start / atMultipleOf) * atMultipleOf;
      const fits = (span: Span): boolean => span.end - place(span) >= size;
      const span = free.find(fits) ?? grow(memory, free, size + atMultipleOf - 1);
      if (!span) return undefined;
      const [address, { start }] = [place(span), span];
      span.start = address + size;
      if (span.start === span.end) free.splice(free.indexOf(span), 1);
      if (start < address) insert(free, { start, end: address });
      taken.set(address, size);
      return address;
    },
    give(address) {
      const size = taken.get(address);
      if (size === undefined) return;
      taken.delete(address);
      insert(free, { start: address, end: address + size });
    },
    view: (address, bytes) => new Uint8Array(memory.buffer, address, bytes),
    lastingView(address, bytes) {
      // Growing never detaches a shared buffer.
      isLasting ||= isShared || makeLasting(memory);
      return isLasting ? new Uint8Array(memory.buffer, address, bytes) : undefined;
    },
  };
}

/** The size of a block with the padding behind it. */
function sizeOf(bytes: number): number {
  const size = Math.max(alignment, Math.ceil(bytes / alignment) * alignment);
  return size % aliasStride === 0 ? size + colorStride : size;
}

/** A memory that can grow as far as the engine allows. Some engines reserve all of a shared memory at once, which small machines do not have. */
function emptyMemory(shared: boolean): WebAssembly.Memory {
  for (let maximum = maxPages; ; maximum >>>= 1) {
    try {
      return new WebAssembly.Memory({ initial: 2, maximum, ...(shared ? { shared } : {}) });
    } catch (error) {
      if (maximum < minMaxPages) throw error;
    }
  }
}

/** Makes views of the memory survive its growth; false if the engine cannot. */
function makeLasting(memory: Resizable): boolean {
  if (!memory.toResizableBuffer) return false;
  memory.toResizableBuffer();
  return true;
}

function grow(memory: WebAssembly.Memory, free: Span[], size: number): Span | undefined {
  const end = memory.buffer.byteLength - margin;
  const last = free.at(-1);
  const have = last?.end === end ? last.end - last.start : 0;
  const pages = Math.ceil((size - have) / pageBytes);
  if (memory.buffer.byteLength / pageBytes + pages > maxPages) return undefined;
  try {
    memory.grow(pages);
  } catch {
    return undefined;
  }
  insert(free, { start: end, end: end + pages * pageBytes });
  return free.at(-1);
}

/** Adds a span in order of address, joined with its neighbors. */
function insert(free: Span[], span: Span): void {
  const at = free.findIndex((other) => other.start > span.start);
  const index = at < 0 ? free.length : at;
  free.splice(index, 0, span);
  const [before, after] = [free[index - 1], free[index + 1]];
  if (after?.start === span.end) {
    span.end = after.end;
    free.splice(index + 1, 1);
  }
  if (before?.end === span.start) {
    before.end = span.end;
    free.splice(index, 1);
  }
}
