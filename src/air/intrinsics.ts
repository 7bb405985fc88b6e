/**
 * The `air.*` functions: one table for emission, raising and validation. A row has the name for given types, the signature, the attributes
 * of the declaration, and the IR op. Source of names and signatures: AIR that Apple's compiler produced (listings in public repositories),
 * JuliaGPU/Metal.jl.
 */
import { type Type as LlvmType, types as llvm, type TypeOf } from '../bitcode/types.ts';
import { type AtomicOp, type Clock, clocks, type Fold, type Op, type ScalarType, specOf } from '../ir/index.ts';
import { llvmScalar } from './llvm-scalar.ts';
import { type MatrixElement, type MatrixForm, matrixFunctions, productName } from './matrix-functions.ts';
import { mmaFormIn, mmaPrefix, mmaTypeOf } from './mma-functions.ts';

/**
 * `pure`: no memory access; `convergent`: barriers and simdgroup operations; `atomic`: atomic accesses, and operations that stay ordered
 * with them.
 */
export type IntrinsicClass = 'pure' | 'convergent' | 'atomic';

export interface Intrinsic {
  readonly name: string;
  readonly type: TypeOf<'function'>;
  /**
   * The type from AIR 2.9 on: barriers have an order operand, atomics name the memory that they order. Raised but never emitted. Source:
   * AIR of Apple's compiler for Metal 4.1.
   */
  readonly newerType?: TypeOf<'function'>;
  readonly class: IntrinsicClass;
  readonly op: Op;
  /** Raised but never emitted. */
  readonly raiseOnly: boolean;
  /** The form of an atomic, and its address space. */
  readonly atomic?: { readonly form: AtomicForm; readonly space: AtomicSpace };
  /** The simdgroup collective. */
  readonly warp?: WarpForm;
  /** The operation on a matrix that is distributed over a simdgroup, and its signature up to AIR 2.7. */
  readonly matrix?: { readonly form: MatrixForm; readonly oldType: TypeOf<'function'> | undefined };
  readonly clock?: Clock;
  /** The form of a product of matrices (`src/ir/mma.ts`). */
  readonly form?: string;
  /** Of a reduction by a member mask. */
  readonly fold?: Fold;
  /** Of a synchronization by a member mask. */
  readonly isFence?: boolean;
  /** The IR scalar type of the result and of the first operand. */
  readonly result: ScalarType | undefined;
  readonly operand: ScalarType | undefined;
}

/** The float types of each `air.` math function. f64 forms exist for the CPU target only; bf16 forms are raised but never emitted. */
const mathTypes: readonly ScalarType[] = ['f32', 'f16', 'f64', 'bf16'];
const ints: readonly ScalarType[] = ['i8', 'i16', 'i32', 'i64'];
const floats: readonly ScalarType[] = ['f16', 'bf16', 'f32', 'f64'];

type Spec = Omit<Intrinsic, 'raiseOnly' | 'type' | 'newerType'> & { raiseOnly?: boolean; type: Signature; hasNewer?: boolean };
type Table = Map<string, Intrinsic>;

/** Types are created on first use: a kernel uses few functions, and every start loads the table. */
type Signature = () => TypeOf<'function'>;
const signature =
  (result: LlvmType, ...params: LlvmType[]): Signature =>
  () =>
    llvm.function(result, params);

/** The signature with an additional i32 before the last operand. */
const newerOf = ({ result, params }: TypeOf<'function'>): TypeOf<'function'> =>
  llvm.function(result, [...params.slice(0, -1), llvm.i32, ...params.slice(-1)]);

function addTo(table: Table, { type, hasNewer, ...spec }: Spec): void {
  let createdTypes: TypeOf<'function'> | undefined;
  const row: Intrinsic = {
    raiseOnly: false,
    ...spec,
    get type() {
      createdTypes ??= type();
      return createdTypes;
    },
    ...(hasNewer
      ? {
          get newerType() {
            return newerOf(type());
          },
        }
      : {}),
  };
  table.set(spec.name, row);
}

const table: Table = new Map();
const add = (spec: Spec): void => addTo(table, spec);

/** `sub` is raised but never emitted. */
export type AtomicForm = AtomicOp | 'sub' | 'cas' | 'load' | 'store';
export type AtomicSpace = 'global' | 'local';
const addressSpaces: Record<AtomicSpace, number> = { global: 1, local: 3 };

/** Apple's names of 32-bit integer atomics with a signedness in the name. */
const signed: Readonly<Record<string, readonly [s: AtomicForm, u: AtomicForm]>> = {
  add: ['add', 'add'],
  sub: ['sub', 'sub'],
  and: ['and', 'and'],
  or: ['or', 'or'],
  xor: ['xor', 'xor'],
  min: ['smin', 'umin'],
  max: ['smax', 'umax'],
};

