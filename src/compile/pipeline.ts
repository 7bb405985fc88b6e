/**
 * The pipeline, stage after stage. It ends at the first stage that reports errors, except for parsing: a module with syntax errors is
 * still checked.
 */

import {
  defaultTarget,
  emitKernel,
  type KernelReflection,
  legalize,
  type Reflection,
  type Target,
  type TargetName,
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
  type ModuleMemory,
  observers,
  printModule,
  runPass,
  runPasses,
  standardPasses,
  verifyAfterPass,
} from '../ir/index.ts';
import { fitSlots, lowerModule, memoryOf, promoteLocals, staticSharedBytes } from '../lower/index.ts';
import { type PtxFunction, parse, printAst, printVariable } from '../ptx/index.ts';
import { checkSource } from './check-source.ts';
import { libraryOf } from './library.ts';
import { lintBarriers } from './lint.ts';
import type { CheckedMasks } from './masks.ts';
import type { Compiled, CompileOptions, Emit } from './options.ts';
import { expandAtomics, optimizeLowered, type PassChoices } from './passes.ts';
import { refuseForeign } from './refuse-foreign.ts';
import { noteEmulation, warnOfDoubles } from './warn-doubles.ts';

/** PTX text to a metallib with its reflection; returns nothing after reporting errors. */
export function compile(source: SourceFile, options: CompileOptions, diagnostics: Diagnostics): Compiled | undefined {
  const modules = toAir(source, options, diagnostics);
  if (!modules) return undefined;
  const target = targetOf(options);
  return { metallib: pack(modules.air, target, options, diagnostics), reflection: modules.reflection };
}

/** The bindings of each entry, independent of a target, for devices that take the PTX itself; nothing after reporting errors. */
export function reflect(source: SourceFile, options: CompileOptions, diagnostics: Diagnostics): Reflection | undefined {
  const front = frontEnd(source, { ...options, target: 'cpu' }, diagnostics);
  return front && { abi: 1, target: undefined, kernels: front.ir.kernels.map((kernel) => reflectKernel(kernel, targets.cpu)) };
}

/** Whether a text compiles: runs every stage that can report an error, and reports what `compile` reports. */
export function verifies(source: SourceFile, options: CompileOptions, diagnostics: Diagnostics): boolean {
  return toAir(source, options, diagnostics) !== undefined;
}

/** The text or bytes of one stage; several kernels follow one another in `air-ll`, and `air` takes one kernel only. */
export function emit(source: SourceFile, what: Emit, options: CompileOptions, diagnostics: Diagnostics): Uint8Array | string | undefined {
  if (what === 'ast') return emitAst(source, diagnostics);
  if (what === 'ir') return emitIr(source, options, diagnostics);
  const modules = toAir(source, options, diagnostics);
  if (!modules) return undefined;
  switch (what) {
    case 'metallib':
      return pack(modules.air, targetOf(options), options, diagnostics);
    case 'air':
      return oneModule(modules.air, targetOf(options), diagnostics);
    case 'air-ll':
      return modules.air.map(disassemble).join('\n');
    case 'reflection':
      return `${JSON.stringify(modules.reflection, undefined, 2)}\n`;
  }
}

function emitAst(source: SourceFile, diagnostics: Diagnostics): string | undefined {
  const ast = parse(source, diagnostics);
  return diagnostics.hasErrors ? undefined : printAst(ast);
}

function emitIr(source: SourceFile, options: CompileOptions, diagnostics: Diagnostics): string | undefined {
  const ir = toIr(source, options, diagnostics);
  return ir && printModule(ir);
}

function oneModule(modules: readonly LlvmModule[], target: Target, diagnostics: Diagnostics): Uint8Array | undefined {
  if (modules.length === 1) return writeModule(modules[0]!, target.dialect);
  diagnostics.report('CM5090', { count: modules.length });
  return undefined;
}

/** The name of the target that options choose. */
export const targetNameOf = ({ target, hostTarget }: CompileOptions): TargetName => target ?? hostTarget ?? defaultTarget;

