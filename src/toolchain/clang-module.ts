/** What the module of the compiler's package offers, as one function: arguments and files in, files and messages out. Source: its README. */
import type { Tree } from './tree.ts';

export interface Outcome {
  /** The exit code of the compiler. */
  readonly code: number;
  readonly files: Tree;
  /** What it wrote to its standard streams. */
  readonly messages: string;
}

/** The compiler of a package; its modules are loaded by the first run. */
export type Clang = (args: readonly string[], files: Tree) => Promise<Outcome>;

/** The interface of the package that is used here. */
export interface ClangModule {
  runLLVM(args: readonly string[], files: Tree, options: Record<string, unknown>): Promise<Tree>;
  readonly Exit: new () => Error & { readonly code: number; readonly files: Tree };
}

/** Where files are in the module's memory, below the root, while the front end sees them at the root. */
const storage = 'files';
const overlayName = 'overlay.json';

/**
 * The arguments and the files of a front end whose paths may have `..`, which the module's files do not know: `a/../b.h` would be `a/b.h`. A
 * virtual file system of the front end resolves them, and looks for the results in another folder. Source: LLVM, `VirtualFileSystem.h`,
 * `RedirectingFileSystem`.
 */
function resolvingPaths(args: readonly string[], files: Tree): { readonly args: readonly string[]; readonly files: Tree } {
  if (args[1] !== '-cc1') return { args, files };
  const folders = Object.entries(files).filter(([, entry]) => !(entry instanceof Uint8Array));
  const roots = folders.map(([name]) => ({ type: 'directory-remap', name: `/${name}`, 'external-contents': `/${storage}/${name}` }));
  const overlay = JSON.stringify({ version: 0, 'case-sensitive': true, 'use-external-names': false, roots });
  const others = Object.entries(files).filter(([, entry]) => entry instanceof Uint8Array);
  return {
    args: [...args.slice(0, 2), '-ivfsoverlay', `/${overlayName}`, ...args.slice(2)],
    files: { ...Object.fromEntries(others), [storage]: Object.fromEntries(folders), [overlayName]: new TextEncoder().encode(overlay) },
  };
}

/** The compiler of a loaded module. */
export const clangOf =
  ({ runLLVM, Exit }: ClangModule): Clang =>
  async (words, tree) => {
    const { args, files } = resolvingPaths(words, tree);
    let messages = '';
    const decoder = new TextDecoder();
    const write = (bytes: Uint8Array | null): void => {
      if (bytes) messages += decoder.decode(bytes, { stream: true });
    };
    const streams = { stdout: write, stderr: write, decodeASCII: false, fetchProgress: () => {} };
    try {
      return { code: 0, files: await runLLVM(args, files, streams), messages };
    } catch (error) {
      if (error instanceof Exit) return { code: error.code, files: error.files ?? {}, messages };
      // The compiler stops itself with a trap after it said why.
      if (error instanceof WebAssembly.RuntimeError)
        return { code: 1, files: {}, messages: `${messages}clang stopped: ${error.message}\n` };
      throw error;
    }
  };