let atomicTable: Table | undefined;

/** Atomics: Apple's 32-bit ones, and for the CPU device all of PTX. Created on first use. */
function atomics(): Table {
  if (atomicTable) return atomicTable;
  atomicTable = new Map();
  for (const space of ['global', 'local'] as const)
    for (const spec of [...appleAtomics(space), ...cpuAtomics(space)]) addTo(atomicTable, spec);
  return atomicTable;
}

function appleAtomics(space: AtomicSpace): Spec[] {
  const make = (name: string, t: ScalarType, form: AtomicForm, raiseOnly = false): Spec => {
    const of = llvmScalar[t];
    const pointer = llvm.pointer(of, addressSpaces[space]);
    const order = [llvm.i32, llvm.i32, llvm.i1];
    const type = {
      load: signature(of, pointer, ...order),
      store: signature(llvm.void, pointer, of, ...order),
      cas: signature(of, pointer, llvm.pointer(of), of, llvm.i32, ...order),
    }[form as string];
    return {
      name: `air.atomic.${space}.${name}`,
      type: type ?? signature(of, pointer, of, ...order),
      class: 'atomic',
      op: form === 'cas' ? 'cas' : 'atomic',
      atomic: { form, space },
      result: t,
      operand: t,
      raiseOnly,
      hasNewer: true,
    };
  };
  const integers = Object.entries(signed).flatMap(([name, [s, u]]) => [
    make(`${name}.s.i32`, 'i32', s, s !== 'smin' && s !== 'smax'),
    make(`${name}.u.i32`, 'i32', u, u === 'sub'),
  ]);
  const floats = [make('add.f32', 'f32', 'fadd', space === 'local'), make('sub.f32', 'f32', 'sub', true)];
  const wide = [make('min.u.i64', 'i64', 'umin', true), make('max.u.i64', 'i64', 'umax', true)].map((spec) => ({
    ...spec,
    type: withoutResult(spec),
  }));
  const plain = (['i32', 'f32'] as const).flatMap((t) => [
    make(`xchg.${t}`, t, 'exch', t === 'f32'),
    make(`load.${t}`, t, 'load'),
    make(`store.${t}`, t, 'store'),
    make(`cmpxchg.weak.${t}`, t, 'cas', t === 'f32'),
  ]);
  return [...integers, ...floats, ...plain, ...wide];
}

/** The signature of an atomic without result. */
const withoutResult =
  ({ type }: Spec): Signature =>
  () =>
    llvm.function(llvm.void, type().params);

/** Atomics that no Apple GPU has, for the CPU device: 64 bits, wrapping counters, float sums in threadgroup memory. */
function cpuAtomics(space: AtomicSpace): Spec[] {
  const make = (t: ScalarType, form: AtomicOp | 'cas'): Spec => {
    const of = llvmScalar[t];
    const pointer = llvm.pointer(of, addressSpaces[space]);
    const isSwap = form === 'cas';
    return {
      name: `cumetal.atomic.${space}.${form}.${t}`,
      type: isSwap ? signature(of, pointer, of, of) : signature(of, pointer, of),
      class: 'atomic',
      op: isSwap ? 'cas' : 'atomic',
      atomic: { form, space },
      result: t,
      operand: t,
    };
  };
  const wide = (['add', 'and', 'or', 'xor', 'exch', 'smin', 'smax', 'umin', 'umax', 'cas'] as const).map((form) => make('i64', form));
  return [...wide, make('i32', 'inc'), make('i32', 'dec'), make('f64', 'fadd'), ...(space === 'local' ? [make('f32', 'fadd')] : [])];
}

let matrixTable: Table | undefined;

/** Simdgroup matrices. Created on first use. */
function matrices(): Table {
  if (matrixTable) return matrixTable;
  matrixTable = new Map();
  for (const { name, form, type, oldType } of matrixFunctions()) {
    const matrix = {
      form,
      get oldType() {
        return oldType?.();
      },
    };
    const raiseOnly = form !== 'product';
    addTo(matrixTable, { name, type, class: 'convergent', op: 'matmul', matrix, result: undefined, operand: undefined, raiseOnly });
  }
  return matrixTable;
}

/** The function of a matrix product with these element types. */
export const productFunction = (d: MatrixElement, a: MatrixElement, b: MatrixElement, c: MatrixElement): Intrinsic =>
  matrices().get(productName(d, a, b, c))!;

/** Whether a function may be declared with a type. */
export const hasSignature = ({ type, newerType, matrix }: Intrinsic, declared: TypeOf<'function'>): boolean =>
  [type, newerType, matrix?.oldType].includes(declared);

/** The function of an atomic. A function that only the CPU device has is named `cumetal.…`. */
export function atomicFunction(form: AtomicOp | 'cas' | 'load' | 'store', space: AtomicSpace, type: ScalarType): Intrinsic | undefined {
  for (const row of atomics().values())
    if (row.atomic?.form === form && row.atomic.space === space && row.operand === type && !row.raiseOnly) return row;
  return undefined;
}

