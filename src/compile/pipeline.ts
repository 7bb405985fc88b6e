/**
 * The pipeline, stage after stage. It ends at the first stage that reports errors, except for parsing: a module with syntax errors is
 * still checked.
 */

import {
  emitKernel,
  emulatedDoubles,
  type KernelReflection,
  legalize,
  type Reflection,
  type Target,
  targets,
  validateAir,
} from '../air/index.ts';
import { reflectKernel } from '../air/reflect.ts';
import { bug } from '../base/bug.ts';
import { Diagnostics } from '../base/diagnostic.ts';
import type { SourceFile, Span } from '../base/source.ts';
import { disassemble, type Module as LlvmModule, writeModule } from '../bitcode/index.ts';
import {
  type AfterPass,
  type Module as IrModule,
  type Kernel,
  type ModuleMemory,
  observers,
  printModule,
  runPass,
  runPasses,
  standardPasses,
  verifyAfterPass,
} from '../ir/index.ts';
import {
  architectureOf,
  fitSlots,
  type LowerChoices,
  lowerEntries,
  lowerModule,
  memoryOf,
  promoteLocals,
  staticSharedBytes,
} from '../lower/index.ts';
import { type Checked, type CheckedFunction, forgetBody, type PtxFunction, parse, printAst, printVariable } from '../ptx/index.ts';
import { checkPieces, checkSource } from './check-source.ts';
import { type KernelBitcode, libraryOf } from './library.ts';
import { lintBarriers } from './lint.ts';
import { type Compiled, type CompileOptions, type Emit, targetNameOf } from './options.ts';
import { expandAtomics, optimizeLowered, type PassChoices } from './passes.ts';
import { refuseForeign } from './refuse-foreign.ts';
import { refuseTooMuchShared } from './refuse-shared.ts';
import { noteEmulation, warnOfDoubles } from './warn-doubles.ts';

/** PTX text to a metallib with its reflection; returns nothing after reporting errors. */
export function compile(source: SourceFile, options: CompileOptions, diagnostics: Diagnostics): Compiled | undefined {
  const modules = toAir(source, options, diagnostics, bitcodeFor(options));
  return modules && { metallib: pack(modules.made, options, diagnostics), reflection: modules.reflection };
}

/** The bindings of each entry, independent of a target, for devices that take the PTX itself; nothing after reporting errors. */
export function reflect(source: SourceFile, options: CompileOptions, diagnostics: Diagnostics): Reflection | undefined {
  const front = frontEnd(source, { ...options, target: 'cpu' }, diagnostics);
  return front && { abi: 1, target: undefined, kernels: front.ir.kernels.map((kernel) => reflectKernel(kernel, targets.cpu)) };
}

/** Whether a text compiles: runs every stage that can report an error, and reports what `compile` reports. */
export function verifies(source: SourceFile, options: CompileOptions, diagnostics: Diagnostics): boolean {
  return toAir(source, options, diagnostics, () => undefined) !== undefined;
}

/** The text or bytes of one stage; several kernels follow one another in `air-ll`, and `air` takes one kernel only. */
export function emit(source: SourceFile, what: Emit, options: CompileOptions, diagnostics: Diagnostics): Uint8Array | string | undefined {
  if (what === 'ast') return emitAst(source, diagnostics);
  if (what === 'ir') return emitIr(source, options, diagnostics);
  if (what === 'air-ll') return toAir(source, options, diagnostics, disassemble)?.made.join('\n');
  if (what === 'reflection') {
    const modules = toAir(source, options, diagnostics, () => undefined);
    return modules && `${JSON.stringify(modules.reflection, undefined, 2)}\n`;
  }
  const kernels = toAir(source, options, diagnostics, bitcodeFor(options))?.made;
  if (!kernels) return undefined;
  return what === 'air' ? oneModule(kernels, diagnostics) : pack(kernels, options, diagnostics);
}

function emitAst(source: SourceFile, diagnostics: Diagnostics): string | undefined {
  const ast = parse(source, diagnostics);
  return diagnostics.hasErrors ? undefined : printAst(ast);
}

function emitIr(source: SourceFile, options: CompileOptions, diagnostics: Diagnostics): string | undefined {
  const ir = toIr(source, options, diagnostics);
  return ir && printModule(ir);
}

function oneModule(modules: readonly KernelBitcode[], diagnostics: Diagnostics): Uint8Array | undefined {
  if (modules.length === 1) return modules[0]!.bitcode;
  diagnostics.report('CM5090', { count: modules.length });
  return undefined;
}

const isMmaFast = ({ mma, allowFallback }: CompileOptions): boolean =>
  mma === undefined ? allowFallback?.includes('mma') === true : mma === 'fast';

