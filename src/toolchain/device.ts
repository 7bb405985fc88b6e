/** The device half of a `.cu` file: clang's front end to bitcode, and this compiler's back end to PTX. */
import type { Diagnostics } from '../base/diagnostic.ts';
import { ptxOfBitcode } from '../nvvm/index.ts';
import { deviceTriple, filesOf, frontEndArguments, hostTriple, type SourceOptions, sourceArguments, withOwnPaths } from './arguments.ts';
import type { Clang } from './clang-module.ts';
import { headers } from './headers.ts';

/** PTX, or nothing where the compiler or the translation refused; the compiler's messages; diagnostics are reported. */
export interface DeviceCode {
  readonly ptx: string | undefined;
  readonly messages: string;
}

const output = 'device.bc';

/**
 * Arguments of the device compiler beside the front end's. The last line chooses contraction and line tables as nvcc does. Arguments of functions
 * may be undefined: threads give a shuffle a variable that only one of them has set, and clang would take it for set in all of them.
 */
const fixedArguments = [
  ...['-triple', deviceTriple, '-aux-triple', hostTriple, '-fcuda-is-device', '-target-cpu', 'sm_80', '-target-feature', '+ptx80'],
  ...['-O2', '-no-enable-noundef-analysis', '-fno-threadsafe-statics', '-emit-llvm-bc', '-fno-builtin-malloc', '-fno-builtin-free'],
  ...['-ffp-contract=fast', '-debug-info-kind=line-tables-only', '-dwarf-version=4'],
];

/** Everything that determines the output beside the sources and the version of the compiler. */
export const deviceKey = (options: SourceOptions): string =>
  JSON.stringify([fixedArguments, frontEndArguments('cuda', options), options.sysroot?.version ?? '', Object.entries(headers)]);

/** Compiles the device half. */
export async function compileDevice(clang: Clang, options: SourceOptions, diagnostics: Diagnostics): Promise<DeviceCode> {
  const args = [
    'clang++',
    '-cc1',
    ...fixedArguments,
    ...frontEndArguments('cuda', options),
    '-o',
    output,
    ...sourceArguments('cuda', options.path),
  ];
  const { code, files: made, messages } = await clang(args, filesOf(options));
  const bitcode = code === 0 ? made[output] : undefined;
  return { ptx: bitcode instanceof Uint8Array ? ptxOfBitcode(bitcode, diagnostics, options) : undefined, messages: withOwnPaths(messages) };
}
