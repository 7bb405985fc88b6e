/**
 * What clang's host code calls before `main`: the device code of each file, its kernels and its variables. A fat binary is the PTX of the file,
 * as text with a zero byte behind it. Source: clang, lib/CodeGen/CGCUDANV.cpp.
 */

import { plainRow, type Row } from './row.ts';
import { fail } from './state.ts';

/** Bytes before the pointer to the code in the wrapper that clang makes: a magic number and a version. */
const wrapperHead = 8n;

export const registration: Readonly<Record<string, Row>> = {
  __cudaRegisterFatBinary: plainRow(['pointer'], 'pointer', (state, wrapper) => {
    const code = state.memory.u64(wrapper + wrapperHead);
    const { readImage = (memory, pointer) => memory.cString(pointer) } = state.options;
    const text = code === undefined ? undefined : readImage(state.memory, code);
    if (text === undefined) fail('cudaErrorInvalidKernelImage');
    const handle = state.newHandle();
    state.images.set(handle, { text: text!, module: undefined });
    return handle;
  }),
  __cudaRegisterFatBinaryEnd: plainRow(['pointer'], 'void', () => undefined),
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
      if (image && name !== undefined) state.variables.set(host, { name, image, size, unused: new Uint8Array(size) });
    },
  ),
};
