/** `cumetal build`: compiles one file to one stage of the pipeline. */
import { closest } from '../base/closest.ts';
import { Diagnostics } from '../base/diagnostic.ts';
import { printable, printableText } from '../base/printable.ts';
import type { SourceFile } from '../base/source.ts';
import type { Compile, CompileCache } from '../cache/index.ts';
import { type CompileOptions, type Emit, targetNameOf } from '../compile/index.ts';
import { type AfterPass, printKernel } from '../ir/index.ts';
import { areWritable, writeBytes } from '../runtime/io.ts';
import { allValues, type Context, has, lastValue, type ParsedArguments } from './command/command.ts';
import { ownCompileCache } from './command/compile-cache.ts';
import { compileOptions } from './command/compile-options.ts';
import { readCount } from './command/count.ts';
import { hostHash } from './command/host-hash.ts';
import { modeNames } from './command/options.ts';
import { usageError } from './command/usage-error.ts';
import { readInputs } from './input/index.ts';
import { type ExitCode, exit } from './terminal/exit.ts';
import { diagnosticJson } from './terminal/formats.ts';
import type { Terminal } from './terminal/index.ts';
import { jsonDocument } from './terminal/json.ts';
import { writeDiagnostics } from './terminal/render.ts';

/** Options of compiling PTX, which an AIR module has no use for. */
const ofPtxOnly = ['target', ...modeNames, 'entry', 'print-after'];

/** Loaded on demand: what the compile cache has needs no compiler. */
const compiler = (): Promise<typeof import('../compile/index.ts')> => import('../compile/index.ts');

/** Runs the command. */
export async function build({ parsed, terminal }: Context): Promise<ExitCode> {
  const to = lastValue(parsed, 'output');
  if (to === undefined) return usageError('`cumetal build` requires an output file: `-o OUT`', 'cumetal build --help', terminal);
  const isJson = has(parsed, 'json');
  if (isJson && to === '-')
    return usageError('`--json` conflicts with `-o -`: both write to standard output', 'cumetal build --help', terminal);
  const from = parsed.positionals[0]!;
  const what = (lastValue(parsed, 'emit') ?? 'metallib') as Output;
  const [arch, fp] = [lastValue(parsed, 'arch'), lastValue(parsed, 'fp')];
  const misplaced = optionOfOther(arch, fp, what);
  if (misplaced !== undefined) return usageError(misplaced, 'cumetal build --help', terminal);
  const entries = allValues(parsed, 'entry');
  const printed = allValues(parsed, 'print-after');
  const jobs = lastValue(parsed, 'jobs');
  const count = jobs === undefined ? undefined : readCount('jobs', jobs, 1, maxJobs);
  const fault = typeof count === 'string' ? count : await unknownPass(printed);
  if (fault !== undefined) return usageError(fault, 'cumetal build --help', terminal);
  const options: CompileOptions = {
    ...hostHash,
    ...compileOptions(parsed),
    ...(entries.length > 0 ? { entries } : {}),
    ...(printed.length > 0 ? { afterPass: passPrinter(printed, terminal) } : {}),
  };
  const diagnostics = new Diagnostics();
  const start = performance.now();
  const compiling = ofPtxOnly.find((name) => has(parsed, name));
  const { code, size, isFromAir } = await buildTo(
    to,
    {
      from,
      parsed,
      what,
      arch,
      isFast: fp === 'fast',
      options,
      compiling,
      jobs: typeof count === 'number' ? count : undefined,
      cache: has(parsed, 'no-cache') ? undefined : ownCompileCache(terminal),
    },
    terminal,
    diagnostics,
  );
  if (diagnostics.list.length > 0) writeDiagnostics(diagnostics.list, terminal);
  const status = code === exit.ok ? 'ok' : 'error';
  const list = diagnostics.list.map(diagnosticJson);
  if (isJson)
    terminal.out(jsonDocument({ status, emit: what, output: to, bytes: size, compile_ms: performance.now() - start, diagnostics: list }));
  else if (code === exit.ok) {
    const note = isFromAir ? undefined : defaultNote(what, options);
    if (note !== undefined) terminal.err(note);
    if (to !== '-' && !terminal.isQuiet) terminal.out(`${printable(to)}: ${what}, ${size} bytes\n`);
  }
  return code;
}

/** What is wrong with an option that only another output has. */
function optionOfOther(arch: string | undefined, fp: string | undefined, what: Output): string | undefined {
  if (arch !== undefined && what !== 'ptx') return '`--arch` requires `--emit ptx`';
  return fp !== undefined && what !== 'wgsl' ? '`--fp` requires `--emit wgsl`' : undefined;
}

