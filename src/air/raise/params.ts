/** Raises parameters and variables of a kernel: buffers to IR parameters, inputs to special registers, globals to variables. */
import { parseFormat } from '../../base/printf/conversion.ts';
import type { Module } from '../../bitcode/model.ts';
import { type Type as LlvmType, spell } from '../../bitcode/types.ts';
import {
  emptyKernel,
  faultWordName,
  isHidden,
  type Kernel,
  type KernelParam,
  lockTableName,
  moduleMemoryName,
  packedValuesName,
  printBufferName,
  serviceNamed,
} from '../../ir/index.ts';
import { spaces } from '../targets.ts';
import { Refused } from '../types.ts';
import { type ConstantValues, raiseVariables } from './constants.ts';
import { type KernelDescription, type ParamDescription, readFaults, readFormats, readMemory, readPacked } from './read-metadata.ts';
import type { RaiseState } from './state.ts';

/** A kernel with its parameters and variables but without blocks. Parameters that no launch can supply, such as textures, are refused. */
export function raiseKernelShell(module: Module, description: KernelDescription, values: ConstantValues): Kernel {
  const kernel = emptyKernel(description.fn.name);
  kernel.maxThreads = description.maxThreads;
  if (description.cluster) kernel.cluster = description.cluster;
  kernel.variables = raiseVariables(module, values);
  for (const param of description.params) {
    if (!isPresent(kernel, param)) continue;
    if (param.kind === 'other') throw new Refused(`a parameter of the kind \`${param.what}\``);
    if (param.kind === 'buffer') kernel.params.push(withHidden(kernelParam(param, spaceOfBuffer(param, description)), module));
  }
  refuseGaps(kernel);
  return kernel;
}

/** Refuses packed values whose positions leave parameters of the source without any. */
function refuseGaps({ params }: Kernel): void {
  const packed = params.find((param) => param.packed)?.packed;
  if (!packed) return;
  const others = params.filter((param) => !param.packed && param.kind !== 'threadgroup' && !isHidden(param));
  if (packed.some(({ position }) => position >= packed.length + others.length)) throw new Refused(invalidPacked);
}

/** Whether a parameter exists: a conditional one does if its condition is not 0. */
function isPresent({ variables }: Kernel, { condition }: ParamDescription): boolean {
  if (condition === undefined) return true;
  const init = variables.find(({ name }) => name === condition)?.init;
  if (!init) throw new Refused(`a parameter with the condition \`${condition}\``);
  return init.some((byte) => byte !== 0);
}

const invalidPacked = `\`${packedValuesName}\` with an invalid description`;

/** Marks parameters that no caller supplies, as the module's metadata describes them. */
function withHidden(param: KernelParam, module: Module): KernelParam {
  if (param.name === faultWordName) return { ...param, faults: readFaults(module) };
  if (param.name === lockTableName) return { ...param, locks: true };
  const service = param.kind === 'pointer' ? serviceNamed(param.name) : undefined;
  if (service) return { ...param, service };
  if (param.name === printBufferName) return { ...param, formats: readFormats(module).map(printable) };
  if (param.name === packedValuesName && param.kind === 'value') {
    const packed = readPacked(module, param.size);
    if (!packed) throw new Refused(invalidPacked);
    return { ...param, packed };
  }
  if (param.name !== moduleMemoryName) return param;
  const memory = readMemory(module);
  if (!memory) throw new Refused(`\`${moduleMemoryName}\` with an invalid description`);
  return { ...param, memory };
}

function printable(format: string): string {
  const pieces = parseFormat(format);
  if ('why' in pieces || /[^\0-\xff]/.test(format)) throw new Refused(`\`${printBufferName}\` with a format that cannot be printed`);
  return format;
}

type BufferDescription = Extract<ParamDescription, { kind: 'buffer' }>;

function spaceOfBuffer(param: BufferDescription, description: KernelDescription): number {
  const type = description.fn.args[param.index]!.type;
  if (type.kind !== 'pointer') throw new Refused(`buffer parameter \`${param.name}\` of type ${spell(type)}`);
  if (param.space >= 0 && param.space !== type.space) throw new Refused(`buffer parameter \`${param.name}\` in two address spaces`);
  return type.space;
}

function kernelParam(param: BufferDescription, space: number): KernelParam {
  const common = {
    name: param.name,
    size: param.typeSize,
    align: param.typeAlign,
    slot: param.slot,
    element: undefined,
    signed: false,
    access: param.access,
  };
  if (space === spaces.threadgroup) return { ...common, kind: 'threadgroup', space: 'shared' };
  if (space === spaces.device) return { ...common, kind: 'pointer', space: 'global' };
  if (space !== spaces.constant) throw new Refused(`buffer parameter \`${param.name}\` in address space ${space}`);
  if (param.bufferSize === undefined) return { ...common, kind: 'pointer', space: 'constant' };
  return { ...common, kind: 'value', space: 'constant', size: param.bufferSize };
}

/** Defines the function's arguments: addresses of buffers, special registers. */
export function raiseArguments(state: RaiseState, description: KernelDescription): void {
  let index = 0;
  for (const param of description.params) {
    const arg = description.fn.args[param.index]!;
    if (!isPresent(state.kernel, param)) state.define(arg, state.lanes({ kind: 'constant', form: 'undef', type: arg.type }));
    else if (param.kind === 'buffer') state.define(arg, [state.b.param(state.typesOf(arg.type)[0]!, { index: index++ })]);
    else if (param.kind === 'input') state.define(arg, inputLanes(state, param, arg.type));
  }
}

function inputLanes(state: RaiseState, param: Extract<ParamDescription, { kind: 'input' }>, type: LlvmType) {
  const lanes = state.typesOf(type);
  const sregs = param.input.sregs;
  if (lanes.length > sregs.length) throw new Refused(`\`air.${param.input.name}\` as ${spell(type)}`);
  return lanes.map((lane, i) => {
    const value = param.input.made?.(state.b, i) ?? state.b.sreg('i32', { name: sregs[i]! });
    if (lane === 'i32') return value;
    if (lane === 'i16') return state.b.trunc('i16', value);
    throw new Refused(`\`air.${param.input.name}\` as ${spell(type)}`);
  });
}
