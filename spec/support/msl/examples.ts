/** Examples as programs of the stand-in, with the arguments of their recorded launch. */
import { Diagnostics } from '../../../src/base/diagnostic.ts';
import { SourceFile } from '../../../src/base/source.ts';
import { toLegalIr } from '../../../src/compile/index.ts';
import { type KernelSource, kernelTexts } from '../../../src/device/metal/source.ts';
import type { Kernel } from '../../../src/ir/index.ts';
import { encodeValue, initialContents, readNpy } from '../../../src/runtime/index.ts';
import { type MslArgument, type MslText, mslFile, mslKernel } from '../../../src/text/index.ts';
import { assertQuiet, compileExample, diskIo, exampleText, poisoned, recordedLaunch } from '../examples.ts';
import { buildStandIn } from './run.ts';

export interface PrintedMsl {
  readonly text: string;
  readonly kernel: MslText;
  readonly ir: Kernel;
}

/** The first kernel of PTX in the Metal Shading Language; messages where that fails. */
export function mslOf(name: string, ptx: string): PrintedMsl | string {
  const source = new SourceFile(`${name}.ptx`, ptx);
  const diagnostics = new Diagnostics(source);
  const module = toLegalIr(source, { target: 'macos15' }, diagnostics);
  const kernels = module?.kernels.map((kernel) => mslKernel(kernel, diagnostics, { source, target: 'macos15' }));
  if (!module || !kernels || diagnostics.hasErrors) return diagnostics.list.map(({ code, message }) => `${code} ${message}`).join('; ');
  return { text: mslFile(kernels), kernel: kernels[0]!, ir: module.kernels[0]! };
}

/** An example, which must be printed. */
export function mslOfExample(name: string): PrintedMsl {
  const made = mslOf(name, exampleText(name));
  if (typeof made === 'string') throw new Error(made);
  return made;
}

/** The arguments that a host binds. */
export const boundArguments = ({ kernel }: PrintedMsl): Extract<MslArgument, { param: number }>[] =>
  kernel.arguments.flatMap((argument) => ('param' in argument ? [argument] : []));

/** An example as the Metal device prints it: from its metallib. */
export function mslOfLibrary(name: string): PrintedMsl {
  const diagnostics = new Diagnostics();
  const found = kernelTexts(compileExample(name).metallib, undefined, diagnostics);
  const [{ kernel, text }] = found as [KernelSource];
  assertQuiet(diagnostics);
  return { text: mslFile([text]), kernel: text, ir: kernel };
}

/** The names of outputs that differ from the recording. */
export function differences(name: string, printed = mslOfExample(name)): string[] {
  const built = buildStandIn(printed.text, printed.kernel);
  if (typeof built === 'string') throw new Error(built);
  // An output that is not written keeps the number.
  const plan = poisoned(recordedLaunch(name), 93);
  const { params } = compileExample(name).reflection.kernels[0]!;
  const given = plan.args!;
  const valueBytes = (slot: number, size: number): Uint8Array => {
    const bytes = new Uint8Array(size);
    params.forEach((param, i) => {
      const argument = given[i]!;
      if (param.slot !== slot || argument.kind === 'buffer') return;
      if (argument.kind === 'scalar') bytes.set(encodeValue(argument.element, argument.value), param.offset ?? 0);
      if (argument.kind === 'bytes') bytes.set(diskIo.readFile(argument.path) as Uint8Array, param.offset ?? 0);
    });
    return bytes;
  };
  const bound = boundArguments(printed);
  const bytes = bound.map(({ kind, slot, param }) => {
    const argument = given[params.findIndex((each) => each.slot === slot)];
    if (kind !== 'buffer') return valueBytes(slot, printed.ir.params[param]!.size);
    return argument?.kind === 'buffer' ? initialContents(argument.element, argument.shape, argument.init) : new Uint8Array(16);
  });
  try {
    const after = built.run({ grid: plan.grid!, block: plan.block!, dynamicSharedBytes: plan.sharedBytes ?? 0, bytes });
    return bound.flatMap(({ slot }, i) => {
      const argument = given[params.findIndex((each) => each.slot === slot)];
      if (argument?.kind !== 'buffer' || !argument.expect) return [];
      const recorded = readNpy(diskIo.readFile(argument.expect.path) as Uint8Array);
      return typeof recorded !== 'string' && Buffer.compare(recorded.data, after[i]!) === 0 ? [] : [argument.name ?? `argument ${i}`];
    });
  } finally {
    built.remove();
  }
}
