/** Reads `!air.kernel` of any compute module. Keys are looked up by name, because newer compilers add keys. */
import type { Diagnostics } from '../../base/diagnostic.ts';
import type { Function as LlvmFunction, Metadata, MetadataNode, Module } from '../../bitcode/model.ts';
import {
  type ClusterRules,
  clusterNumberCounts,
  clusterOf,
  faultWordName,
  type ModuleMemory,
  type ModuleSymbol,
  moduleMemoryName,
  type PackedValue,
  packedValuesName,
  printBufferName,
  type ScalarType,
} from '../../ir/index.ts';
import type { ElementType } from '../abi.ts';
import { type KernelInput, kernelInputs } from '../inputs.ts';
import { clusterRules, requiredBlock, softDoubles, targetName, typeNames } from '../metadata-names.ts';
import { numberAt, textAt } from '../metadata-values.ts';
import { type Target, targets } from '../targets.ts';

/**
 * A function parameter as its metadata node describes it. A conditional parameter exists only if a variable, computed from function
 * constants, is not 0.
 */
export type ParamDescription =
  | {
      readonly kind: 'buffer';
      readonly index: number;
      readonly slot: number;
      readonly space: number;
      /** Set for a reference of known size (`constant T &`). */
      readonly bufferSize: number | undefined;
      readonly access: 'read' | 'write' | 'read_write';
      readonly typeSize: number;
      readonly typeAlign: number;
      readonly typeName: string;
      readonly name: string;
      readonly condition?: string;
    }
  | { readonly kind: 'input'; readonly index: number; readonly input: KernelInput; readonly condition?: string }
  /** A graphics parameter or an unknown one: textures, samplers. */
  | { readonly kind: 'other'; readonly index: number; readonly what: string; readonly condition?: string };

export interface KernelDescription {
  readonly fn: LlvmFunction;
  readonly params: readonly ParamDescription[];
  readonly maxThreads: number | undefined;
  /** The block that the kernel requires: threads along x, y and z. */
  readonly requiredThreads: readonly [number, number, number] | undefined;
  readonly cluster: ClusterRules | undefined;
}

/** The kernels of a module by their metadata; CM4052 for an invalid node. */
export function readKernels(module: Module, diagnostics: Diagnostics): KernelDescription[] {
  const named = module.namedMetadata.find((n) => n.name === 'air.kernel');
  const found: KernelDescription[] = [];
  for (const node of named?.nodes ?? []) {
    const kernel = readKernel(node, diagnostics);
    if (!kernel) continue;
    const block = numbersOf(module, requiredBlock, kernel.fn);
    if (block.length > 0 && !isBlock(block)) {
      fault(diagnostics, `a required block of ${block.length} numbers for \`${kernel.fn.name}\`, or one that is no block`);
      continue;
    }
    const doubles = numbersOf(module, softDoubles, kernel.fn);
    const rules = numbersOf(module, clusterRules, kernel.fn);
    if (rules.length > 0 && !areRules(rules)) {
      fault(diagnostics, `rules of clusters of \`${kernel.fn.name}\` that are none`);
      continue;
    }
    found.push({
      ...kernel,
      params: kernel.params.map(asDouble(doubles)),
      requiredThreads: isBlock(block) ? block : undefined,
      cluster: areRules(rules) ? clusterOf(rules) : undefined,
    });
  }
  return found;
}

/** The numbers of a kernel in named metadata of our own; none if it has no node. */
function numbersOf(module: Module, name: string, fn: LlvmFunction): readonly (number | undefined)[] {
  const nodes = module.namedMetadata.find((n) => n.name === name)?.nodes ?? [];
  const isOf = (first: Metadata | undefined): boolean => first?.kind === 'value' && first.value === fn;
  return nodes.flatMap(({ operands: [first, ...numbers] }) => (isOf(first) ? numbers.map(numberAt) : []));
}

/** The most threads along an axis of a block. Source: PTX ISA 9.0, 11.4.3; CUDA C++ Programming Guide, "Compute Capabilities". */
const maxAxis = 1024;

const isBlock = (numbers: readonly (number | undefined)[]): numbers is readonly [number, number, number] =>
  numbers.length === 3 && numbers.every((n) => n !== undefined && Number.isInteger(n) && n >= 1 && n <= maxAxis);

