/** Several modules of PTX as one. */
import { Diagnostics } from '../../base/diagnostic.ts';
import { SourceFile } from '../../base/source.ts';
import { linkModules, type Module, parse } from '../../ptx/index.ts';

/** The linked module; undefined after reporting errors of syntax and of the link. */
export function linkSources(sources: readonly SourceFile[], path: string, diagnostics: Diagnostics): SourceFile | undefined {
  const own = sources.map((source) => new Diagnostics(source));
  const modules: Module[] = sources.map((source, i) => parse(source, own[i]!));
  const text = own.some(({ hasErrors }) => hasErrors) ? undefined : linkModules(modules, (module) => own[module]!);
  for (const { list } of own) diagnostics.addAll(list);
  return text === undefined ? undefined : new SourceFile(path, text);
}
