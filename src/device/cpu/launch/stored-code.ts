/**
 * Kernels whose code outlives the process. What a launch needs to know of a kernel, and the WebAssembly for launches like the last ones, are
 * in a store, and its native code if launches took long; the kernel itself is raised and compiled when something is asked for that the store does not
 * have.
 */
import type { CodeStore, Dim3, Fma } from '../../device.ts';
import { fmaMode } from '../fma-support.ts';
import type { KnownLaunch } from './launch-facts.ts';
import type { CompiledKernel, LoadedKernel, StorableCode } from './loaded-kernel.ts';
import { type NativeSource, NativeTwin } from './native-twin.ts';
import { storedNative } from './stored-native.ts';
import { type CodeFields, codeOf, fieldsOf, headOf, type KernelHead, packed, paramsOf, unpacked } from './stored-parts.ts';

/** The version of the entries; incremented with every change of them. */
const format = 3;

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
  const twinOf = twinsIn(store, key);
  /** By launch. */
  const known = new Map<string, Known>();
  /** Whether scalar code runs blocks of a shape, where that was found out. */
  const settled = new Map<string, boolean>();
  /** Code from the store; else it is made, and stored. */
  const fetch = (what: string, block: Dim3, compile: () => Known): Known => {
    const source = () => compile().code.twin?.source();
    let found = known.get(what) ?? codeFrom(store.read(key(what)), fma, (code) => ({ ...code, twin: twinOf(block, code, source) }));
    if (!found) {
      const { code, hasRival } = compile();
      if (!code.wasm || !code.stored || code.instrumented) return { code, hasRival };
      found = { code: { ...code, twin: code.twin && twinOf(block, code, source) }, hasRival };
      if (!constants) {
        const { head, inits } = headOf({ reflection, params });
        store.write(kernelKey, packed(head, [real().constants, ...inits]));
      }
      store.write(key(what), bytesOf(found));
    }
    known.set(what, found);
    return found;
  };
  const vectorized = (block: Dim3, facts: KnownLaunch | undefined): Known =>
    fetch(nameOf(block, facts), block, () => {
      const code = real().compiled(block, facts);
      return { code, hasRival: code.lanes > 1 && real().rival(block, facts) !== undefined };
    });
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
      const isOpen = !settled.has(block.join()) && known.get(nameOf(block, facts))?.hasRival;
      return isOpen ? () => scalar(block, facts).code : undefined;
    },
    settle: (block, isScalar) => void settled.set(block.join(), isScalar),
  };
}

const nameOf = (block: Dim3, facts: KnownLaunch | undefined): string => `code ${block.join()} ${facts?.key}`;

/** Makes the twins of code that is to be stored. Launches whose code depends on the same, share one. */
function twinsIn(store: CodeStore, key: (what: string) => string) {
  const twins = new Map<string, NativeTwin<CompiledKernel>>();
  return (block: Dim3, { lanes, stored }: CompiledKernel, source: () => NativeSource<CompiledKernel> | undefined) => {
    const { bytes, facts } = stored!;
    // Scalar code does not depend on the shape of blocks.
    const own = store.keyOf([`${lanes > 1 ? block.join() : ''}\n${facts}`, key('native'), bytes]);
    const twin = twins.get(own) ?? new NativeTwin(bytes.length, source, storedNative({ store, key: own }));
    twins.set(own, twin);
    return twin;
  };
}

function bytesOf({ code, hasRival }: Known): Uint8Array {
  const { fma, facts, bytes } = code.stored!;
  const { fields, pool } = fieldsOf(code);
  return packed({ ...fields, hasRival, fma, facts } satisfies CodeHead, [pool, bytes]);
}

/** The code in bytes, with its twin; undefined for bytes that are none. */
function codeFrom(entry: Uint8Array | undefined, fma: Fma, withTwin: (code: CompiledKernel) => CompiledKernel): Known | undefined {
  const parts = entry && unpacked(entry);
  if (parts?.length !== 3) return undefined;
  const [{ hasRival, fma: mode, facts, ...fields }, pool, bytes] = parts as unknown as [CodeHead, Uint8Array, Uint8Array];
  // Another machine may have written it.
  if (mode !== undefined && mode !== fmaMode(fma)) return undefined;
  try {
    const wasm = new WebAssembly.Module(bytes as BufferSource);
    return { code: withTwin(codeOf(fields, pool, { wasm, stored: { bytes, fma: mode, facts } })), hasRival };
  } catch {
    return undefined;
  }
}