const areRules = (numbers: readonly (number | undefined)[]): numbers is readonly number[] => {
  const { plain, grouped } = clusterNumberCounts;
  if (numbers.length !== plain && numbers.length !== grouped) return false;
  // Bytes of shared memory are the only number that may be large.
  const small = numbers.filter((_, at) => at !== plain);
  return (
    numbers.every((n) => n !== undefined && Number.isInteger(n) && n >= 0 && n < 2 ** 31) &&
    small.every((n) => n! <= maxAxis) &&
    [numbers.slice(0, 3), numbers.slice(plain + 2, plain + 5)].every((dims) => isBlock(dims) || dims.every((n) => n === 0))
  );
};

const asDouble =
  (doubles: readonly (number | undefined)[]) =>
  (param: ParamDescription): ParamDescription =>
    param.kind === 'buffer' && doubles.includes(param.index) ? { ...param, typeName: 'double' } : param;

function readKernel(node: MetadataNode, diagnostics: Diagnostics): Omit<KernelDescription, 'requiredThreads' | 'cluster'> | undefined {
  const [first, , args, ...attributes] = node.operands;
  const fn = first?.kind === 'value' && first.value.kind === 'function' ? first.value : undefined;
  if (!fn || args?.kind !== 'node') return fault(diagnostics, 'a kernel node without function or argument list');
  const params: ParamDescription[] = [];
  for (const operand of args.operands) {
    const param = operand?.kind === 'node' ? readParam(operand) : 'a parameter that is not a node';
    if (typeof param === 'string') return fault(diagnostics, `${param} in \`${fn.name}\``);
    params.push(param);
  }
  if (params.length !== fn.args.length || params.some((p, i) => p.index !== i))
    return fault(diagnostics, `${params.length} parameter nodes for the ${fn.args.length} parameters of \`${fn.name}\``);
  const limit = attributes.map((a) =>
    a?.kind === 'node' && textAt(a.operands[0]) === 'air.max_work_group_size' ? numberAt(a.operands[1]) : undefined,
  );
  return { fn, params, maxThreads: limit.find((n) => n !== undefined) };
}

function fault(diagnostics: Diagnostics, why: string): undefined {
  diagnostics.report('CM4052', { why });
  return undefined;
}

function readParam(node: MetadataNode): ParamDescription | string {
  const index = numberAt(node.operands[0]);
  const kind = textAt(node.operands[1]);
  if (index === undefined || !kind) return 'a parameter node without index or kind';
  if (kind === 'air.function_constant') return readConditional(node);
  if (kind === 'air.buffer' || kind === 'air.indirect_buffer') return readBuffer(node, index);
  const input = kernelInputs.find((each) => `air.${each.name}` === kind);
  return input ? { kind: 'input', index, input } : { kind: 'other', index, what: kind };
}

/** The kind is followed by the condition and then by the description of the parameter. */
function readConditional({ operands, ...node }: MetadataNode): ParamDescription | string {
  const [index, , condition, ...rest] = operands;
  const variable = condition?.kind === 'node' ? condition.operands[0] : undefined;
  if (variable?.kind !== 'value' || variable.value.kind !== 'global') return 'a parameter with a condition that is not a variable';
  if (textAt(rest[0]) === 'air.function_constant') return 'a parameter with two conditions';
  const param = readParam({ ...node, operands: [index, ...rest] });
  return typeof param === 'string' ? param : { ...param, condition: variable.value.name };
}

function readBuffer(node: MetadataNode, index: number): ParamDescription | string {
  const after = (key: string): Metadata | undefined => {
    const at = node.operands.findIndex((m) => textAt(m) === key);
    return at < 0 ? undefined : node.operands[at + 1];
  };
  const slot = numberAt(after('air.location_index'));
  if (slot === undefined) return 'a buffer without location index';
  const texts = node.operands.map(textAt);
  return {
    kind: 'buffer',
    index,
    slot,
    // Files before AIR 2.5 have no address space here; the parameter's type has it.
    space: numberAt(after('air.address_space')) ?? -1,
    bufferSize: numberAt(after('air.buffer_size')),
    access: texts.includes('air.read') ? 'read' : texts.includes('air.write') ? 'write' : 'read_write',
    typeSize: numberAt(after('air.arg_type_size')) ?? 1,
    typeAlign: numberAt(after('air.arg_type_align_size')) ?? 1,
    typeName: textAt(after('air.arg_type_name')) ?? '',
    name: textAt(after('air.arg_name')) ?? `arg${index}`,
  };
}

