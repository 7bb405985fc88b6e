/** Kernels that were made ready in this process, by what they were made of: a library that is loaded again costs little, and its kernels nothing. */
import type { GivenConstant } from '../../../air/index.ts';
import { areSameBytes } from '../../../base/bytes.ts';
import type { EngineOptions } from '../../device.ts';

/** What the code of a kernel depends on beside its bitcode. */
export interface KernelChoice extends EngineOptions {
  readonly isShared?: boolean;
  readonly constants?: readonly GivenConstant[];
}

/** Gives what was made of a function of a library; made where it is not there, and not kept where that gives nothing. */
export type KernelCache<T> = (bitcode: Uint8Array, name: string, choice: KernelChoice, make: () => T | undefined) => T | undefined;

const mostKernels = 64;
const mostBytes = 2 ** 22;

/** An empty cache of the kernels that were used last. */
export function newKernelCache<T>(): KernelCache<T> {
  let entries: { readonly key: string; readonly bitcode: Uint8Array; readonly kernel: T }[] = [];
  return (bitcode, name, choice, make) => {
    const key = `${name}\n${textOfChoice(choice)}`;
    const known = entries.find((entry) => entry.key === key && areSameBytes(entry.bitcode, bitcode));
    const kernel = known?.kernel ?? make();
    if (!kernel) return undefined;
    entries = [...entries.filter((entry) => entry !== known), known ?? { key, bitcode: bitcode.slice(), kernel }];
    let bytes = entries.reduce((sum, entry) => sum + entry.bitcode.length, 0);
    while (entries.length > mostKernels || (bytes > mostBytes && entries.length > 1)) bytes -= entries.shift()!.bitcode.length;
    return kernel;
  };
}

/** Every option but those that change no code, so that one that comes later is not forgotten. */
function textOfChoice({ constants = [], ...choice }: KernelChoice): string {
  const others = Object.entries({ ...choice, threads: undefined, kernels: undefined }).filter(([, value]) => value !== undefined);
  return [...others.sort(([a], [b]) => (a < b ? -1 : 1)).map(String), ...constants.map(textOf)].join('\n');
}

function textOf({ constant, value }: GivenConstant): string {
  const each = [value].flat().map((part) => `${typeof part} ${Object.is(part, -0) ? '-0' : part}`);
  return `${typeof constant} ${constant} = ${each.join()}`;
}
