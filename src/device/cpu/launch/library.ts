/** Loads a metallib: every kernel is made of its AIR, or taken from the store of code. */
import { Diagnostics } from '../../../base/diagnostic.ts';
import { type LibraryFunction, readMetallib } from '../../../metallib/index.ts';
import type { LoadOptions } from '../../device.ts';
import { shiftMode } from '../shift-support.ts';
import { newKernelCache, textOfChoice } from './kernel-cache.ts';
import type { LoadedKernel } from './loaded-kernel.ts';
import { type CompileChoice, makeKernel, unknownConstants } from './make-kernel.ts';
import { storedKernel } from './stored-code.ts';

export type { CompiledKernel, LoadedKernel } from './loaded-kernel.ts';
export type { CompileChoice } from './make-kernel.ts';

export interface LoadedLibrary {
  readonly kernels: readonly LoadedKernel[];
  /** All kernels of the library that can be compiled, for those that launch others. */
  readonly all: () => readonly LoadedKernel[];
  /** The diagnostics of kernels that cannot be compiled, by name. */
  readonly refused: ReadonlyMap<string, Diagnostics>;
}

const cached = newKernelCache<LoadedKernel>();

/** The kernels of a library; undefined after reporting a malformed library (CM40xx), or why no kernel can be compiled. */
export function loadLibrary(
  bytes: Uint8Array,
  diagnostics: Diagnostics,
  options: CompileChoice & LoadOptions = {},
): LoadedLibrary | undefined {
  const { constants = [], kernels: names, codes } = options;
  const library = readMetallib(bytes, diagnostics);
  if (!library) return undefined;
  const all = library.functions.filter(({ type }) => type === 'kernel');
  const wanted = all.filter(({ name }) => names?.includes(name));
  const loadOne = (fn: LibraryFunction, own: Diagnostics): LoadedKernel | undefined =>
    cached(fn.bitcode, fn.name, options, () => {
      const make = (): LoadedKernel | undefined => makeKernel(fn, options, constants, own);
      return codes
        ? storedKernel(codes, `${fn.name}\n${textOfChoice(options)}\n${shiftMode()}`, fn.bitcode, { fma: options.fma ?? 'exact', make })
        : make();
    });
  const kernels: LoadedKernel[] = [];
  const refused = new Map<string, Diagnostics>();
  for (const fn of wanted.length > 0 ? wanted : all) {
    const own = new Diagnostics();
    const kernel = loadOne(fn, own);
    if (own.list.length > 0) refused.set(fn.name, own);
    if (kernel) kernels.push(kernel);
  }
  let everyKernel: readonly LoadedKernel[] | undefined;
  const every = (): readonly LoadedKernel[] => {
    everyKernel ??= all.flatMap((fn) => kernels.find((each) => each.reflection.name === fn.name) ?? loadOne(fn, new Diagnostics()) ?? []);
    return everyKernel;
  };
  const unknown = constants.length > 0 ? unknownConstants(all, constants) : [];
  for (const { constant } of unknown) diagnostics.report('CM4056', { name: constant });
  if (unknown.length > 0) return undefined;
  if (kernels.length > 0 || refused.size === 0) return { kernels, refused, all: every };
  for (const own of refused.values()) diagnostics.addAll(own.list);
  return undefined;
}
