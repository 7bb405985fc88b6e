/**
 * What follows a product of cuBLASLt in kernels of its own: functions that keep their argument for a backward pass, the backward pass of these, and gradients
 * of a bias. Source: cuBLAS Library, "cublasLtEpilogue_t" and "cublasLtMatmulDescAttributes_t".
 */
import { type KernelBuffer, partOf } from '../api/index.ts';
import {
  bf16,
  blockIndex,
  constant,
  f16,
  f32,
  f64,
  gridSize,
  local,
  loop,
  type Pointer,
  ptr,
  s64,
  shared,
  syncThreads,
  type Type,
  threadIndex,
  u32,
  type Value,
  when,
} from '../build/index.ts';
import { type Activation, activations, derivatives } from '../kernels/functions.ts';
import { assertStrides, assertWhole, type CublasHandle, kernelOf, launch, refuse } from './handle.ts';

/** What happens to each element of the result. */
export type Epilogue =
  | 'DEFAULT'
  | 'RELU'
  | 'BIAS'
  | 'RELU_BIAS'
  | 'GELU'
  | 'GELU_BIAS'
  | 'RELU_AUX'
  | 'RELU_AUX_BIAS'
  | 'GELU_AUX'
  | 'GELU_AUX_BIAS'
  | 'DRELU'
  | 'DRELU_BGRAD'
  | 'DGELU'
  | 'DGELU_BGRAD'
  | 'BGRADA'
  | 'BGRADB';

/** What an epilogue is. */
export interface End {
  /** The function that the product itself applies. */
  readonly activation?: Activation;
  /** What is done with `aux` behind the product. */
  readonly aux?: 'relu' | 'gelu' | 'reluBack' | 'geluBack';
  /** What the bias is: it is added, or it receives the sums of the rows of D or of op(A), or of the columns of op(B). */
  readonly bias?: 'added' | 'ofD' | 'ofA' | 'ofB';
}

/** The epilogues; `GELU` is by the hyperbolic tangent. */
export const ends: Readonly<Record<Epilogue, End>> = {
  DEFAULT: {},
  RELU: { activation: 'relu' },
  BIAS: { bias: 'added' },
  RELU_BIAS: { activation: 'relu', bias: 'added' },
  GELU: { activation: 'geluTanh' },
  GELU_BIAS: { activation: 'geluTanh', bias: 'added' },
  RELU_AUX: { aux: 'relu' },
  RELU_AUX_BIAS: { aux: 'relu', bias: 'added' },
  GELU_AUX: { aux: 'gelu' },
  GELU_AUX_BIAS: { aux: 'gelu', bias: 'added' },
  DRELU: { aux: 'reluBack' },
  DRELU_BGRAD: { aux: 'reluBack', bias: 'ofD' },
  DGELU: { aux: 'geluBack' },
  DGELU_BGRAD: { aux: 'geluBack', bias: 'ofD' },
  BGRADA: { bias: 'ofA' },
  BGRADB: { bias: 'ofB' },
};

/** Whether `aux` is a mask of bits, and not of the type of D. */
const isMask = (how: NonNullable<End['aux']>): boolean => how === 'relu' || how === 'reluBack';

const types = { f32, f64, f16, bf16 } as const;
/** The types of D for which these epilogues are there. */
export type EndType = keyof typeof types;
/** The elements of D, and the sums, as the body of a kernel sees them. */
const typesOf = (type: EndType): { readonly element: Type<'f32'>; readonly sum: Type<'f32'> } => ({
  element: types[type] as unknown as Type<'f32'>,
  sum: (type === 'f64' ? f64 : f32) as unknown as Type<'f32'>,
});

const threads = 256;
/** The bits of a word of a mask. */
const wordBits = 32;

interface Inside {
  readonly d: Pointer<'f32', 'global'>;
  readonly aux: Pointer<'f32', 'global'>;
  readonly m: Value<'s64'>;
  readonly n: Value<'s64'>;
  readonly ld: Value<'s64'>;
  readonly auxLd: Value<'s64'>;
  readonly strideD: Value<'s64'>;
  readonly auxStride: Value<'s64'>;
}