export const targetOf = (options: CompileOptions): Target => {
  const target = targets[targetNameOf(options)];
  if (options.fp64 === 'native') return { ...target, allowsCpuOnly: true };
  const emulates = options.fp64 === undefined ? options.allowFallback?.includes('fp64') === true : options.fp64 === 'emulate';
  return emulates ? { ...target, emulatesDoubles: true } : target;
};

/** Whether the metallib carries information for the CPU device's instruments. */
const isInstrumented = ({ sanitize, marks }: CompileOptions): boolean => Boolean(sanitize || marks);

/** The observers of passes: the verifier first, if requested. */
const afterPassOf = ({ verifiesPasses, afterPass }: CompileOptions): AfterPass | undefined =>
  observers(verifiesPasses ? verifyAfterPass : undefined, afterPass);

/** PTX to optimized IR. */
export function toIr(source: SourceFile, options: CompileOptions, diagnostics: Diagnostics): IrModule | undefined {
  return frontEnd(source, { ...options, fp64: 'soft' }, diagnostics)?.ir;
}

/** PTX to the IR that AIR is emitted from: legal for the target. Undefined after reporting errors, also those of what the target lacks. */
export function toLegalIr(source: SourceFile, options: CompileOptions, diagnostics: Diagnostics): IrModule | undefined {
  const front = frontEnd(source, options, diagnostics);
  if (!front || !expandsAtomics(front, targetOf(options), options, diagnostics)) return undefined;
  const afterPass = afterPassOf(options);
  for (const kernel of front.ir.kernels) legalize(kernel, targetOf(options), diagnostics, { isInstrumented: false, afterPass });
  return diagnostics.hasErrors ? undefined : front.ir;
}

/** What PTX declares of an entry, as its text. */
export interface DeclaredEntry {
  /** The declaration of each parameter, for a name. */
  readonly params: readonly ((name: string) => string)[];
  readonly directives: readonly string[];
  readonly linkage: string;
}

/** Kernels that become PTX again, with what the source says of them. */
export interface PtxModule {
  readonly ir: IrModule;
  /** By kernel. */
  readonly declared: ReadonlyMap<string, DeclaredEntry>;
  /** The variables that hosts reach. */
  readonly memory: ModuleMemory;
  /** By variable: its linkage, as a directive of PTX. */
  readonly linkage: ReadonlyMap<string, string>;
}

/**
 * PTX to the IR that is printed as PTX for an architecture: instructions that it has stay what they are, masks and branches are those of the
 * source, and no target's passes have run. Undefined after reporting errors.
 */
export function toPtxIr(source: SourceFile, name: string, options: CompileOptions, diagnostics: Diagnostics): PtxModule | undefined {
  const checked = checkSource(source, { ...options, target: 'cpu', keepsExternal: true }, diagnostics);
  if (!checked) return undefined;
  const architecture = architectureOf(name);
  refuseForeign(checked, architecture, diagnostics);
  const afterPass = afterPassOf(options);
  const choices: LowerChoices = { ptx: architecture, hasMma: architecture.sm >= 80, isForCpu: true, clusters: 'turns', afterPass };
  const ir = diagnostics.hasErrors ? undefined : lowerModule(checked, diagnostics, choices);
  if (!ir || diagnostics.hasErrors) return undefined;
  const callees = ir.kernels.flatMap((kernel) => [...(kernel.callees?.values() ?? [])]);
  for (const kernel of new Set([...ir.kernels, ...callees])) {
    runPass(kernel, { name: 'promote-locals', run: promoteLocals }, afterPass);
    runPasses(kernel, standardPasses, afterPass);
  }
  const declared = new Map(checked.entries.map(({ fn }) => [fn.name, declaredEntry(fn)]));
  const variables = checked.module.items.filter((item) => item.kind === 'variable');
  const linkage = new Map(variables.map((variable) => [variable.name, variable.linkage ? `.${variable.linkage} ` : '']));
  return { ir, declared, memory: memoryOf(checked), linkage };
}

const declaredEntry = ({ params, directives, linkage }: PtxFunction): DeclaredEntry => ({
  params: params.map((param) => (name: string) => printVariable({ ...param, name }).slice(0, -1)),
  directives: directives.map(({ name, values }) =>
    name === 'pragma'
      ? `.pragma ${values.map((value) => `"${value}"`).join(', ')};`
      : `.${name}${values.length > 0 ? ` ${values.join(', ')}` : ''}`,
  ),
  linkage: linkage ? `.${linkage} ` : '',
});

interface FrontEnd {
  readonly ir: IrModule;
  /** The span of each entry's name. */
  readonly places: ReadonlyMap<string, Span>;
}

