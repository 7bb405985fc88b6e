/** The device half of a whole program: how its code is loaded and run, and what is said of its faults. */

import { initialValuesOf, loadSource, warpSynchronous } from '../../api/load.ts';
import { Diagnostics } from '../../base/diagnostic.ts';
import { printable } from '../../base/printable.ts';
import { SourceFile } from '../../base/source.ts';
import { type CompileOptions, compile } from '../../compile/index.ts';
import type { Device, DeviceModule, LaunchRequest } from '../../device/device.ts';
import type { CudaOptions } from '../../program/index.ts';
import { ownCodeStore, ownCompileCache } from '../command/compile-cache.ts';
import { linkSources } from '../input/linked.ts';
import type { Terminal } from '../terminal/index.ts';
import { addProgramFaultPlace } from './fault-place.ts';
import type { RunRequest } from './options.ts';
import type { ProgramInstruments } from './program-instruments.ts';

interface Surroundings {
  readonly terminal: Terminal;
  readonly isCached: boolean;
  /** The instruments, if there are any. */
  readonly observed?: ProgramInstruments | undefined;
  write(diagnostics: Diagnostics): void;
}

/** What the runtime of a program needs of its device, and whether the sanitizer has found faults. */
export interface DeviceHalf
  extends Pick<CudaOptions, 'device' | 'load' | 'initialValues' | 'link' | 'instruments' | 'explainFault' | 'observePool' | 'report'> {
  hasFindings(): boolean;
}

export function deviceHalf(device: Device, request: RunRequest, { terminal, isCached, write, observed }: Surroundings): DeviceHalf {
  const sources = new WeakMap<DeviceModule, SourceFile>();
  const cache = isCached ? ownCompileCache(terminal) : undefined;
  const codes = cache && device.info.kind === 'cpu' ? ownCodeStore(terminal) : undefined;
  let hasFindings = false;
  return {
    device,
    load(ptx, diagnostics) {
      const source = sourceOf(ptx, terminal);
      const own = new Diagnostics(source);
      const compiler: typeof compile = cache ? (file, options, to) => cache.compiledNow(file, options, to, compile) : compile;
      const options = { compile: compileFor(device, request), compiler, ...lanesOf(request, ptx), ...(codes ? { codes } : {}) };
      const loaded = loadSource(device, source, options, own);
      diagnostics.addAll(own.sorted());
      if (loaded) sources.set(loaded, source);
      return loaded;
    },
    initialValues: initialValuesOf,
    link(texts) {
      const diagnostics = new Diagnostics();
      const sources = texts.map((text) => sourceOf(text, terminal));
      const linked = linkSources(sources, 'linked.ptx', diagnostics);
      if (!linked) write(diagnostics);
      return linked?.text;
    },
    instruments: (loaded, kernel) => ({
      ...instrumentsOf(request, sources.get(loaded)),
      ...observed?.of(kernel, sources.get(loaded)),
    }),
    observePool: (pool) => observed?.notePool(pool),
    explainFault(fault, { module, block, again }) {
      const source = sources.get(module);
      if (request.sanitize || !source || device.info.kind !== 'cpu') return;
      addProgramFaultPlace(fault, ({ timeoutMs, sanitize }) => {
        const own = new Diagnostics(source);
        const checked = loadSource(device, source, { compile: { ...compileFor(device, request), sanitize: true } }, own);
        const { list: found } = checked
          ? again(checked, { timeoutMs, sanitize: { ...sanitize, source }, profile: undefined, trace: undefined })
          : own;
        checked?.close();
        return checked && { found, block };
      });
    },
    report(diagnostics) {
      hasFindings ||= diagnostics.list.some((each) => each.severity === 'error' && each.code.startsWith('CM61'));
      write(diagnostics);
    },
    hasFindings: () => hasFindings,
  };
}

/** What the user asks for comes first. */
const lanesOf = ({ engine }: RunRequest, ptx: string): ReturnType<typeof warpSynchronous> =>
  engine.lanes === undefined ? warpSynchronous(ptx) : {};

/** Programs know NVIDIA's limits and clocks, which the target `cpu` has. */
const compileFor = (
  { info }: Device,
  { compile: { target = info.kind === 'cpu' ? 'cpu' : undefined, ...rest } }: RunRequest,
): CompileOptions => (target === undefined ? rest : { ...rest, target });

const instrumentsOf = (
  { timeoutMs, schedule, sanitize }: RunRequest,
  source: SourceFile | undefined,
): Partial<Pick<LaunchRequest, 'timeoutMs' | 'sanitize' | 'schedule'>> => ({
  timeoutMs,
  ...(schedule ? { schedule } : {}),
  ...(sanitize ? { sanitize: { ...sanitize, ...(source ? { source } : {}) } } : {}),
});

/** The device code of one source, whose findings are at the lines of that source if it is still there. */
function sourceOf(ptx: string, terminal: Terminal): SourceFile {
  const absolute = /^\s*\.file\s+\d+\s+"([^"\n]+\.cu)"/m.exec(ptx)?.[1];
  if (absolute === undefined) return new SourceFile('program (PTX)', ptx);
  const path = printable(absolute.replace(`${process.cwd()}/`, ''));
  const bytes = terminal.readFile(absolute);
  const origin = bytes instanceof Uint8Array ? new SourceFile(path, new TextDecoder().decode(bytes)) : undefined;
  return new SourceFile(`${path} (PTX)`, ptx, origin);
}
