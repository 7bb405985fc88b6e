/** Reports calls that are refused, once at the call and with the name of the function. `calls.ts` checks the calls. */
import type { Diagnostics } from '../../base/diagnostic.ts';
import type { Span } from '../../base/source.ts';

const noWait = [
  'it waits for kernels that a kernel launched, which CUDA 12 has no more',
  'launch what follows in the tail stream (`cudaStreamTailLaunch`), or from the host',
] as const;

/** CUDA's system functions that are not supported: the reason and an alternative. */
const systemCalls: ReadonlyMap<string, readonly [why: string, instead: string]> = new Map<string, readonly [why: string, instead: string]>([
  [
    'vprintf',
    ['its declaration differs from CUDA’s', 'declare it as `(.param .b32 r) vprintf (.param .b64 format, .param .b64 arguments)`'],
  ],
  ...['cudaDeviceSynchronize', '__cudaCDP2DeviceSynchronize'].map((name) => [name, noWait] as const),
]);

/** Reports CM2040 for a call through a register without any possible callee in the module. */
export function refusePointerCall(name: string, span: Span, diagnostics: Diagnostics): void {
  const why = 'the module does not take the address of any function with these parameters and results';
  const help =
    'link the files that define the functions as well: `cumetal link a.ptx b.ptx -o all.ptx`, or several files for `build` and `run`';
  diagnostics.report('CM2040', { what: `a call through the pointer \`${name}\``, why }, { span, help });
}

/** Reports CM2040 for a call of a function without a body in the module, with the reason for known CUDA functions. */
export function refuseMissingBody(name: string, span: Span, diagnostics: Diagnostics): void {
  const why = 'its body is not in this module';
  const help = 'link the file that defines it as well: `cumetal link a.ptx b.ptx -o all.ptx`, or several files for `build` and `run`';
  const [systemCall, instead] = systemCalls.get(name) ?? [why, help];
  diagnostics.report('CM2040', { what: `a call of \`${name}\``, why: systemCall }, { span, help: instead });
}

/** Reports CM2040 for a call of a variadic function. */
export function refuseVariadic(name: string, span: Span, diagnostics: Diagnostics): void {
  const help = 'give the function parameters of fixed sizes';
  diagnostics.report('CM2040', { what: `a call of \`${name}\``, why: 'it is variadic' }, { span, help });
}
