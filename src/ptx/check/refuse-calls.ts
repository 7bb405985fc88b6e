/** Calls that are refused: one message at the call, with the name of the function. Checking of calls is in `calls.ts`. */
import type { Diagnostics } from '../../base/diagnostic.ts';
import type { Span } from '../../base/source.ts';

/** Functions that CUDA brings along: what they do that is not to be had, and what to do instead. */
const systemCalls: ReadonlyMap<string, readonly [why: string, instead: string]> = new Map([
  [
    'vprintf',
    ['it is declared otherwise than CUDA does', 'declare it as `(.param .b32 r) vprintf (.param .b64 format, .param .b64 arguments)`'],
  ],
  ['malloc', ['it takes memory from a heap, which kernels have not here', 'allocate on the host, and pass the pointer to the kernel']],
  ['free', ['it gives memory back to a heap, which kernels have not here', 'allocate on the host, and pass the pointer to the kernel']],
  ['cudaGetParameterBufferV2', ['it launches a kernel from a kernel, which Metal cannot', 'launch the kernel from the host']],
  ['cudaLaunchDeviceV2', ['it launches a kernel from a kernel, which Metal cannot', 'launch the kernel from the host']],
  ['cudaDeviceSynchronize', ['it waits for kernels that a kernel launched, which Metal cannot', 'launch the kernels from the host']],
]);

/** Reports CM2040 for a call through a register that can mean no function of the module. */
export function refusePointerCall(name: string, span: Span, diagnostics: Diagnostics): void {
  const why = 'the module takes the address of no function with these parameters and results';
  const help = 'have the functions and the kernel in one source file, and compile it without `-rdc=true`';
  diagnostics.report('CM2040', { what: `a call through the pointer \`${name}\``, why }, { span, help });
}

/** Reports CM2040 for a call of a function whose body is not in the module; it says what functions that CUDA brings along do. */
export function refuseBodiless(name: string, span: Span, diagnostics: Diagnostics): void {
  const why = 'its body is not in this module, and modules are not linked';
  const help = 'have the function and the kernel in one source file, and compile it without `-rdc=true`';
  const [known, instead] = systemCalls.get(name) ?? [why, help];
  diagnostics.report('CM2040', { what: `a call of \`${name}\``, why: known }, { span, help: instead });
}

/** Reports CM2040 for a call of a function that takes any number of arguments. */
export function refuseOpen(name: string, span: Span, diagnostics: Diagnostics): void {
  const help = 'give the function parameters of fixed sizes';
  diagnostics.report('CM2040', { what: `a call of \`${name}\``, why: 'it takes any number of arguments' }, { span, help });
}
