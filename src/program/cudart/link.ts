/** Linking of device code while a program runs. Source: CUDA Driver API, "Module Management". */
import { cBytes } from '../memory.ts';
import { inContext } from './driver-row.ts';
import type { Link } from './link-types.ts';
import { must, type Row } from './row.ts';
import { type CudaState, fail } from './state.ts';

/** Kinds of input that are PTX here: `CUjitInputType`. */
const inputs = { ptx: 1, fatbinary: 2 } as const;
/** Options whose values are buffers for texts: `CUjit_option`. */
const logs = [3, 5];

const linkOf = ({ links }: CudaState, handle: bigint): Link => links.get(handle) ?? fail('cudaErrorInvalidResourceHandle');

/** Nothing is said beside diagnostics, which go where those of all code go. */
function clearLogs({ memory }: CudaState, count: number, options: bigint, values: bigint): void {
  for (let i = 0n; i < count; i++) {
    const option = memory.u32(options + 4n * i) ?? fail('cudaErrorInvalidValue');
    const value = memory.u64(values + 8n * i) ?? fail('cudaErrorInvalidValue');
    if (logs.includes(option) && value !== 0n) must(memory.put(value, new Uint8Array(1)));
  }
}

function add(state: CudaState, handle: bigint, type: number, text: string | undefined): void {
  const { texts } = linkOf(state, handle);
  if (type !== inputs.ptx && type !== inputs.fatbinary) fail('cudaErrorNotSupported');
  texts.push(text ?? fail('cudaErrorInvalidKernelImage'));
}

/** PTX as the program has it: as many bytes, or up to a zero byte. */
function textAt({ memory }: CudaState, pointer: bigint, size: number): string {
  const bytes = memory.slice(pointer, size) ?? fail('cudaErrorInvalidValue');
  const end = bytes.indexOf(0);
  return new TextDecoder().decode(end < 0 ? bytes : bytes.slice(0, end));
}

function complete(state: CudaState, handle: bigint, to: bigint, sizeTo: bigint): void {
  const link = linkOf(state, handle);
  const [first, ...rest] = link.texts;
  if (first === undefined) fail('cudaErrorInvalidValue');
  const text = rest.length === 0 ? first! : (state.options.link ?? fail('cudaErrorNotSupported'))(link.texts);
  if (text === undefined) fail('cudaErrorInvalidPtx');
  const bytes = cBytes(text!);
  const pointer = BigInt.asUintN(64, state.exports.malloc(BigInt(bytes.length)));
  if (pointer === 0n) fail('cudaErrorMemoryAllocation');
  must(state.memory.put(pointer, bytes));
  link.result = pointer;
  must(state.memory.putU64(to, pointer));
  must(sizeTo === 0n || state.memory.putU64(sizeTo, bytes.length));
}

export const links: Readonly<Record<string, Row>> = {
  cuLinkCreate: inContext(['uint', 'pointer', 'pointer', 'pointer'], (state, count, options, values, to) => {
    clearLogs(state, count, options, values);
    const handle = state.newHandle();
    must(state.memory.putU64(to, handle));
    state.links.set(handle, { texts: [], result: undefined });
  }),
  cuLinkAddData: inContext(
    ['pointer', 'int', 'pointer', 'size', 'pointer', 'uint', 'pointer', 'pointer'],
    (state, handle, type, data, size) => {
      const { readImage = (memory, pointer) => memory.cString(pointer) } = state.options;
      add(state, handle, type, type === inputs.fatbinary ? readImage(state.memory, data) : textAt(state, data, size));
    },
  ),
  cuLinkAddFile: inContext(['pointer', 'int', 'pointer', 'uint', 'pointer', 'pointer'], (state, handle, type, pathAt) => {
    const path = state.memory.cString(pathAt) ?? fail('cudaErrorInvalidValue');
    const bytes = state.options.readFile?.(path) ?? fail('cudaErrorFileNotFound');
    add(state, handle, type, new TextDecoder().decode(bytes).replace(/\0.*$/s, ''));
  }),
  cuLinkComplete: inContext(['pointer', 'pointer', 'pointer'], complete),
  cuLinkDestroy: inContext(['pointer'], (state, handle) => {
    const { result } = linkOf(state, handle);
    if (result !== undefined) state.exports.free(result);
    state.links.delete(handle);
  }),
};