/** Whether only the CPU device has a function. */
export const isCpuOnly = ({ name }: Intrinsic): boolean => name.startsWith('cumetal.');

/**
 * Relaxed order; device scope for device memory, threadgroup scope for threadgroup memory; volatile, as in the output of Apple's compiler.
 */
export const atomicOrder = { relaxed: 0, scope: { global: 2, local: 1 } } as const;

/** Float math by op, in precise and relaxed forms: the exact result is always a legal relaxed one. */
const math: Partial<Record<Op, string>> = {
  fma: 'fma',
  fsqrt: 'sqrt',
  fabs: 'fabs',
  fmin: 'fmin',
  fmax: 'fmax',
  frint: 'rint',
  ftrunc: 'trunc',
  ffloor: 'floor',
  fceil: 'ceil',
  fexp2: 'exp2',
  flog2: 'log2',
  fsin: 'sin',
  fcos: 'cos',
  ftanh: 'tanh',
  frsqrt: 'rsqrt',
};

for (const [op, name] of Object.entries(math) as [Op, string][])
  for (const t of mathTypes) {
    const type = signature(llvmScalar[t], ...Object.keys(specOf(op).args).map(() => llvmScalar[t]));
    add({ name: `air.${name}.${t}`, type, class: 'pure', op, result: t, operand: t, raiseOnly: t === 'bf16' });
    if (t === 'f32') add({ name: `air.fast_${name}.f32`, type, class: 'pure', op, result: t, operand: t, raiseOnly: true });
  }

for (const t of ints) {
  const of = llvmScalar[t];
  add({ name: `air.clz.${t}`, type: signature(of, of, llvm.i1), class: 'pure', op: 'clz', result: t, operand: t });
  add({ name: `air.popcount.${t}`, type: signature(of, of), class: 'pure', op: 'popcount', result: t, operand: t });
  add({ name: `air.reverse_bits.${t}`, type: signature(of, of), class: 'pure', op: 'bitrev', result: t, operand: t });
  for (const sign of ['s', 'u'] as const) {
    const binary = (name: string, op: Op, raiseOnly: boolean) =>
      add({ name: `air.${name}.${sign}.${t}`, type: signature(of, of, of), class: 'pure', op, result: t, operand: t, raiseOnly });
    binary('mul_hi', `${sign}mulhi`, false);
    binary('min', `${sign}min`, true);
    binary('max', `${sign}max`, true);
  }
  for (const f of floats)
    for (const sign of ['s', 'u'] as const) {
      const from = `fpto${sign}i` as const;
      const to = `${sign}itofp` as const;
      add({ name: `air.convert.${sign}.${t}.f.${f}`, type: signature(of, llvmScalar[f]), class: 'pure', op: from, result: t, operand: f });
      add({ name: `air.convert.f.${f}.${sign}.${t}`, type: signature(llvmScalar[f], of), class: 'pure', op: to, result: f, operand: t });
    }
}

add({
  name: 'air.wg.barrier',
  type: signature(llvm.void, llvm.i32, llvm.i32),
  class: 'convergent',
  op: 'barrier',
  result: undefined,
  operand: undefined,
  hasNewer: true,
});

export type WarpForm = 'lane' | Fold | 'ballot' | 'barrier';

/**
 * Simdgroup functions that are emitted; `functions/simd.ts` has those that are only raised. Lanes are i16. Integer functions have a
 * signedness in the name; emission uses the unsigned one if it does not matter.
 */
for (const t of ['i8', 'i16', 'i32', 'f16', 'f32'] as const) {
  const of = llvmScalar[t];
  const name = `air.simd_shuffle.${t.startsWith('i') ? 'u.' : ''}${t}`;
  add({ name, type: signature(of, of, llvm.i16), class: 'convergent', op: 'shuffle', warp: 'lane', result: t, operand: t });
}

const foldNames = { add: 'sum.u', and: 'and.u', or: 'or.u', xor: 'xor.u', smin: 'min.s', smax: 'max.s', umin: 'min.u', umax: 'max.u' };
for (const [fold, name] of Object.entries(foldNames) as [Fold, string][]) {
  const row = { class: 'convergent', op: 'reduce', warp: fold, result: 'i32', operand: 'i32' } as const;
  add({ name: `air.simd_${name}.i32`, type: signature(llvm.i32, llvm.i32), ...row });
}

add({
  name: 'air.simd_ballot.i64',
  type: signature(llvm.i64, llvm.i1),
  class: 'convergent',
  op: 'ballot',
  warp: 'ballot',
  result: undefined,
  operand: undefined,
});

