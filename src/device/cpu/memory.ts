/**
 * The device's memory: one WebAssembly memory that grows, and which parts of it are taken. An index in it is the address that
 * kernels see. The first page is nobody's, so that a null pointer is caught.
 */
import { margin } from '../../engine/codegen/memory-margin.ts';

const pageBytes = 65536;
/** Of every block: a cache line, and more than any type demands. */
const alignment = 256;
/**
 * Bytes after which processors take a load for one of what an earlier store wrote, for they compare the low bits of addresses first: blocks of as
 * many, or of a multiple, would all begin alike, so that what a kernel reads of one waits for what it writes to another.
 */
const looksAlike = 4096;
/** Bytes between blocks that would begin alike: 16 places in turn, those of three blocks far apart. */
const apart = 5 * alignment;
/** Stays below 4 GiB with room for an access that starts at the last byte. */
const mostPages = 65535;
/** Pages: a memory that cannot become as large is of no use. */
const leastRoom = 256;

export interface DeviceMemory {
  readonly memory: WebAssembly.Memory;
  /** Whether workers can have it too. */
  readonly isShared: boolean;
  /** Address of a free block; nothing where memory is exhausted. */
  take(bytes: number): number | undefined;
  /** Frees the block at an address that `take` gave. */
  give(address: number): void;
  /** A view of the bytes, good until the next `take`. */
  view(address: number, bytes: number): Uint8Array;
  /** A view that stays good when the memory grows; nothing where this JavaScript engine has none. */
  lastingView(address: number, bytes: number): Uint8Array | undefined;
}

/** A memory of an engine that can say that growing leaves its buffer in place. */
type Resizable = WebAssembly.Memory & { toResizableBuffer?(): ArrayBuffer };

interface Span {
  start: number;
  end: number;
}

/** An empty memory, which workers can have too where that is asked for. */
export function newMemory(isShared = false): DeviceMemory {
  const memory = emptyMemory(isShared);
  const free: Span[] = [{ start: pageBytes + margin, end: 2 * pageBytes - margin }];
  const taken = new Map<number, number>();
  let isLasting = false;
  return {
    memory,
    isShared,
    take(bytes) {
      const size = sizeOf(bytes);
      const span = free.find(({ start, end }) => end - start >= size) ?? grow(memory, free, size);
      if (!span) return undefined;
      const address = span.start;
      span.start += size;
      if (span.start === span.end) free.splice(free.indexOf(span), 1);
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
      // What workers share is not taken away when it grows.
      isLasting ||= isShared || makeLasting(memory);
      return isLasting ? new Uint8Array(memory.buffer, address, bytes) : undefined;
    },
  };
}

/** Bytes of a block, with those behind it that stay free. */
function sizeOf(bytes: number): number {
  const size = Math.max(alignment, Math.ceil(bytes / alignment) * alignment);
  return size % looksAlike === 0 ? size + apart : size;
}

/** With room to grow as far as the engine lets it: for what is shared some set all of that aside at once, and small machines have less. */
function emptyMemory(shared: boolean): WebAssembly.Memory {
  for (let maximum = mostPages; ; maximum >>>= 1) {
    try {
      return new WebAssembly.Memory({ initial: 2, maximum, ...(shared ? { shared } : {}) });
    } catch (error) {
      if (maximum < leastRoom) throw error;
    }
  }
}

/** Whether views of the memory outlive its growing from now on. */
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
  if (memory.buffer.byteLength / pageBytes + pages > mostPages) return undefined;
  try {
    memory.grow(pages);
  } catch {
    return undefined;
  }
  insert(free, { start: end, end: end + pages * pageBytes });
  return free.at(-1);
}

/** Adds a span in order of address, joined with its neighbours. */
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
