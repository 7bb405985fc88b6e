/**
 * Function attributes of Apple's compiler for macOS 14 with precise math, restricted to those that hold for PTX: pointers may alias, and
 * loops may be infinite.
 */
import type { Attribute, AttributeList } from '../../bitcode/model.ts';
import { type Block, bitsOf, edgesOf, type Inst, type Kernel, operandsOf, specOf, type Value } from '../../ir/index.ts';
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
export const callAttributes = (of: Intrinsic, dialect: Dialect): AttributeList =>
  restrictedTo({ function: calls[of.class], result: [], params: params(of) }, dialect);

/** A call of a pure helper function of the kernel. */
export const pureCall = (dialect: Dialect): AttributeList => restrictedTo({ function: calls.pure, result: [], params: [] }, dialect);

/** The definition of a pure helper function. */
export function pureDefinition(params: number, dialect: Dialect): AttributeList {
  const own = [...enums('mustprogress', 'nofree', 'norecurse', 'nosync', 'nounwind', 'readnone', 'willreturn'), ...strings(0, dialect)];
  return restrictedTo({ function: own, result: [], params: Array.from({ length: params }, () => enums('noundef')) }, dialect);
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

/** Width in bits of the widest matrix in a product: a lane holds two elements, but the AIR type has all. */
function widestMatrix({ insts }: Kernel, { body }: Block): number {
  const bits = (value: Value): number => (matrixCount / 2) * bitsOf(insts[value]!.type);
  return Math.max(0, ...body.flatMap((value) => (insts[value]!.op === 'matmul' ? [value, ...operandsOf(insts[value]!)].map(bits) : [])));
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
