/** The imports and globals of an instrumented module: functions of the host, addresses of the shadow, times that stamps are compared with. */
import type { Code, Signature, ValueType, WasmModule } from '../../../../wasm/index.ts';
import { oneOf, stampFields } from './stamp.ts';

/** Functions of the host by name. */
const imports = {
  /** Address and site of an access out of bounds; returns the index to use instead. */
  outside: { params: ['i64', 'i32'], results: ['i32'] },
  /** Address and site of a misaligned access. */
  misaligned: { params: ['i64', 'i32'], results: [] },
  /** Address and site of a read of unwritten bytes. */
  unwritten: { params: ['i64', 'i32'], results: [] },
  /** The stamp of the earlier access, the address, the stamp of this access. */
  race: { params: ['i64', 'i64', 'i64'], results: [] },
  /** The first thread of a warp, the end of its threads, the lanes that meet, and their mask, which names lanes that have exited. */
  left: { params: ['i32', 'i32', 'i32', 'i32'], results: [] },
  /** Threads wait for threads of their masks that never come. Those that wait may go on without them afterwards. */
  stuck: { params: [], results: [] },
  /** Every thread of the block waits or has returned. */
  released: { params: [], results: [] },
  /** A block starts: shared memory is unwritten. */
  emptied: { params: [], results: [] },
  /** Address and site of an access of a barrier in memory, and the site of another place where threads are ordered (`happens-before.ts`). */
  synced: { params: ['i64', 'i32'], results: [] },
  fenced: { params: ['i32'], results: [] },
  /** The first thread of a warp, and the lanes that have synchronized. */
  together: { params: ['i32', 'i32'], results: [] },
  /** All threads are at the barrier of the block; a block starts. */
  crossed: { params: [], results: [] },
  began: { params: [], results: [] },
  /** A block starts late: the time begins anew. */
  renewed: { params: [], results: [] },
  /** A block of a cluster begins, or goes on. */
  chosen: { params: [], results: [] },
  /** The site of a write to the place of a writer query. */
  wrote: { params: ['i32'], results: [] },
} as const satisfies Record<string, Signature>;
export type SanitizerImport = keyof typeof imports;

/** Globals by name and type, which the launch sets. */
const globals = {
  /** Addresses of the shadow: a bit for each accessible byte, a bit for each written byte, two stamps for each word. */
  'shadow.allowed': 'i32',
  'shadow.written': 'i32',
  'shadow.cells': 'i32',
  /** Addresses from here on have no shadow. */
  'shadow.end': 'i64',
  /** Times of each thread: see `threadTimes`. */
  'thread.times': 'i32',
  /** For each thread: the block in which it has exited. */
  'thread.exits': 'i32',
  /** In clusters: the number of the block's first thread among those of its cluster, which is that of stamps. */
  'thread.base': 'i32',
  'shared.bytes': 'i64',
  'dynamic.bytes': 'i64',
  /** Accesses that changed memory, polls, and the site and address of the last poll. */
  progress: 'i32',
  polls: 'i32',
  'last.poll': 'i32',
  'poll.address': 'i64',
  /** Those of the last poll by another instruction. */
  'other.poll': 'i32',
  'other.address': 'i64',
  /** Stamps with the threads of both. */
  'poll.stamp': 'i64',
  'other.stamp': 'i64',
  /** Start and size of the place of a writer query. */
  'watched.start': 'i64',
  'watched.bytes': 'i64',
} as const satisfies Record<string, ValueType>;
export type SanitizerGlobal = keyof typeof globals;

/**
 * Times in the form of stamps, i64. `block` is the time at which the block started, which the host reads; `reads` that of the last barrier of the
 * block that runs, behind which it is new whether several threads have read.
 */
const times = ['now', 'stamp', 'block', 'barrier', 'reads', 'span', 'lastFence', 'fencesBefore', 'acquired'] as const;
export type TimeGlobal = (typeof times)[number];

/** Byte offsets of the times of a thread: its last warp barrier, release, acquire, and strong read. */
export const threadTimes = { sync: 0, release: 8, acquire: 16, strongRead: 24 } as const;
export const threadTimesBytes = 32;

export interface SanitizerState {
  readonly functions: Readonly<Record<SanitizerImport, number>>;
  readonly globals: Readonly<Record<SanitizerGlobal, number>>;
  readonly times: Readonly<Record<TimeGlobal, number>>;
  /** For each parameter: the i64 global with the bytes of the buffer. */
  readonly paramBytes: readonly number[];
}

/** Export name of the size of a parameter's buffer. */
export const paramBytesGlobal = (index: number): string => `param.${index}.bytes`;

/** Declares imports and globals; before the first function of the module. */
export function declareState(module: WasmModule, paramCount: number): SanitizerState {
  const named = <K extends string, V>(entries: readonly (readonly [K, V])[]): Record<K, V> => Object.fromEntries(entries) as Record<K, V>;
  const functions = (Object.keys(imports) as SanitizerImport[]).map((name) => [name, module.importFunction(name, imports[name])] as const);
  const words = (Object.keys(globals) as SanitizerGlobal[]).map((name) => [name, module.global(globals[name], name)] as const);
  return {
    functions: named(functions),
    globals: named(words),
    times: named(times.map((name) => [name, module.global('i64', `time.${name}`)] as const)),
    paramBytes: Array.from({ length: paramCount }, (_, i) => module.global('i64', paramBytesGlobal(i))),
  };
}

/** Advances the time by one. */
export function writeAdvance({ times }: SanitizerState, code: Code): void {
  code.at('global.get', times.now);
  code.i64(oneOf('time'));
  code.op('i64.add');
  code.at('global.set', times.now);
}

/** Sets the stamp of the thread whose number `push` pushes. */
export function writeStamp({ times }: SanitizerState, code: Code, push: () => void): void {
  code.at('global.get', times.now);
  push();
  code.op('i64.extend_i32_u');
  code.i64(BigInt(stampFields.thread.at));
  code.op('i64.shl');
  code.op('i64.or');
  code.at('global.set', times.stamp);
}

/** Pushes the address of the times of the thread whose number `push` pushes. */
export function writeThreadTimes({ globals }: SanitizerState, code: Code, push: () => void): void {
  push();
  code.i32(Math.log2(threadTimesBytes));
  code.op('i32.shl');
  code.at('global.get', globals['thread.times']);
  code.op('i32.add');
}
