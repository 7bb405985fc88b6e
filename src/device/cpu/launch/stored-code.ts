/**
 * Kernels whose code outlives the process. What a launch needs to know of a kernel, and the WebAssembly for launches like the last ones, are
 * in a store, and its native code if launches took long; the kernel itself is raised and compiled when something is asked for that the store does not
 * have.
 */
import type { CodeStore, Dim3, Fma } from '../../device.ts';
import { fmaMode } from '../fma-support.ts';
import { maxKnownLaunches } from './code-for-launch.ts';
import type { KnownLaunch } from './launch-facts.ts';
import type { CompiledKernel, LoadedKernel, StorableCode } from './loaded-kernel.ts';
import { type NativeSource, NativeTwin } from './native-twin.ts';
import { storedNative } from './stored-native.ts';
import { type CodeFields, codeOf, fieldsOf, headOf, type KernelHead, packed, paramsOf, unpacked } from './stored-parts.ts';

/** The version of the entries; incremented with every change of them. */
const format = 4;

/** What a launch needs to know of a kernel. */
type Described = Pick<LoadedKernel, 'reflection' | 'params'>;

/** What is stored of its code, without bytes. */
type CodeHead = CodeFields & Pick<StorableCode, 'fma' | 'facts'> & { readonly hasRival: boolean };

/** A kernel by the text that its code depends on; undefined where it cannot be raised. */
export function storedKernel(store: CodeStore, of: string, bitcode: Uint8Array, { fma, make }: Making): LoadedKernel | undefined {
  const kernelKey = store.keyOf([`${format} kernel\n${of}`, bitcode]);
  const key = (what: string): string => store.keyOf([`${format} ${what}`, kernelKey]);
  const head = store.read(kernelKey);
  const parts = head && unpacked(head);
  if (parts && parts.length >= 2) {
    const [known, constants, ...inits] = parts as unknown as [KernelHead, ...Uint8Array[]];
    return kernelOf({ reflection: known.reflection, params: paramsOf(known, inits) }, constants, { store, kernelKey, key, fma, make });
  }
  const made = make();
  return made && isStorable(made) ? kernelOf(made, undefined, { store, kernelKey, key, fma, make: () => made }) : made;
}

/** Code for a stack depends on its size. */
const isStorable = ({ stackBytes }: LoadedKernel): boolean => stackBytes === 0;

interface Making {
  /** As the device was opened. */
  readonly fma: Fma;
  /** Raises the kernel; undefined where it cannot be raised. */
  readonly make: () => LoadedKernel | undefined;
}

interface Stored extends Making {
  readonly store: CodeStore;
  readonly kernelKey: string;
  readonly key: (what: string) => string;
}

/** Code, and whether scalar code may be faster. */
interface Known {
  readonly code: CompiledKernel;
  readonly hasRival: boolean;
}

/** `constants` are those that were stored. */
function kernelOf(
  { reflection, params }: Described,
  constants: Uint8Array | undefined,
  { store, kernelKey, key, fma, make }: Stored,
): LoadedKernel {
  let made: LoadedKernel | undefined;
  const real = (): LoadedKernel => {
    made ??= make()!;
    return made;
  };
  /** By what is known of a launch. */
  const known = new Map<string, Known>();
  const codes = codesIn(store, kernelKey, fma);
  /** Whether scalar code runs blocks of a shape, where that was found out. */
  const settled = new Map<string, boolean>();
  /** Code from the store; else it is made, and stored. */
  const fetch = (what: string, block: Dim3, compile: () => Known): Known => {
    const source = () => compile().code.twin?.source();
    let found = known.get(what) ?? codes.read(store.read(key(what)), source);
    if (!found) {
      const { code, hasRival } = compile();
      if (!code.wasm || !code.stored || code.instrumented) return { code, hasRival };
      if (!constants) {
        const { head, inits } = headOf({ reflection, params });
        store.write(kernelKey, packed(head, [real().constants, ...inits]));
      }
      const kept = codes.keep(block, { code, hasRival }, source);
      store.write(key(what), kept.name);
      found = kept.known;
    }
    known.set(what, found);
    return found;
  };
  const vectorized = (block: Dim3, given: KnownLaunch | undefined): Known => {
    const facts = factsOf(block, given);
    return fetch(nameOf(block, facts), block, () => {
      const code = real().compiled(block, facts);
      return { code, hasRival: code.lanes > 1 && real().rival(block, facts) !== undefined };
    });
  };
  /** What is used of that which is known of a launch: a kernel that gets other numbers every time would be stored every time. */
  const factsOf = (block: Dim3, given: KnownLaunch | undefined): KnownLaunch | undefined =>
    known.size < maxKnownLaunches || known.has(nameOf(block, given)) ? given : undefined;
  const scalar = (block: Dim3, facts: KnownLaunch | undefined): Known =>
    fetch(`scalar ${facts?.areBuffersAligned === true}`, block, () => ({ code: real().rival(block, facts)!(), hasRival: false }));
  return {
    reflection,
    params,
    get constants() {
      return constants ?? real().constants;
    },
    stackBytes: 0,
    withStack: () => undefined,
    compiled: (block, facts) => (settled.get(block.join()) ? scalar : vectorized)(block, facts).code,
    instrumented: (how) => real().instrumented(how),
    checked: (kinds, block) => real().checked(kinds, block),
    rival(block, facts) {
      const isOpen = !settled.has(block.join()) && known.get(nameOf(block, factsOf(block, facts)))?.hasRival;
      return isOpen ? () => scalar(block, facts).code : undefined;
    },
    settle: (block, isScalar) => void settled.set(block.join(), isScalar),
  };
}

