/** The reflection of our own kernels, from the IR: it includes names and types that AIR metadata cannot hold. */

import {
  bytesOf,
  eachOperand,
  edgesOf,
  instOf,
  isHidden,
  type Kernel,
  type KernelParam,
  type PackedValue,
  type ScalarType,
  type Value,
} from '../ir/index.ts';
import { withoutTensorMemory } from '../ir/tensor-memory.ts';
import type { ElementType, KernelReflection, ParamReflection } from './abi.ts';
import { type Target, targets } from './targets.ts';
import { windowOf } from './windows.ts';

/** The reflection's name of an element type. */
export function elementType(element: ScalarType | undefined, signed: boolean): ElementType | undefined {
  if (element === undefined || element === 'i1') return undefined;
  if (!element.startsWith('i')) return element as ElementType;
  return `${signed ? 'i' : 'u'}${bytesOf(element) * 8}` as ElementType;
}

const reflectParam = (param: KernelParam, unused: ReadonlySet<KernelParam>): ParamReflection => ({
  name: param.name,
  slot: param.slot,
  kind: param.kind === 'pointer' ? 'buffer' : 'bytes',
  size: param.kind === 'pointer' ? bytesOf(param.element ?? 'i8') : param.size,
  align: param.align,
  element: elementType(param.element, param.signed),
  access: param.access,
  ...(unused.has(param) ? { isUnused: true } : {}),
});

/** Whether PTX may declare a pointer as this type. */
export const isWord = (element: ElementType | undefined): boolean => element === 'u64' || element === 'i64';

/** The parameters that may be pointers or integers: 64 bits by value that no instruction reads. */
function unusedWords(kernel: Kernel): ReadonlySet<KernelParam> {
  const words = kernel.params.filter(
    ({ kind, element, signed, packed }) => kind === 'value' && isWord(elementType(element, signed)) && !packed,
  );
  if (words.length === 0) return new Set();
  const used = new Set<Value>();
  const use = (value: Value): void => {
    if (instOf(kernel, value).op === 'param') used.add(value);
  };
  for (const block of kernel.blocks) {
    for (const value of block.body) eachOperand(instOf(kernel, value), use);
    for (const edge of edgesOf(block.end)) edge.args.forEach(use);
  }
  const read = new Set<number>();
  for (const block of kernel.blocks)
    for (const value of block.body) {
      const inst = instOf(kernel, value);
      if (inst.op === 'param' && used.has(value)) read.add(inst.index);
    }
  return new Set(words.filter((param) => !read.has(kernel.params.indexOf(param))));
}

/** The source parameters in order: those with a slot of their own, and those that share one. */
export function withPacked(own: readonly ParamReflection[], { params }: Kernel): readonly ParamReflection[] {
  const whole = params.find(({ packed }) => packed !== undefined);
  if (!whole) return own;
  const left = own.filter(({ slot, kind }) => kind !== 'bytes' || slot !== whole.slot);
  const inOrder: ParamReflection[] = [];
  for (const each of [...whole.packed!].sort((a, b) => a.position - b.position)) {
    inOrder.push(...left.splice(0, each.position - inOrder.length), reflectPacked(each, whole.slot));
  }
  return [...inOrder, ...left];
}

const reflectPacked = ({ name, offset, size, align, element, signed }: PackedValue, slot: number): ParamReflection => ({
  name,
  slot,
  offset,
  kind: 'bytes',
  size,
  align,
  element: elementType(element, signed),
  access: undefined,
});

/** The parameters of a kernel that no caller supplies. */
export function reflectHidden({ params }: Kernel): Pick<KernelReflection, 'memory' | 'faults' | 'printf' | 'locks' | 'services'> {
  const stopping = params.find(({ faults }) => faults !== undefined);
  const printing = params.find(({ formats }) => formats !== undefined);
  const locking = params.find(({ locks }) => locks);
  const services = params.flatMap(({ service, slot }) => (service ? [{ service, slot }] : []));
  return {
    ...reflectMemory(params),
    ...(stopping ? { faults: { slot: stopping.slot, texts: stopping.faults! } } : {}),
    ...(printing ? { printf: { slot: printing.slot, formats: printing.formats! } } : {}),
    ...(locking ? { locks: { slot: locking.slot } } : {}),
    ...(services.length > 0 ? { services } : {}),
  };
}

function reflectMemory(params: Kernel['params']): Pick<KernelReflection, 'memory'> {
  const param = params.find(({ memory }) => memory !== undefined);
  if (!param) return {};
  const { size, symbols } = param.memory!;
  return { memory: { slot: param.slot, size, symbols: symbols.map(({ name, offset, size: bytes }) => ({ name, offset, size: bytes })) } };
}

/** The resource limits of a kernel, if they exceed those of Apple GPUs. */
export const reflectLimits = (target: Target | undefined): Pick<KernelReflection, 'maxSharedBytes'> =>
  target && target.shared.total > targets.macos14.shared.total ? { maxSharedBytes: target.shared.total } : {};

/** What the source says of its blocks, also where a whole cluster is one block of the device. */
export const blockLimits = ({
  cluster,
  maxThreads,
  requiredThreads,
}: Pick<Kernel, 'cluster' | 'maxThreads' | 'requiredThreads'>): Pick<KernelReflection, 'maxThreads' | 'requiredThreads'> =>
  cluster?.group
    ? { maxThreads: cluster.group.maxThreads, requiredThreads: cluster.group.requiredThreads }
    : { maxThreads, requiredThreads };

/** The reflection of one kernel. */
export function reflectKernel(kernel: Kernel, target?: Target): KernelReflection {
  const shared = windowOf(kernel, 'shared');
  const group = kernel.cluster?.group;
  const unused = unusedWords(kernel);
  const own = kernel.params.filter((param) => param.kind !== 'threadgroup' && !isHidden(param));
  return {
    name: kernel.name,
    params: withPacked(
      own.map((param) => reflectParam(param, unused)),
      kernel,
    ),
    ...reflectHidden(kernel),
    staticSharedBytes: group ? group.sharedBytes : withoutTensorMemory(shared?.size ?? 0),
    ...reflectLimits(target),
    usesDynamicShared: group ? group.isDynamic : shared?.dynamicOffset !== undefined,
    ...blockLimits(kernel),
    ...(kernel.isAdapted ? { isAdapted: true } : {}),
    ...(kernel.cluster ? { cluster: kernel.cluster } : {}),
  };
}
