/** Unpacks the elements of matrices from 32-bit registers. */
import { type Factor, factorBits } from '../../ir/index.ts';
import type { Code } from '../../wasm/index.ts';

/** A float format of a few bits. `ieee` has infinities and NaNs, `nan` one NaN of each sign, `finite` none. */
interface SmallFloat {
  readonly exponent: number;
  readonly mantissa: number;
  readonly special: 'ieee' | 'nan' | 'finite';
}

const smallFloats: Partial<Record<Factor, SmallFloat>> = {
  f16: { exponent: 5, mantissa: 10, special: 'ieee' },
  e5m2: { exponent: 5, mantissa: 2, special: 'ieee' },
  e4m3: { exponent: 4, mantissa: 3, special: 'nan' },
  e3m2: { exponent: 3, mantissa: 2, special: 'finite' },
  e2m3: { exponent: 2, mantissa: 3, special: 'finite' },
  e2m1: { exponent: 2, mantissa: 1, special: 'finite' },
  packed: { exponent: 2, mantissa: 1, special: 'finite' },
};

function binary(code: Code, op: 'i32.and' | 'i32.shl' | 'i32.shr_u' | 'i32.shr_s' | 'i32.or', value: number): void {
  code.i32(value);
  code.op(op);
}

/** Replaces the register on the stack by its element number `part`: an integer, or the bits of an f32. */
export function writeFactor(code: Code, factor: Factor, part: number): void {
  const bits = factorBits[factor];
  const at = bits * part;
  switch (factor) {
    case 'b1':
      return;
    case 'tf32':
      return binary(code, 'i32.and', 0xffffe000 | 0);
    case 'bf16':
      return part === 0 ? binary(code, 'i32.shl', 16) : binary(code, 'i32.and', 0xffff0000 | 0);
    case 's4':
    case 's8':
      binary(code, 'i32.shl', 32 - bits - at);
      return binary(code, 'i32.shr_s', 32 - bits);
    case 'u4':
    case 'u8':
      binary(code, 'i32.shr_u', at);
      return binary(code, 'i32.and', 2 ** bits - 1);
    default:
      // In a byte, the four bits are those in the middle.
      return writeSmallFloat(code, smallFloats[factor]!, factor === 'e2m1' ? at + 2 : at);
  }
}

const locals = new WeakMap<Code, number>();

/** A local of a function for intermediate results. */
function localOf(code: Code): number {
  const local = locals.get(code) ?? code.local('i32');
  locals.set(code, local);
  return local;
}

/**
 * Replaces a register by the bits of the f32 with the value of the small float from a bit on: exponent and mantissa at their places in an f32,
 * multiplied by a power of two, which makes subnormals exact as well.
 */
function writeSmallFloat(code: Code, { exponent, mantissa, special }: SmallFloat, at: number): void {
  const [held, width] = [localOf(code), exponent + mantissa];
  const magnitude = 2 ** width - 1;
  if (at > 0) binary(code, 'i32.shr_u', at);
  code.at('local.tee', held);
  binary(code, 'i32.and', magnitude);
  binary(code, 'i32.shl', 23 - mantissa);
  code.op('f32.reinterpret_i32');
  const bias = 2 ** (exponent - 1) - 1;
  code.f32((127 + 127 - bias) << 23);
  code.op('f32.mul');
  code.op('i32.reinterpret_f32');
  code.at('local.get', held);
  binary(code, 'i32.shl', 31 - width);
  binary(code, 'i32.and', 0x80000000 | 0);
  code.op('i32.or');
  if (special === 'finite') return;
  // An exponent of ones, or all ones, is that of an infinity or a NaN in f32 too.
  const ones = special === 'ieee' ? (2 ** exponent - 1) << mantissa : magnitude;
  code.i32(0x7f800000);
  code.i32(0);
  code.at('local.get', held);
  binary(code, 'i32.and', ones);
  code.i32(ones);
  code.op('i32.eq');
  code.op('select');
  code.op('i32.or');
}
