/** The form of stored entries: a JSON and arrays of bytes. And what code has besides its bytes, which is the JSON. */
import type { KernelParam, ModuleMemory, ModuleSymbol } from '../../../ir/index.ts';
import type { CompiledKernel, LoadedKernel } from './loaded-kernel.ts';

/** What is stored of a kernel besides bytes: those of its constants, and those with which variables of its module start. */
export interface KernelHead extends Pick<LoadedKernel, 'reflection'> {
  readonly params: readonly (Omit<KernelParam, 'memory'> & { readonly memory?: MemoryHead })[];
}
type MemoryHead = Omit<ModuleMemory, 'symbols'> & {
  readonly symbols: readonly (Omit<ModuleSymbol, 'init'> & { readonly hasInit: boolean })[];
};

/** The head of a kernel, and the first bytes of each variable that has some. */
export function headOf({ reflection, params }: Pick<LoadedKernel, 'reflection' | 'params'>): {
  readonly head: KernelHead;
  readonly inits: readonly Uint8Array[];
} {
  const inits = params.flatMap(({ memory }) => (memory?.symbols ?? []).flatMap(({ init }) => init ?? []));
  const withoutBytes = ({ init, ...symbol }: ModuleSymbol) => ({ ...symbol, hasInit: init !== undefined });
  const heads = params.map(({ memory, ...param }) =>
    memory ? { ...param, memory: { ...memory, symbols: memory.symbols.map(withoutBytes) } } : param,
  );
  return { head: { reflection, params: heads }, inits };
}

/** The parameters of a head, with the first bytes of variables. */
export function paramsOf({ params }: KernelHead, inits: readonly Uint8Array[]): LoadedKernel['params'] {
  let at = 0;
  const withBytes = ({ hasInit, ...symbol }: MemoryHead['symbols'][number]): ModuleSymbol => ({
    ...symbol,
    init: hasInit ? inits[at++] : undefined,
  });
  return params.map(({ memory, ...param }) =>
    memory ? { ...param, memory: { ...memory, symbols: memory.symbols.map(withBytes) } } : param,
  );
}

/** What a launch needs to know of code. */
export type CodeFields = Pick<CompiledKernel, 'windows' | 'recordBytes' | 'stagingBytes' | 'lanes' | 'scalarReason' | 'parts'> & {
  readonly hasPool: boolean;
};

/** The fields of code, and its pool. */
export function fieldsOf({ windows, recordBytes, stagingBytes, lanes, scalarReason, parts, pool }: CompiledKernel): {
  readonly fields: CodeFields;
  readonly pool: Uint8Array;
} {
  const some = { windows, recordBytes, ...(stagingBytes === undefined ? {} : { stagingBytes }), lanes, scalarReason, parts };
  return { fields: { ...some, hasPool: pool !== undefined }, pool: pool ?? new Uint8Array(0) };
}

/** Code of its fields, its pool and the rest. */
export function codeOf(
  { hasPool, scalarReason, windows, recordBytes, stagingBytes, lanes, parts }: CodeFields,
  pool: Uint8Array,
  rest: Pick<CompiledKernel, 'wasm' | 'twin' | 'stored'>,
): CompiledKernel {
  const some = { windows, recordBytes, ...(stagingBytes === undefined ? {} : { stagingBytes }), lanes, scalarReason, parts };
  return { ...some, excess: undefined, ...(hasPool ? { pool } : {}), ...rest };
}

/** The lengths of the parts, a JSON first, as 32-bit integers behind their count; then the parts. */
export function packed(head: unknown, others: readonly Uint8Array[]): Uint8Array {
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
export function unpacked(bytes: Uint8Array): [Record<string, unknown>, ...Uint8Array[]] | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const count = bytes.length < 4 ? 0 : view.getUint32(0, true);
  if (count < 1 || 4 + 4 * count > bytes.length) return undefined;
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
