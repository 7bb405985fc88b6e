/**
 * Function attributes as Apple's compiler writes them for macOS 14 with precise math, as far as they are true of PTX:
 * pointers may overlap, so no alias is ever denied, and loops may run for ever.
 */
import type { Attribute, AttributeList } from '../../bitcode/model.ts';
import { type Block, bitsOf, edgesOf, type Inst, type Kernel, operandsOf, specOf, type Value } from '../../ir/index.ts';
import type { Intrinsic, IntrinsicClass } from '../intrinsics.ts';
import { matrixCount } from '../matrix-functions.ts';
import type { Dialect } from '../targets.ts';
import type { Signature } from './emitter.ts';

/** LLVM 14's numbers of the attributes met in AIR. Source: llvm/IR/Attributes, as met in real modules. */
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

/** The attributes that a dialect has. */
function fitted({ function: own, result, params }: AttributeList, dialect: Dialect): AttributeList {
  const isKnown = (of: Attribute): boolean =>
    of.form === 'string' || (of.kind <= dialect.lastAttribute && (of.kind !== kinds.writeonly || dialect.saysWriteonly));
  const fit = (list: readonly Attribute[]): readonly Attribute[] => (list.every(isKnown) ? list : list.filter(isKnown));
  return { function: fit(own), result: fit(result), params: params.map(fit) };
}

/** Atomics keep no pointer. */
const params = (of: Intrinsic): Attribute[][] =>
  of.class === 'atomic' ? of.type.params.map((type) => (type.kind === 'pointer' ? enums('nocapture') : [])) : [];

export const declarationAttributes = (of: Intrinsic, dialect: Dialect): AttributeList =>
  fitted({ function: declarations[of.class], result: [], params: params(of) }, dialect);
export const callAttributes = (of: Intrinsic, dialect: Dialect): AttributeList =>
  fitted({ function: calls[of.class], result: [], params: params(of) }, dialect);

/** A call of a function of the kernel's own, which computes and does nothing else. */
export const pureCall = (dialect: Dialect): AttributeList => fitted({ function: calls.pure, result: [], params: [] }, dialect);

/** The definition of such a function. */
export function pureDefinition(params: number, dialect: Dialect): AttributeList {
  const own = [...enums('mustprogress', 'nofree', 'norecurse', 'nosync', 'nounwind', 'readnone', 'willreturn'), ...strings(0, dialect)];
  return fitted({ function: own, result: [], params: Array.from({ length: params }, () => enums('noundef')) }, dialect);
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
  return fitted({ function: own, result: [], params: signature.attributes }, dialect);
}

/** Bits of the widest matrix in a product: lanes hold two elements, and AIR all. */
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
