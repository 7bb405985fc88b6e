/**
 * Function attributes of Apple's compiler for macOS 14 with precise math, restricted to those that hold for PTX: pointers may alias, and
 * loops may be infinite.
 */
import type { Attribute, AttributeList } from '../../bitcode/model.ts';
import type { Type } from '../../bitcode/types.ts';
import {
  type Block,
  bitsOf,
  edgesOf,
  gatheredLanes,
  type Inst,
  type Kernel,
  operandsOf,
  productFunctionName,
  specOf,
  type Value,
} from '../../ir/index.ts';
import type { Intrinsic, IntrinsicClass } from '../intrinsics.ts';
import { matrixCount } from '../matrix-functions.ts';
import type { Dialect } from '../targets.ts';
import type { Signature } from './emitter.ts';

/** LLVM 14's numbers of the attributes found in AIR. Source: llvm/IR/Attributes, as found in real modules. */
const kinds = {
  align: 1,
  nocapture: 11,
  nounwind: 18,
  readnone: 20,
  readonly: 21,
  dereferenceable: 41,
  convergent: 43,
  argmemonly: 45,
  norecurse: 48,
  writeonly: 52,
  willreturn: 61,
  nofree: 62,
  nosync: 63,
  noundef: 68,
  mustprogress: 70,
} as const;

export type AttributeName = keyof typeof kinds;

/** Enum attributes in ascending order of their numbers, as LLVM keeps them. */
export const enums = (...names: AttributeName[]): Attribute[] =>
  names.map((name) => ({ form: 'enum', kind: kinds[name] }) as const).sort((a, b) => a.kind - b.kind);

export const intAttribute = (name: 'align' | 'dereferenceable', value: number): Attribute => ({
  form: 'int',
  kind: kinds[name],
  value: BigInt(value),
});

const string = (key: string, value?: string): Attribute => ({ form: 'string', key, value });

const declarations: Record<IntrinsicClass, Attribute[]> = {
  pure: enums('mustprogress', 'nofree', 'nosync', 'nounwind', 'readnone', 'willreturn'),
  convergent: enums('convergent', 'mustprogress', 'nounwind', 'willreturn'),
  atomic: enums('mustprogress', 'nounwind', 'willreturn'),
};
const calls: Record<IntrinsicClass, Attribute[]> = {
  pure: enums('nounwind', 'readnone', 'willreturn'),
  convergent: enums('convergent', 'nounwind', 'willreturn'),
  atomic: enums('nounwind', 'willreturn'),
};

/** The attributes that a dialect supports. */
function restrictedTo({ function: own, result, params }: AttributeList, dialect: Dialect): AttributeList {
  const isKnown = (of: Attribute): boolean =>
    of.form === 'string' || (of.kind <= dialect.lastAttribute && (of.kind !== kinds.writeonly || dialect.marksWriteonly));
  const fit = (list: readonly Attribute[]): readonly Attribute[] => (list.every(isKnown) ? list : list.filter(isKnown));
  return { function: fit(own), result: fit(result), params: params.map(fit) };
}

/** Atomics do not capture pointers. */
const params = (of: Intrinsic): Attribute[][] =>
  of.class === 'atomic' ? of.type.params.map((type) => (type.kind === 'pointer' ? enums('nocapture') : [])) : [];

export const declarationAttributes = (of: Intrinsic, dialect: Dialect): AttributeList =>
  restrictedTo({ function: declarations[of.class], result: [], params: params(of) }, dialect);

const listsOfCalls = new WeakMap<Dialect, WeakMap<Intrinsic, AttributeList>>();

/** One list for all calls of an intrinsic. */
export function callAttributes(of: Intrinsic, dialect: Dialect): AttributeList {
  const lists = listsOfCalls.get(dialect) ?? new WeakMap<Intrinsic, AttributeList>();
  listsOfCalls.set(dialect, lists);
  const list = lists.get(of) ?? restrictedTo({ function: calls[of.class], result: [], params: params(of) }, dialect);
  lists.set(of, list);
  return list;
}

/** A call of a pure helper function of the kernel. */
export const pureCall = (dialect: Dialect): AttributeList => restrictedTo({ function: calls.pure, result: [], params: [] }, dialect);

/** A call of a helper function that reads memory. */
export const readingCall = (dialect: Dialect): AttributeList =>
  restrictedTo({ function: enums('nounwind', 'readonly', 'willreturn'), result: [], params: [] }, dialect);

