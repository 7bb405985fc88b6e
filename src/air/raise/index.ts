/**
 * AIR to IR: the front end of the CPU device, for metallibs of any compiler. Vectors, structs and arrays of LLVM become scalars, pointers
 * become opaque, phis become block parameters. Graphics functions, unknown functions and operations without exact meaning are refused by
 * name (CM4053).
 */

import { Diagnostics } from '../../base/diagnostic.ts';
import type { Module } from '../../bitcode/model.ts';
import { operandsOf } from '../../bitcode/operands.ts';
import { addBlock, builder, isHidden, type Kernel, renumber, verify } from '../../ir/index.ts';
import { withoutTensorMemory } from '../../ir/tensor-memory.ts';
import type { KernelReflection, ParamReflection } from '../abi.ts';
import { blockLimits, isWord, reflectHidden, reflectLimits, withPacked } from '../reflect.ts';
import { Refused } from '../types.ts';
import { inlineCall, maxInstructions, raiseBlocks } from './blocks.ts';
import { type ConstantValues, definedIn } from './constants.ts';
import { bytesOfConstant, type FunctionConstant, type GivenConstant, givenFor, readFunctionConstants } from './function-constants.ts';
import { raiseArguments, raiseKernelShell } from './params.ts';
import { elementOfTypeName, type KernelDescription, readKernels, readTarget } from './read-metadata.ts';
import { initializeShared } from './shared.ts';
import { raiseState } from './state.ts';

/** A kernel as IR, with its reflection. */
export interface RaisedKernel {
  readonly kernel: Kernel;
  readonly reflection: KernelReflection;
}

/** Raises the compute kernels of a module. Kernels that cannot be raised are reported and omitted. */
export function raiseModule(module: Module, diagnostics: Diagnostics, given: readonly GivenConstant[] = []): RaisedKernel[] {
  const constants = readFunctionConstants(module);
  const bytes = new Map<FunctionConstant, Uint8Array>();
  for (const constant of constants) {
    const value = givenFor(constant, given)?.value;
    const made = value === undefined ? undefined : bytesOfConstant(constant.type, value);
    if (made instanceof Uint8Array) bytes.set(constant, made);
    else if (made) diagnostics.report('CM4055', { ...constant, ...made });
  }
  return raiseWith(module, { constants, bytes }, diagnostics);
}

function raiseWith(module: Module, values: ConstantValues, diagnostics: Diagnostics): RaisedKernel[] {
  const raised: RaisedKernel[] = [];
  for (const description of readKernels(module, diagnostics)) {
    const kernel = isComplete(values, description, diagnostics) ? raiseKernel(module, description, values, diagnostics) : undefined;
    if (!kernel) continue;
    const reflection = { ...reflect(description, kernel), ...reflectConstants(values), ...reflectLimits(readTarget(module)) };
    raised.push({ kernel, reflection });
  }
  return raised;
}

/** Whether each required function constant has a value; reports CM4054 for the others. */
function isComplete({ constants, bytes }: ConstantValues, { fn }: KernelDescription, diagnostics: Diagnostics): boolean {
  const missing = constants.filter((constant) => constant.isRequired && !bytes.has(constant));
  for (const { name, type, index } of missing)
    diagnostics.report('CM4054', { kernel: fn.name, name, type, index: index === undefined ? '' : `, number ${index}` });
  return missing.length === 0;
}

function reflectConstants({ constants }: ConstantValues): Pick<KernelReflection, 'constants'> {
  return constants.length > 0 ? { constants: constants.map(({ variable: _, ...constant }) => constant) } : {};
}

/**
 * The bindings of a module's kernels without their bodies: parameters and variables, and no blocks. Kernels with parameters that no launch
 * can supply are reported and omitted. Function constants have no values here.
 */
export function describeModule(module: Module, diagnostics: Diagnostics): RaisedKernel[] {
  const values: ConstantValues = { constants: readFunctionConstants(module), bytes: new Map() };
  return readKernels(module, diagnostics).flatMap((description) => {
    const kernel = unlessRefused(description, diagnostics, () => raiseKernelShell(module, description, values));
    if (!kernel) return [];
    return [{ kernel, reflection: { ...reflect(description, kernel), ...reflectConstants(values), ...reflectLimits(readTarget(module)) } }];
  });
}

