/**
 * The product of matrices of a warp as a WebAssembly function, one for each form. Its parameter is the address of a staging area, in which the
 * caller puts the registers of all lanes; the function unpacks the factors there, adds the products to the registers of c, and leaves d in them.
 */
import { mmaColumns, mmaForm, mmaRegisters, perRegister, positionsOf } from '../../ir/index.ts';
import type { WasmModule } from '../../wasm/index.ts';
import { writeFactor } from './factors.ts';
import type { Host } from './host.ts';
import { writeFusedDoubles } from './mma-doubles.ts';
import { add, binary, count, get, type MmaFrame, stagingOf, warp } from './mma-frame.ts';
import { writeProducts } from './mma-products.ts';

/** The index of the function of a form; the first call writes it into the module. */
export function mmaTable(module: WasmModule, host: Host): (form: string) => number {
  const known = new Map<string, number>();
  let fused: number | undefined;
  const fusedDoubles = (): number => {
    fused ??= writeFusedDoubles(module, host);
    return fused;
  };
  return (text) => {
    const found = known.get(text);
    if (found !== undefined) return found;
    const form = mmaForm(text);
    const fma = form.sum === 'f64' ? fusedDoubles() : 0;
    const { index, code } = module.fn({ params: ['i32'], results: [] });
    known.set(text, index);
    const frame: MmaFrame = { code, fma, form, staging: stagingOf(form), base: 0 };
    if (form.selector !== undefined) writeZeros(frame);
    writeRows(frame);
    writeColumns(frame);
    writeProducts(frame);
    return index;
  };
}

/** Clears the rows of a, of which a sparse matrix has only some elements. */
function writeZeros({ code, form, staging, base }: MmaFrame): void {
  const at = code.local('i32');
  count(code, at, (form.m * form.k) / 4, () => {
    get(code, at);
    binary(code, 'i32.shl', 4);
    get(code, base);
    code.op('i32.add');
    code.v128([0, 0, 0, 0]);
    code.access('v128.store', 16, staging.rows);
  });
}

/** Pushes the element of a part of a register of the lane whose first register is at a local. */
function pushElement({ code, form, staging }: MmaFrame, of: 'a' | 'b', lane: number, register: number, part: number): void {
  const at = staging[of] + register * warp * staging.wordBytes;
  get(code, lane);
  if (form.sum === 'f64') return code.access('f64.load', 8, at);
  code.access('i32.load', 4, at);
  writeFactor(code, form[of], part);
}

const stored = ({ form }: MmaFrame): 'f64.store' | 'i32.store' => (form.sum === 'f64' ? 'f64.store' : 'i32.store');

/** Sets locals to a lane's first register and to an address that the two parts of its number determine. */
function writeLane(
  { code, base, staging }: MmaFrame,
  lane: number,
  locals: { source: number; target: number },
  perGroup: number,
  perThread: number,
): void {
  get(code, lane);
  binary(code, 'i32.mul', staging.wordBytes);
  get(code, base);
  code.op('i32.add');
  code.at('local.set', locals.source);
  get(code, lane);
  binary(code, 'i32.shr_u', 2);
  binary(code, 'i32.mul', perGroup * staging.wordBytes);
  get(code, lane);
  binary(code, 'i32.and', 3);
  binary(code, 'i32.mul', perThread * staging.wordBytes);
  code.op('i32.add');
  get(code, base);
  code.op('i32.add');
  code.at('local.set', locals.target);
}

/** Unpacks a. */
function writeRows(frame: MmaFrame): void {
  const { code, form, staging } = frame;
  const { k, m } = form;
  const [lane, source, target, index] = [code.local('i32'), code.local('i32'), code.local('i32'), code.local('i32')];
  const parts = perRegister(form.a);
  const isSparse = form.selector !== undefined;
  count(code, lane, warp, () => {
    writeLane(frame, lane, { source, target }, k, isSparse ? 0 : parts);
    for (let register = 0; register < mmaRegisters(form).a; register++)
      for (let part = 0; part < parts; part++) {
        const [half, along] = m === 16 ? [register & 1, register >> 1] : [0, register];
        const column = 4 * parts * along + part;
        get(code, target);
        if (isSparse) pushPlace(frame, { lane, index, half, column, parts });
        pushElement(frame, 'a', source, register, part);
        code.access(stored(frame), staging.wordBytes, staging.rows + (8 * half * k + (isSparse ? 0 : column)) * staging.wordBytes);
      }
  });
}

