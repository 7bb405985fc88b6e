/** Elementwise kernels: each thread computes four elements, which are far from each other so that a warp reads whole lines. */
import {
  type Arguments,
  blockIndex,
  f32,
  kernel,
  type Parameters,
  type Pointer,
  ptr,
  type Type,
  type TypedKernel,
  threadIndex,
  u32,
  type Value,
  when,
} from '../build/index.ts';
import { type Activation, activations, derivatives } from './functions.ts';
import { blocksFor, type Floating, named, type Plan, portable, type Routine, routine, type TypeOption, typeOf } from './routine.ts';

type Real = Value<'f32'>;
const threads = 256;
const perThread = 4;
/** The last block must not wrap its indices. */
const perBlock = threads * perThread;

/** Calls a function with the indices of this thread below n: four at once where all are, else each behind a branch. */
function eachIndex(n: Value<'u32'>, visit: (indices: readonly Value<'u32'>[]) => void): void {
  const first = blockIndex().mad(perBlock, threadIndex());
  const indices = Array.from({ length: perThread }, (_, k) => (k === 0 ? first : first.add(k * threads)));
  when(
    indices.at(-1)!.lt(n),
    () => visit(indices),
    () => {
      for (const i of indices.slice(0, -1)) when(i.lt(n), () => visit([i]));
    },
  );
}

interface Pointwise<P extends Parameters> extends Plan<P> {}

const pointwisePlan =
  <P extends Parameters & { readonly n: Type<'u32'> }>(buffers: readonly (keyof P & string)[]) =>
  (args: Arguments<P>): Pointwise<P> => {
    const n = args.n as number;
    return {
      grid: blocksFor(n, perBlock),
      block: threads,
      args,
      sizes: { n: n > 0xffff_ffff - perBlock ? Number.NaN : n },
      needs: Object.fromEntries(buffers.map((name) => [name, n])) as { [N in keyof P]?: number },
    };
  };

const read = <T extends Floating>(x: Pointer<T, 'global'>, i: Value<'u32'>): Real => x.at(i).get().to(f32);

/** The parameters of `activation`: `y[i] = f(x[i])` for i below n. `x` and `y` may be the same. */
type Unary<T extends Floating> = ReturnType<typeof unary<T>>;
const unary = <T extends Floating>(type: Type<T>) => ({ x: ptr(type), y: ptr(type), n: u32 });

/** An activation of each element: `y[i] = f(x[i])`. Deterministic. */
export function activation<T extends Floating = 'f32'>(which: Activation, options: TypeOption<T> = {}): Routine<Unary<T>> {
  const type = typeOf(options);
  const make = (name: string): TypedKernel<Unary<T>> =>
    kernel(
      name,
      unary(type),
      (p) => {
        const { x, y, n } = p as unknown as { x: Pointer<T, 'global'>; y: Pointer<T, 'global'>; n: Value<'u32'> };
        eachIndex(n, (indices) => {
          const values = indices.map((i) => read(x, i));
          for (const [k, value] of values.entries()) y.at(indices[k]!).set(activations[which](value).to(type));
        });
      },
      portable,
    );
  return routine(named(which, type.name), make, pointwisePlan<Unary<T>>(['x', 'y']));
}

type UnaryBackward<T extends Floating> = ReturnType<typeof unaryBackward<T>>;
const unaryBackward = <T extends Floating>(type: Type<T>) => ({ x: ptr(type), dy: ptr(type), dx: ptr(type), n: u32 });

/** The backward kernel of `activation`: `dx[i] = f'(x[i]) * dy[i]`. Deterministic. */
export function activationBackward<T extends Floating = 'f32'>(which: Activation, options: TypeOption<T> = {}): Routine<UnaryBackward<T>> {
  const type = typeOf(options);
  const make = (name: string): TypedKernel<UnaryBackward<T>> =>
    kernel(
      name,
      unaryBackward(type),
      (p) => {
        const { x, dy, dx, n } = p as unknown as Record<'x' | 'dy' | 'dx', Pointer<T, 'global'>> & { n: Value<'u32'> };
        eachIndex(n, (indices) => {
          const values = indices.map((i) => [read(x, i), read(dy, i)] as const);
          for (const [k, [at, slope]] of values.entries()) dx.at(indices[k]!).set(derivatives[which](at).mul(slope).to(type));
        });
      },
      portable,
    );
  return routine(named(which, 'backward', type.name), make, pointwisePlan<UnaryBackward<T>>(['x', 'dy', 'dx']));
}

type Binary<T extends Floating> = ReturnType<typeof binaryParameters<T>>;
const binaryParameters = <T extends Floating>(type: Type<T>) => ({ a: ptr(type), b: ptr(type), y: ptr(type), n: u32 });

const operations = {
  add: (a: Real, b: Real): Real => a.add(b),
  sub: (a: Real, b: Real): Real => a.sub(b),
  mul: (a: Real, b: Real): Real => a.mul(b),
  div: (a: Real, b: Real): Real => a.div(b),
  /** The gate of many language models: silu(a) * b. */
  swiglu: (a: Real, b: Real): Real => activations.silu(a).mul(b),
} as const;

/** Elementwise operations of two arrays: `y[i] = a[i] op b[i]`; `swiglu` is `silu(a) * b`. Deterministic. */
export function binary<T extends Floating = 'f32'>(which: keyof typeof operations, options: TypeOption<T> = {}): Routine<Binary<T>> {
  const type = typeOf(options);
  const make = (name: string): TypedKernel<Binary<T>> =>
    kernel(
      name,
      binaryParameters(type),
      (p) => {
        const { a, b, y, n } = p as unknown as Record<'a' | 'b' | 'y', Pointer<T, 'global'>> & { n: Value<'u32'> };
        eachIndex(n, (indices) => {
          const values = indices.map((i) => [read(a, i), read(b, i)] as const);
          for (const [k, [left, right]] of values.entries()) y.at(indices[k]!).set(operations[which](left, right).to(type));
        });
      },
      portable,
    );
  return routine(named(which, type.name), make, pointwisePlan<Binary<T>>(['a', 'b', 'y']));
}

type Bias<T extends Floating> = ReturnType<typeof biasParameters<T>>;
const biasParameters = <T extends Floating>(type: Type<T>) => ({ x: ptr(type), bias: ptr(type), y: ptr(type), n: u32, columns: u32 });

/** A bias of each column, and an activation: `y[i] = f(x[i] + bias[i % columns])` for the n elements of a matrix. Deterministic. */
export function biasAdd<T extends Floating = 'f32'>(options: TypeOption<T> & { readonly activation?: Activation } = {}): Routine<Bias<T>> {
  const type = typeOf(options);
  const which = options.activation ?? 'identity';
  const make = (name: string): TypedKernel<Bias<T>> =>
    kernel(
      name,
      biasParameters(type),
      (p) => {
        const { x, bias, y, n, columns } = p as unknown as Record<'x' | 'bias' | 'y', Pointer<T, 'global'>> &
          Record<'n' | 'columns', Value<'u32'>>;
        eachIndex(n, (indices) => {
          const values = indices.map((i) => [read(x, i), read(bias, i.rem(columns))] as const);
          for (const [k, [value, own]] of values.entries()) y.at(indices[k]!).set(activations[which](value.add(own)).to(type));
        });
      },
      portable,
    );
  const plan = pointwisePlan<Bias<T>>(['x', 'y']);
  return routine(named('bias', options.activation, type.name), make, (args: Arguments<Bias<T>>) => {
    const made = plan(args);
    return { ...made, needs: { ...made.needs, bias: args.columns as number } };
  });
}
