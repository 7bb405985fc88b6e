/**
 * Prints kernels as PTX: control flow with labels and branches, registers for values, and what the driver takes as a module. Instructions that
 * the kernels have kept (`PureFunction.since`) are written as they were; every other op of the IR has a rule.
 */

import type { Diagnostics } from '../../base/diagnostic.ts';
import type { SourceFile } from '../../base/source.ts';
import { expandMatmul } from '../../engine/index.ts';
import { copyOf, edgesOf, type Kernel, type ModuleMemory, operandsOf, type Value } from '../../ir/index.ts';
import { rootSymbol } from './addresses.ts';
import { type Declared, kernelText } from './kernel.ts';
import { fileLines, locPlaces } from './loc.ts';
import type { Module } from './printer.ts';
import { readValues } from './values.ts';
import { declareMemory } from './variables.ts';

export type { Declared } from './kernel.ts';

/** The architectures that PTX is written for, with the first version of the language for each. Source: PTX ISA 9.0, chapter 13. */
export const ptxArchitectures: Readonly<Record<string, number>> = {
  sm_50: 4,
  sm_52: 4.1,
  sm_53: 4.2,
  sm_60: 5,
  sm_61: 5,
  sm_62: 5,
  sm_70: 6,
  sm_72: 6.1,
  sm_75: 6.3,
  sm_80: 7,
  sm_86: 7.1,
  sm_87: 7.4,
  sm_89: 7.8,
  sm_90: 7.8,
  sm_90a: 8,
};

export interface PtxOptions {
  /** A name of `ptxArchitectures`. */
  readonly architecture: string;
  /** The PTX that the kernels come from. */
  readonly source?: SourceFile | undefined;
  /** By kernel: what the source declares. */
  readonly declared?: ReadonlyMap<string, Declared>;
  /** The variables of the module that hosts reach, where no kernel names them. */
  readonly memory?: ModuleMemory | undefined;
  /** By variable of the module: its linkage; `.visible ` where absent. */
  readonly linkage?: ReadonlyMap<string, string>;
}

/** The variables in constant memory that kernels only read: addresses of others are handed on as those of global memory. */
function constantSymbols(kernels: readonly Kernel[]): Set<string> {
  const [found, others] = [new Set<string>(), new Set<string>()];
  for (const kernel of kernels)
    for (const { body, end } of kernel.blocks) {
      const note = (value: Value, isRead: boolean): void => {
        const symbol = kernel.insts[value]!.type === 'ptr.global' ? rootSymbol(kernel, value) : undefined;
        if (symbol?.isConst) (isRead ? found : others).add(symbol.name);
      };
      for (const value of body) {
        const inst = kernel.insts[value]!;
        for (const operand of operandsOf(inst)) note(operand, inst.op === 'load' || inst.op === 'ptradd');
      }
      for (const { args } of edgesOf(end)) for (const arg of args) note(arg, false);
    }
  return new Set([...found].filter((name) => !others.has(name)));
}

/** The text of a module; what PTX does not have is reported (CM2090), and the text is then of no use. */
export function ptxFile(kernels: readonly Kernel[], diagnostics: Diagnostics, options: PtxOptions): string {
  const { architecture, source, declared, memory, linkage } = options;
  const module: Module = {
    sm: Number.parseInt(architecture.slice(3), 10),
    architecture,
    hasCallees: kernels.some(({ callees }) => callees !== undefined),
    version: ptxArchitectures[architecture]!,
    declared: new Map(),
    linkage: (name) => linkage?.get(name) ?? '.visible ',
    constants: constantSymbols(kernels),
    diagnostics,
  };
  const whole = memory ?? kernels.flatMap(({ params }) => params.flatMap((param) => param.memory ?? []))[0];
  if (whole) declareMemory(whole, module);
  const loc = source && locPlaces(source);
  const callees = new Map(kernels.flatMap((kernel) => [...(kernel.callees ?? [])]));
  for (const { name, head } of callees.values()) module.declared.set(`head ${name}`, `${head};`);
  const texts = [...callees.values(), ...kernels].map((kernel) => {
    const own = copyOf(kernel);
    expandMatmul(own);
    readValues(own);
    return kernelText(own, module, { source, declared: declared?.get(kernel.name), loc });
  });
  const version = module.version.toFixed(1);
  const head = ['//', '// Written by cumetal.', '//', '', `.version ${version}`, `.target ${architecture}`, '.address_size 64', ''];
  const files = loc ? ['', ...fileLines(source!)] : [];
  return `${[...head, ...module.declared.values(), '', ...texts, ...files].join('\n')}\n`;
}
