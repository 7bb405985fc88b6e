/**
 * Kernels whose code outlives the process. What a launch needs to know of a kernel, and the WebAssembly for launches like the last ones, are
 * in a store; the kernel itself is raised and compiled when something is asked for that the store does not have.
 */
import type { FmaMode } from '../../../engine/codegen/fma-mode.ts';
import type { CodeStore, Fma } from '../../device.ts';
import { fmaMode } from '../fma-support.ts';
import type { CompiledKernel, LoadedKernel } from './loaded-kernel.ts';
import { NativeTwin } from './native-twin.ts';

/** The version of the entries; incremented with every change of them. */
const format = 1;

/** What is stored of a kernel. */
type Head = Pick<LoadedKernel, 'reflection' | 'params'>;

/** What is stored of its code, without bytes. */
type CodeHead = Pick<CompiledKernel, 'windows' | 'recordBytes' | 'stagingBytes' | 'lanes' | 'scalarReason' | 'parts'> & {
  readonly hasPool: boolean;
  readonly hasRival: boolean;
  readonly fma: FmaMode | undefined;
};

/** A kernel by the text that its code depends on; undefined where it cannot be raised. */
export function storedKernel(store: CodeStore, of: string, bitcode: Uint8Array, { fma, make }: Making): LoadedKernel | undefined {
  const key = (what: string): string => store.keyOf([`${format} ${what}\n${of}`, bitcode]);
  const head = store.read(key('kernel'));
  const parts = head && unpacked(head);
  if (parts?.length === 2) return kernelOf(parts[0] as unknown as Head, parts[1]!, { store, key, fma, make });
  const made = make();
  return made && isStorable(made) ? kernelOf(made, undefined, { store, key, fma, make: () => made }) : made;
}

/** Whether JSON has all that is known of a kernel, and its code does not depend on the size of a stack. */
const isStorable = ({ params, stackBytes }: LoadedKernel): boolean => stackBytes === 0 && !params.some(({ memory }) => memory);

interface Making {
  /** As the device was opened. */
  readonly fma: Fma;
  /** Raises the kernel; undefined where it cannot be raised. */
  readonly make: () => LoadedKernel | undefined;
}

interface Stored extends Making {
  readonly store: CodeStore;
  readonly key: (what: string) => string;
}

/** `constants` are those that were stored. */
function kernelOf({ reflection, params }: Head, constants: Uint8Array | undefined, { store, key, fma, make }: Stored): LoadedKernel {
  let made: LoadedKernel | undefined;
  const real = (): LoadedKernel => {
    made ??= make()!;
    return made;
  };
  /** By launch: its code, and whether it has a rival. */
  const known = new Map<string, { readonly code: CompiledKernel; readonly hasRival: boolean }>();
  let isSettled = false;
  const compiled: LoadedKernel['compiled'] = (block, facts) => {
    const launch = `code ${block.join()} ${facts?.key}`;
    const twinOf = (bytes: number): NativeTwin<CompiledKernel> => new NativeTwin(bytes, () => real().compiled(block, facts).twin?.source());
    const found = isSettled ? undefined : (known.get(launch) ?? codeFrom(store.read(key(launch)), fma, twinOf));
    if (found) known.set(launch, found);
    if (found) return found.code;
    const code = real().compiled(block, facts);
    const hasRival = !isSettled && code.lanes > 1 && real().rival(block, facts) !== undefined;
    if (!isSettled && code.wasm && code.stored && !code.instrumented) {
      if (!constants) store.write(key('kernel'), packed({ reflection, params }, [real().constants]));
      store.write(key(launch), bytesOf(code, hasRival));
      known.set(launch, { code, hasRival });
    }
    return code;
  };
  return {
    reflection,
    params,
    get constants() {
      return constants ?? real().constants;
    },
    stackBytes: 0,
    withStack: () => undefined,
    compiled,
    instrumented: (how) => real().instrumented(how),
    checked: (kinds, block) => real().checked(kinds, block),
    rival(block, facts) {
      const found = isSettled ? undefined : known.get(`code ${block.join()} ${facts?.key}`);
      if (!found) return real().rival(block, facts);
      return found.hasRival ? () => real().rival(block, facts)!() : undefined;
    },
    settle(block, isScalar) {
      isSettled = true;
      real().settle(block, isScalar);
    },
  };
}

function bytesOf(code: CompiledKernel, hasRival: boolean): Uint8Array {
  const { windows, recordBytes, stagingBytes, lanes, scalarReason, parts, pool, stored } = code;
  const { fma, bytes } = stored!;
  const rest = { windows, recordBytes, ...(stagingBytes === undefined ? {} : { stagingBytes }), lanes, scalarReason, parts };
  const head: CodeHead = { ...rest, hasPool: pool !== undefined, hasRival, fma };
  return packed(head, [pool ?? new Uint8Array(0), bytes]);
}

/** The code in bytes; undefined for bytes that are none. */
function codeFrom(
  stored: Uint8Array | undefined,
  fma: Fma,
  twinOf: (bytes: number) => NativeTwin<CompiledKernel>,
): { readonly code: CompiledKernel; readonly hasRival: boolean } | undefined {
  const parts = stored && unpacked(stored);
  if (parts?.length !== 3) return undefined;
  const [head, pool, bytes] = parts as unknown as [CodeHead, Uint8Array, Uint8Array];
  const { hasPool, hasRival, scalarReason, fma: mode, ...rest } = head;
  // Another machine may have written it.
  if (mode !== undefined && mode !== fmaMode(fma)) return undefined;
  try {
    const wasm = new WebAssembly.Module(bytes as BufferSource);
    return { code: { ...rest, scalarReason, excess: undefined, wasm, ...(hasPool ? { pool } : {}), twin: twinOf(bytes.length) }, hasRival };
  } catch {
    return undefined;
  }
}

/** The lengths of the parts, a JSON first, as 32-bit integers behind their count; then the parts. */
function packed(head: unknown, others: readonly Uint8Array[]): Uint8Array {
  const parts = [new TextEncoder().encode(JSON.stringify(head)), ...others];
  const bytes = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 4 + 4 * parts.length));
  const view = new DataView(bytes.buffer);
  view.setUint32(0, parts.length, true);
  let at = 4 + 4 * parts.length;
  for (const [i, part] of parts.entries()) {
    view.setUint32(4 + 4 * i, part.length, true);
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

/** The JSON and the parts behind it; undefined for bytes in another form. */
function unpacked(bytes: Uint8Array): [Record<string, unknown>, ...Uint8Array[]] | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const count = bytes.length < 4 ? 0 : view.getUint32(0, true);
  if (count < 1 || count > 3 || 4 + 4 * count > bytes.length) return undefined;
  const parts: Uint8Array[] = [];
  let at = 4 + 4 * count;
  for (let i = 0; i < count; i++) {
    const length = view.getUint32(4 + 4 * i, true);
    parts.push(bytes.slice(at, at + length));
    at += length;
  }
  if (at !== bytes.length) return undefined;
  try {
    return [JSON.parse(new TextDecoder().decode(parts[0]!)), ...parts.slice(1)];
  } catch {
    return undefined;
  }
}