function frontEnd(source: SourceFile, options: CompileOptions, diagnostics: Diagnostics): FrontEnd | undefined {
  const checked = checkSource(source, options, diagnostics);
  if (!checked) return undefined;
  const ir = lowerModule(checked, diagnostics, lowerChoicesOf(options));
  if (diagnostics.hasErrors) return undefined;
  const choices = passChoicesOf(source, options);
  for (const kernel of ir.kernels) optimizeLowered(kernel, choices, diagnostics);
  if (options.lints) for (const kernel of ir.kernels) lintBarriers(kernel, diagnostics);
  return { ir, places: new Map(checked.entries.map(({ fn }) => [fn.name, fn.nameSpan])) };
}

function lowerChoicesOf(options: CompileOptions): LowerChoices {
  const { allowsCpuOnly } = targetOf(options);
  return {
    isMmaFast: isMmaFast(options),
    hasMma: allowsCpuOnly && !options.isForText,
    // Instruments observe what a product reads of other lanes.
    hasProductFunctions: !allowsCpuOnly && !options.isForText && !isInstrumented(options),
    hasReadingFunctions: allowsCpuOnly && !options.isForText && !isInstrumented(options),
    hasMarks: options.marks ?? false,
    isSanitized: options.sanitize ?? false,
    isForCpu: allowsCpuOnly,
    clusters: allowsCpuOnly && !options.isForText ? 'turns' : 'groups',
    afterPass: afterPassOf(options),
  };
}

function passChoicesOf(source: SourceFile, options: CompileOptions): PassChoices {
  const { allowsCpuOnly, emulatesDoubles, name } = targetOf(options);
  return {
    file: source,
    masks: options.sanitize ? 'keep' : allowsCpuOnly ? 'keep-divergent' : 'check',
    target: name,
    emulatesDoubles: emulatesDoubles === true && !allowsCpuOnly,
    isMmaFast: isMmaFast(options),
    countsClocks: options.allowFallback?.includes('clock') === true && (!allowsCpuOnly || options.isForText === true),
    isInstrumented: isInstrumented(options),
    afterPass: afterPassOf(options),
  };
}

interface AirModules<T> {
  /** What became of the AIR of each kernel. */
  readonly made: T[];
  readonly reflection: Reflection;
}

/**
 * PTX to AIR, one kernel after the other: `finish` is given the module of each, of which nothing else is kept. What is said does not depend on
 * that order, for each stage has its own list. Undefined after reporting errors.
 */
function toAir<T>(
  source: SourceFile,
  options: CompileOptions,
  diagnostics: Diagnostics,
  finish: (module: LlvmModule) => T,
): AirModules<T> | undefined {
  const pieces = checkPieces(source, options);
  if (pieces) {
    const own = new Diagnostics(source);
    const modules = checkedToAir({ source, ...pieces }, options, own, finish);
    if (!pieces.hasFindings()) {
      diagnostics.addAll(own.list);
      return modules;
    }
  }
  const checked = checkSource(source, options, diagnostics);
  return checked && checkedToAir({ source, checked }, options, diagnostics, finish);
}

export interface CheckedText {
  readonly source: SourceFile;
  readonly checked: Checked;
  /** The entries, if they are not those of `checked`. */
  readonly entries?: Iterable<CheckedFunction>;
}

/** As `toAir`, of a module that was checked. */
export function checkedToAir<T>(
  { source, checked, entries }: CheckedText,
  options: CompileOptions,
  diagnostics: Diagnostics,
  finish: (module: LlvmModule) => T,
): AirModules<T> | undefined {
  const stages = newStages(source);
  const work: Work = { source, options, target: targetOf(options), choices: passChoicesOf(source, options), stages, doubles: [] };
  const made: T[] = [];
  const kernels: KernelReflection[] = [];
  for (const [kernel, entry] of lowerEntries(checked, diagnostics, lowerChoicesOf(options), entries)) {
    if (diagnostics.hasErrors) continue;
    const finished = finishKernel(kernel, { span: entry.fn.nameSpan, declared: staticSharedBytes(checked, entry) }, work);
    forgetBody(entry);
    if (!finished) continue;
    made.push(finish(finished.module));
    kernels.push(finished.reflection);
  }
  if (diagnostics.hasErrors) return undefined;
  if (work.target.emulatesDoubles && !work.target.allowsCpuOnly) noteEmulation(work.doubles, work.target.name, stages.doubles);
  for (const [stage, { list }] of Object.entries(stages)) {
    if (stage === 'emission') diagnostics.addNew(list);
    else diagnostics.addAll(list);
    if (lastStages.has(stage) && diagnostics.hasErrors) return undefined;
  }
  return { made, reflection: { abi: 1, target: targetNameOf(options), kernels } };
}

