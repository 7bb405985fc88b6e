/** `cumetal build --emit host` and `host:objc`: code of a host that launches the kernels with Metal. Loaded on demand. */
import { describeModule } from '../air/index.ts';
import type { Diagnostics } from '../base/diagnostic.ts';
import type { SourceFile } from '../base/source.ts';
import { readModule } from '../bitcode/index.ts';
import { type CompileOptions, compile } from '../compile/index.ts';
import type { Kernel } from '../ir/index.ts';
import { readMetallib } from '../metallib/index.ts';
import { type HostKernel, hostFile } from '../text/index.ts';

type Host = 'host' | 'host:objc';

/** The code for the kernels of PTX; undefined after reporting errors. */
export function hostOf(source: SourceFile, what: Host, options: CompileOptions, diagnostics: Diagnostics): string | undefined {
  const compiled = compile(source, options, diagnostics);
  return compiled && hostOfMetallib(compiled.metallib, what, diagnostics);
}

/** The code for the kernels of a metallib; undefined after reporting errors. */
export function hostOfMetallib(metallib: Uint8Array, what: Host, diagnostics: Diagnostics): string | undefined {
  const functions = readMetallib(metallib, diagnostics)?.functions ?? [];
  const kernels = functions.flatMap(({ type, bitcode }): HostKernel[] => {
    const module = type === 'kernel' ? readModule(bitcode, diagnostics) : undefined;
    const described = module ? describeModule(module, diagnostics) : [];
    return described.map(({ kernel, reflection }) => ({ reflection, variables: variablesOf(kernel, diagnostics) }));
  });
  for (const { reflection } of kernels) {
    if (!reflection.services && reflection.maxSharedBytes === undefined) continue;
    const isForCpu = reflection.maxSharedBytes !== undefined;
    const why = isForCpu ? 'the kernel is compiled for the CPU device' : 'its launch supplies a stack, a heap or launches by kernels';
    diagnostics.report('CM2090', { what: `a launch of \`${reflection.name}\``, target: 'Metal', why });
  }
  return diagnostics.hasErrors ? undefined : hostFile(kernels, what === 'host' ? 'swift' : 'objc');
}

/** The initial bytes of a module's variables, where they are not all zeros. Addresses in them are known to a launch alone. */
function variablesOf({ name, params }: Kernel, diagnostics: Diagnostics): Uint8Array | undefined {
  const memory = params.find((param) => param.memory)?.memory;
  if (!memory) return undefined;
  const bytes = new Uint8Array(memory.size);
  for (const { init, offset, addresses } of memory.symbols) {
    if (init) bytes.set(init, offset);
    const why = 'its initial value has addresses of the device';
    if (addresses) diagnostics.report('CM2090', { what: `a variable of the module of \`${name}\``, target: 'generated code', why });
  }
  return bytes.some((byte) => byte !== 0) ? bytes : undefined;
}
