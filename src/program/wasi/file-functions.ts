/** Functions of descriptors. */
import type { ProgramMemory } from '../memory.ts';
import { type Entry, fileTypes } from './descriptors.ts';
import { errno } from './errno.ts';
import { isFault, type Status } from './host.ts';
import type { WasiFunction, WasiState } from './state.ts';

/** The rights of everything but seeking, which streams have not. Source: WASI preview 1, `rights`. */
const allRights = 0x1fff_ffffn;
const seekRights = 0x24n;
const appendFlag = 1;

/** Memory that a list of buffers names; undefined if a part of it is outside memory. */
function* buffersOf(memory: ProgramMemory, list: bigint, count: bigint): Generator<Uint8Array | undefined> {
  for (let i = 0n; i < count; i++) {
    const at = memory.u64(list + 16n * i);
    const length = memory.u64(list + 16n * i + 8n);
    yield at === undefined || length === undefined || length > 0xffff_ffffn ? undefined : memory.slice(at, Number(length));
  }
}

/** Moves bytes buffer by buffer until one is not filled or emptied; the count goes to `to`. */
function transfer(
  { memory }: WasiState,
  [list, count, to]: readonly [bigint, bigint, bigint],
  move: (buffer: Uint8Array, done: number) => number | { readonly errno: number },
): number {
  let done = 0;
  for (const buffer of buffersOf(memory, list, count)) {
    if (!buffer) return errno.fault;
    if (buffer.length === 0) continue;
    const moved = move(buffer, done);
    if (typeof moved !== 'number') {
      if (done > 0) break;
      return moved.errno;
    }
    done += moved;
    if (moved < buffer.length) break;
  }
  return memory.putU64(to, done) ? errno.success : errno.fault;
}

function read(state: WasiState, entry: Entry, where: readonly [bigint, bigint, bigint], position?: number): number {
  if (entry.kind === 'folder') return errno.isdir;
  if (entry.kind === 'stream') {
    if (entry.stream !== 0) return errno.badf;
    return position === undefined ? transfer(state, where, (buffer) => state.host.readInput(buffer)) : errno.spipe;
  }
  return transfer(state, where, (buffer, done) => {
    const moved = entry.file.read(buffer, (position ?? entry.position - done) + done);
    if (position === undefined && typeof moved === 'number') entry.position += moved;
    return moved;
  });
}

function write(state: WasiState, entry: Entry, where: readonly [bigint, bigint, bigint], position?: number): number {
  if (entry.kind === 'folder') return errno.isdir;
  if (entry.kind === 'stream') {
    const { stream } = entry;
    if (stream === 0) return errno.badf;
    if (position !== undefined) return errno.spipe;
    return transfer(state, where, (buffer) => {
      return state.host.writeOutput(stream, buffer) ?? buffer.length;
    });
  }
  return transfer(state, where, (buffer, done) => {
    const at = position === undefined ? entry.position : position + done;
    const moved = entry.file.write(buffer, entry.append ? undefined : at);
    if (typeof moved !== 'number' || position !== undefined) return moved;
    const status = entry.append ? entry.file.status() : undefined;
    entry.position = status && !isFault(status) ? Number(status.size) : at + moved;
    return moved;
  });
}

/** The 64 bytes of `filestat`. */
export function putStatus(memory: ProgramMemory, to: bigint, status: Status): number {
  const data = new DataView(new ArrayBuffer(64));
  data.setBigUint64(0, BigInt.asUintN(64, status.device), true);
  data.setBigUint64(8, BigInt.asUintN(64, status.inode), true);
  data.setUint8(16, fileTypes[status.type]);
  data.setBigUint64(24, status.links, true);
  data.setBigUint64(32, status.size, true);
  for (const [i, time] of [status.accessed, status.modified, status.changed].entries())
    data.setBigUint64(40 + 8 * i, BigInt.asUintN(64, time), true);
  return memory.put(to, new Uint8Array(data.buffer)) ? errno.success : errno.fault;
}

const streamStatus = (fd: number): Status => ({
  type: 'characters',
  size: 0n,
  inode: BigInt(fd),
  device: 0n,
  links: 1n,
  accessed: 0n,
  modified: 0n,
  changed: 0n,
});

/** Takes the entry of a descriptor, or answers that there is none. */
const withEntry =
  (run: (state: WasiState, entry: Entry, ...rest: bigint[]) => number): WasiFunction =>
  (state, fd, ...rest) => {
    const entry = state.descriptors.get(Number(fd));
    return entry ? run(state, entry, ...rest) : errno.badf;
  };

const seekFrom = { start: 0, current: 1, end: 2 } as const;

function seek(state: WasiState, entry: Entry, offset: bigint, whence: bigint, to: bigint): number {
  if (entry.kind !== 'file') return errno.spipe;
  const status = Number(whence) === seekFrom.end ? entry.file.status() : undefined;
  if (status && isFault(status)) return status.errno;
  const bases: Readonly<Record<number, number>> = {
    [seekFrom.start]: 0,
    [seekFrom.current]: entry.position,
    [seekFrom.end]: Number(status?.size ?? 0n),
  };
  const base = bases[Number(whence)];
  const position = base === undefined ? Number.NaN : base + Number(BigInt.asIntN(64, offset));
  if (!Number.isSafeInteger(position) || position < 0) return errno.inval;
  entry.position = position;
  return state.memory.putU64(to, position) ? errno.success : errno.fault;
}

