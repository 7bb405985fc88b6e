/** Matrices as they are stored, in columns: full, as a band or as a packed triangle; general, symmetric, Hermitian or triangular. */
import { constant, local, s64, u32, type Value, when } from '../build/index.ts';
import type { Diagonal, FillMode, Operation } from './handle.ts';
import { assign, changing, conjugate, type Letter, load, type Number as Num, now, numberOf, type Reals, realPart } from './number.ts';

/** What a kernel knows of a matrix when it is made. */
export interface Stored {
  readonly storage: 'full' | 'band' | 'packed';
  readonly shape: 'general' | 'symmetric' | 'hermitian' | 'triangular';
  /** Of a shape: whether the upper triangle is stored. */
  readonly isUpper: boolean;
  readonly isUnit: boolean;
  readonly isTransposed: boolean;
  readonly isConjugated: boolean;
}
/** A matrix in a kernel. */
export interface Operand {
  readonly a: Reals;
  readonly ld: Value<'s64'>;
  /** The rows of the matrix as it is stored, of packed ones. */
  readonly rows: Value<'s64'>;
  /** Diagonals below and above the main one, of a band. */
  readonly below: Value<'s64'>;
  readonly above: Value<'s64'>;
}

/** A general matrix with an operation. */
export const generalOf = (operation: Operation, storage: Stored['storage'] = 'full'): Stored => ({
  ...{ storage, shape: 'general', isUpper: false, isUnit: false },
  ...{ isTransposed: operation !== 'N', isConjugated: operation === 'C' },
});
/** A matrix of which a triangle is stored. */
export const halfOf = (shape: 'symmetric' | 'hermitian', uplo: FillMode, storage: Stored['storage'] = 'full'): Stored => ({
  ...generalOf('N', storage),
  ...{ shape, isUpper: uplo === 'U' },
});
/** A triangular matrix with an operation. */
export const triangleOf = (uplo: FillMode, operation: Operation, diagonal: Diagonal, storage: Stored['storage'] = 'full'): Stored => ({
  ...generalOf(operation, storage),
  ...{ shape: 'triangular', isUpper: uplo === 'U', isUnit: diagonal === 'U' },
});
/** The words of a name of a kernel. */
export const wordsOf = (m: Stored): string =>
  [m.storage, m.shape, m.isUpper ? 'u' : 'l', m.isUnit ? 'i' : 'n', m.isTransposed ? 't' : 'n', m.isConjugated ? 'c' : 'n'].join('_');
/** Whether op(A) has its elements in the upper triangle. */
export const isUpperAfter = (m: Stored): boolean => m.isUpper !== m.isTransposed;

/** Where an element is that is stored. */
function placeOf(m: Stored, { ld, rows, above }: Operand, r: Value<'s64'>, c: Value<'s64'>): Value<'s64'> {
  if (m.storage === 'full') return c.mul(ld).add(r);
  if (m.storage === 'band') return c.mul(ld).add(above).add(r).sub(c);
  return m.isUpper ? r.add(c.mul(c.add(1)).shr(1)) : r.add(rows.mul(2).sub(c).sub(1).mul(c).shr(1));
}

/** An element of op(A). */
export function elementOf(letter: Letter, m: Stored, operand: Operand, row: Value<'s64'>, column: Value<'s64'>): Num {
  const [r, c] = m.isTransposed ? [column, row] : [row, column];
  const read = (at: Value<'s64'>, other: Value<'s64'>): Num => load(letter, operand.a, placeOf(m, operand, at, other));
  const given = (value: Num): Num => (m.isConjugated ? conjugate(value) : value);
  if (m.shape === 'general' && m.storage === 'full') return given(read(r, c));
  const value = changing(letter, numberOf(letter, 0));
  const isStored = m.isUpper ? r.le(c) : r.ge(c);
  const inBand = m.storage === 'band' ? r.sub(c).le(operand.below).and(c.sub(r).le(operand.above)) : undefined;
  const within = (condition: Value<'pred'>): Value<'pred'> => (inBand ? condition.and(inBand) : condition);
  if (m.shape === 'general') when(inBand ?? isStored, () => assign(value, given(read(r, c))));
  if (m.shape === 'triangular') {
    when(within(m.isUnit ? isStored.and(r.ne(c)) : isStored), () => assign(value, given(read(r, c))));
    if (m.isUnit) when(r.eq(c), () => assign(value, numberOf(letter, 1)));
  }
  if (m.shape === 'symmetric' || m.shape === 'hermitian') {
    const isHermitian = m.shape === 'hermitian';
    const [p, q] = [isStored.select(r, c), isStored.select(c, r)];
    const isNear = m.storage === 'band' ? q.sub(p).abs().le(operand.below.add(operand.above)) : p.eq(p);
    when(isNear, () => {
      const stored = read(p, q);
      assign(value, stored);
      if (isHermitian) {
        when(isStored.not(), () => assign(value, conjugate(stored)));
        when(r.eq(c), () => assign(value, realPart(stored)));
      }
    });
  }
  return now(value);
}

/** The columns that a row of op(A) has. */
export function rangeOf(
  m: Stored,
  { below, above }: Operand,
  row: Value<'s64'>,
  count: Value<'s64'>,
): [from: Value<'s64'>, to: Value<'s64'>] {
  const [from, to] = [local(s64, 0), local(s64, count)];
  if (m.storage === 'band') {
    const isHalf = m.shape === 'symmetric' || m.shape === 'hermitian';
    const [under, over] = isHalf ? [below.add(above), below.add(above)] : m.isTransposed ? [above, below] : [below, above];
    from.set(row.sub(under).max(0));
    to.set(row.add(over).add(1).min(count));
  }
  if (m.shape === 'triangular') {
    if (isUpperAfter(m)) from.set(from.max(row));
    else to.set(to.min(row.add(1)));
  }
  return [from.get(), to.get()];
}
/** A word of 0. */
export const zeroWord = (): Value<'u32'> => constant(u32, 0);
