/** What an instrumented module imports and keeps: functions of the host, places of the shadow, the times that stamps are held against. */
import type { Code, Signature, ValueType, WasmModule } from '../../../../wasm/index.ts';

/** Functions of the host, called where something is wrong, by name. */
const imports = {
  /** An address outside of what may be accessed, and the site: the index to use in its place. */
  outside: { params: ['i64', 'i32'], results: ['i32'] },
  /** An access at an address that its size does not divide. */
  misaligned: { params: ['i64', 'i32'], results: [] },
  /** A read of bytes that nobody wrote. */
  unwritten: { params: ['i64', 'i32'], results: [] },
  /** The stamp of the access before, the address, the stamp of this one. */
  race: { params: ['i64', 'i64', 'i64'], results: [] },
  /** The threads of a warp from the first to the end of the second, and the lanes that take part in what a block ends in. */
  meet: { params: ['i32', 'i32', 'i32', 'i32'], results: [] },
  /** Every thread of the block waits or is gone. */
  released: { params: [], results: [] },
  /** A block starts: shared memory holds nothing. */
  emptied: { params: [], results: [] },
  /** A write where it is asked who writes; the site. */
  wrote: { params: ['i32'], results: [] },
} as const satisfies Record<string, Signature>;
export type SanitizerImport = keyof typeof imports;

/** Globals by name and type; those that a launch sets are exported. */
const globals = {
  /** Where the shadow of memory starts: a bit for each byte that may be accessed, a bit for each that was written, two stamps for each word. */
  'shadow.allowed': 'i32',
  'shadow.written': 'i32',
  'shadow.cells': 'i32',
  /** Addresses from here on have no shadow. */
  'shadow.end': 'i64',
  /** Four times by thread: see `threadTimes`. */
  'thread.times': 'i32',
  /** By thread: the mask that the next meeting is said to be of, and the site that said so. */
  'thread.members': 'i32',
  'shared.bytes': 'i64',
  'dynamic.bytes': 'i64',
  /** Accesses that changed memory, and accesses of the kind that threads wait for each other by; the last of these. */
  progress: 'i32',
  polls: 'i32',
  'last.poll': 'i32',
  'poll.address': 'i64',
  /** Where it is asked who writes, and how many bytes. */
  'watched.start': 'i64',
  'watched.bytes': 'i64',
} as const satisfies Record<string, ValueType>;
export type SanitizerGlobal = keyof typeof globals;

/** Times as they stand in stamps, i64; a module's own. `block` is that at which the block started; the host looks at it. */
const times = ['now', 'stamp', 'block', 'barrier', 'span', 'lastFence', 'fencesBefore', 'acquired'] as const;
export type TimeGlobal = (typeof times)[number];

/** Byte offsets of the times that a thread has: of its last meeting that orders memory, release, acquire, and strong read. */
export const threadTimes = { sync: 0, release: 8, acquire: 16, strongRead: 24 } as const;
export const threadTimesBytes = 32;

export interface SanitizerState {
  readonly functions: Readonly<Record<SanitizerImport, number>>;
  readonly globals: Readonly<Record<SanitizerGlobal, number>>;
  readonly times: Readonly<Record<TimeGlobal, number>>;
  /** By parameter: the i64 global with the bytes of the buffer. */
  readonly paramBytes: readonly number[];
}

/** Name under which the size of a parameter's buffer is exported. */
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

/** Moves time on by one. */
export function writeAdvance({ times }: SanitizerState, code: Code): void {
  code.at('global.get', times.now);
  code.i64(1n << 33n);
  code.op('i64.add');
  code.at('global.set', times.now);
}

/** Makes the stamp of the thread whose number `push` gives. */
export function writeStamp({ times }: SanitizerState, code: Code, push: () => void): void {
  code.at('global.get', times.now);
  push();
  code.op('i64.extend_i32_u');
  code.i64(23n);
  code.op('i64.shl');
  code.op('i64.or');
  code.at('global.set', times.stamp);
}

/** Address of the times of the thread whose number `push` gives. */
export function writeThreadTimes({ globals }: SanitizerState, code: Code, push: () => void): void {
  push();
  code.i32(5);
  code.op('i32.shl');
  code.at('global.get', globals['thread.times']);
  code.op('i32.add');
}
