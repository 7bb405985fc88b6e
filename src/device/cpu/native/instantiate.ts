/**
 * Native code linked with memory and imports: exports in the form that an instance of WebAssembly has them, functions and globals. Traps are
 * thrown as WebAssembly's.
 */
import { type Imports, type NativeCalls, type NativeContext, nativeCalls } from '../../../ffi/native/calls.ts';
import { adviseHugePages } from '../../../ffi/native/huge-pages.ts';
import { contextOffsets, type Trap, traps } from '../../../native/context.ts';
import type { NativeEntry, NativeGlobal, NativeModule } from './module.ts';

/** The text of each trap by its code. Source: JavaScriptCore, `errorMessageForExceptionType` in wasm/WasmExceptionType.h. */
const trapTexts: Readonly<Record<Exclude<Trap, 'imported'>, string>> = {
  unreachable: 'Unreachable code should not be executed',
  bounds: 'Out of bounds memory access',
  divisionByZero: 'Division by zero',
  overflow: 'Integer overflow',
  conversion: 'Out of bounds Trunc operation',
  alignment: 'Unaligned memory access',
  memorySize: 'Out of bounds memory access: the memory is too large for native code',
};
const textOfCode = new Map(Object.entries(trapTexts).map(([trap, text]) => [traps[trap as Trap], text]));

/** A global, as `WebAssembly.Global` has it. */
interface Cell {
  value: number | bigint;
}

/** Exports of native code: functions, and globals as cells. */
export function instantiate(
  { address, contextBytes, entries, imports, globals }: NativeModule,
  memory: WebAssembly.Memory,
  functions: Imports,
): WebAssembly.Exports {
  const calls = nativeCalls();
  if (!calls) throw new Error('this system does not run native code');
  const context = calls.newContext(contextBytes);
  const view = new DataView(context.bytes);
  for (const { name, offset, ...signature } of imports) {
    const thunk = calls.thunk(name, signature);
    if (thunk === undefined) throw new Error('no memory for native code');
    view.setBigUint64(offset, BigInt(thunk), true);
  }
  const useMemory = memoryOf(calls, context, memory);
  // The size may have grown, whatever an imported function is.
  const own = Object.fromEntries(Object.entries(functions).map(([name, run]) => [name, runThen(run, useMemory)]));
  const exported: Record<string, unknown> = {};
  for (const each of globals) {
    const cell = cellOf(context, each);
    cell.value = firstValueOf(each);
    if (each.name !== undefined) exported[each.name] = cell;
  }
  for (const [name, entry] of Object.entries(entries))
    exported[name] = functionOf({ calls, context, own, useMemory }, address + entry.offset, entry);
  return exported as WebAssembly.Exports;
}

const runThen =
  (run: (...args: never[]) => unknown, then: () => void) =>
  (...args: never[]): unknown => {
    const result = run(...args);
    then();
    return result;
  };

/** Writes the address and the size of memory into the context, where they have changed. */
function memoryOf({ addressOf }: NativeCalls, { bytes }: NativeContext, memory: WebAssembly.Memory): () => void {
  const words = new BigUint64Array(bytes);
  let known: ArrayBufferLike | undefined;
  let knownBytes = -1;
  return () => {
    const { buffer } = memory;
    if (buffer === known && buffer.byteLength === knownBytes) return;
    [known, knownBytes] = [buffer, buffer.byteLength];
    words[contextOffsets.memory / 8] = BigInt(addressOf(buffer));
    words[contextOffsets.memoryBytes / 8] = BigInt(knownBytes);
    adviseOnce(memory, Number(words[contextOffsets.memory / 8]), knownBytes);
  };
}

/** The bytes of each memory that the system was asked about. */
const advised = new WeakMap<WebAssembly.Memory, number>();

/** Asks for huge pages for what a memory has grown by. */
function adviseOnce(memory: WebAssembly.Memory, address: number, bytes: number): void {
  const before = advised.get(memory) ?? 0;
  if (bytes <= before) return;
  advised.set(memory, bytes);
  adviseHugePages(address + before, bytes - before);
}

interface Linked {
  readonly calls: NativeCalls;
  readonly context: NativeContext;
  readonly own: Imports;
  readonly useMemory: () => void;
}

function functionOf({ calls, context, own, useMemory }: Linked, entry: number, { hasResult }: NativeEntry) {
  const { words } = context;
  return (...args: readonly number[]): number | undefined => {
    useMemory();
    words[contextOffsets.trap / 4] = 0;
    const code = calls.call(entry, context, own, args);
    if (code !== 0) throw new WebAssembly.RuntimeError(textOfCode.get(code as (typeof traps)[Trap]));
    return hasResult ? words[contextOffsets.result / 4] : undefined;
  };
}

/** The first value of a global. */
function firstValueOf({ type, initial }: NativeGlobal): number | bigint {
  const view = new DataView(new ArrayBuffer(8));
  view.setBigUint64(0, initial, true);
  return readers[type](view);
}

const readers = {
  i32: (view: DataView) => view.getInt32(0, true),
  i64: (view: DataView) => view.getBigInt64(0, true),
  f32: (view: DataView) => view.getFloat32(0, true),
  f64: (view: DataView) => view.getFloat64(0, true),
} as const;

const arrays = { i32: Int32Array, i64: BigInt64Array, f32: Float32Array, f64: Float64Array } as const;

function cellOf({ bytes }: NativeContext, { type, offset }: NativeGlobal): Cell {
  // One element of the context, converted as a global converts what is assigned to it.
  const element = new arrays[type](bytes, offset, 1) as unknown as [number | bigint];
  return {
    get value() {
      return element[0];
    },
    set value(value) {
      element[0] = value;
    },
  };
}
