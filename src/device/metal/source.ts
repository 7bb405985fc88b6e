/** A metallib as text in the Metal Shading Language, for drivers that do not take the library. */
import { legalize, raiseModule, targetOfModule } from '../../air/index.ts';
import type { Diagnostics } from '../../base/diagnostic.ts';
import { readModule } from '../../bitcode/index.ts';
import { runPasses, standardPasses } from '../../ir/index.ts';
import { readMetallib } from '../../metallib/index.ts';
import { type MslText, mslFile, mslKernel } from '../../text/index.ts';

export interface Source {
  readonly text: string;
  /** Of the language. */
  readonly version: readonly [number, number];
}

/** The text of the kernels with these names, which have their names and slots; undefined after reporting what has no text. */
export function sourceOf(metallib: Uint8Array, names: ReadonlySet<string>, diagnostics: Diagnostics): Source | undefined {
  const texts: MslText[] = [];
  for (const { name, type, bitcode } of readMetallib(metallib, diagnostics)?.functions ?? []) {
    if (type !== 'kernel' || !names.has(name)) continue;
    const module = readModule(bitcode, diagnostics);
    const target = module && targetOfModule(module);
    const raised = target && raiseModule(module, diagnostics).find(({ reflection }) => reflection.name === name);
    if (!raised) continue;
    runPasses(raised.kernel, standardPasses);
    legalize(raised.kernel, target, diagnostics, { isInstrumented: false });
    const text = mslKernel(raised.kernel, diagnostics, { target: target.name });
    if (text.name !== name)
      diagnostics.report('CM2090', { what: `the name \`${name}\``, target: 'source', why: 'the language reserves it' });
    texts.push(text);
  }
  const [first] = texts;
  return first && !diagnostics.hasErrors ? { text: mslFile(texts), version: first.version } : undefined;
}
