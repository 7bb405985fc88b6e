/**
 * What clang's host code calls before `main`: the device code of each file, its kernels and its variables. A fat binary is the PTX of the file,
 * as text with a zero byte behind it. Source: clang, lib/CodeGen/CGCUDANV.cpp.
 */

import type { DeviceModule } from '../../device/index.ts';
import { allocate } from './device-memory.ts';
import { plainRow, type Row } from './row.ts';
import { type CodeImage, CudaFailure, type CudaState, fail } from './state.ts';

/** Bytes before the pointer to the code in the wrapper that clang makes: a magic number and a version. */
const wrapperHead = 8n;
/** Where the version is, and behind the pointer to the code, with version 2, that to a list. Source: `__fatBinC_Wrapper_t` of nvcc. */
const [versionAt, partsAt, linkedVersion] = [4n, 16n, 2];
/** The most files that are linked. */
const maxParts = 65_536;

/** The fat binaries of the files that code was linked of: pointers up to a null. */
function partsOf({ memory }: CudaState, wrapper: bigint): bigint[] {
  const list = memory.u32(wrapper + versionAt) === linkedVersion ? memory.u64(wrapper + partsAt) : undefined;
  const found: bigint[] = [];
  for (let at = list || undefined; at !== undefined && found.length < maxParts; at += 8n) {
    const part = memory.u64(at);
    if (!part) break;
    found.push(part);
  }
  return found;
}

/** Variables of PTX that the host sees as well. Source: PTX ISA, `.attribute`. */
const managedVariable = /\.attribute\(\.managed\)[^;={]*\s([\w$%]+)\s*(?:\[|=|;)/g;

/**
 * Gives managed variables to the host: what clang has for them there is memory of the host, whose contents count between launches, from the
 * initial ones on.
 */
function shareManaged(state: CudaState, handle: bigint): undefined {
  const image = state.images.get(handle);
  const names = new Set([...(image?.text.matchAll(managedVariable) ?? [])].map(([, name]) => name));
  for (const [pointer, variable] of names.size > 0 ? state.variables : []) {
    if (variable.image !== image || !names.has(variable.name)) continue;
    const module = loaded(state, variable.image);
    if (!module) continue;
    const symbol = module.symbols.find(({ name }) => name === variable.name);
    const host = { pointer, kind: 'managed' } as const;
    if (!symbol) allocate(state, variable.size, { host, isVariable: true });
    else if (symbol.buffer)
      state.allocations.add({ address: symbol.buffer.deviceAddress(), size: symbol.size, buffer: symbol.buffer, host, isVariable: true });
    else continue;
    state.memory.put(pointer, symbol ? symbol.read() : variable.unused);
  }
}

/** The loaded code; undefined if it cannot be, which is the error of the first call that needs it. */
function loaded(state: CudaState, image: CodeImage): DeviceModule | undefined {
  try {
    return state.moduleOf(image);
  } catch (error) {
    if (error instanceof CudaFailure) return undefined;
    throw error;
  }
}

/** The function that registers a file whose device code is linked; each has one of its own, with a name that starts so. */
export const linkedBinary = '__cudaRegisterLinkedBinary';

export const registration: Readonly<Record<string, Row>> = {
  __cudaRegisterFatBinary: plainRow(['pointer'], 'pointer', (state, wrapper) => {
    const code = state.memory.u64(wrapper + wrapperHead);
    const { readImage = (memory, pointer) => memory.cString(pointer) } = state.options;
    const text = code === undefined ? undefined : readImage(state.memory, code, partsOf(state, wrapper));
    if (text === undefined) fail('cudaErrorInvalidKernelImage');
    const handle = state.newHandle();
    state.images.set(handle, { text: text!, module: undefined });
    return handle;
  }),
  [linkedBinary]: plainRow(['pointer', 'pointer', 'pointer', 'pointer'], 'void', (state, register, wrapper) => {
    const code = state.memory.u64(wrapper + wrapperHead);
    const { readImage = (memory, pointer) => memory.cString(pointer) } = state.options;
    const text = (code === undefined ? undefined : readImage(state.memory, code)) ?? fail('cudaErrorInvalidKernelImage');
    // All files of a program have the code that was linked of them.
    const known = [...state.images.values()].find((image) => image.text === text);
    const handle = state.newHandle();
    state.images.set(handle, known ?? { text, module: undefined });
    const call = state.exports.function(register) ?? fail('cudaErrorInvalidKernelImage');
    call(handle);
    shareManaged(state, handle);
  }),
  __cudaRegisterFatBinaryEnd: plainRow(['pointer'], 'void', shareManaged),
  __cudaUnregisterFatBinary: plainRow(['pointer'], 'void', (state, handle) => {
    state.images.get(handle)?.module?.close();
    state.images.delete(handle);
  }),
  __cudaRegisterFunction: plainRow(['pointer', 'pointer', 'pointer', 'pointer'], 'uint', (state, handle, stub, _name, deviceName) => {
    const image = state.images.get(handle);
    const name = state.memory.cString(deviceName);
    if (image && name !== undefined) state.kernels.set(stub, { name, image });
    return 0;
  }),
  __cudaRegisterVar: plainRow(
    ['pointer', 'pointer', 'pointer', 'pointer', 'int', 'size'],
    'void',
    (state, handle, host, _address, deviceName, _external, size) => {
      const image = state.images.get(handle);
      const name = state.memory.cString(deviceName);
      if (image && name !== undefined) state.addVariable(host, { name, image }, size);
    },
  ),
};
