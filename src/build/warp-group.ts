/**
 * Matrix products of warp groups: 128 threads multiply matrices in shared memory (`wgmma`), asynchronously. They need sm_90a, that chip alone.
 * Source: PTX ISA 9.0, 9.7.15.
 */
import { fail } from './fail.ts';
import { type Handle, inRegister, type Operand } from './handle.ts';
import { laneIndex, warpIndex } from './ids.ts';
import { integerNode, nameNode, vectorNode } from './nodes.ts';
import type { Pointer } from './pointer.ts';
import { trace } from './trace.ts';
import { f32, type MemoryName, pred, s32, type Type, u64 } from './types.ts';
import { constant, local, type Value, type Variable } from './value.ts';

/** The types of factors of warp groups. */
export type GroupFactorName = 'f16' | 'bf16' | 'tf32' | 'e4m3' | 'e5m2' | 's8' | 'u8';

/** The columns of `a` and rows of `b` of one product: 32 bytes. */
export const groupDepth = { f16: 16, bf16: 16, tf32: 8, e4m3: 32, e5m2: 32, s8: 32, u8: 32 } as const satisfies Record<
  GroupFactorName,
  number
>;

type GroupSum<F extends GroupFactorName> = F extends 's8' | 'u8' ? 's32' : 'f32';

/** A sum of 64 rows and `columns` columns in the registers of a warp group. */
export interface GroupAccumulator<F extends GroupFactorName = GroupFactorName> {
  readonly type: F;
  readonly columns: number;
  /** The elements of this thread: `eachGroupElement` says where they are. */
  readonly elements: readonly Variable<GroupSum<F>>[];
}

/** A sum of zeros: `columns` is a multiple of 8 up to 256, of 16 for integers above 24. */
export function groupAccumulator<F extends GroupFactorName>(type: F, columns: number): GroupAccumulator<F> {
  const isWhole = type === 's8' || type === 'u8';
  const fits = columns % 8 === 0 && columns >= 8 && columns <= 256 && (!isWhole || columns % 16 === 0 || columns === 8 || columns === 24);
  if (!fits) fail('CM5088', { what: '`groupAccumulator`', why: `${columns} columns are not a number that the hardware has` });
  const sum = (isWhole ? s32 : f32) as Type<GroupSum<F>>;
  return { type, columns, elements: Array.from({ length: columns / 2 }, () => local(sum, 0)) };
}

/** The exchange of parts of 16 bytes in rows of 32, 64 or 128 bytes; `none` for matrices of eight rows by 16 bytes that follow each other. */
export type GroupSwizzle = 'none' | 32 | 64 | 128;
const modes = { none: 0, 128: 1, 64: 2, 32: 3 } as const;

/** How a matrix lies in shared memory. Offsets are multiples of 16 bytes. */
export interface GroupLayout {
  /** The bytes from a matrix of eight rows to the next one along the rows (leading dimension). */
  readonly leading: number;
  /** The bytes from eight rows to the next eight (stride dimension). */
  readonly stride: number;
  /** `none` by default. The matrix is aligned to 8 rows of that many bytes. */
  readonly swizzle?: GroupSwizzle;
}

/** The description of a matrix in shared memory, for `groupMma`. */
export function groupDescriptor(pointer: Pointer<MemoryName, 'shared'>, { leading, stride, swizzle = 'none' }: GroupLayout): Value<'u64'> {
  if (leading % 16 !== 0 || stride % 16 !== 0) fail('CM5088', { what: '`groupDescriptor`', why: 'offsets are multiples of 16 bytes' });
  const fixed = (BigInt(leading >> 4) << 16n) | (BigInt(stride >> 4) << 32n) | (BigInt(modes[swizzle]) << 62n);
  const start = pointer.address().and(0x3ffff).shr(4).to(u64);
  return start.or(fixed);
}

/** Options of a product. */
export interface GroupMmaOptions {
  /** Whether the product is added to the sum, which it replaces otherwise; true by default. */
  readonly add?: Operand<'pred'> | boolean;
  /** Whether the rows of `a` are along the columns in memory (16-bit types in shared memory). */
  readonly transposeA?: boolean;
  /** Whether the columns of `b` are along the rows in memory (16-bit types). */
  readonly transposeB?: boolean;
}

/**
 * Starts a product of 64 rows of `a` and the columns of `b`, both behind descriptors, or `a` in four registers as a factor of `mma` has it for each
 * warp. `groupFence` is before the first one and after registers were written, `commitGroup` and `waitGroup` end it.
 */
export function groupMma<F extends GroupFactorName>(
  { type, columns, elements }: GroupAccumulator<F>,
  a: Handle<'u64'> | readonly Handle<'b32'>[],
  b: Handle<'u64'>,
  { add = true, transposeA = false, transposeB = false }: GroupMmaOptions = {},
): void {
  const isWhole = type === 's8' || type === 'u8';
  const isHalf = type === 'f16' || type === 'bf16';
  const inRegisters = Array.isArray(a);
  if ((transposeA || transposeB) && !isHalf) fail('CM5088', { what: '`groupMma`', why: `${type} is not transposed` });
  if (transposeA && inRegisters) fail('CM5088', { what: '`groupMma`', why: 'registers are not transposed' });
  const added = typeof add === 'boolean' ? constant(pred, add) : add;
  const left = inRegisters
    ? vectorNode((a as readonly Handle<'b32'>[]).map((each) => inRegister('b32', each)))
    : inRegister('u64', a as Handle<'u64'>);
  const orders = isHalf ? [...(inRegisters ? [] : [Number(transposeA)]), Number(transposeB)] : [];
  trace('groupMma').emit(`wgmma.mma_async.sync.aligned.m64n${columns}k${groupDepth[type]}.${isWhole ? 's32' : 'f32'}.${type}.${type}`, [
    vectorNode(elements.map(({ register }) => nameNode(register))),
    left,
    inRegister('u64', b),
    inRegister('pred', added),
    ...(isWhole ? [] : [1, 1, ...orders]).map(integerNode),
  ]);
}

/** Orders registers and shared memory before products that read them. */
export const groupFence = (): void => trace('groupFence').emit('wgmma.fence.sync.aligned');
/** Closes a group of products: those since the last group. */
export const commitGroup = (): void => trace('commitGroup').emit('wgmma.commit_group.sync.aligned');
/** Waits until all groups but the latest `left` are done; the sums are there then. */
export const waitGroup = (left = 0): void => trace('waitGroup').emit('wgmma.wait_group.sync.aligned', [integerNode(left)]);

/** Calls a function with each element of a sum that this thread has, its row of 64 and its column. Blocks have one dimension. */
export function eachGroupElement<F extends GroupFactorName>(
  { elements }: GroupAccumulator<F>,
  visit: (element: Variable<GroupSum<F>>, row: Value<'u32'>, column: Value<'u32'>) => void,
): void {
  const lane = laneIndex();
  const row = warpIndex().and(3).mul(16).add(lane.shr(2));
  const column = lane.and(3).mul(2);
  elements.forEach((element, i) => {
    visit(element, (i & 2) === 0 ? row : row.add(8), column.add((i >> 2) * 8 + (i & 1)));
  });
}
