/** Metallibs on devices that print kernels as text: the kernels as IR, and the module over them. */
import { type RaisedKernel, raiseModule } from '../air/index.ts';
import { Diagnostics } from '../base/diagnostic.ts';
import { readModule } from '../bitcode/index.ts';
import { readMetallib } from '../metallib/index.ts';
import { isLaunching } from './children.ts';
import type { DeviceModule, DeviceSymbol, LaunchRequest, LaunchResult, LoadOptions } from './device.ts';
import { reportClosed } from './module-memory.ts';

/** The kernels of a library that a device can run. */
export interface Described<K> {
  readonly kernels: readonly K[];
  /** The diagnostics of kernels that the device cannot run, by name. */
  readonly refused: ReadonlyMap<string, Diagnostics>;
}

/** How a device describes a kernel. `device` is its name behind an article, for messages. */
export interface Describer<K> {
  readonly device: string;
  /** A kernel for the device, or undefined after reporting why there is none. */
  describe(raised: RaisedKernel, diagnostics: Diagnostics): K | undefined;
}

/** The kernels of a library; undefined after reporting what cannot be read, or why no kernel can be run. */
export function describeKernels<K>(
  metallib: Uint8Array,
  { constants = [], kernels: names }: LoadOptions,
  { device, describe }: Describer<K>,
  diagnostics: Diagnostics,
): Described<K> | undefined {
  const library = readMetallib(metallib, diagnostics);
  if (!library) return undefined;
  const all = library.functions.filter(({ type }) => type === 'kernel');
  const wanted = all.filter(({ name }) => names?.includes(name));
  const kernels: K[] = [];
  const refused = new Map<string, Diagnostics>();
  const work = wanted.length > 0 ? [...wanted] : [...all];
  for (const { bitcode, name } of work) {
    const own = new Diagnostics();
    const module = readModule(bitcode, own);
    const raised = module && raiseModule(module, own, constants).find(({ reflection }) => reflection.name === name);
    // It may launch each of the others.
    if (raised && isLaunching(raised)) work.push(...all.filter((each) => !work.includes(each)));
    const isOne = (raised?.reflection.sharedArguments ?? 1) === 1;
    if (raised && !isOne) own.report('CM4053', { kernel: name, why: `several threadgroup arguments on ${device}` });
    const kernel = raised && isOne ? describe(raised, own) : undefined;
    if (own.hasErrors || kernel === undefined) refused.set(name, own);
    else kernels.push(kernel);
  }
  if (kernels.length > 0 || refused.size === 0) return { kernels, refused };
  for (const own of refused.values()) diagnostics.addAll(own.list);
  return undefined;
}

/** What a module does, as far as devices differ. */
export interface ModuleParts<K> {
  readonly described: Described<K>;
  readonly symbols: readonly DeviceSymbol[];
  launch(kernel: K, request: LaunchRequest, diagnostics: Diagnostics): LaunchResult | undefined;
  close(): void;
}

/** The module over described kernels. A launch of a closed one, or of a kernel that it has not, is reported. */
export function moduleOf<K extends Pick<RaisedKernel, 'reflection'>>({
  described: { kernels, refused },
  symbols,
  launch,
  close,
}: ModuleParts<K>): DeviceModule {
  let isClosed = false;
  return {
    kernels: kernels.map(({ reflection }) => reflection),
    refused,
    symbols,
    launch(request, to) {
      if (isClosed) return reportClosed(to);
      const kernel = kernels.find(({ reflection }) => reflection.name === request.kernel);
      if (kernel) return launch(kernel, request, to);
      const why = refused.get(request.kernel);
      if (why) to.addAll(why.list);
      else to.report('CM5001', { name: request.kernel });
      return undefined;
    },
    close() {
      if (isClosed) return;
      isClosed = true;
      close();
    },
  };
}
