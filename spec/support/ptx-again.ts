/** Kernels printed as PTX again: from PTX, and from metallibs. */

import { raiseModule } from '../../src/air/index.ts';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import { readModule } from '../../src/bitcode/index.ts';
import { compile, toPtxIr } from '../../src/compile/index.ts';
import { runPasses, standardPasses } from '../../src/ir/index.ts';
import { readMetallib } from '../../src/metallib/index.ts';
import { ptxFile } from '../../src/text/index.ts';
import { messages } from './examples.ts';

/** A text, or why there is none. */
export type Again = { readonly ptx: string } | { readonly refused: readonly string[] };

/** PTX through the IR. */
export function ptxAgain(name: string, text: string, architecture = 'sm_80'): Again {
  const source = new SourceFile(`${name}.ptx`, text);
  const diagnostics = new Diagnostics(source);
  const module = toPtxIr(source, Number(architecture.slice(3)), { verifiesPasses: true }, diagnostics);
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
