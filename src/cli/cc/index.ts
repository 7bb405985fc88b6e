/** `cumetal cc`: sources to objects, PTX, archives or a program, in the words of nvcc. */
import { basename, join } from 'node:path';
import { Diagnostics } from '../../base/diagnostic.ts';
import { printable } from '../../base/printable.ts';
import { writeBytes } from '../../runtime/index.ts';
import { archive, type Language, preprocess } from '../../toolchain/index.ts';
import type { Context } from '../command/command.ts';
import { usageError } from '../command/usage-error.ts';
import { version } from '../command/version.ts';
import { buildProgram, objectName, objectsOf, type ProgramWords, unreadable } from '../cuda/build.ts';
import { ownCommand } from '../cuda/children.ts';
import { Compilations, compileSource, languageOf, sourceOptions } from '../cuda/compile.ts';
import { findProgramToolchain } from '../cuda/find.ts';
import { libraryOf } from '../cuda/library-stub.ts';
import { programFile } from '../cuda/program-file.ts';
import { compileDeviceOnly } from '../input/device-only.ts';
import { exit } from '../terminal/exit.ts';
import { exists } from '../terminal/index.ts';
import { writeDiagnostics } from '../terminal/render.ts';
import { cudaRelease, stepsOf, toolchainFile } from '../toolkit/steps.ts';
import type { Effect } from './options.ts';
import { type CompilerLine, parseLine, withOptionFiles } from './parse.ts';

const helpCommand = 'cumetal cc --help';

/** Runs the command. */
export async function compilerDriver(context: Context): Promise<number> {
  const { terminal, parsed } = context;
  const line = readLine(parsed.positionals, terminal);
  if (typeof line === 'string') return usageError(line, helpCommand, terminal);
  const { CUMETAL_TOOLKIT: root } = terminal.env;
  const isDry = line.values('dryRun').length > 0;
  // CMake asks for these lines with a file that is not there.
  if (root !== undefined && (isDry || line.values('verbose').length > 0)) terminal.err(stepsOf(root));
  if (isDry) return exit.ok;
  if (line.values('version').length > 0) {
    // Build scripts look for the name of nvcc's driver, and for the second line.
    terminal.out(
      `cumetal cc ${version}, in the words of nvcc: NVIDIA (R) Cuda compiler driver\nCuda compilation tools, release ${cudaRelease}, V${cudaRelease}.0\n`,
    );
    return exit.ok;
  }
  if (line.files.length === 0) return usageError('`cumetal cc` requires a file: `cumetal cc FILE…`', helpCommand, terminal);
  const toolchain = findProgramToolchain(terminal, line.files[0]!.path);
  if (!toolchain) return exit.usage;
  const diagnostics = new Diagnostics();
  const code = await new Driver(context, line, new Compilations(toolchain, terminal), diagnostics).run();
  terminal.status?.('');
  writeDiagnostics(diagnostics.sorted(), terminal);
  return code;
}

/** The command line with the words of the files that it names; what is wrong with it as a sentence. */
function readLine(given: readonly string[], { readFile }: Context['terminal']): CompilerLine | string {
  const all = withOptionFiles(given, (path) => {
    const read = readFile(path);
    return read instanceof Uint8Array ? new TextDecoder().decode(read) : undefined;
  });
  const line = typeof all === 'string' ? all : parseLine(all);
  if (typeof line === 'string') return line;
  return withLibraries(line, readFile);
}

/** Archives that stand for a library become its name. */
function withLibraries(line: CompilerLine, readFile: Context['terminal']['readFile']): CompilerLine {
  const named: string[] = [];
  const files = line.files.filter(({ path }) => {
    const bytes = path.endsWith('.a') ? readFile(path) : undefined;
    const library = bytes instanceof Uint8Array ? libraryOf(bytes) : undefined;
    if (library !== undefined) named.push(library);
    return library === undefined;
  });
  return { files, values: (effect) => (effect === 'library' ? [...line.values(effect), ...named] : line.values(effect)) };
}

/** A module that imports the memory of 64 bits, and says that it can be linked. Source: WebAssembly tool conventions, "Linking". */
const emptyObject = new TextEncoder().encode('\0asm\x01\0\0\0\x02\x18\x01\x03env\x0f__linear_memory\x02\x04\0\0\x09\x07linking\x02');

/** One run of the compiler driver. */
class Driver {
  readonly #context: Context;
  readonly #line: CompilerLine;
  readonly #compilations: Compilations;
  readonly #diagnostics: Diagnostics;
  readonly #words: ProgramWords;

