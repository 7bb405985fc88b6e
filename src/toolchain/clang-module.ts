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

/** The compiler of a loaded module. */
export const clangOf =
  ({ runLLVM, Exit }: ClangModule): Clang =>
  async (args, files) => {
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