/** What the stages behind lowering report, in their order. */
type Stages = Readonly<Record<'passes' | 'lints' | 'atomics' | 'shared' | 'doubles' | 'emission', Diagnostics>>;

const newStages = (source: SourceFile): Stages => {
  const list = (): Diagnostics => new Diagnostics(source);
  return { passes: list(), lints: list(), atomics: list(), shared: list(), doubles: list(), emission: list() };
};

/** The stages behind which compilation ends if any kernel has errors. */
const lastStages: ReadonlySet<string> = new Set(['atomics', 'shared', 'emission']);

interface Work {
  readonly source: SourceFile;
  readonly options: CompileOptions;
  readonly target: Target;
  readonly choices: PassChoices;
  readonly stages: Stages;
  /** The instructions of all kernels whose doubles are emulated. */
  readonly doubles: Span[];
}

/** An entry: the span of its name, and its static shared memory as `ptxas` counts it. */
interface Declared {
  readonly span: Span;
  readonly declared: number;
}

interface FinishedKernel {
  readonly module: LlvmModule;
  readonly reflection: KernelReflection;
}

/** A kernel as lowered, to AIR. Undefined after errors, of this kernel or another; then it passes the stages up to the last that is reported. */
function finishKernel(kernel: Kernel, { span, declared }: Declared, work: Work): FinishedKernel | undefined {
  const { options, target, choices, stages, source } = work;
  const isForGpu = !target.allowsCpuOnly && !isInstrumented(options);
  const checkedMasks = optimizeLowered(kernel, choices, stages.passes);
  if (options.lints) lintBarriers(kernel, stages.lints);
  if (isForGpu) expandKernelAtomics(kernel, span, { target, afterPass: choices.afterPass }, stages.atomics);
  if (stages.passes.hasErrors || stages.lints.hasErrors || stages.atomics.hasErrors) return undefined;
  const reflection = { ...reflectKernel(kernel, target), ...(checkedMasks ? { checkedMasks } : {}) };
  refuseTooMuchShared(reflection, { target, declared, span }, stages.shared);
  if (stages.shared.hasErrors) return undefined;
  if (options.fp64 === 'warn' && !target.allowsCpuOnly) warnOfDoubles(kernel, source, target.name, stages.doubles);
  if (target.emulatesDoubles && !target.allowsCpuOnly) for (const place of emulatedDoubles(kernel)) work.doubles.push(place);
  const lines = isInstrumented(options) ? source : undefined;
  const module = emitKernel(kernel, target, stages.emission, { lines, afterPass: choices.afterPass });
  if (stages.emission.hasErrors) return undefined;
  const broken = new Diagnostics(source);
  // Instrumented modules call functions that Apple GPUs do not have.
  if (isForGpu && !validateAir(module, broken)) bug(`emitted AIR breaks a rule: ${broken.list.map((d) => d.message).join('; ')}`);
  return { module, reflection };
}

/**
 * Expands 64-bit atomics for Apple GPUs; returns false after reporting errors. Instrumented kernels keep them, so that instruments observe one
 * access.
 */
function expandsAtomics({ ir, places }: FrontEnd, target: Target, options: CompileOptions, diagnostics: Diagnostics): boolean {
  if (target.allowsCpuOnly || isInstrumented(options)) return true;
  const how = { target, afterPass: afterPassOf(options) };
  for (const kernel of ir.kernels) expandKernelAtomics(kernel, places.get(kernel.name), how, diagnostics);
  return !diagnostics.hasErrors;
}

interface Expansion {
  readonly target: Target;
  readonly afterPass: AfterPass | undefined;
}

function expandKernelAtomics(kernel: Kernel, span: Span | undefined, { target, afterPass }: Expansion, diagnostics: Diagnostics): void {
  expandAtomics(kernel, target, diagnostics, afterPass);
  fitSlots(kernel, span, diagnostics);
}

/** The bitcode of a kernel's module for the target that options choose. */
export const bitcodeFor = (options: CompileOptions): ((module: LlvmModule) => KernelBitcode) => {
  const { dialect } = targetOf(options);
  return (module) => ({ name: module.functions[0]!.name, bitcode: writeModule(module, dialect) });
};

/** The container; reports CM5092 for one without kernels. */
function pack(kernels: readonly KernelBitcode[], options: CompileOptions, diagnostics: Diagnostics): Uint8Array {
  if (kernels.length === 0) diagnostics.report('CM5092', {});
  return libraryOf(kernels, targetOf(options), options);
}