/** A kernel over the elements of D in columns, or with a mask over parts of 32 rows; batches are along z. */
function auxKernel(type: EndType, how: NonNullable<End['aux']>) {
  const { element, sum } = typesOf(type);
  const hasBits = isMask(how);
  const words = { m: s64, n: s64, ld: s64, auxLd: s64, strideD: s64, auxStride: s64 };
  return kernelOf(
    `cublas_lt_${how}_${type}`,
    { d: ptr(element), aux: ptr((hasBits ? u32 : element) as Type<'f32'>), ...words },
    (p: Inside) => {
      const batch = blockIndex('z').to(s64);
      const [d, aux] = [p.d.add(batch.mul(p.strideD)), p.aux.add(batch.mul(hasBits ? p.auxStride.shr(5) : p.auxStride))];
      const per = hasBits ? wordBits : 1;
      const parts = p.m.add(per - 1).div(per);
      loop(blockIndex().mad(threads, threadIndex()).to(s64), parts.mul(p.n), gridSize('x').mul(threads).to(s64), (i) => {
        const column = i.div(parts);
        const part = i.sub(column.mul(parts));
        const line = d.add(column.mul(p.ld));
        if (!hasBits) return byArgument(how, { place: line.at(part), aux: aux.at(column.mul(p.auxLd).add(part)), element });
        const word = (aux as unknown as Pointer<'u32', 'global'>).at(column.mul(p.auxLd.shr(5)).add(part));
        const bits = local(u32, how === 'relu' ? 0 : word.get());
        loop(0, wordBits, 1, (bit) => {
          const row = part.mul(wordBits).add(bit.to(s64));
          when(row.lt(p.m), () => {
            const value = line.at(row).get().to(sum);
            if (how === 'reluBack') when(bits.shr(bit).and(1).eq(0), () => line.at(row).set(constant(sum, 0).to(element)));
            else {
              // A NaN stays, and has no bit.
              when(value.gt(0), () => bits.set(bits.or(constant(u32, 1).shl(bit))));
              when(value.le(0), () => line.at(row).set(constant(sum, 0).to(element)));
            }
          });
        });
        if (how === 'relu') word.set(bits);
      });
    },
    threads,
  );
}

type Place = ReturnType<Pointer<'f32', 'global'>['at']>;
interface Argument {
  readonly place: Place;
  readonly aux: Place;
  readonly element: Type<'f32'>;
}

/** GELU, whose argument stays in `aux`, or its backward pass. */
function byArgument(how: NonNullable<End['aux']>, { place, aux, element }: Argument): void {
  const stored = place.get();
  if (how === 'gelu') {
    aux.set(stored);
    place.set(activations.geluTanh(stored.to(f32)).to(element));
  } else
    place.set(
      stored
        .to(f32)
        .mul(derivatives.geluTanh(aux.get().to(f32)))
        .to(element),
    );
}

interface Summed {
  readonly x: Pointer<'f32', 'global'>;
  readonly y: Pointer<'f32', 'global'>;
  readonly count: Value<'s64'>;
  readonly length: Value<'s64'>;
  readonly step: Value<'s64'>;
  readonly along: Value<'s64'>;
}

/** Sums of `length` elements that are `along` apart, for each of `count` that are `step` apart: 32 of them by a block, each by eight threads. */
function sumsKernel(type: EndType) {
  const { element, sum } = typesOf(type);
  const [side, parts] = [32, threads / 32];
  return kernelOf(
    `cublas_lt_sums_${type}`,
    { x: ptr(element), y: ptr(sum), count: s64, length: s64, step: s64, along: s64 },
    (p: Summed) => {
      const [lane, part] = [threadIndex().and(side - 1), threadIndex().shr(5)];
      const i = blockIndex().mad(side, lane).to(s64);
      const total = local(sum, 0);
      const all = shared(sum, threads);
      when(i.lt(p.count), () => {
        const line = p.x.add(i.mul(p.step));
        loop(part.to(s64), p.length, parts, (at) => total.set(total.add(line.at(at.mul(p.along)).get().to(sum))));
      });
      all.at(threadIndex()).set(total);
      syncThreads();
      when(part.eq(0).and(i.lt(p.count)), () => {
        for (let other = 1; other < parts; other++) total.set(total.add(all.at(lane.add(other * side)).get()));
        p.y.at(i).set(total);
      });
    },
    threads,
  );
}

