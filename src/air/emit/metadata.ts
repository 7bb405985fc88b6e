/**
 * Named metadata of an AIR module: flags, versions, options, and the `air.kernel` node that describes each parameter.
 * Source: real modules of Apple's compilers for macOS 13 to 26 (metalfe 32023), node for node.
 */
import { hexOf } from '../../base/bytes.ts';
import type { Argument, Constant, Function as LlvmFunction, Metadata, MetadataNode, Module } from '../../bitcode/model.ts';
import { types } from '../../bitcode/types.ts';
import {
  bytesOf,
  clusterNumbers,
  faultWordName,
  type Kernel,
  type KernelParam,
  type ModuleMemory,
  moduleMemoryName,
  type PackedValue,
  packedValuesName,
  printBufferName,
  type ScalarType,
} from '../../ir/index.ts';
import { intConstant } from '../constants.ts';
import { clusterRules, requiredBlock, softDoubles, targetName, typeNames } from '../metadata-names.ts';
import { type Item, node } from '../metadata-values.ts';
import { limits, spaces, type Target } from '../targets.ts';
import { windowOf } from '../windows.ts';
import type { Signature } from './emitter.ts';

const value = (of: Constant): Metadata => ({ kind: 'value', value: of });

/** Behaviors of module flags: 1 warning, 2 warning (value kept from the first), 7 maximum. */
const flag = (behavior: number, name: string, content: number | Metadata): MetadataNode => node(behavior, name, content);

/** Flags, ident, versions and options, in Apple's order. */
export function addModuleMetadata(module: Module, target: Target): void {
  const sdk: Constant = {
    kind: 'constant',
    form: 'aggregate',
    type: types.array(types.i32, target.sdkVersion.length),
    elements: target.sdkVersion.map((part) => intConstant(types.i32, part)),
  };
  const flags = [
    flag(2, 'SDK Version', value(sdk)),
    flag(1, 'wchar_size', 4),
    ...(target.dialect.hasFramePointerFlag ? [flag(7, 'frame-pointer', 2)] : []),
    flag(7, 'air.max_device_buffers', limits.buffers),
    flag(7, 'air.max_constant_buffers', limits.buffers),
    flag(7, 'air.max_threadgroup_buffers', limits.buffers),
    flag(7, 'air.max_textures', 128),
    flag(7, 'air.max_read_write_textures', 8),
    flag(7, 'air.max_samplers', 16),
  ];
  const options = ['air.compile.denorms_disable', 'air.compile.fast_math_disable', 'air.compile.framebuffer_fetch_enable'];
  module.namedMetadata.push(
    { name: 'llvm.module.flags', nodes: flags },
    { name: 'llvm.ident', nodes: [node('cumetal')] },
    { name: 'air.version', nodes: [node(...target.airVersion)] },
    { name: 'air.language_version', nodes: [node('Metal', ...target.metalVersion)] },
    { name: 'air.compile_options', nodes: options.map((option) => node(option)) },
  );
  if (target.name === 'cpu') module.namedMetadata.push({ name: targetName, nodes: [node(target.name)] });
}

/** `!air.kernel`: function, outputs (none), one node per parameter, attributes. */
export function addKernelMetadata(module: Module, fn: LlvmFunction, kernel: Kernel, signature: Signature, _target: Target): void {
  const buffers = kernel.params.map((param, i) => (param.kind === 'pointer' ? deviceBuffer(i, param) : valueBuffer(i, param)));
  const dynamic = signature.dynamicShared ? [threadgroupBuffer(kernel, signature.dynamicShared.pointer as Argument)] : [];
  const inputs = signature.inputs.map(({ input, arg, components }) =>
    node(arg.index, `air.${input.name}`, 'air.arg_type_name', components === 3 ? 'uint3' : 'uint', 'air.arg_name', input.argName),
  );
  const attributes = kernel.maxThreads === undefined ? [] : [node('air.max_work_group_size', kernel.maxThreads)];
  // Two empty tuples are the same node.
  const outputs = node();
  const parameters = [...buffers, ...dynamic, ...inputs];
  const entry = node({ kind: 'value', value: fn }, outputs, parameters.length > 0 ? node(...parameters) : outputs, ...attributes);
  module.namedMetadata.push({ name: 'air.kernel', nodes: [entry] });
  const memory = kernel.params.find((param) => param.memory)?.memory;
  if (memory) module.namedMetadata.push({ name: moduleMemoryName, nodes: [...memoryNodes(memory)] });
  const packed = kernel.params.find((param) => param.packed)?.packed;
  if (packed) module.namedMetadata.push({ name: packedValuesName, nodes: packed.map(packedNode) });
  const faults = kernel.params.find((param) => param.faults)?.faults;
  if (faults) module.namedMetadata.push({ name: faultWordName, nodes: faults.map((text) => node(text)) });
  const formats = kernel.params.find((param) => param.formats)?.formats;
  if (formats) module.namedMetadata.push({ name: printBufferName, nodes: formats.map((text) => node(text)) });
}