/** Entries of a folder from number `cookie` on, as many as fit; a last one that is cut tells that there are more. */
function list(state: WasiState, entry: Entry, to: bigint, length: bigint, cookie: bigint, used: bigint): number {
  if (entry.kind !== 'folder') return errno.notdir;
  const found = entry.folder.list(entry.path);
  if (isFault(found)) return found.errno;
  const self = { type: 'folder' as const, inode: 0n };
  const all = [{ name: '.', ...self }, { name: '..', ...self }, ...found];
  const out = state.memory.slice(to, Number(length));
  if (!out) return errno.fault;
  let at = 0;
  for (let i = Number(cookie); i < all.length && at < out.length; i++) {
    const { name, type, inode } = all[i]!;
    const text = new TextEncoder().encode(name);
    const data = new DataView(new ArrayBuffer(24 + text.length));
    data.setBigUint64(0, BigInt(i + 1), true);
    data.setBigUint64(8, BigInt.asUintN(64, inode), true);
    data.setUint32(16, text.length, true);
    data.setUint8(20, fileTypes[type]);
    const record = new Uint8Array(data.buffer);
    record.set(text, 24);
    const count = Math.min(record.length, out.length - at);
    out.set(record.subarray(0, count), at);
    at += count;
  }
  return state.memory.putU64(used, at) ? errno.success : errno.fault;
}

export const fileFunctions: Readonly<Record<string, WasiFunction>> = {
  fd_read: withEntry((state, entry, ...[buffers, count, to]) => read(state, entry, [buffers!, count!, to!])),
  fd_pread: withEntry((state, entry, ...[buffers, count, at, to]) => read(state, entry, [buffers!, count!, to!], Number(at))),
  fd_write: withEntry((state, entry, ...[buffers, count, to]) => write(state, entry, [buffers!, count!, to!])),
  fd_pwrite: withEntry((state, entry, ...[buffers, count, at, to]) => write(state, entry, [buffers!, count!, to!], Number(at))),
  fd_seek: withEntry((state, entry, ...[offset, whence, to]) => seek(state, entry, offset!, whence!, to!)),
  fd_tell: withEntry((state, entry, to) => seek(state, entry, 0n, 1n, to!)),
  fd_close: ({ descriptors }, fd) => descriptors.close(Number(fd)),
  fd_renumber: ({ descriptors }, from, to) => descriptors.renumber(Number(from), Number(to)),
  fd_readdir: withEntry((state, entry, ...[to, length, cookie, used]) => list(state, entry, to!, length!, cookie!, used!)),
  fd_prestat_get: withEntry((state, entry, to) => {
    if (entry.kind !== 'folder' || !entry.isGranted) return errno.badf;
    const { length } = new TextEncoder().encode(entry.folder.name);
    return state.memory.putU64(to!, 0) && state.memory.putU64(to! + 8n, length) ? errno.success : errno.fault;
  }),
  fd_prestat_dir_name: withEntry((state, entry, ...[to, length]) => {
    if (entry.kind !== 'folder' || !entry.isGranted) return errno.badf;
    const name = new TextEncoder().encode(entry.folder.name).subarray(0, Number(length));
    return state.memory.put(to!, name) ? errno.success : errno.fault;
  }),
  fd_fdstat_get: withEntry(({ memory, host }, entry, to) => {
    const data = new DataView(new ArrayBuffer(24));
    const isTerminal = entry.kind === 'stream' && host.isTerminal(entry.stream);
    data.setUint8(0, entry.kind === 'stream' ? (isTerminal ? fileTypes.characters : fileTypes.other) : fileTypes[entry.kind]);
    data.setUint16(2, entry.kind === 'file' && entry.append ? appendFlag : 0, true);
    // A terminal is known by having no place to seek to.
    data.setBigUint64(8, entry.kind === 'stream' ? allRights & ~seekRights : allRights, true);
    data.setBigUint64(16, allRights, true);
    return memory.put(to!, new Uint8Array(data.buffer)) ? errno.success : errno.fault;
  }),
  fd_fdstat_set_flags: withEntry((_state, entry, flags) => {
    if (entry.kind === 'file') entry.append = (Number(flags) & appendFlag) !== 0;
    return errno.success;
  }),
  fd_filestat_get: (state, fd, to) => {
    const entry = state.descriptors.get(Number(fd));
    if (!entry) return errno.badf;
    if (entry.kind === 'stream') return putStatus(state.memory, to!, streamStatus(Number(fd)));
    const status = entry.kind === 'file' ? entry.file.status() : entry.folder.status(entry.path, true);
    return isFault(status) ? status.errno : putStatus(state.memory, to!, status);
  },
  fd_filestat_set_size: withEntry((_state, entry, size) =>
    entry.kind === 'file' ? (entry.file.resize(Number(size))?.errno ?? errno.success) : errno.inval,
  ),
  fd_filestat_set_times: withEntry(() => errno.notsup),
  fd_allocate: withEntry((_state, entry, ...[offset, length]) => {
    if (entry.kind !== 'file') return errno.badf;
    const status = entry.file.status();
    if (isFault(status)) return status.errno;
    const wanted = offset! + length!;
    return status.size >= wanted ? errno.success : (entry.file.resize(Number(wanted))?.errno ?? errno.success);
  }),
  fd_advise: withEntry(() => errno.success),
  fd_sync: withEntry((_state, entry) => (entry.kind === 'file' ? (entry.file.flush()?.errno ?? errno.success) : errno.success)),
  fd_datasync: withEntry((_state, entry) => (entry.kind === 'file' ? (entry.file.flush()?.errno ?? errno.success) : errno.success)),
};
