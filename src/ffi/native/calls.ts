/**
 * Calls into native code and back. An entry has the address of its context and up to four i32. An imported function is JavaScript behind a
 * thunk: before the call the thunk notes that the function threw, and the function takes that back when it returns. So an exception that no
 * `catch` sees, as that of a terminated worker, is noted as well.
 */
import { contextOffsets, traps } from '../../native/context.ts';
import { placeCode } from './code-pages.ts';
import { type NativeSystem, nativeSystem } from './system.ts';

/** The types of scalars, by their names in WebAssembly, and those of bun:ffi. */
const typeNames = { i32: 'i32', i64: 'i64', f32: 'f32', f64: 'f64' } as const;
export type ScalarType = keyof typeof typeNames;

/** Results of functions as values of a type, as WebAssembly converts them. */
const conversions: Readonly<Record<ScalarType, (value: unknown) => unknown>> = {
  i32: (value) => (value as number) | 0,
  i64: (value) => BigInt.asIntN(64, value as bigint),
  f32: (value) => Math.fround(value as number),
  f64: (value) => Number(value),
};

export interface ImportSignature {
  readonly params: readonly ScalarType[];
  readonly results: readonly ScalarType[];
}

/** `int32_t call(entry, context, a, b, c, d)`: moves each argument to the place of the one before it, and jumps to the entry. */
const callCode = [
  ...[0x48, 0x89, 0xf8], // mov rax, rdi
  ...[0x48, 0x89, 0xf7], // mov rdi, rsi
  ...[0x89, 0xd6], // mov esi, edx
  ...[0x89, 0xca], // mov edx, ecx
  ...[0x44, 0x89, 0xc1], // mov ecx, r8d
  ...[0x45, 0x89, 0xc8], // mov r8d, r9d
  ...[0xff, 0xe0], // jmp rax
];

/** `mov dword [r13 + trap], imported; mov rax, target; jmp rax`: r13 has the address of the context in all native code. */
function thunkCode(target: number): Uint8Array {
  const code = Uint8Array.from([
    0x41,
    0xc7,
    0x45,
    contextOffsets.trap,
    traps.imported,
    0,
    0,
    0,
    0x48,
    0xb8,
    0,
    0,
    0,
    0,
    0,
    0,
    0,
    0,
    0xff,
    0xe0,
  ]);
  new DataView(code.buffer).setBigUint64(10, BigInt(target), true);
  return code;
}

/** A context of native code, whose bytes do not move. */
export interface NativeContext {
  readonly address: number;
  readonly bytes: ArrayBuffer;
  /** Its words. */
  readonly words: Int32Array;
}

/** What runs in this thread: callbacks are called by the innermost one. */
interface Running {
  readonly context: NativeContext;
  readonly imports: Imports;
  /** What an imported function threw. */
  error: { readonly thrown: unknown } | undefined;
}

/** Functions by name. */
export type Imports = Readonly<Record<string, (...args: never[]) => unknown>>;

export interface NativeCalls {
  /** A context of so many bytes. */
  newContext(bytes: number): NativeContext;
  /** The address of a thunk that calls the function of a name of what runs; made at the first call. */
  thunk(name: string, signature: ImportSignature): number | undefined;
  /** The address of memory. */
  addressOf(memory: ArrayBufferLike): number;
  /** Calls an entry; returns the trap code. Throws what an imported function threw. */
  call(entry: number, context: NativeContext, imports: Imports, args: readonly number[]): number;
}

let opened: NativeCalls | undefined;

/** The calls of this thread; undefined on another platform or under another runtime. */
export function nativeCalls(): NativeCalls | undefined {
  const system = nativeSystem();
  opened ??= system && openCalls(system);
  return opened;
}

function openCalls({ ffi }: NativeSystem): NativeCalls | undefined {
  const pages = placeCode(Uint8Array.from(callCode));
  if (!pages) return undefined;
  const enter = ffi.CFunction({ ptr: pages.address as never, args: ['ptr', 'ptr', 'i32', 'i32', 'i32', 'i32'], returns: 'i32' });
  const addressOf = (memory: ArrayBufferLike): number => ffi.ptr(new Uint8Array(memory) as never);
  /** All that must live as long as the thread. */
  const kept: unknown[] = [pages];
  const thunks = new Map<string, number>();
  let running: Running | undefined;

  const newThunk = (name: string, { params, results: [result] }: ImportSignature): number | undefined => {
    const convert = result ? conversions[result] : () => undefined;
    const call = (...args: never[]): unknown => {
      const own = running!;
      try {
        const value = convert(own.imports[name]!(...args));
        own.context.words[contextOffsets.trap / 4] = 0;
        return value;
      } catch (thrown) {
        own.error = { thrown };
        // A value of the right type, which the code does not use.
        return convert(result === 'i64' ? 0n : 0);
      }
    };
    const types = { args: params.map((type) => typeNames[type]), returns: result ? typeNames[result] : ('void' as const) };
    const callback = new ffi.JSCallback(call, types as never);
    const code = callback.ptr === null ? undefined : placeCode(thunkCode(callback.ptr as number));
    kept.push(callback, code);
    return code?.address;
  };

  return {
    addressOf,
    newContext(size) {
      // A buffer that is made as one is outside of the heap that is collected.
      const bytes = new ArrayBuffer(Math.max(size, 1024));
      return { bytes, address: addressOf(bytes), words: new Int32Array(bytes) };
    },
    thunk(name, signature) {
      const key = `${name} ${signature.params.join()} ${signature.results.join()}`;
      const known = thunks.get(key) ?? newThunk(name, signature);
      if (known !== undefined) thunks.set(key, known);
      return known;
    },
    call(entry, context, imports, [a = 0, b = 0, c = 0, d = 0]) {
      const before = running;
      const own: Running = { context, imports, error: undefined };
      running = own;
      try {
        const code = enter(entry, context.address, a, b, c, d) as number;
        if (own.error) throw own.error.thrown;
        return code;
      } finally {
        running = before;
      }
    },
  };
}
