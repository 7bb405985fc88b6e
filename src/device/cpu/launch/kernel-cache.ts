/** The kernels of this process by their bitcode and options: loading a library again costs little, and its kernels are compiled once. */
import type { GivenConstant } from '../../../air/index.ts';
import { areSameBytes } from '../../../base/bytes.ts';
import type { EngineOptions } from '../../device.ts';

/** The options that the code of a kernel depends on. */
export interface KernelChoice extends EngineOptions {
  readonly isShared?: boolean;
  readonly constants?: readonly GivenConstant[];
}

/** Returns the kernel of a function of a library; makes it if it is not cached, and does not cache failures. */
export type KernelCache<T> = (bitcode: Uint8Array, name: string, choice: KernelChoice, make: () => T | undefined) => T | undefined;

const maxKernels = 64;
const maxBytes = 2 ** 22;

/** An empty cache, which keeps the most recently used kernels. */
export function newKernelCache<T>(): KernelCache<T> {
  let entries: { readonly key: string; readonly bitcode: Uint8Array; readonly kernel: T }[] = [];
  return (bitcode, name, choice, make) => {
    const key = `${name}\n${textOfChoice(choice)}`;
    const known = entries.find((entry) => entry.key === key && areSameBytes(entry.bitcode, bitcode));
    const kernel = known?.kernel ?? make();
    if (!kernel) return undefined;
    entries = [...entries.filter((entry) => entry !== known), known ?? { key, bitcode: bitcode.slice(), kernel }];
    let bytes = entries.reduce((sum, entry) => sum + entry.bitcode.length, 0);
    while (entries.length > maxKernels || (bytes > maxBytes && entries.length > 1)) bytes -= entries.shift()!.bitcode.length;
    return kernel;
  };
}

/** All options but those that do not change code, so that a new option is never missing. */
export function textOfChoice({ constants = [], ...choice }: KernelChoice): string {
  const others = Object.entries({ ...choice, threads: undefined, kernels: undefined, codes: undefined, native: undefined }).filter(
    ([, value]) => value !== undefined,
  );
  return [...others.sort(([a], [b]) => (a < b ? -1 : 1)).map(String), ...constants.map(textOf)].join('\n');
}

function textOf({ constant, value }: GivenConstant): string {
  const each = [value].flat().map((part) => `${typeof part} ${Object.is(part, -0) ? '-0' : part}`);
  return `${typeof constant} ${constant} = ${each.join()}`;
}