const nameOf = (block: Dim3, facts: KnownLaunch | undefined): string => `code ${block.join()} ${facts?.key}`;

/** How keys of stores are written: what a damaged entry names is not looked for. */
const isKey = /^[0-9a-f]{64}$/;

/** The codes of a kernel. Launches whose code is the same have one, in memory as in the store, where each launch has the name of its code. */
function codesIn(store: CodeStore, kernelKey: string, fma: Fma) {
  const known = new Map<string, Known>();
  type Source = () => NativeSource<CompiledKernel> | undefined;
  const added = (name: string, { code, hasRival }: Known, source: Source): Known => {
    const twin = new NativeTwin(code.stored!.bytes.length, source, storedNative({ store, key: name }));
    const one = { code: { ...code, twin }, hasRival };
    known.set(name, one);
    return one;
  };
  return {
    /** The code whose name a launch has; undefined if there is none. */
    read(entry: Uint8Array | undefined, source: Source): Known | undefined {
      if (!entry) return undefined;
      const name = new TextDecoder().decode(entry);
      if (!isKey.test(name)) return undefined;
      if (known.has(name)) return known.get(name);
      const found = codeFrom(store.read(name), fma);
      return found && added(name, found, source);
    },
    /** Stores code that was made, unless it is known. */
    keep(block: Dim3, made: Known, source: Source): { readonly name: Uint8Array; readonly known: Known } {
      const { lanes, stored } = made.code;
      // Scalar code does not depend on the shape of blocks.
      const name = store.keyOf([`${format} code ${lanes > 1 ? block.join() : ''}\n${stored!.facts}`, kernelKey, stored!.bytes]);
      if (!known.has(name)) store.write(name, bytesOf(made));
      return { name: new TextEncoder().encode(name), known: known.get(name) ?? added(name, made, source) };
    },
  };
}

function bytesOf({ code, hasRival }: Known): Uint8Array {
  const { fma, facts, bytes } = code.stored!;
  const { fields, pool } = fieldsOf(code);
  return packed({ ...fields, hasRival, fma, facts } satisfies CodeHead, [pool, bytes]);
}

/** The code in bytes, without a twin; undefined for bytes that are none. */
function codeFrom(entry: Uint8Array | undefined, fma: Fma): Known | undefined {
  const parts = entry && unpacked(entry);
  if (parts?.length !== 3) return undefined;
  const [{ hasRival, fma: mode, facts, ...fields }, pool, bytes] = parts as unknown as [CodeHead, Uint8Array, Uint8Array];
  // Another machine may have written it.
  if (mode !== undefined && mode !== fmaMode(fma)) return undefined;
  try {
    const wasm = new WebAssembly.Module(bytes as BufferSource);
    return { code: codeOf(fields, pool, { wasm, stored: { bytes, fma: mode, facts } }), hasRival };
  } catch {
    return undefined;
  }
}
