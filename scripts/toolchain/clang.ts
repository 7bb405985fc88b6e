/** clang and its tools as WebAssembly (`@yowasp/clang`), called with files in memory. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';

export { treeOf } from '../../src/toolchain/sysroot.ts';

/** Files by name; a folder is a tree. */
export interface Tree {
  [name: string]: Tree | Uint8Array | string;
}

interface Options {
  stdout?(bytes: Uint8Array | null): void;
  stderr?(bytes: Uint8Array | null): void;
  fetchProgress?(): void;
}

export interface Toolchain {
  /** Runs one command. Its outputs are the files of `files` afterwards; undefined if it failed. Its messages go to `messages`. */
  run(args: readonly string[], files: Tree, messages?: (text: string) => void): Promise<Tree | undefined>;
}

/** Where `@yowasp/clang` is looked for: `CUMETAL_CLANG`, then what is installed here. */
const places = [process.env.CUMETAL_CLANG, join(import.meta.dirname, '../../node_modules/@yowasp/clang')];

/** Opens the toolchain. Throws if it is not installed. */
export async function openToolchain(): Promise<Toolchain> {
  const place = places.find((each) => each !== undefined && existsSync(join(each, 'gen/bundle.js')));
  if (!place) throw new Error('@yowasp/clang is not installed: `npm i @yowasp/clang`, or CUMETAL_CLANG with its folder');
  const { runLLVM } = (await import(join(place, 'gen/bundle.js'))) as {
    runLLVM: (args: string[] | null, files: Tree, options: Options) => Promise<Tree>;
  };
  return {
    async run(args, files, messages = (text) => void process.stderr.write(text)) {
      const decoder = new TextDecoder();
      const say = (bytes: Uint8Array | null): void => void (bytes && messages(decoder.decode(bytes, { stream: true })));
      try {
        return await runLLVM([...args], files, { stdout: say, stderr: say, fetchProgress: () => undefined });
      } catch (error) {
        if (!(error instanceof Error && 'code' in error)) messages(`${args[0]} ended: ${String(error)}\n`);
        return undefined;
      }
    },
  };
}

/** A file of a tree by its path. */
export function fileIn(tree: Tree, path: string): Uint8Array {
  let at: Tree[string] | undefined = tree;
  for (const part of path.split('/')) at = at && typeof at === 'object' && !(at instanceof Uint8Array) ? at[part] : undefined;
  if (!(at instanceof Uint8Array)) throw new Error(`${path} was not written`);
  return at;
}
