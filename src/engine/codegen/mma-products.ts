/** The loops of a product of matrices, over factors that are unpacked in the staging area. */
import { mmaColumns } from '../../ir/index.ts';
import { add, binary, count, get, type MmaFrame, warp } from './mma-frame.ts';

/** How many steps along the common axis a turn of the innermost loop has. */
const steps = 4;

/** Locals and sizes of the loops that add products. */
interface Loops {
  readonly frame: MmaFrame;
  readonly group: number;
  readonly step: number;
  /** Addresses of the next element of the row of a, of the next row of b, and of the first vector of c. */
  readonly row: number;
  readonly column: number;
  readonly place: number;
  /** Vectors of a row of c, and the sums of a group of rows. */
  readonly vectors: number;
  readonly sums: readonly number[];
}

/** Adds the products: for each group of rows a loop along the common axis. */
export function writeProducts(frame: MmaFrame): void {
  const { code, form, staging, base } = frame;
  const local = (): number => code.local('i32');
  const [group, step, row, column, place] = [local(), local(), local(), local(), local()];
  const vectors = staging.wordBytes / 2;
  const sums = Array.from({ length: (form.m / 8) * vectors }, () => code.local('v128'));
  const loops: Loops = { frame, group, step, row, column, place, vectors, sums };
  count(code, group, 8, () => {
    get(code, group);
    binary(code, 'i32.mul', 4 * staging.wordBytes);
    get(code, base);
    code.op('i32.add');
    code.at('local.set', place);
    for (const [i, sum] of sums.entries()) {
      if (form.sum === 's32') code.v128([0, 0, 0, 0]);
      else pushAddend(loops, i);
      code.at('local.set', sum);
    }
    writeAlong(loops, 0, (at) => {
      for (const [i, sum] of sums.entries())
        writeProduct(frame, { sum, row, column, at, half: Math.floor(i / vectors), vector: i % vectors });
    });
    if (form.a === 'bf16' || form.a === 'tf32') writeIfLarge(loops);
    for (const [i, sum] of sums.entries()) {
      get(code, place);
      if (form.sum === 's32') {
        pushAddend(loops, i);
        pushTotal(frame, sum);
      } else get(code, sum);
      code.access('v128.store', 16, offsetOf(loops, i));
    }
  });
}

/** The offset of a vector of c: even columns are in the first register of a row, odd ones in the second. */
function offsetOf({ frame: { staging }, vectors }: Loops, index: number): number {
  const perColumns = vectors / 2;
  const [half, vector] = [Math.floor(index / vectors), index % vectors];
  const register = 2 * half + Math.floor(vector / perColumns);
  return staging.c + register * warp * staging.wordBytes + 16 * (vector % perColumns);
}

function pushAddend(loops: Loops, index: number): void {
  get(loops.frame.code, loops.place);
  loops.frame.code.access('v128.load', 16, offsetOf(loops, index));
}

/** A loop along the common axis; `act` gets the number of a step in its turn. */
function writeAlong(
  { frame: { code, form, staging, base }, group, step, row, column }: Loops,
  firstRow: number,
  act: (at: number) => void,
): void {
  get(code, group);
  binary(code, 'i32.mul', form.k * staging.wordBytes);
  get(code, base);
  code.op('i32.add');
  add(code, firstRow);
  code.at('local.set', row);
  get(code, base);
  code.at('local.set', column);
  const turn = Math.min(steps, form.k);
  count(code, step, form.k / turn, () => {
    for (let at = 0; at < turn; at++) act(at);
    for (const [local, bytes] of [
      [row, turn * staging.wordBytes],
      [column, turn * mmaColumns * staging.wordBytes],
    ] as const) {
      get(code, local);
      add(code, bytes);
      code.at('local.set', local);
    }
  });
}

/**
 * Computes sums in doubles, where one in f32 is not finite: products of `bf16` and `tf32` may be too large for f32 while their sum is a number, or
 * an infinity and not a NaN.
 */