  constructor(context: Context, line: CompilerLine, compilations: Compilations, diagnostics: Diagnostics) {
    this.#context = context;
    this.#line = line;
    this.#compilations = compilations;
    this.#diagnostics = diagnostics;
    this.#words = {
      files: line.files,
      // The headers of a toolkit's folder are copies of those that are built in.
      folders: line.values('include').filter((folder) => !exists(join(folder, '..', toolchainFile))),
      preIncludes: line.values('preInclude'),
      defines: line.values('define'),
      undefines: line.values('undefine'),
      standard: line.values('standard').at(-1),
      isContracted: line.values('contraction').at(-1) !== 'false',
      isQuiet: line.values('quiet').length > 0,
      isRelocatable: line.values('relocatable').at(-1) === 'true' || line.values('compileRelocatable').length > 0,
      libraryFolders: line.values('libraryFolder'),
      libraries: line.values('library'),
    };
  }

  async run(): Promise<number> {
    const failure = unreadable(this.#context.terminal, this.#line.files);
    if (failure) {
      this.#context.terminal.err(`error: cannot read \`${printable(failure.path)}\`: ${failure.why}\n`);
      return exit.usage;
    }
    if (this.#has('dependencies') || this.#has('dependenciesToo')) {
      const code = this.#writeDependencies();
      if (code !== exit.ok || this.#has('dependencies')) return code;
    }
    if (this.#has('ptx')) return this.#each('.ptx', (path) => this.#ptxOf(path));
    if (this.#has('fatbin')) return this.#each('.fatbin', (path) => this.#ptxOf(path));
    if (this.#has('preprocess')) return this.#each(undefined, (path, language) => this.#preprocessed(path, language));
    if (this.#has('compile') || this.#has('compileRelocatable'))
      return this.#each('.o', (path, language) => this.#objectOf(path, language));
    if (this.#has('deviceLink')) return this.#linkDevice();
    return this.#has('archive') ? this.#archive() : this.#link();
  }

  #has(effect: Effect): boolean {
    return this.#line.values(effect).length > 0;
  }

  /** Writes a file, or to standard output, which has the name `-`. */
  #write(path: string, bytes: Uint8Array): boolean {
    const { terminal } = this.#context;
    if (path !== '-') return writeBytes(terminal, path, bytes, this.#diagnostics);
    terminal.outBytes(bytes);
    return true;
  }

  get #output(): string | undefined {
    return this.#line.values('output').at(-1);
  }

  /** Makes a file of each source, beside it in the current folder; the only one may have another name. `extension`: none prints them. */
  async #each(extension: string | undefined, make: (path: string, language: Language) => Promise<Uint8Array | undefined>): Promise<number> {
    const { files } = this.#line;
    if (this.#output !== undefined && files.length > 1 && extension !== undefined)
      return usageError(`\`-o ${this.#output}\` names one file, and ${files.length} are made`, helpCommand, this.#context.terminal);
    let code: number = exit.ok;
    for (const { path, language = languageOf(path) } of files) {
      if (!language)
        return usageError(`\`${path}\` is no source: \`-x cu\` before it says that it is`, helpCommand, this.#context.terminal);
      const bytes = await make(path, language);
      const to = this.#output ?? (extension && basename(path).replace(/\.[^.]*$/, '') + extension);
      if (!bytes) code = exit.doesNotCompile;
      else if (to === undefined) this.#context.terminal.outBytes(bytes);
      else if (!this.#write(to, bytes)) code = exit.failed;
    }
    return code;
  }

  async #ptxOf(path: string): Promise<Uint8Array | undefined> {
    const { ptx, messages } = await compileDeviceOnly(
      await this.#compilations.clang(),
      sourceOptions(this.#compilations, path, this.#words),
      this.#diagnostics,
    );
    this.#compilations.say(messages);
    return ptx === undefined ? undefined : new TextEncoder().encode(ptx);
  }

  async #preprocessed(path: string, language: Language): Promise<Uint8Array | undefined> {
    const options = sourceOptions(this.#compilations, path, this.#words);
    const { bytes, messages } = await preprocess(await this.#compilations.clang(), language, options);
    this.#compilations.say(messages);
    return bytes;
  }

  async #objectOf(path: string, language: Language): Promise<Uint8Array | undefined> {
    return (await compileSource(this.#compilations, path, language, this.#words, this.#diagnostics))?.bytes;
  }

  /** An object without code: a link of objects links their device code. */
  #linkDevice(): number {
    return this.#write(this.#output ?? 'a_dlink.o', emptyObject) ? exit.ok : exit.failed;
  }

  async #archive(): Promise<number> {
    const objects = await objectsOf(this.#compilations, this.#words, this.#diagnostics);
    if (!objects) return exit.doesNotCompile;
    const { bytes, messages } = await archive(
      await this.#compilations.clang(),
      objects.map(({ name, bytes }) => ({ name: objectName(name), bytes })),
    );
    this.#compilations.say(messages);
    if (!bytes) return exit.failed;
    return this.#write(this.#output ?? 'a.a', bytes) ? exit.ok : exit.failed;
  }

  async #link(): Promise<number> {
    const { terminal } = this.#context;
    const program = await buildProgram(this.#compilations, this.#words, this.#diagnostics);
    if (!program) return exit.doesNotCompile;
    const to = this.#output ?? 'a.out';
    if (!this.#write(to, programFile(program, ownCommand()))) return exit.failed;
    const failure = to === '-' ? undefined : terminal.makeExecutable?.(to);
    if (failure) this.#diagnostics.report('CM5031', { path: to, why: failure.why });
    if (failure) return exit.failed;
    if (!this.#has('run')) return exit.ok;
    return (await import('../run/program.ts')).runWhole(this.#context, [to], program);
  }

  /** Writes the rule of Make of each source, or prints it. */
  #writeDependencies(): number {
    const rules = this.#line.files.map(({ path }) => {
      const target = this.#line.values('dependencyTarget').at(-1) ?? objectName(basename(path));
      const names = [...sourceOptions(this.#compilations, path, this.#words).files.keys()];
      return `${target}: ${names.map((name) => name.replaceAll(' ', '\\ ')).join(' \\\n  ')}\n`;
    });
    const text = rules.join('');
    const named = this.#line.values('dependencyFile').at(-1);
    if (named === undefined && this.#has('dependencies')) {
      this.#context.terminal.out(text);
      return exit.ok;
    }
    const to = named ?? `${(this.#output ?? objectName(basename(this.#line.files[0]!.path))).replace(/\.[^.]*$/, '')}.d`;
    return this.#write(to, new TextEncoder().encode(text)) ? exit.ok : exit.failed;
  }
}
