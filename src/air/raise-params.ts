/** Parameters and variables of a raised kernel: buffers to IR parameters, inputs to special registers, globals to variables. */
import { parseFormat } from '../base/printf/conversion.ts';
import type { Constant, GlobalVariable, Module } from '../bitcode/model.ts';
import { type Type as LlvmType, spell } from '../bitcode/types.ts';
import {
  emptyKernel,
  faultWordName,
  type Kernel,
  type KernelParam,
  moduleMemoryName,
  packedValuesName,
  printBufferName,
  type Variable,
} from '../ir/index.ts';
import { alignOf, fieldOffset, hasMemoryForm, sizeOf } from './layout.ts';
import { type RaiseState, Refused } from './raise-state.ts';
import {
  type KernelDescription,
  type ParamDescription,
  readFaults,
  readFormats,
  readFunctionConstants,
  readMemory,
  readPacked,
} from './read-metadata.ts';
import { spaces } from './targets.ts';

/** A kernel with its parameters and variables and no blocks. */
export function raiseKernelShell(module: Module, description: KernelDescription): Kernel {
  refuseUnknown(module, description);
  const kernel = emptyKernel(description.fn.name);
  kernel.maxThreads = description.maxThreads;
  for (const param of description.params)
    if (param.kind === 'buffer') kernel.params.push(withHidden(kernelParam(param, spaceOfBuffer(param, description)), module));
  for (const global of module.globals) kernel.variables.push(variable(global));
  return kernel;
}

/** What no launch can give: textures and the like, and function constants, whose values are the caller's. */
function refuseUnknown(module: Module, { params }: KernelDescription): void {
  const other = params.find((param) => param.kind === 'other');
  if (other) throw new Refused(`a parameter of the kind \`${other.what}\``);
  const constants = readFunctionConstants(module);
  if (constants.length > 0) throw new Refused(`a kernel with function constants (${constants.map((name) => `\`${name}\``).join(', ')})`);
}

/** Parameters that no caller hands over say so, as the module describes them. */
function withHidden(param: KernelParam, module: Module): KernelParam {
  if (param.name === faultWordName) return { ...param, faults: readFaults(module) };
  if (param.name === printBufferName) return { ...param, formats: readFormats(module).map(printable) };
  if (param.name === packedValuesName && param.kind === 'value') {
    const packed = readPacked(module, param.size);
    if (!packed) throw new Refused(`\`${packedValuesName}\` without a description that makes sense`);
    return { ...param, packed };
  }
  if (param.name !== moduleMemoryName) return param;
  const memory = readMemory(module);
  if (!memory) throw new Refused(`\`${moduleMemoryName}\` without a description that makes sense`);
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
    if (param.kind === 'buffer') state.define(arg, [state.b.param(state.typesOf(arg.type)[0]!, { index: index++ })]);
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

/** Bytes; far more than a GPU has for variables, and little enough for any host. */
export const largestVariable = 2 ** 26;

function variable(global: GlobalVariable): Variable {
  const { space } = global.type;
  if (global.section?.startsWith('air.')) throw new Refused(`function constants (\`${global.name}\`)`);
  if (!hasMemoryForm(global.valueType)) throw new Refused(`the variable \`${global.name}\` of type ${spell(global.valueType)}`);
  const size = sizeOf(global.valueType);
  if (size > largestVariable) throw new Refused(`the variable \`${global.name}\` of ${size} bytes`);
  const align = Math.max(global.align, alignOf(global.valueType));
  const common = { name: global.name, size, align, isDynamic: false, element: undefined };
  if (space === spaces.threadgroup) return { ...common, space: 'shared', init: undefined };
  if (space !== spaces.constant || !global.init) throw new Refused(`the variable \`${global.name}\` in address space ${space}`);
  const bytes = new Uint8Array(size);
  fill(bytes, 0, global.init);
  return { ...common, space: 'constant', init: bytes };
}

/** Writes a constant's bytes as they lie in memory. */
function fill(bytes: Uint8Array, at: number, constant: Constant): void {
  if (constant.kind !== 'constant') throw new Refused('a constant that holds an address');
  switch (constant.form) {
    case 'int':
      return put(bytes, at, constant.value, sizeOf(constant.type));
    case 'float':
      return put(bytes, at, constant.bits, sizeOf(constant.type));
    case 'aggregate': {
      const { type } = constant;
      constant.elements.forEach((element, i) => {
        const offset = type.kind === 'struct' ? fieldOffset(type, i) : i * sizeOf(element.type);
        fill(bytes, at + offset, element);
      });
      return;
    }
    case 'null':
    case 'undef':
    case 'poison':
      return;
    default:
      throw new Refused(`a constant expression (${constant.form}) in an initialiser`);
  }
}

function put(bytes: Uint8Array, at: number, bits: bigint, size: number): void {
  for (let i = 0; i < size; i++) bytes[at + i] = Number((bits >> BigInt(8 * i)) & 0xffn);
}
