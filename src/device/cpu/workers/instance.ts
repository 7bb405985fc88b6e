/** A kernel's module linked with the memory, for launches one after the other. */
import { hostImports, paramGlobal, type WordGlobal } from '../../../engine/codegen/host.ts';
import type { RunBlocks } from './share.ts';

/** What a launch sets in an instance. */
export interface Globals {
  readonly words: Partial<Record<WordGlobal, number>>;
  /** Addresses, by parameter. */
  readonly params: readonly bigint[];
}

export interface KernelInstance {
  readonly run: RunBlocks;
  /** What the kernel calls now and then. */
  onTick: () => void;
  isBusy: boolean;
  global(name: string): WebAssembly.Global;
  set(globals: Globals): void;
  word(name: WordGlobal): number;
}

/** Links a module; with more imports where it was instrumented. */
export function newInstance(
  wasm: WebAssembly.Module,
  memory: WebAssembly.Memory,
  more: Readonly<Record<string, (...args: never[]) => unknown>> = {},
): KernelInstance {
  const imports = hostImports(memory, () => instance.onTick());
  Object.assign(imports.env!, more);
  const { exports } = new WebAssembly.Instance(wasm, imports);
  const global = (name: string): WebAssembly.Global => exports[name] as WebAssembly.Global;
  const instance: KernelInstance = {
    run: exports.run as RunBlocks,
    onTick: () => {},
    isBusy: false,
    global,
    set({ words, params }) {
      for (const [name, value] of Object.entries(words)) global(name).value = value;
      params.forEach((address, i) => {
        global(paramGlobal(i)).value = address;
      });
    },
    word: (name) => global(name).value as number,
  };
  return instance;
}

/** The block and the thread at which an instance is. */
export const placeIn = ({ word }: KernelInstance): { block: [number, number, number]; thread: number } => ({
  block: [word('ctaid.x'), word('ctaid.y'), word('ctaid.z')],
  thread: word('thread'),
});
