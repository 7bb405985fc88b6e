/** Runs clang as WebAssembly: arguments and files in, files and messages out. Source: the README of the package. */
import { pathToFileURL } from 'node:url';
import type { ToolchainPackage } from './locate.ts';
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
interface Package {
  runLLVM(args: readonly string[], files: Tree, options: Record<string, unknown>): Promise<Tree>;
  readonly Exit: new () => Error & { readonly code: number; readonly files: Tree };
}

/** Loads the package's module. */
export async function loadClang({ entry }: ToolchainPackage): Promise<Clang> {
  const { runLLVM, Exit } = (await import(pathToFileURL(entry).href)) as Package;
  return async (args, files) => {
    let messages = '';
    const decoder = new TextDecoder();
    const write = (bytes: Uint8Array | null): void => {
      if (bytes) messages += decoder.decode(bytes, { stream: true });
    };
    const streams = { stdout: write, stderr: write, decodeASCII: false, fetchProgress: () => {} };
    // Neither reading the package nor compiling its modules keeps Bun's event loop alive.
    const alive = setInterval(() => {}, 1000);
    try {
      return { code: 0, files: await runLLVM(args, files, streams), messages };
    } catch (error) {
      if (error instanceof Exit) return { code: error.code, files: error.files ?? {}, messages };
      // The compiler stops itself with a trap after it said why.
      if (error instanceof WebAssembly.RuntimeError)
        return { code: 1, files: {}, messages: `${messages}clang stopped: ${error.message}\n` };
      throw error;
    } finally {
      clearInterval(alive);
    }
  };
}