const targetOf = (options: CompileOptions): Target => {
  const target = targets[targetNameOf(options)];
  if (options.fp64 === 'native') return { ...target, allowsCpuOnly: true };
  return options.fp64 === 'emulate' ? { ...target, emulatesDoubles: true } : target;
};

/** Whether the metallib carries information for the CPU device's instruments. */
const isInstrumented = ({ sanitize, marks }: CompileOptions): boolean => Boolean(sanitize || marks);

/** The observers of passes: the verifier first, if requested. */
const afterPassOf = ({ verifiesPasses, afterPass }: CompileOptions): AfterPass | undefined =>
  observers(verifiesPasses ? verifyAfterPass : undefined, afterPass);

/** PTX to optimized IR. */
export function toIr(source: SourceFile, options: CompileOptions, diagnostics: Diagnostics): IrModule | undefined {
  const { fp64: _, ...others } = options;
  return frontEnd(source, others, diagnostics)?.ir;
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
export function toPtxIr(source: SourceFile, sm: number, options: CompileOptions, diagnostics: Diagnostics): PtxModule | undefined {
  const checked = checkSource(source, { ...options, target: 'cpu' }, diagnostics);
  if (!checked) return undefined;
  refuseForeign(checked, sm, diagnostics);
  const afterPass = afterPassOf(options);
  const choices = { ptx: sm, hasMma: sm >= 80, hasNamedBarriers: true, hasClusters: true, hasStack: true, afterPass };
  const ir = diagnostics.hasErrors ? undefined : lowerModule(checked, diagnostics, choices);
  if (!ir || diagnostics.hasErrors) return undefined;
  for (const kernel of ir.kernels) {
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
  /** The static shared memory of each entry as `ptxas` counts it. */
  readonly sharedBytes: ReadonlyMap<string, number>;
  /** By kernel: how its masks are checked at run time. */
  readonly checkedMasks: ReadonlyMap<string, CheckedMasks>;
}

function frontEnd(source: SourceFile, options: CompileOptions, diagnostics: Diagnostics): FrontEnd | undefined {
  const checked = checkSource(source, options, diagnostics, targetOf(options).allowsCpuOnly);
  if (!checked) return undefined;
  const ir = lowerModule(checked, diagnostics, {
    isMmaFast: options.mma === 'fast',
    hasMma: targetOf(options).allowsCpuOnly && !options.expandsMma,
    hasMarks: options.marks ?? false,
    isSanitized: options.sanitize ?? false,
    hasNamedBarriers: targetOf(options).allowsCpuOnly,
    hasClusters: targetOf(options).allowsCpuOnly,
    hasStack: targetOf(options).allowsCpuOnly,
    afterPass: afterPassOf(options),
  });
  if (diagnostics.hasErrors) return undefined;
  const target = targetOf(options);
  const { allowsCpuOnly, emulatesDoubles } = target;
  const choices: PassChoices = {
    file: source,
    masks: options.sanitize ? 'keep' : allowsCpuOnly ? 'keep-divergent' : 'check',
    target: target.name,
    emulatesDoubles: emulatesDoubles === true && !allowsCpuOnly,
    isMmaFast: options.mma === 'fast',
    isInstrumented: isInstrumented(options),
    afterPass: afterPassOf(options),
  };
  const checkedMasks = new Map(ir.kernels.map((kernel) => [kernel.name, optimizeLowered(kernel, choices, diagnostics)]));
  if (options.lints) for (const kernel of ir.kernels) lintBarriers(kernel, diagnostics);
  const places = new Map(checked.entries.map(({ fn }) => [fn.name, fn.nameSpan]));
  const sharedBytes = new Map(checked.entries.map((entry) => [entry.fn.name, staticSharedBytes(checked, entry)]));
  return { ir, checkedMasks, places, sharedBytes };
}

interface AirModules {
  readonly air: LlvmModule[];
  readonly reflection: Reflection;
}

function toAir(source: SourceFile, options: CompileOptions, diagnostics: Diagnostics): AirModules | undefined {
  const front = frontEnd(source, options, diagnostics);
  if (!front) return undefined;
  const { ir, places, sharedBytes, checkedMasks } = front;
  const target = targetOf(options);
  if (!expandsAtomics(front, target, options, diagnostics)) return undefined;
  const kernels: KernelReflection[] = ir.kernels.map((kernel) => {
    const checked = checkedMasks.get(kernel.name);
    return { ...reflectKernel(kernel, target), ...(checked ? { checkedMasks: checked } : {}) };
  });
  for (const kernel of kernels)
    refuseTooMuchShared(kernel, { target, declared: sharedBytes.get(kernel.name)!, span: places.get(kernel.name) }, diagnostics);
  if (diagnostics.hasErrors) return undefined;
  if (options.fp64 === 'warn' && !target.allowsCpuOnly)
    for (const kernel of ir.kernels) warnOfDoubles(kernel, source, target.name, diagnostics);
  if (target.emulatesDoubles && !target.allowsCpuOnly) noteEmulation(ir.kernels, target.name, diagnostics);
  const said = new Diagnostics(diagnostics.file);
  const lines = isInstrumented(options) ? source : undefined;
  const air = ir.kernels.map((kernel) => emitKernel(kernel, target, said, { lines, afterPass: afterPassOf(options) }));
  diagnostics.addNew(said.list);
  if (diagnostics.hasErrors) return undefined;
  // Instrumented modules call functions that Apple GPUs do not have.
  if (!target.allowsCpuOnly && !isInstrumented(options) && !air.every((module) => validateAir(module, diagnostics)))
    bug(`emitted AIR breaks a rule: ${diagnostics.list.map((d) => d.message).join('; ')}`);
  return { air, reflection: { abi: 1, target: targetNameOf(options), kernels } };
}

/**
 * Expands 64-bit atomics for Apple GPUs; returns false after reporting errors. Instrumented kernels keep them, so that instruments observe one
 * access.
 */
function expandsAtomics({ ir, places }: FrontEnd, target: Target, options: CompileOptions, diagnostics: Diagnostics): boolean {
  if (target.allowsCpuOnly || isInstrumented(options)) return true;
  for (const kernel of ir.kernels) {
    expandAtomics(kernel, target, diagnostics, afterPassOf(options));
    fitSlots(kernel, places.get(kernel.name), diagnostics);
  }
  return !diagnostics.hasErrors;
}

/** What an entry declares, and where it is. */
interface DeclaredShared {
  readonly target: Target;
  readonly declared: number;
  readonly span: Span | undefined;
}

/** Reports CM2093 for more than NVIDIA GPUs take, used or not, and for more than the target has. */
function refuseTooMuchShared(
  { name, staticSharedBytes: used }: KernelReflection,
  { target, declared, span }: DeclaredShared,
  diagnostics: Diagnostics,
): void {
  const { declared: maxBytes } = targets.cpu.shared;
  const { declared: limit } = target.shared;
  const where = span ? { span } : {};
  if (declared > maxBytes) diagnostics.report('CM2093', { kernel: name, bytes: declared, who: 'NVIDIA GPUs', limit: maxBytes }, where);
  else if (used > limit) {
    const help = used <= maxBytes ? { help: '`--target cpu` compiles it for the CPU device alone' } : {};
    diagnostics.report(
      'CM2093',
      { kernel: name, bytes: used, who: limit === maxBytes ? 'NVIDIA GPUs' : 'Apple GPUs', limit },
      { ...where, ...help },
    );
  }
}

/** The container; reports CM5092 for one without kernels. */
function pack(modules: readonly LlvmModule[], target: Target, options: CompileOptions, diagnostics: Diagnostics): Uint8Array {
  if (modules.length === 0) diagnostics.report('CM5092', {});
  const kernels = modules.map((module) => ({ name: module.functions[0]!.name, bitcode: writeModule(module, target.dialect) }));
  return libraryOf(kernels, target, options);
}
