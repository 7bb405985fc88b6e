/** Raises matrices that are distributed over a simdgroup: two elements per lane, in the layout of `matmul`. */
import type { InstructionOf, Value as LlvmValue } from '../../bitcode/model.ts';
import type { Type as LlvmType } from '../../bitcode/types.ts';
import {
  type Builder,
  bytesOf,
  factorType,
  matrixLayout,
  mmaForm,
  mmaRegisters,
  registersAs,
  type ScalarType,
  sumType,
  type Value,
  vectorOf,
} from '../../ir/index.ts';
import type { Intrinsic } from '../intrinsics.ts';
import { matrixCount } from '../matrix-functions.ts';
import { type Lanes, Refused } from '../types.ts';
import type { RaiseState } from './state.ts';

/** The result of a call of a matrix function; undefined for a store. */
export function raiseMatrix(state: RaiseState, row: Intrinsic, inst: InstructionOf<'call'>): Lanes | undefined {
  const args = inst.args.filter((arg): arg is LlvmValue => arg.kind !== 'metadata');
  switch (row.matrix!.form) {
    case 'filled': {
      const value = state.scalar(args[0]!);
      return [value, value];
    }
    case 'diagonal':
      return diagonal(state, state.scalar(args[0]!));
    case 'product':
      return product(state, inst.type, args);
    case 'load': {
      const element = elementOf(state, inst.type);
      return placesOf(state, element, args).map((place) => state.b.load(element, place, access(element)));
    }
    case 'store': {
      const [matrix, ...where] = args as [LlvmValue, ...LlvmValue[]];
      const element = elementOf(state, matrix.type);
      const lanes = state.lanes(matrix);
      for (const [i, place] of placesOf(state, element, where).entries()) state.b.store(place, lanes[i]!, access(element));
      return undefined;
    }
  }
}

/** The registers of the result of a product of the CPU device. */
export function raiseMma({ b, lanes, scalar }: RaiseState, text: string, inst: InstructionOf<'call'>): Lanes {
  const form = mmaForm(text);
  const count = mmaRegisters(form);
  const [a, right, c, d] = inst.args.filter((arg): arg is LlvmValue => arg.kind !== 'metadata') as [
    LlvmValue,
    LlvmValue,
    LlvmValue,
    LlvmValue,
  ];
  const sum = sumType(form.sum);
  const whole = b.mma(
    registersAs(sum, count.c),
    joined(b, factorType(form.a), lanes(a)),
    joined(b, factorType(form.b), lanes(right)),
    joined(b, sum, lanes(c)),
    scalar(d),
    { form: text },
  );
  return Array.from({ length: count.c }, (_, lane) => b.extract(sum, whole, { lane }));
}

/** Values as one vector. */
function joined(b: Builder, type: ScalarType, values: Lanes): Value {
  const [x, y, z, w] = values as [Value, Value, Value, Value];
  if (values.length === 1) return x;
  return values.length === 2 ? b.vec2(vectorOf(type, 2), x, y) : b.vec4(vectorOf(type, 4), x, y, z, w);
}

/** For a shuffle of two matrices: the index in the lane's elements of an element of both, concatenated. */
export function laneInMatrices(index: number): number {
  const [which, element] = [Math.floor(index / matrixCount), index % matrixCount];
  if (element > 1) throw new Refused('an element of a matrix that is another lane’s');
  return 2 * which + element;
}

const elementOf = (state: RaiseState, type: LlvmType): ScalarType => state.typesOf(type)[0] as ScalarType;
const access = (element: ScalarType): { align: number; volatile: boolean } => ({ align: bytesOf(element), volatile: false });

function product({ b, lanes, typesOf }: RaiseState, type: LlvmType, matrices: readonly LlvmValue[]): Lanes {
  const [x, y, z] = matrices.map((matrix) => {
    const [first, second] = lanes(matrix) as [Value, Value];
    return b.vec2(vectorOf(b.typeOf(first) as ScalarType, 2), first, second);
  }) as [Value, Value, Value];
  const element = typesOf(type)[0] as ScalarType;
  const pair = b.matmul(vectorOf(element, 2), x, y, z);
  return [0, 1].map((lane) => b.extract(element, pair, { lane }));
}

/** The number formed by some bits of the lane index, shifted to a given position. */
function numberOf(b: Builder, bits: readonly number[], from: number): Value {
  const own = b.sreg('i32', { name: 'laneid' });
  const moved = bits.map((bit, i) => b.shl(b.and(b.lshr(own, b.const('i32', bit)), b.const('i32', 1)), b.const('i32', i + from)));
  return moved.reduce((sum, each) => b.or(sum, each));
}

/** Row and first column of the lane's elements. */
const position = (b: Builder): [row: Value, column: Value] => [numberOf(b, matrixLayout.row, 0), numberOf(b, matrixLayout.column, 1)];

function diagonal({ b }: RaiseState, value: Value): Lanes {
  const [row, column] = position(b);
  const zero = b.const(b.typeOf(value), 0);
  return [0, 1].map((i) => b.select(b.icmp(row, b.add(column, b.const('i32', i)), { pred: 'eq' }), value, zero));
}

/** The memory layout of a matrix: strides in elements between columns and rows, and the column and row of the origin. */
interface Image {
  readonly strides: readonly [Value, Value];
  readonly origin: readonly [Value, Value];
}

/** Addresses of the lane's elements. */
function placesOf(state: RaiseState, element: ScalarType, [pointer, ...where]: readonly LlvmValue[]): Value[] {
  const { b } = state;
  const { strides, origin } = where[0]!.type.kind === 'vector' ? newImage(state, where) : oldImage(state, where);
  const [row, column] = position(b);
  const start = state.scalar(pointer!);
  const along = (i: 0 | 1, at: Value): Value => b.mul(b.add(origin[i], b.zext('i64', at)), strides[i]);
  const line = along(1, row);
  return [0, 1].map((i) => {
    const offset = b.add(along(0, b.add(column, b.const('i32', i))), line);
    return b.ptradd(start, b.mul(offset, b.const('i64', bytesOf(element))));
  });
}

const two = (state: RaiseState, value: LlvmValue): readonly [Value, Value] => state.lanes(value) as [Value, Value];

/** Strides and origin; the extents do not affect addresses. */
const newImage = (state: RaiseState, [, strides, origin]: readonly LlvmValue[]): Image => ({
  strides: two(state, strides!),
  origin: two(state, origin!),
});

/**
 * Elements per row, origin, and whether memory rows are matrix columns.
 * Source: JuliaGPU/Metal.jl, pull request 813, for the equivalence of the two signatures.
 */
function oldImage(state: RaiseState, [perRow, origin, isTransposed]: readonly LlvmValue[]): Image {
  const [line, one] = [state.scalar(perRow!), state.b.const('i64', 1)];
  const [x, y] = two(state, origin!);
  const flag = state.kernel.insts[state.scalar(isTransposed!)]!;
  if (flag.op !== 'const') throw new Refused('a matrix with a transposition flag that is not constant');
  return flag.bits === 0n ? { strides: [one, line], origin: [x, y] } : { strides: [line, one], origin: [y, x] };
}