/** The bindings of a host, from the metadata alone. Function constants are assumed to be given with value 0. */
export function reflectModule(module: Module, diagnostics: Diagnostics): KernelReflection[] {
  const constants = readFunctionConstants(module);
  const bytes = new Map(constants.map((constant) => [constant, new Uint8Array(0)]));
  return raiseWith(module, { constants, bytes }, diagnostics).map((each) => each.reflection);
}

function reflect(description: KernelDescription, kernel: Kernel): KernelReflection {
  const params = description.params.flatMap((p): ParamReflection[] => {
    if (p.kind !== 'buffer') return [];
    const raised = kernel.params.find((k) => k.slot === p.slot && k.name === p.name && k.kind !== 'threadgroup');
    if (!raised || isHidden(raised)) return [];
    // A reference to device memory has a size as well, and is a buffer.
    const isBytes = raised.kind === 'value';
    return [
      {
        name: p.name,
        slot: p.slot,
        kind: isBytes ? 'bytes' : 'buffer',
        size: isBytes ? raised.size : p.typeSize,
        align: p.typeAlign,
        element: elementOfTypeName(p.typeName),
        access: p.access,
        ...(isBytes && isWord(elementOfTypeName(p.typeName)) && !isRead(description, p.index) ? { isUnused: true as const } : {}),
      },
    ];
  });
  const shared = kernel.variables.filter((v) => v.space === 'shared');
  const staticBytes = shared.filter((v) => !v.isDynamic).reduce((sum, v) => Math.ceil(sum / v.align) * v.align + v.size, 0);
  const sharedArguments = kernel.params.filter((p) => p.kind === 'threadgroup').length;
  return {
    name: kernel.name,
    params: withPacked(params, kernel),
    ...reflectHidden(kernel),
    staticSharedBytes: description.cluster?.group?.sharedBytes ?? withoutTensorMemory(staticBytes),
    usesDynamicShared: description.cluster?.group?.isDynamic ?? sharedArguments > 0,
    ...(sharedArguments > 1 ? { sharedArguments } : {}),
    ...blockLimits(description),
    ...(description.cluster ? { cluster: description.cluster } : {}),
  };
}

/** Whether an instruction of the function has the argument. */
function isRead({ fn }: KernelDescription, index: number): boolean {
  const argument = fn.args[index]!;
  return fn.blocks.some(({ body }) => body.some((inst) => operandsOf(inst).includes(argument)));
}

function raiseKernel(module: Module, description: KernelDescription, values: ConstantValues, diagnostics: Diagnostics): Kernel | undefined {
  return unlessRefused(description, diagnostics, () => {
    const kernel = raiseKernelShell(module, description, values);
    raiseBody(kernel, module, description, values);
    refuseInvalid(kernel);
    return kernel;
  });
}

function unlessRefused(description: KernelDescription, diagnostics: Diagnostics, make: () => Kernel): Kernel | undefined {
  try {
    return make();
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    diagnostics.report('CM4053', { kernel: description.fn.name, why: error.message });
    return undefined;
  }
}

/** Verifies a raised kernel, because a damaged file may violate invariants of the IR, such as definitions before uses. */
function refuseInvalid(kernel: Kernel): void {
  const found = new Diagnostics();
  if (!verify(kernel, found)) throw new Refused(`a body in which ${found.list[0]!.message}`);
}

function raiseBody(kernel: Kernel, module: Module, description: KernelDescription, values: ConstantValues): void {
  const fn = description.fn;
  if (fn.blocks.length === 0) throw new Refused('it has no body');
  const state = raiseState(kernel, builder(kernel, addBlock(kernel)), {
    within: [fn],
    returned: undefined,
    budget: { left: maxInstructions },
    inline: inlineCall,
    isDefined: definedIn(values),
  });
  raiseArguments(state, description);
  initializeShared(state, module);
  raiseBlocks(state, fn);
  renumber(kernel);
}
