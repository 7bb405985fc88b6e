/**
 * LLVM IR of the NVPTX conventions to PTX: what clang makes of the device half of a `.cu` file, as bitcode of LLVM 19 and later. It does
 * the work of LLVM's NVPTX back end, which the clang that runs without an installation does not have: instruction selection, state
 * spaces, calls, inline assembly, lines of the source. Everything behind it is the road that PTX takes. Knows LLVM's modules; knows
 * neither the syntax tree of PTX nor the IR.
 * Source: LLVM's NVPTX usage guide; PTX ISA 9.0.
 */
import type { Diagnostics } from '../base/diagnostic.ts';
import {
  type GlobalVariable,
  type Function as LlvmFunction,
  type Module,
  operandsOf,
  partsOf,
  readModule,
  type Value,
} from '../bitcode/index.ts';
import { functionText } from './function.ts';
import { globalTexts } from './globals.ts';
import { newLines } from './lines.ts';
import { nameSymbols } from './names.ts';
import { Refused } from './refused.ts';
import { headText, isKernel, parameterBytes } from './signatures.ts';
import type { ModuleState } from './state.ts';
import { nameOf } from './values.ts';

/** The version of the PTX that is written, and the architecture if the module names none. */
const ptxVersion = '8.0';
/** The first version in which a kernel may have more than 4352 bytes of parameters. */
const largeParameterVersion = '8.1';
const hasLargeParameters = (fn: LlvmFunction): boolean => isKernel(fn) && parameterBytes(fn) > 4352;
const defaultArchitecture = 80;

/** The first architecture with clusters of blocks, which headers use whatever clang compiles for. */
const clusterArchitecture = 90;
const isOfClusters = (text: string | undefined): boolean => /cluster|\bmapa\b|\bgetctarank\b/.test(text ?? '');

/** How a module becomes PTX. */
export interface PtxOptions {
  /** Whether the result is linked with that of other files, which may define what it names; false by default. */
  readonly isRelocatable?: boolean;
}

/** The PTX of a bitcode module; undefined after reporting CM4002 or CM4080. */
export function ptxOfBitcode(bytes: Uint8Array, diagnostics: Diagnostics, options: PtxOptions = {}): string | undefined {
  const module = readModule(bytes, diagnostics, 'latest');
  return module && ptxOfModule(module, diagnostics, options);
}

/** The PTX of a module; undefined after reporting CM4080. */
export function ptxOfModule(module: Module, diagnostics: Diagnostics, { isRelocatable = false }: PtxOptions = {}): string | undefined {
  if (!module.triple.startsWith('nvptx64')) {
    diagnostics.report('CM4080', { where: module.sourceFilename, what: `a module for \`${module.triple}\``, name: 'the module' });
    return undefined;
  }
  const symbols = [...module.globals, ...module.functions];
  const state: ModuleState = {
    module,
    isRelocatable,
    names: nameSymbols(symbols),
    lines: newLines(),
    externs: new Map(),
    sm: architectureOf(module),
  };
  const used = usedSymbols(module, isRelocatable);
  const defined = module.functions.filter((fn) => fn.blocks.length > 0 && used.has(fn));
  const texts = defined.map((fn) => unlessRefused(state, fn.name, diagnostics, () => functionText(state, fn)));
  const globals = unlessRefused(state, 'a variable', diagnostics, () => globalTexts(state, (global) => used.has(global)));
  if (!globals || texts.includes(undefined)) return undefined;
  const prototypes = defined.filter((fn) => !isKernel(fn)).map((fn) => `${headText(fn, nameOf(state, fn))};`);
  return [
    `.version ${defined.some(hasLargeParameters) ? largeParameterVersion : ptxVersion}`,
    `.target sm_${texts.some(isOfClusters) ? Math.max(state.sm, clusterArchitecture) : state.sm}`,
    '.address_size 64',
    '',
    ...state.externs.values(),
    ...prototypes,
    ...globals,
    '',
    ...texts,
    ...state.lines.files(),
    '',
  ].join('\n');
}

/** The architecture that clang compiled for: an attribute of each function. */
function architectureOf(module: Module): number {
  for (const fn of module.functions)
    for (const each of fn.attributes.function)
      if (each.form === 'string' && each.key === 'target-cpu')
        return Number(/^sm_(\d+)/.exec(each.value ?? '')?.[1] ?? defaultArchitecture);
  return defaultArchitecture;
}

/** A text; undefined after reporting CM4080 in `name`, at the instruction's line where that is known. */
function unlessRefused<T>({ module }: ModuleState, name: string, diagnostics: Diagnostics, make: () => T): T | undefined {
  try {
    return make();
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    diagnostics.report('CM4080', { where: error.where ?? module.sourceFilename, what: error.message, name });
    return undefined;
  }
}

/** Symbols that kernels and visible variables reach, and functions that other files may call if the module is linked with them. */
function usedSymbols(module: Module, isRelocatable: boolean): ReadonlySet<unknown> {
  const used = new Set<unknown>();
  const open: (LlvmFunction | GlobalVariable)[] = [];
  const enter = (value: Value | LlvmFunction | GlobalVariable): void => {
    if (used.has(value)) return;
    if (value.kind === 'instruction' || value.kind === 'argument') return;
    used.add(value);
    if (value.kind === 'function' || value.kind === 'global') open.push(value);
    else for (const part of partsOf(value)) enter(part);
  };
  for (const fn of module.functions.filter(isRelocatable ? isForOthers : isKernel)) enter(fn);
  for (const global of module.globals) if (isVisible(global)) enter(global);
  for (let symbol = open.pop(); symbol; symbol = open.pop()) {
    if (symbol.kind === 'global') {
      if (symbol.init) enter(symbol.init);
    } else for (const block of symbol.blocks) for (const inst of block.body) for (const value of operandsOf(inst)) enter(value);
  }
  return used;
}

/** Whether it is a kernel, or other files may call it; of what each file defines that needs it, only what this one needs counts. */
const isForOthers = (fn: LlvmFunction): boolean => {
  const { blocks, linkage } = fn;
  return isKernel(fn) || (blocks.length > 0 && linkage !== 'internal' && linkage !== 'private' && !linkage.startsWith('linkonce'));
};

/** Variables that the host may name: those that it may initialize. */
const isVisible = ({ linkage, init, externallyInitialized, name }: GlobalVariable): boolean =>
  !name.startsWith('llvm.') && init !== undefined && (externallyInitialized || (linkage !== 'internal' && linkage !== 'private'));
