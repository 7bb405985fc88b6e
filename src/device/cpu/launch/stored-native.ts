/**
 * Native code whose bytes outlive the process. An entry has a seal, which is a digest of the key and of all else: code that is damaged, cut off, or
 * under another name is not placed in memory. The code itself needs no relocation. It runs at any address, and finds the memory, globals and imported
 * functions by the context, whose layout is in the entry.
 */
import { areSameBytes } from '../../../base/bytes.ts';
import type { CodeStore } from '../../device.ts';
import { type NativeTargetName, nativeTargetName, nativeTargetNames } from '../native/mode.ts';
import { isNative, type NativeGlobal, type NativeParts } from '../native/module.ts';
import { placeCodeOf } from '../native/place.ts';
import type { CompiledKernel } from './loaded-kernel.ts';
import type { NativeMemory, Standing } from './native-twin.ts';
import { type CodeFields, codeOf, fieldsOf, packed, unpacked } from './stored-parts.ts';

/** The version of the entries; incremented with every change of them. */
const format = 1;

/** What is stored beside code. JSON has no integers of 64 bits, so that first values of globals are text. */
type NativeHead =
  | { readonly standing: 'slower' }
  | ({ readonly standing: Standing; readonly parts: PartsText } & { readonly fields: CodeFields });
type PartsText = Omit<NativeParts, 'globals'> & {
  readonly globals: readonly (Omit<NativeGlobal, 'initial'> & { readonly initial: string })[];
};

export interface NativeStore {
  readonly store: CodeStore;
  /** The key of the kernel, with everything that its modules depend on, and of the WebAssembly for the same blocks. */
  readonly key: string;
  /** The target of this machine. */
  readonly target?: () => NativeTargetName | undefined;
}

/** The native code of a kernel in a store. Where there is none, nothing but its absence is found out. */
export function storedNative({ store, key, target = nativeTargetName }: NativeStore): NativeMemory<CompiledKernel> {
  const keyFor = (name: NativeTargetName): string => store.keyOf([`native ${format} ${name}`, key]);
  return {
    recall() {
      // Which target this machine has is asked if there is something, because the answer takes longer than to look.
      for (const name of nativeTargetNames) {
        const own = keyFor(name);
        const entry = store.read(own);
        if (entry && name === target()) return nativeIn(unsealed(store, own, entry));
      }
      return undefined;
    },
    keep(standing, code) {
      const name = target();
      const bytes = name && bytesOf(standing, code);
      if (bytes) store.write(keyFor(name), sealed(store, keyFor(name), bytes));
    },
  };
}

const sealOf = (store: CodeStore, key: string, bytes: Uint8Array): Uint8Array =>
  new TextEncoder().encode(store.keyOf([`seal ${format}`, key, bytes]));

function sealed(store: CodeStore, key: string, bytes: Uint8Array): Uint8Array {
  const seal = sealOf(store, key, bytes);
  const all = new Uint8Array(seal.length + bytes.length);
  all.set(seal);
  all.set(bytes, seal.length);
  return all;
}

/** The bytes behind a seal; undefined where it is not that of these bytes and this key. */
function unsealed(store: CodeStore, key: string, entry: Uint8Array): Uint8Array | undefined {
  const { length } = sealOf(store, key, new Uint8Array(0));
  const bytes = entry.subarray(length);
  return areSameBytes(entry.subarray(0, length), sealOf(store, key, bytes)) ? bytes : undefined;
}

/** An entry; undefined for code that cannot be stored. */
function bytesOf(standing: Standing, code: CompiledKernel | undefined): Uint8Array | undefined {
  if (standing === 'slower') return packed({ standing } satisfies NativeHead, []);
  const { wasm, stored } = code ?? {};
  if (!code || !stored || !wasm || !isNative(wasm)) return undefined;
  const { contextBytes, entries, imports, globals } = wasm;
  const { fields, pool } = fieldsOf(code);
  const parts = { contextBytes, entries, imports, globals: globals.map((each) => ({ ...each, initial: `${each.initial}` })) };
  return packed({ standing, parts, fields } satisfies NativeHead, [pool, stored.bytes]);
}

/** What an entry says, with its code in memory that can be executed. */
function nativeIn(bytes: Uint8Array | undefined): ReturnType<NativeMemory<CompiledKernel>['recall']> {
  const [first, pool, code] = (bytes && unpacked(bytes)) ?? [];
  const head = first as NativeHead | undefined;
  if (head?.standing === 'slower') return { standing: 'slower', code: undefined };
  if (!head || !('parts' in head) || !pool || !code) return undefined;
  const { parts, fields, standing } = head;
  const globals = parts.globals.map((each) => ({ ...each, name: each.name, initial: BigInt(each.initial) }));
  const module = placeCodeOf({ ...parts, globals }, code);
  return module && { standing, code: codeOf(fields, pool, { wasm: module, stored: { bytes: code, fma: undefined, facts: '' } }) };
}