/** The auxiliary matrix of an epilogue: for ReLU a mask of a bit for each element of D, for GELU its arguments in the type of D. */
export interface Auxiliary {
  readonly aux?: KernelBuffer | undefined;
  /** The bits (ReLU, a multiple of 128) or elements (GELU, a multiple of 8) from one column to the next. */
  readonly auxLd?: number | undefined;
  /** Those from one matrix to the next. */
  readonly auxBatchStride?: number | undefined;
}

/** The result that an epilogue follows, in columns. */
export interface Ended {
  readonly type: string;
  readonly m: number;
  readonly n: number;
  readonly d: unknown;
  readonly ld: number;
  readonly stride: number;
  readonly batch: number;
}

/** The type of D of an epilogue, which is refused for others. */
export function endTypeOf(name: string, epilogue: Epilogue, type: string): EndType {
  const { aux } = ends[epilogue];
  if (!(type in types) || (type === 'f64' && (aux === 'gelu' || aux === 'geluBack')))
    refuse(name, `the epilogue ${epilogue} is not there for ${type}`);
  return type as EndType;
}

/** Refuses an auxiliary matrix that does not fit an epilogue. */
export function assertAuxiliary(name: string, epilogue: Epilogue, given: Auxiliary, { m, n, batch }: Ended): void {
  const { aux: how } = ends[epilogue];
  const { aux, auxLd = 0, auxBatchStride = 0 } = given;
  if ((how !== undefined) !== (aux !== undefined)) refuse(name, `the epilogue ${epilogue} ${how ? 'needs' : 'has no'} \`aux\``);
  if (how === undefined) return;
  const hasBits = isMask(how);
  const multiple = hasBits ? 128 : 8;
  assertWhole(name, { auxLd }, Math.max(1, m));
  assertStrides(name, { auxBatchStride });
  if (auxLd % multiple !== 0 || auxBatchStride % multiple !== 0)
    refuse(name, `\`auxLd\` and \`auxBatchStride\` are no multiples of ${multiple}`);
  const part = partOf(aux);
  const end = m === 0 || n === 0 || batch === 0 ? 0 : (batch - 1) * auxBatchStride + (n - 1) * auxLd + m;
  const needed = hasBits ? Math.ceil(end / wordBits) * 4 : undefined;
  if (part && (needed === undefined ? part.length < end : part.byteLength < needed))
    refuse(name, `\`aux\` has ${part.byteLength} bytes, and ${needed ?? `${end} elements`} are needed`);
}

/** Enqueues what is done with `aux`. */
export function runAuxiliary(handle: CublasHandle, how: NonNullable<End['aux']>, type: EndType, given: Auxiliary, of: Ended): void {
  const { m, n, d, ld, stride, batch } = of;
  if (m === 0 || n === 0 || batch === 0) return;
  const { aux, auxLd = 0, auxBatchStride = 0 } = given;
  const hasBits = isMask(how);
  const memory = hasBits ? partOf(aux)!.part(0, partOf(aux)!.length).as('u32') : aux;
  const items = (hasBits ? Math.ceil(m / wordBits) : m) * n;
  const args = { d, aux: memory, m, n, ld, auxLd, strideD: stride, auxStride: auxBatchStride };
  launch(handle, auxKernel(type, how), [Math.min(4096, Math.ceil(items / threads)), 1, batch], threads, args);
}

/** Enqueues sums of `length` elements for each of `count`. */
export function runSums(
  handle: CublasHandle,
  type: EndType,
  args: Readonly<Record<'count' | 'length' | 'step' | 'along', number>> & { readonly x: unknown; readonly y: unknown },
): void {
  if (args.count > 0) launch(handle, sumsKernel(type), Math.ceil(args.count / 32), threads, args);
}