/** A call of a helper function with simdgroup operations. */
export const collectiveCall = (dialect: Dialect): AttributeList =>
  restrictedTo({ function: calls.convergent, result: [], params: [] }, dialect);

/** The attribute of operations whose result depends on which threads reach them together. */
export const { convergent, readonly: reading } = kinds;

/** The definition of a pure helper function. */
export function pureDefinition(params: readonly Type[], dialect: Dialect): AttributeList {
  return definition(['mustprogress', 'nofree', 'norecurse', 'nosync', 'nounwind', 'readnone', 'willreturn'], params, dialect);
}

/** The definition of a helper function that reads memory. */
export function readingDefinition(params: readonly Type[], dialect: Dialect): AttributeList {
  return definition(['mustprogress', 'nofree', 'norecurse', 'nosync', 'nounwind', 'readonly', 'willreturn'], params, dialect);
}

/** The definition of a helper function with simdgroup operations. */
export function collectiveDefinition(params: readonly Type[], dialect: Dialect): AttributeList {
  return definition(['convergent', 'mustprogress', 'norecurse', 'nounwind', 'willreturn'], params, dialect);
}

function definition(names: readonly AttributeName[], params: readonly Type[], dialect: Dialect): AttributeList {
  const widest = Math.max(0, ...params.map((type) => (type.kind === 'vector' ? type.count * 32 : 0)));
  const own = [...enums(...names), ...strings(widest, dialect)];
  return restrictedTo({ function: own, result: [], params: params.map(() => enums('noundef')) }, dialect);
}

/** Attributes of the kernel itself and of its parameters. */
export function kernelAttributes(kernel: Kernel, signature: Signature, dialect: Dialect): AttributeList {
  const has = (test: (inst: Inst) => boolean): boolean => kernel.blocks.some((block) => block.body.some((v) => test(kernel.insts[v]!)));
  const meets = has(({ op }) => specOf(op).effect === 'barrier' || specOf(op).effect === 'warp');
  const isOrdered = has(
    (inst) =>
      inst.op === 'atomic' ||
      inst.op === 'cas' ||
      inst.op === 'fence' ||
      inst.op === 'clock' ||
      ((inst.op === 'load' || inst.op === 'store') && inst.volatile),
  );
  const hasLoop = kernel.blocks.some((block, id) => edgesOf(block.end).some((edge) => edge.block.id <= id));
  const progress = hasLoop ? [] : (['mustprogress', 'willreturn'] as const);
  const touches = has(({ op }) => specOf(op).effect !== 'pure') ? [] : (['readnone'] as const);
  const names: AttributeName[] = meets
    ? ['convergent', 'nounwind']
    : ['nofree', 'norecurse', ...(isOrdered ? [] : (['nosync'] as const)), 'nounwind', ...touches, ...progress];
  const widest = Math.max(signature.widestVector, ...kernel.blocks.map((block) => widestMatrix(kernel, block)));
  const own = [...enums(...names), ...strings(widest, dialect)];
  return restrictedTo({ function: own, result: [], params: signature.attributes }, dialect);
}

/**
 * Width in bits of the widest matrix in a product: a lane holds two elements, but the AIR type has all. The functions of products take vectors of four
 * registers.
 */
function widestMatrix({ insts, functions }: Kernel, { body }: Block): number {
  const bits = (value: Value): number => (matrixCount / 2) * bitsOf(insts[value]!.type);
  let widest = 0;
  for (const value of body) {
    const inst = insts[value]!;
    if (inst.op === 'matmul') widest = Math.max(widest, ...[value, ...operandsOf(inst)].map(bits));
    if (inst.op === 'fetch') widest = Math.max(widest, ...operandsOf(inst).map((operand) => bitsOf(insts[operand]!.type)));
    if (inst.op === 'mma' && functions?.has(productFunctionName(inst.form))) widest = Math.max(widest, 32 * gatheredLanes);
  }
  return widest;
}

/** In alphabetical order, as LLVM keeps them. */
function strings(widestVector: number, { framePointer }: Dialect): Attribute[] {
  const all: Record<string, string | undefined> = {
    ...framePointer,
    'min-legal-vector-width': String(widestVector),
    'no-builtins': undefined,
    'no-trapping-math': 'true',
    'stack-protector-buffer-size': '8',
  };
  return Object.keys(all)
    .sort()
    .map((key) => string(key, all[key]));
}
