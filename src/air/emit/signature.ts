/** The LLVM parameters of a kernel: buffers first, then the inputs (thread positions and indices) that its body reads. */
import type { Argument, Attribute, Value as LlvmValue, Module } from '../../bitcode/model.ts';
import { type Type, types } from '../../bitcode/types.ts';
import type { Kernel, KernelParam, Sreg } from '../../ir/index.ts';
import { i64Constant } from '../constants.ts';
import { inputOf, type KernelInput } from '../inputs.ts';
import { llvmScalar } from '../llvm-scalar.ts';
import { spaces } from '../targets.ts';
import { windowOf } from '../windows.ts';
import { enums, intAttribute } from './attributes.ts';
import type { Root, Signature } from './emitter.ts';
import type { FunctionBuilder } from './function-builder.ts';

/** Derives the parameters from their uses in the body. */
export function kernelSignature(kernel: Kernel, module: Module): Signature {
  const args: Argument[] = [];
  const attributes: Attribute[][] = [];
  const add = (type: Type, attrs: Attribute[]): Argument => {
    const arg: Argument = { kind: 'argument', type, index: args.length, name: undefined };
    args.push(arg);
    attributes.push(attrs);
    return arg;
  };
  const roots = kernel.params.map((param) => bufferRoot(add(bufferType(param, module), bufferAttributes(param)), param));
  const shared = windowOf(kernel, 'shared');
  const dynamicShared =
    shared?.dynamicOffset === undefined ? undefined : dynamicRoot(add, llvmScalar[shared.element], shared.align, shared.dynamicOffset);
  const used = usedInputs(kernel);
  const components = used.some(({ input, sregs }) => input.isPosition && sregs.some((s) => !s.endsWith('.x'))) ? 3 : 1;
  const inputs = used.map(({ input }) => {
    const of = input.isPosition ? components : 1;
    return { input, components: of, arg: add(of === 3 ? types.vector(types.i32, 3) : types.i32, enums('noundef')) } as const;
  });
  return {
    args,
    attributes,
    roots,
    dynamicShared,
    inputs,
    sregs: sregReaders(inputs, used),
    widestVector: inputs.some((i) => i.components === 3) ? 96 : 0,
  };
}

/** The inputs that hold the special registers a kernel reads, in table order. */
function usedInputs(kernel: Kernel): { input: KernelInput; sregs: Sreg[] }[] {
  const used = new Map<KernelInput, Set<Sreg>>();
  for (const block of kernel.blocks)
    for (const value of block.body) {
      const inst = kernel.insts[value]!;
      if (inst.op !== 'sreg') continue;
      const input = inputOf(inst.name);
      used.set(input, (used.get(input) ?? new Set()).add(inst.name));
    }
  return [...used].map(([input, sregs]) => ({ input, sregs: [...sregs].sort() })).sort((a, b) => order(a.input) - order(b.input));
}

const order = (input: KernelInput): number => inputNames.indexOf(input.name);
const inputNames = [
  'thread_position_in_grid',
  'thread_position_in_threadgroup',
  'threadgroup_position_in_grid',
  'threads_per_threadgroup',
  'threadgroups_per_grid',
  'thread_index_in_threadgroup',
  'thread_index_in_simdgroup',
  'simdgroup_index_in_threadgroup',
  'simdgroups_per_threadgroup',
];

function sregReaders(
  inputs: Signature['inputs'],
  used: readonly { input: KernelInput; sregs: Sreg[] }[],
): ReadonlyMap<Sreg, (b: FunctionBuilder) => LlvmValue> {
  const readers = new Map<Sreg, (b: FunctionBuilder) => LlvmValue>();
  for (const { input, arg, components } of inputs)
    for (const sreg of used.find((u) => u.input === input)!.sregs) {
      const lane = input.sregs.indexOf(sreg);
      readers.set(sreg, (b) => (components === 3 ? b.emit('extractelement', types.i32, { vector: arg, index: i64Constant(lane) }) : arg));
    }
  return readers;
}

/** The typed pointer of a parameter. */
function bufferType(param: KernelParam, module: Module): Type {
  if (param.kind === 'pointer')
    return types.pointer(llvmScalar[param.element ?? 'i8'], param.space === 'constant' ? spaces.constant : spaces.device);
  return types.pointer(valueType(param, module), spaces.constant);
}

/** The declared type of a by-value parameter: its scalar, or a struct with its bytes. */
export function valueType(param: KernelParam, module: Module): Type {
  if (param.element) return llvmScalar[param.element];
  const name = `struct.${param.name}`;
  const known = module.structs.find((s) => s.name === name);
  if (known) return known;
  const made = types.namedStruct(name, [types.array(types.i8, param.size)]);
  module.structs.push(made);
  return made;
}

function bufferAttributes(param: KernelParam): Attribute[] {
  if (param.kind === 'value')
    return [
      intAttribute('align', param.align),
      ...enums('nocapture', 'readonly'),
      intAttribute('dereferenceable', param.size),
      ...enums('noundef'),
    ].sort(byKind);
  const access = param.access === 'read' ? enums('readonly') : param.access === 'write' ? enums('writeonly') : [];
  return [...access, ...enums('noundef')].sort(byKind);
}

const byKind = (a: Attribute, b: Attribute): number => ('kind' in a && 'kind' in b ? a.kind - b.kind : 0);

function bufferRoot(arg: Argument, param: KernelParam): Root {
  const space = param.kind === 'pointer' ? (param.space === 'constant' ? spaces.constant : spaces.device) : spaces.constant;
  return { pointer: arg, space, base: 0n, align: param.kind === 'value' ? param.align : 1, isObject: true };
}

function dynamicRoot(add: (type: Type, attrs: Attribute[]) => Argument, element: Type, align: number, offset: number): Root {
  const arg = add(types.pointer(element, spaces.threadgroup), enums('noundef'));
  return { pointer: arg, space: spaces.threadgroup, base: 0n, align: Math.max(align, offset > 0 ? 16 : 1), isObject: true };
}