function writeIfLarge(loops: Loops): void {
  const { code, form, staging } = loops.frame;
  const [low, high, factor] = [code.local('v128'), code.local('v128'), code.local('v128')];
  loops.sums.forEach((sum, i) => {
    get(code, sum, sum);
    code.op('f32x4.sub');
    get(code, sum, sum);
    code.op('f32x4.sub');
    code.op('f32x4.eq');
    code.op('i32x4.all_true');
    code.op('i32.eqz');
    code.open('if');
    const upper = (): void => {
      code.v128([0, 0, 0, 0]);
      code.shuffle([8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23]);
    };
    for (const [half, local] of [low, high].entries()) {
      pushAddend(loops, i);
      if (half === 1) upper();
      code.op('f64x2.promote_low_f32x4');
      code.at('local.set', local);
    }
    const [half, vector] = [Math.floor(i / loops.vectors), i % loops.vectors];
    writeAlong(loops, 0, (at) => {
      get(code, loops.row);
      code.access('v128.load32_splat', 4, staging.rows + (8 * half * form.k + at) * 4);
      code.op('f64x2.promote_low_f32x4');
      code.at('local.set', factor);
      for (const [part, local] of [low, high].entries()) {
        get(code, local, factor, loops.column);
        code.access('v128.load64_zero', 8, staging.columns + at * mmaColumns * 4 + 16 * vector + 8 * part);
        code.op('f64x2.promote_low_f32x4');
        code.op('f64x2.mul');
        code.op('f64x2.add');
        code.at('local.set', local);
      }
    });
    get(code, low);
    code.op('f32x4.demote_f64x2_zero');
    get(code, high);
    code.op('f32x4.demote_f64x2_zero');
    code.shuffle([0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23]);
    code.at('local.set', sum);
    code.end();
  });
}

interface Step {
  readonly sum: number;
  readonly row: number;
  readonly column: number;
  readonly at: number;
  readonly half: number;
  readonly vector: number;
}

/** Adds the products of an element of a and of a vector of b to a sum. */
function writeProduct({ code, fma, form, staging }: MmaFrame, { sum, row, column, at, half, vector }: Step): void {
  const pushA = (): void => {
    get(code, row);
    const offset = staging.rows + (8 * half * form.k + at) * staging.wordBytes;
    code.access(form.sum === 'f64' ? 'v128.load64_splat' : 'v128.load32_splat', staging.wordBytes, offset);
  };
  const pushB = (): void => {
    get(code, column);
    code.access('v128.load', 16, staging.columns + at * mmaColumns * staging.wordBytes + 16 * vector);
  };
  if (form.sum === 'f64') {
    pushA();
    pushB();
    get(code, sum);
    code.at('call', fma);
    return code.at('local.set', sum);
  }
  get(code, sum);
  pushA();
  pushB();
  if (form.bits) {
    code.op(`v128.${form.bits}`);
    code.op('i8x16.popcnt');
    code.op('i16x8.extadd_pairwise_i8x16_u');
    code.op('i32x4.extadd_pairwise_i16x8_u');
    code.op('i32x4.add');
  } else {
    const shape = form.sum === 'f32' ? 'f32x4' : 'i32x4';
    code.op(`${shape}.mul`);
    code.op(`${shape}.add`);
  }
  code.at('local.set', sum);
}

/** Replaces the vector of c on the stack by its sum with the products, which is saturated if the form says so. */
function pushTotal({ code, form }: MmaFrame, sum: number): void {
  if (!form.isSaturated) {
    get(code, sum);
    return code.op('i32x4.add');
  }
  const [c, total] = [code.local('v128'), code.local('v128')];
  code.at('local.tee', c);
  get(code, sum);
  code.op('i32x4.add');
  code.at('local.set', total);
  // The limit of the sign of c, where both addends have the sign that the sum has not.
  get(code, c);
  code.i32(31);
  code.op('i32x4.shr_s');
  code.v128([0x7fffffff, 0x7fffffff, 0x7fffffff, 0x7fffffff]);
  code.op('v128.xor');
  get(code, total, c, total);
  code.op('v128.xor');
  get(code, sum, total);
  code.op('v128.xor');
  code.op('v128.and');
  code.i32(31);
  code.op('i32x4.shr_s');
  code.op('v128.bitselect');
}
