/** A metallib as text in the Metal Shading Language, for drivers that do not take the library. */
import { legalize, raiseModule, targetOfModule } from '../../air/index.ts';
import type { Diagnostics } from '../../base/diagnostic.ts';
import { readModule } from '../../bitcode/index.ts';
import { type Kernel, runPasses, standardPasses } from '../../ir/index.ts';
import { readMetallib } from '../../metallib/index.ts';
import { type MslText, mslFile, mslKernel } from '../../text/index.ts';

export interface Source {
  readonly text: string;
  /** Of the language. */
  readonly version: readonly [number, number];
  /** The name of each kernel in the text: the language reserves some. */
  readonly names: ReadonlyMap<string, string>;
}

/** A kernel with its text. */
export interface KernelSource {
  readonly kernel: Kernel;
  readonly text: MslText;
}

/** The kernels with these names, or all of a metallib, as text; what has none is reported. */
export function kernelTexts(metallib: Uint8Array, names: ReadonlySet<string> | undefined, diagnostics: Diagnostics): KernelSource[] {
  const texts: KernelSource[] = [];
  for (const { name, type, bitcode } of readMetallib(metallib, diagnostics)?.functions ?? []) {
    if (type !== 'kernel' || names?.has(name) === false) continue;
    const module = readModule(bitcode, diagnostics);
    const target = module && targetOfModule(module);
    const kernel = target && raiseModule(module, diagnostics).find(({ reflection }) => reflection.name === name)?.kernel;
    if (!kernel) continue;
    runPasses(kernel, standardPasses);
    legalize(kernel, target, diagnostics, { isInstrumented: false });
    const text = mslKernel(kernel, diagnostics, { target: target.name });
    texts.push({ kernel, text });
  }
  return texts;
}

/** The text of kernels, which have their slots; undefined after reporting what has no text. */
export function sourceOf(metallib: Uint8Array, names: ReadonlySet<string>, diagnostics: Diagnostics): Source | undefined {
  const found = kernelTexts(metallib, names, diagnostics);
  const texts = found.map(({ text }) => text);
  const own = new Map(found.map(({ kernel, text }) => [kernel.name, text.name]));
  const [first] = texts;
  return first && !diagnostics.hasErrors ? { text: mslFile(texts), version: first.version, names: own } : undefined;
}