/**
 * Module memory as named metadata of our own, which AIR compilers ignore. Size and alignment, then a node per symbol: name, offset, size,
 * optional initial bytes, and pairs of an offset that holds an address and the symbol it refers to.
 */
function memoryNodes(memory: ModuleMemory): readonly MetadataNode[] {
  const known = nodesOfMemory.get(memory);
  if (known) return known;
  const made = [
    node(memory.size, memory.align),
    ...memory.symbols.map(({ name, offset, size: bytes, init, addresses = [] }) =>
      node(name, offset, bytes, ...(init ? [hexOf(init)] : []), ...addresses.flatMap(({ at, to }) => [at, to])),
    ),
  ];
  nodesOfMemory.set(memory, made);
  return made;
}

/** The kernels of a module share its memory, whose initial bytes may be many. */
const nodesOfMemory = new WeakMap<ModuleMemory, readonly MetadataNode[]>();

/** Position, offset, size, alignment, type (empty for a struct) and name. */
const packedNode = ({ name, position, offset, size, align, element, signed }: PackedValue): MetadataNode =>
  node(position, offset, size, align, element ? typeName(element, signed) : '', name);

/** Records which parameters are f64 in the source, because `air.kernel` describes them as integers of the same bits. */
export function addSoftDoubles(module: Module, fn: LlvmFunction, parameters: readonly number[]): void {
  if (parameters.length === 0) return;
  module.namedMetadata.push({ name: softDoubles, nodes: [node({ kind: 'value', value: fn }, ...parameters)] });
}

/** Records the block of `.reqntid`, for which AIR has no form: `air.max_work_group_size` is a limit of all its threads. */
export function addRequiredBlock(module: Module, fn: LlvmFunction, { requiredThreads }: Kernel): void {
  if (requiredThreads) module.namedMetadata.push({ name: requiredBlock, nodes: [node({ kind: 'value', value: fn }, ...requiredThreads)] });
}

/** Records what the source says of clusters, which AIR does not have. */
export function addClusterRules(module: Module, fn: LlvmFunction, { cluster }: Kernel): void {
  if (cluster) module.namedMetadata.push({ name: clusterRules, nodes: [node({ kind: 'value', value: fn }, ...clusterNumbers(cluster))] });
}

const typeName = (element: ScalarType, signed: boolean): string => typeNames[element as Exclude<ScalarType, 'i1'>][signed ? 1 : 0];

/** Apple writes `air.read` for `const device` and `air.read_write` for everything else. */
function deviceBuffer(index: number, param: KernelParam): MetadataNode {
  const element = param.element ?? 'i8';
  const space = param.space === 'constant' ? spaces.constant : spaces.device;
  const access = param.access === 'read' || space === spaces.constant ? 'air.read' : 'air.read_write';
  const size = bytesOf(element);
  return node(
    index,
    'air.buffer',
    'air.location_index',
    param.slot,
    1,
    access,
    ...described(space, size, size, typeName(element, param.signed), param.name),
  );
}

function valueBuffer(index: number, param: KernelParam): MetadataNode {
  const head: Item[] = [index, 'air.buffer', 'air.buffer_size', param.size, 'air.location_index', param.slot, 1, 'air.read'];
  if (param.element)
    return node(...head, ...described(spaces.constant, param.size, param.align, typeName(param.element, param.signed), param.name));
  const info: Item[] = ['air.struct_type_info', node(0, 1, param.size, 'uchar', 'bytes')];
  const [addressSpace, ...rest] = split(described(spaces.constant, param.size, param.align, param.name, param.name));
  return node(...head, ...addressSpace!, ...info, ...rest.flat());
}

const split = (items: Item[]): Item[][] => [items.slice(0, 2), items.slice(2)];

function threadgroupBuffer(kernel: Kernel, arg: Argument): MetadataNode {
  const element = windowOf(kernel, 'shared')!.element;
  const size = bytesOf(element);
  const name = kernel.variables.find((v) => v.isDynamic)!.name;
  return node(
    arg.index,
    'air.buffer',
    'air.location_index',
    0,
    1,
    'air.read_write',
    ...described(spaces.threadgroup, size, size, typeName(element, false), name),
  );
}

function described(space: number, size: number, align: number, type: string, name: string): Item[] {
  return [
    'air.address_space',
    space,
    'air.arg_type_size',
    size,
    'air.arg_type_align_size',
    align,
    'air.arg_type_name',
    type,
    'air.arg_name',
    name,
  ];
}