add({
  name: 'air.simdgroup.barrier',
  type: signature(llvm.void, llvm.i32, llvm.i32),
  class: 'convergent',
  op: 'syncwarp',
  warp: 'barrier',
  result: undefined,
  operand: undefined,
  hasNewer: true,
});

const fenceType = signature(llvm.void, llvm.i32, llvm.i32, llvm.i32);
add({ name: 'air.atomic.fence', type: fenceType, class: 'atomic', op: 'fence', result: undefined, operand: undefined });

/** The clocks of the CPU device; AIR has none. */
export const clockName = (clock: Clock): string => `cumetal.clock.${clock}`;
for (const clock of clocks)
  add({ name: clockName(clock), type: signature(llvm.i64), class: 'atomic', op: 'clock', clock, result: 'i64', operand: undefined });

/** Collectives by member masks, for the CPU device; AIR has no equivalent. The mask is the last operand. */
export const maskedNames = { shufflesync: 'cumetal.shuffle.sync', ballotsync: 'cumetal.ballot.sync' } as const;
/** `isFence` decides which of the two synchronizes. */
export const warpsyncName = (isFence: boolean): string => (isFence ? 'cumetal.warp.sync' : 'cumetal.warp.converge');
export const reducesyncName = (fold: Fold): string => `cumetal.reduce.${fold}.sync`;
const masked = { class: 'convergent', result: undefined, operand: undefined } as const;
add({ name: maskedNames.shufflesync, type: signature(llvm.i32, llvm.i32, llvm.i32, llvm.i32), op: 'shufflesync', ...masked });
add({ name: maskedNames.ballotsync, type: signature(llvm.i32, llvm.i1, llvm.i32), op: 'ballotsync', ...masked });
for (const fold of Object.keys(foldNames) as Fold[])
  add({ name: reducesyncName(fold), type: signature(llvm.i32, llvm.i32, llvm.i32), op: 'reducesync', fold, ...masked });
for (const isFence of [true, false])
  add({ name: warpsyncName(isFence), type: signature(llvm.void, llvm.i32), op: 'warpsync', isFence, ...masked });

const mmaRows: Table = new Map();

/** The function of a product of matrices with a form, for the CPU device; AIR has none. */
export function mmaFunction(form: string): Intrinsic;
export function mmaFunction(form: string | undefined): Intrinsic | undefined;
export function mmaFunction(form: string | undefined): Intrinsic | undefined {
  if (form === undefined) return undefined;
  const name = `${mmaPrefix}${form}`;
  const row = { name, type: () => mmaTypeOf(form), class: 'convergent', op: 'mma', form, result: undefined, operand: undefined } as const;
  if (!mmaRows.has(name)) addTo(mmaRows, row);
  return mmaRows.get(name)!;
}

/** Marks the start of a source instruction for the profiler and the trace of the CPU device; AIR has no equivalent. */
export const markName = 'cumetal.mark';
add({ name: markName, type: signature(llvm.void), class: 'convergent', op: 'mark', result: undefined, operand: undefined });

/** Every known function, for the docs. */
export const allIntrinsics = (): Intrinsic[] => [...table.values(), ...atomics().values(), ...matrices().values()];

/** The function with a name; undefined if it is unknown. */
export const intrinsicOf = (name: string): Intrinsic | undefined =>
  table.get(name) ??
  (name.includes('.atomic.')
    ? atomics().get(name)
    : name.includes('.simdgroup_matrix_')
      ? matrices().get(name)
      : mmaFunction(mmaFormIn(name)));

/** The function for an op with these types, if there is one. */
export function intrinsicFor(op: Op, result: ScalarType | undefined, operand: ScalarType | undefined): Intrinsic | undefined {
  return (byOp ?? groupByOp()).get(op)?.find((row) => row.result === result && row.operand === operand);
}

/** Emitted functions by op; created on first use. */
let byOp: ReadonlyMap<Op, readonly Intrinsic[]> | undefined;

function groupByOp(): NonNullable<typeof byOp> {
  const groups = new Map<Op, Intrinsic[]>();
  for (const row of table.values()) if (!row.raiseOnly) groups.set(row.op, [...(groups.get(row.op) ?? []), row]);
  byOp = groups;
  return groups;
}

/** The function of a reduction of 32-bit integers. */
export const foldFunction = (fold: Fold): Intrinsic => [...table.values()].find((row) => row.warp === fold && !row.raiseOnly)!;

/** Flags of barriers, device (1) and threadgroup (2) memory, and the scope of `air.wg.barrier` for `bar.sync`, the threadgroup (1). */
export const barrierOperands = { memory: 3, scope: 1 } as const;

/** Flags of `air.atomic.fence` as of barriers, sequentially consistent order, and its scopes. */
export const fenceOperands = { memory: 3, order: 5, scope: { block: 1, device: 2 } } as const;