interface SparseElement {
  readonly lane: number;
  /** A local for its column among those that are held. */
  readonly index: number;
  readonly half: number;
  readonly column: number;
  readonly parts: number;
}

/** Adds the offset of the column in which an element of a sparse matrix stands to the address on the stack. */
function pushPlace(frame: MmaFrame, { lane, index, half, column, parts }: SparseElement): void {
  const { code, form } = frame;
  const { shared } = positionsOf(form);
  get(code, lane);
  binary(code, 'i32.and', 3);
  binary(code, 'i32.mul', parts);
  add(code, column);
  code.at('local.set', index);
  // Four positions of two bits each belong to as many elements of the dense row as there are in two groups of the sparse one.
  if (shared === 0.5) {
    get(code, index);
    binary(code, 'i32.shl', 1);
    pushPosition(frame, lane, half, () => {
      get(code, index);
      binary(code, 'i32.shl', 2);
      add(code, 1);
    });
    binary(code, 'i32.and', 1);
  } else {
    get(code, index);
    binary(code, 'i32.shr_u', shared);
    binary(code, 'i32.shl', 1 + shared);
    pushPosition(frame, lane, half, () => {
      get(code, index);
      if (shared === 1) binary(code, 'i32.shl', 1);
      else binary(code, 'i32.and', -2);
    });
    binary(code, 'i32.and', 3);
    if (shared === 2) {
      binary(code, 'i32.shl', 1);
      get(code, index);
      binary(code, 'i32.and', 1);
      code.op('i32.or');
    }
  }
  code.op('i32.or');
  binary(code, 'i32.shl', 2);
  code.op('i32.add');
}

/** Pushes the bits of a row's positions from a number on, which `pushBit` pushes. */
function pushPosition({ code, form, staging, base }: MmaFrame, lane: number, half: number, pushBit: () => void): void {
  const { rowBits, isHalved } = positionsOf(form);
  const selector = form.selector!;
  // The word's lane in the group of four, and the bit in the word.
  get(code, lane);
  binary(code, 'i32.and', -4);
  if (isHalved) {
    add(code, (selector * rowBits) / 16);
    pushBit();
    binary(code, 'i32.shr_u', 4);
  } else {
    add(code, rowBits === 32 ? 2 * selector + half : half);
    pushBit();
    binary(code, 'i32.shr_u', 5);
    binary(code, 'i32.shl', 1);
  }
  code.op('i32.add');
  binary(code, 'i32.shl', 2);
  get(code, base);
  code.op('i32.add');
  code.access('i32.load', 4, staging.d);
  pushBit();
  if (isHalved) {
    binary(code, 'i32.and', 15);
    add(code, 16 * half);
  }
  code.op('i32.shr_u');
}

/** Unpacks b: in each row four even columns, and then four odd ones. */
function writeColumns(frame: MmaFrame): void {
  const { code, form, staging } = frame;
  const [lane, source, target] = [code.local('i32'), code.local('i32'), code.local('i32')];
  const parts = perRegister(form.b);
  count(code, lane, warp, () => {
    writeLane(frame, lane, { source, target }, 0, parts * mmaColumns);
    // The column of group g is at g / 2, from the fifth on if g is odd.
    get(code, target, lane);
    binary(code, 'i32.shr_u', 3);
    get(code, lane);
    binary(code, 'i32.and', 4);
    code.op('i32.add');
    binary(code, 'i32.mul', staging.wordBytes);
    code.op('i32.add');
    code.at('local.set', target);
    for (let register = 0; register < mmaRegisters(form).b; register++)
      for (let part = 0; part < parts; part++) {
        get(code, target);
        pushElement(frame, 'b', source, register, part);
        code.access(stored(frame), staging.wordBytes, staging.columns + (4 * parts * register + part) * mmaColumns * staging.wordBytes);
      }
  });
}
