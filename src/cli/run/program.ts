/**
 * `cumetal run` of a whole program: `.cu`, C++ and C files, which are compiled and linked, or a file that `cumetal cc` linked. Its streams and
 * its exit code are those of this process.
 */
import { loadSource } from '../../api/load.ts';
import { Diagnostics } from '../../base/diagnostic.ts';
import { printable } from '../../base/printable.ts';
import { SourceFile } from '../../base/source.ts';
import { type CompileOptions, compile } from '../../compile/index.ts';
import type { Device, DeviceModule, LaunchRequest } from '../../device/device.ts';
import { openDevice } from '../../device/index.ts';
import { machineHost, runProgram } from '../../program/index.ts';
import { allValues, type Context, has, lastValue } from '../command/command.ts';
import { ownCompileCache } from '../command/compile-cache.ts';
import { usageError } from '../command/usage-error.ts';
import { knownProgram } from '../cuda/build.ts';
import { compileInstead } from '../cuda/children.ts';
import { Compilations, wordsOf } from '../cuda/compile.ts';
import { findProgramToolchain } from '../cuda/find.ts';
import { moduleIn } from '../cuda/program-file.ts';
import { exit } from '../terminal/exit.ts';
import type { Terminal } from '../terminal/index.ts';
import { writeDiagnostics } from '../terminal/render.ts';
import { addProgramFaultPlace } from './fault-place.ts';
import { type RunRequest, readRequest } from './options.ts';

/** Options that say how a program is compiled and how its kernels run. Others are of one launch. */
const allowed = new Set([
  ...['device', 'engine', 'fma', 'denormals', 'threads', 'timeout', 'no-cache', 'schedule', 'sanitize', 'quiet'],
  ...['include', 'define', 'std', 'compiler', 'target', 'fp64', 'mma', 'ptx-strict'],
]);

/** Runs the program of `files`, or the linked module. Returns its exit code, or one of `exit` where it did not start. */
export function runWhole(context: Context, files: readonly string[], module?: Uint8Array): number {
  const { terminal, parsed } = context;
  const diagnostics = new Diagnostics();
  const request = requestOf(context, diagnostics);
  if (typeof request === 'string') return usageError(request, 'cumetal run --help', terminal);
  const linked = module ?? built(context, files);
  writeDiagnostics(diagnostics.sorted(), terminal);
  if (typeof linked === 'number') return linked;
  const opening = new Diagnostics();
  const device = openDevice(request.device, opening, request.engine);
  writeDiagnostics(opening.list, terminal);
  if (!device) return exit.noDevice;
  try {
    return runOn(device, linked, request, { terminal, args: [files[0]!, ...(parsed.rest ?? [])], isCached: !has(parsed, 'no-cache') });
  } finally {
    device.close();
  }
}

function requestOf({ parsed }: Context, diagnostics: Diagnostics): RunRequest | string {
  const wrong = [...parsed.options.keys()].find((name) => !allowed.has(name));
  if (wrong !== undefined) return `\`--${wrong}\` is for one launch of a kernel, and this is a whole program`;
  const compiler = lastValue(parsed, 'compiler');
  if (compiler !== undefined && compiler !== 'wasm')
    return `\`--compiler ${compiler}\` compiles kernels, and a whole program is compiled by \`wasm\``;
  return readRequest(parsed, diagnostics);
}

/** The program from the cache, or from a process that compiles it. */
function built({ terminal, parsed }: Context, files: readonly string[]): Uint8Array | number {
  const toolchain = findProgramToolchain(terminal, files[0]!);
  if (!toolchain) return exit.usage;
  const words = {
    files: files.map((path) => ({ path })),
    folders: allValues(parsed, 'include'),
    defines: allValues(parsed, 'define'),
    undefines: [],
    standard: lastValue(parsed, 'std'),
    libraryFolders: [],
    libraries: [],
  };
  const isCached = !has(parsed, 'no-cache');
  const known = isCached ? knownProgram(new Compilations(toolchain, terminal, true), words) : undefined;
  if (known) return known;
  const made = compileInstead([...wordsOf(words), ...files], terminal, isCached);
  return typeof made === 'number' ? made : (moduleIn(made) ?? exit.failed);
}

interface Surroundings {
  readonly terminal: Terminal;
  /** The name of the program, then its arguments. */
  readonly args: readonly string[];
  readonly isCached: boolean;
}

function runOn(device: Device, module: Uint8Array, request: RunRequest, { terminal, args, isCached }: Surroundings): number {
  const sources = new WeakMap<DeviceModule, SourceFile>();
  const cache = isCached ? ownCompileCache(terminal) : undefined;
  const host = machineHost({ args, folders: ['.', '/'] });
  let hasFindings = false;
  const code = runProgram(module, {
    device,
    host,
    load(ptx, diagnostics) {
      const source = sourceOf(ptx, terminal);
      const own = new Diagnostics(source);
      const compiler: typeof compile = cache ? (file, options, to) => cache.compiledNow(file, options, to, compile) : compile;
      const loaded = loadSource(device, source, { compile: compileFor(device, request), compiler }, own);
      diagnostics.addAll(own.sorted());
      if (loaded) sources.set(loaded, source);
      return loaded;
    },
    instruments: (loaded) => instrumentsOf(request, sources.get(loaded)),
    explainFault(fault, { module, block, again }) {
      const source = sources.get(module);
      if (request.sanitize || !source || device.info.kind !== 'cpu') return;
      addProgramFaultPlace(fault, ({ timeoutMs, sanitize }) => {
        const own = new Diagnostics(source);
        const checked = loadSource(device, source, { compile: { ...compileFor(device, request), sanitize: true } }, own);
        const { list: found } = checked ? again(checked, { timeoutMs, sanitize: { ...sanitize, source } }) : own;
        checked?.close();
        return checked && { found, block };
      });
    },
    report(diagnostics) {
      hasFindings ||= diagnostics.list.some((each) => each.severity === 'error' && each.code.startsWith('CM61'));
      writeDiagnostics(diagnostics.list, terminal);
    },
    print: (text) => host.writeOutput(1, text),
    now: () => performance.now(),
  });
  if (code === undefined) return exit.failed;
  return code === 0 && hasFindings ? exit.failed : code;
}

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
