/** TypeScript's own parser and checker, as one process that is asked for trees and for whether a changed file still has its types. */
import type { SourceFile } from 'typescript/unstable/ast';
import { API } from 'typescript/unstable/async';
import { createVirtualFileSystem } from 'typescript/unstable/fs';

export interface Syntax {
  /** The tree of a file, by its whole path. */
  parse(path: string): Promise<SourceFile>;
  /** What the checker says of a file with another text: nothing where that would compile. */
  complaint(path: string, text: string): Promise<string | undefined>;
  close(): Promise<void>;
}

/** What is declared and not used any more, and code that nothing reaches: a fault of style in a mutant, and no way to see it at run time. */
const harmless: ReadonlySet<number> = new Set([6133, 6138, 6192, 6196, 6198, 6199, 6205, 7027]);

/** Opens the project of a `tsconfig.json`; with files by their paths, in a world that has no others. */
export async function openSyntax(config: string, files?: Readonly<Record<string, string>>): Promise<Syntax> {
  const changed = new Map<string, string>();
  const world = files && createVirtualFileSystem({ ...files });
  const api = new API({ fs: { ...world, readFile: (path) => changed.get(path) ?? world?.readFile?.(path) } });
  const first = await api.updateSnapshot({ openProjects: [config] });
  const { program } = first.getProjects()[0]!;
  return {
    async parse(path) {
      const found = await program.getSourceFile(path);
      if (!found) throw new Error(`${path} is no file of ${config}`);
      return found;
    },
    async complaint(path, text) {
      changed.set(path, text);
      const snapshot = await api.updateSnapshot({ fileChanges: { changed: [path] } });
      const changedProgram = snapshot.getProjects()[0]!.program;
      const found = [...(await changedProgram.getSyntacticDiagnostics(path)), ...(await changedProgram.getSemanticDiagnostics(path))];
      changed.delete(path);
      await api.updateSnapshot({ fileChanges: { changed: [path] } });
      await snapshot.dispose();
      return found.find(({ code }) => !harmless.has(code))?.text;
    },
    close: () => api.close(),
  };
}
