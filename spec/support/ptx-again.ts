/** Kernels printed as PTX again: from PTX, and from metallibs. */

import { raiseModule } from '../../src/air/index.ts';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import { readModule } from '../../src/bitcode/index.ts';
import { compile, toPtxIr } from '../../src/compile/index.ts';
import { bitsOf, type Kernel, runPasses, standardPasses } from '../../src/ir/index.ts';
import { interpret } from '../../src/ir/interpret.ts';
import { readMetallib } from '../../src/metallib/index.ts';
import { splitMix64 } from '../../src/runtime/rand.ts';
import { ptxFile } from '../../src/text/index.ts';
import { messages } from './examples.ts';
import { launchMetallib } from './launch.ts';
import { inputSize, outputSize, randomKernel } from './random-kernel.ts';
import { areSame } from './same-float.ts';

/** A text, or why there is none. */
export type Again = { readonly ptx: string } | { readonly refused: readonly string[] };

/** PTX through the IR. */
export function ptxAgain(name: string, text: string, architecture = 'sm_80'): Again {
  const source = new SourceFile(`${name}.ptx`, text);
  const diagnostics = new Diagnostics(source);
  const module = toPtxIr(source, architecture, { verifiesPasses: true }, diagnostics);
  const ptx = module && ptxFile(module.ir.kernels, diagnostics, { architecture, source, ...module });
  return ptx === undefined || diagnostics.hasErrors ? { refused: messages(diagnostics) } : { ptx };
}

/** PTX through a metallib of a target. */
export function ptxOfMetallib(name: string, text: string, target: 'cpu' | 'macos15', architecture = 'sm_80'): Again {
  const source = new SourceFile(`${name}.ptx`, text);
  const diagnostics = new Diagnostics(source);
  const compiled = compile(source, { target }, diagnostics);
  if (!compiled) return { refused: messages(diagnostics) };
  const said = new Diagnostics();
  const kernels = readMetallib(compiled.metallib, said)!.functions.flatMap(({ bitcode }) =>
    raiseModule(readModule(bitcode, said)!, said).map(({ kernel }) => {
      runPasses(kernel, standardPasses);
      return kernel;
    }),
  );
  const ptx = ptxFile(kernels, said, { architecture });
  return said.hasErrors ? { refused: messages(said) } : { ptx };
}

/** A kernel of the IR as PTX. */
export function ptxOfKernel(kernel: Kernel, architecture: string): Again {
  const diagnostics = new Diagnostics();
  const ptx = ptxFile([kernel], diagnostics, { architecture });
  return diagnostics.hasErrors ? { refused: messages(diagnostics) } : { ptx };
}

/** A random kernel, and what its output is by the interpreter of the IR. */
export interface RandomIr {
  readonly kernel: Kernel;
  readonly expected: Uint8Array;
}

const poison = 0xa5;
const randomInput = (): Uint8Array => Uint8Array.from({ length: inputSize }, (_, at) => (at * 37) & 255);

export function randomIr(number: number): RandomIr {
  const draw = splitMix64(BigInt(number));
  const choices = Array.from({ length: 400 }, () => Number(draw() % 65536n));
  const kernel = randomKernel(choices, 3 + (number % 25));
  const global = new Uint8Array(inputSize + outputSize + 8).fill(poison);
  global.set(randomInput());
  interpret(kernel, { memory: { global }, params: [0n, BigInt(inputSize)], variables: {}, sregs: {}, limit: 100_000 });
  return { kernel, expected: global.slice(inputSize, inputSize + outputSize) };
}

/** Where the output of PTX on the CPU device differs from that of the kernel, the bits of NaNs aside; undefined if nowhere. */
export function differenceFrom({ expected }: RandomIr, ptx: string): string | undefined {
  const diagnostics = new Diagnostics(new SourceFile('random.ptx', ptx));
  const compiled = compile(diagnostics.file!, { target: 'cpu' }, diagnostics);
  if (!compiled) return `does not compile: ${messages(diagnostics).join('; ')}`;
  const output = new Uint8Array(outputSize).fill(poison);
  const found = launchMetallib(compiled.metallib, { kernel: 'random', blocks: 1, threads: 1, args: [randomInput(), output] })[1]!;
  // Each store has eight bytes of its own.
  for (let at = 0; at < outputSize; at += 8) {
    const [a, b] = [found, expected].map((bytes) => Buffer.from(bytes.slice(at, at + 8)).readBigUInt64LE()) as [bigint, bigint];
    const isSame = (['f64', 'f32', 'f16', 'bf16'] as const).some((type) => {
      const low = (bits: bigint): bigint => BigInt.asUintN(bitsOf(type), bits);
      return a >> BigInt(bitsOf(type)) === b >> BigInt(bitsOf(type)) && areSame(type, low(a), low(b));
    });
    if (!isSame) return `differs: at byte ${at}, ${a.toString(16)} instead of ${b.toString(16)}`;
  }
  return undefined;
}
