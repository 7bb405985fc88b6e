/** A kernel's module or its native code linked with the memory, which later launches use again. */
import { hostImports, paramGlobal, type WordGlobal, wordGlobals } from '../../../engine/codegen/host.ts';
import type { Imports } from '../../../ffi/native/calls.ts';
import { instantiate } from '../native/instantiate.ts';
import { isNative, type KernelCode } from '../native/module.ts';

/** Runs `count` consecutive blocks of a kernel. */
export type RunBlocks = (x: number, y: number, z: number, count: number) => void;

/** The globals of an instance that a launch sets. */
export interface Globals {
  readonly words: Partial<Record<WordGlobal, number>>;
  /** The address of each parameter. */
  readonly paramAddresses: readonly bigint[];
}

/** The functions that run a block in parts. */
export interface BlockParts {
  begin(): void;
  /** Gives one of `turns`. */
  turn(): number;
}

export interface KernelInstance {
  readonly run: RunBlocks;
  /** Of a kernel whose blocks may wait for each other: what precedes the first turn of a block, and a turn. */
  readonly parts: BlockParts | undefined;
  /** Called by the kernel every few milliseconds. */
  onTick: () => void;
  isBusy: boolean;
  readonly memory: WebAssembly.Memory;
  global(name: string): WebAssembly.Global;
  set(globals: Globals): void;
  word(name: WordGlobal): number;
}

/** Links code; instrumented modules have more imports. */
export function newInstance(
  code: KernelCode,
  memory: WebAssembly.Memory,
  more: Readonly<Record<string, (...args: never[]) => unknown>> = {},
): KernelInstance {
  const imports = hostImports(memory, () => instance.onTick());
  Object.assign(imports.env!, more);
  const exports = isNative(code) ? instantiate(code, memory, functionsOf(imports)) : new WebAssembly.Instance(code, imports).exports;
  const global = (name: string): WebAssembly.Global => exports[name] as WebAssembly.Global;
  const words = wordGlobals.map((name) => ({ name, cell: global(name) }));
  const params: WebAssembly.Global[] = [];
  for (let i = 0; paramGlobal(i) in exports; i++) params.push(global(paramGlobal(i)));
  const instance: KernelInstance = {
    run: exports.run as RunBlocks,
    parts: 'turn' in exports ? (exports as unknown as BlockParts) : undefined,
    onTick: () => {},
    isBusy: false,
    memory,
    global,
    set(given) {
      for (const { name, cell } of words) {
        const value = given.words[name];
        if (value !== undefined) cell.value = value;
      }
      given.paramAddresses.forEach((address, i) => {
        params[i]!.value = address;
      });
    },
    word: (name) => global(name).value as number,
  };
  return instance;
}

const functionsOf = ({ env }: WebAssembly.Imports): Imports =>
  Object.fromEntries(Object.entries(env!).filter(([, value]) => typeof value === 'function')) as Imports;

/** The block and the thread that an instance executes. */
export const currentPlace = ({ word }: KernelInstance): { block: [number, number, number]; thread: number } => ({
  block: [word('ctaid.x'), word('ctaid.y'), word('ctaid.z')],
  thread: word('thread'),
});