/** Names the target if none was given and the output depends on it. The IR of `--print-after` stays alone on standard error. */
function defaultNote(what: Output, options: CompileOptions): string | undefined {
  if (
    options.target !== undefined ||
    options.afterPass ||
    what === 'ast' ||
    what === 'ir' ||
    what === 'wat' ||
    what === 'wat:simd' ||
    what === 'opencl' ||
    what === 'wgsl' ||
    what === 'ptx'
  )
    return undefined;
  const why = options.hostTarget ? 'the system of this Mac' : 'the default';
  return `note: the target is \`${targetNameOf(options)}\`, ${why}; \`--target\` selects another\n`;
}

/** What is wrong with the names of `--print-after`; undefined for passes that there are. */
async function unknownPass(printed: readonly string[]): Promise<string | undefined> {
  if (printed.length === 0) return undefined;
  const { passNames } = await compiler();
  const name = printed.find((each) => each !== 'all' && !passNames.includes(each));
  if (name === undefined) return undefined;
  const near = closest(name, passNames);
  return `invalid value \`${name}\` for \`--print-after\`: expected one of ${passNames.join(', ')}, all${near ? `; did you mean \`${near}\`?` : ''}`;
}

/** `--print-after`: an observer that prints the IR after passes of these names, or after all of them. */
function passPrinter(names: readonly string[], terminal: Terminal): AfterPass {
  return (pass, kernel) => {
    if (names.includes('all') || names.includes(pass)) terminal.err(`; after ${pass}\n${printKernel(kernel)}\n`);
  };
}

/** The output: a stage of the pipeline, a module of the CPU device, or a text of another language. */
type Output = Emit | 'wat' | 'wat:simd' | 'opencl' | 'msl' | 'wgsl' | 'ptx' | 'host' | 'host:objc';

interface Work {
  readonly from: string;
  readonly parsed: ParsedArguments;
  readonly what: Output;
  /** The architecture of PTX that is written anew. */
  readonly arch: string | undefined;
  /** Whether WGSL takes floats as the language has them. */
  readonly isFast: boolean;
  readonly options: CompileOptions;
  /** As given by the user. */
  readonly jobs: number | undefined;
  readonly cache: CompileCache | undefined;
  /** The first option that requires PTX. */
  readonly compiling: string | undefined;
}

interface Built {
  readonly code: ExitCode;
  readonly size?: number;
  readonly isFromAir?: boolean;
}

/** A form of PTX; undefined after reporting errors. */
async function ofPtx(
  source: SourceFile,
  { what, arch, isFast, options, jobs, cache }: Omit<Work, 'from' | 'parsed' | 'compiling'>,
  diagnostics: Diagnostics,
): Promise<string | Uint8Array | undefined> {
  const own = new Diagnostics(source);
  const result =
    what === 'wat' || what === 'wat:simd'
      ? (await import('./build-wat.ts')).watOf(source, what === 'wat:simd', options, own)
      : what === 'ptx'
        ? arch === undefined
          ? await ptxOf(source, options, own)
          : (await import('./build-text.ts')).ptxOf(source, arch, options, own)
        : what === 'host' || what === 'host:objc'
          ? (await import('./build-host.ts')).hostOf(source, what, options, own)
          : what === 'opencl' || what === 'msl' || what === 'wgsl'
            ? (await import('./build-text.ts')).textOf(source, what, options, own, isFast)
            : what === 'metallib'
              ? await metallibOf(source, options, own, { jobs, cache })
              : (await compiler()).emit(source, what, options, own);
  diagnostics.addAll(own.sorted());
  return result;
}

/** The PTX itself: the text in a file or container, or what a compiler made of a `.cu` file. Undefined after reporting syntax errors. */
async function ptxOf(source: SourceFile, options: CompileOptions, diagnostics: Diagnostics): Promise<string | undefined> {
  return (await compiler()).emit(source, 'ast', options, diagnostics) === undefined ? undefined : source.text;
}

/** Below this, starting another process takes longer than it saves. */
const minParallelLength = 512 * 1024;
/** The largest `--jobs`. */
const maxJobs = 1024;

/** `compile`; of a large module, with the result of several processes. */
async function compilerFor(source: SourceFile, options: CompileOptions, jobs: number | undefined): Promise<Compile> {
  const { length } = source.text;
  // Findings in a source that the text was made of are at its lines.
  const isAlone = jobs === 1 || (jobs === undefined && length < minParallelLength) || options.afterPass || source.origin;
  if (isAlone) return (await compiler()).compile;
  const { compileInJobs, defaultJobs } = await import('./jobs/index.ts');
  const count = jobs ?? defaultJobs();
  if (count === 1) return (await compiler()).compile;
  const own = new Diagnostics(source);
  const made = await compileInJobs(source, options, own, count);
  return (_source, _options, diagnostics) => {
    diagnostics.addAll(own.list);
    return made;
  };
}

/** The metallib, from the compile cache if it has it. */
async function metallibOf(
  source: SourceFile,
  options: CompileOptions,
  diagnostics: Diagnostics,
  { jobs, cache }: Pick<Work, 'jobs' | 'cache'>,
): Promise<Uint8Array | undefined> {
  const load = (): Promise<Compile> => compilerFor(source, options, jobs);
  const compiled = cache ? await cache.compiled(source, options, diagnostics, load) : (await load())(source, options, diagnostics);
  return compiled?.metallib;
}

/** A form of an AIR module, which is a metallib already; undefined after reporting the rules that it breaks. */
async function ofAir(
  metallib: Uint8Array,
  { what, arch }: Pick<Work, 'what' | 'arch'>,
  diagnostics: Diagnostics,
): Promise<string | Uint8Array | 'usage' | undefined> {
  if (what === 'ptx') return (await import('./build-text.ts')).ptxOfMetallib(metallib, arch, diagnostics);
  if (what === 'host' || what === 'host:objc') return (await import('./build-host.ts')).hostOfMetallib(metallib, what, diagnostics);
  const { validateBytes } = await import('./validate.ts');
  if (!validateBytes(metallib, diagnostics)) return undefined;
  if (what === 'metallib') return metallib;
  const { readMetallib } = await import('../metallib/index.ts');
  const { disassemble, readModule } = await import('../bitcode/index.ts');
  const functions = readMetallib(metallib, diagnostics)?.functions ?? [];
  if (what === 'air-ll') return functions.flatMap(({ bitcode }) => disassemble(readModule(bitcode, diagnostics)!)).join('\n');
  if (what !== 'air') return 'usage';
  if (functions.length === 1) return functions[0]!.bitcode;
  diagnostics.report('CM5090', { count: functions.length });
  return undefined;
}

async function buildTo(to: string, work: Work, terminal: Terminal, diagnostics: Diagnostics): Promise<Built> {
  const { from, parsed, what, compiling } = work;
  if (to !== '-' && !areWritable(terminal, [to], diagnostics)) return { code: exit.failed };
  const input = await readInputs(parsed.positionals, terminal, diagnostics, parsed);
  if (typeof input === 'number') return { code: input };
  if (input.kind === 'metallib' && !input.isFromAir && what !== 'ptx' && !what.startsWith('host')) {
    const name = printable(from);
    terminal.err(
      `error: \`${name}\` is already a metallib\n  = help: \`cumetal inspect ${name} --disassemble\` prints its contents, and \`--emit ptx\` makes PTX of it\n`,
    );
    return { code: exit.usage };
  }
  const isFromAir = input.kind === 'metallib';
  if (isFromAir && compiling) return requiresPtx(`--${compiling}`, from, 'the module is compiled already', terminal);
  const result = input.kind === 'metallib' ? await ofAir(input.bytes, work, diagnostics) : await ofPtx(input.source, work, diagnostics);
  if (result === undefined) return { code: exit.doesNotCompile };
  if (result === 'usage') return requiresPtx(`--emit ${what}`, from, 'its forms are metallib, air, air-ll, ptx and host', terminal);
  const bytes = typeof result === 'string' ? new TextEncoder().encode(result) : result;
  if (to === '-') {
    // Text may be shown by a terminal; a metallib is never read there.
    terminal.outBytes(typeof result === 'string' ? new TextEncoder().encode(printableText(result)) : bytes);
    return { code: exit.ok, size: bytes.length, isFromAir };
  }
  const isWritten = writeBytes(terminal, to, bytes, diagnostics);
  return { code: isWritten ? exit.ok : exit.failed, size: bytes.length, isFromAir };
}

function requiresPtx(option: string, from: string, help: string, terminal: Terminal): Built {
  terminal.err(`error: \`${option}\` requires PTX, and \`${printable(from)}\` is an AIR module\n  = help: ${help}\n`);
  return { code: exit.usage };
}