/** The module memory from `cumetal.globals`; undefined if the module has none, or if it is invalid. */
export function readMemory(module: Module): ModuleMemory | undefined {
  const [head, ...nodes] = module.namedMetadata.find((n) => n.name === moduleMemoryName)?.nodes ?? [];
  const [size, align] = [numberAt(head?.operands[0]), numberAt(head?.operands[1])];
  if (size === undefined || align === undefined) return undefined;
  const symbols = nodes.map(readSymbol);
  const isValid = symbols.every(
    (symbol) =>
      symbol !== undefined && symbol.offset + symbol.size <= size && symbol.addresses?.every(({ to }) => to >= 0 && to <= size) !== false,
  );
  return isValid ? { size, align, symbols: symbols as ModuleSymbol[] } : undefined;
}

/** The fields of a value from `cumetal.values`; undefined if they do not fit its size. */
export function readPacked(module: Module, size: number): PackedValue[] | undefined {
  const nodes = module.namedMetadata.find((n) => n.name === packedValuesName)?.nodes ?? [];
  const packed = nodes.flatMap(({ operands: [position, offset, bytes, align, type, name] }): PackedValue[] => {
    const [at, start, length, step] = [position, offset, bytes, align].map(numberAt);
    const [typed, called] = [textAt(type), textAt(name)];
    if (at === undefined || start === undefined || length === undefined || step === undefined) return [];
    if (typed === undefined || called === undefined || start + length > size) return [];
    return [{ name: called, position: at, offset: start, size: length, align: step, ...scalarOfTypeName(typed) }];
  });
  const positions = new Set(packed.map((each) => each.position));
  return packed.length > 0 && packed.length === nodes.length && positions.size === nodes.length ? packed : undefined;
}

function scalarOfTypeName(name: string): Pick<PackedValue, 'element' | 'signed'> {
  const entry = Object.entries(typeNames).find(([, names]) => names.some((each) => each === name));
  return { element: entry?.[0] as ScalarType | undefined, signed: entry !== undefined && entry[1][0] !== name };
}

/** The target of a module: that of the CPU device, or undefined. */
export const readTarget = (module: Module): Target | undefined =>
  module.namedMetadata.some(({ name, nodes }) => name === targetName && textAt(nodes[0]?.operands[0]) === 'cpu') ? targets.cpu : undefined;

/** The messages of a kernel that stops itself. */
export const readFaults = (module: Module): string[] => readTexts(module, faultWordName);

/** The print formats of the module's kernel. */
export const readFormats = (module: Module): string[] => readTexts(module, printBufferName);

const readTexts = (module: Module, name: string): string[] =>
  (module.namedMetadata.find((n) => n.name === name)?.nodes ?? []).map(({ operands }) => textAt(operands[0]) ?? '');

function readSymbol({ operands }: MetadataNode): ModuleSymbol | undefined {
  const [name, offset, size, hex] = [textAt(operands[0]), numberAt(operands[1]), numberAt(operands[2]), textAt(operands[3])];
  if (name === undefined || offset === undefined || size === undefined) return undefined;
  if (hex === undefined) return { name, offset, size, init: undefined };
  if (hex.length !== 2 * size || !/^[0-9a-f]*$/.test(hex)) return undefined;
  const init = Uint8Array.from({ length: size }, (_, i) => Number.parseInt(hex.slice(2 * i, 2 * i + 2), 16));
  const numbers = operands.slice(4).map(numberAt);
  const addresses = numbers.flatMap((at, i) => (i % 2 === 0 ? [{ at: at ?? -1, to: numbers[i + 1] ?? -1 }] : []));
  if (!addresses.every(({ at }) => at >= 0 && at + 8 <= size)) return undefined;
  return { name, offset, size, init, ...(addresses.length > 0 ? { addresses } : {}) };
}

const elements: Record<string, ElementType> = {
  uchar: 'u8',
  char: 'i8',
  bool: 'u8',
  ushort: 'u16',
  short: 'i16',
  uint: 'u32',
  int: 'i32',
  ulong: 'u64',
  long: 'i64',
  half: 'f16',
  bfloat: 'bf16',
  float: 'f32',
  double: 'f64',
};

/** The element type of an MSL type name. A vector has that of its element, a struct has none. */
export function elementOfTypeName(name: string): ElementType | undefined {
  const scalar = name.replace(/[234]$/, '');
  return Object.hasOwn(elements, scalar) ? elements[scalar] : undefined;
}

/** The target that a module was made for, by its own metadata or by its triple; undefined for any other LLVM module. */
export function targetOfModule(module: Module): Target | undefined {
  const own = readTarget(module);
  if (own) return own;
  const [, system, major] = /^air64(?:_v\d+)?-apple-(macosx|ios)(\d+)\./.exec(module.triple) ?? [];
  const platform = system === 'ios' ? 'ios' : 'macos';
  return Object.values(targets).find((each) => !each.allowsCpuOnly && each.platform === platform && each.os.major === Number(major));
}
