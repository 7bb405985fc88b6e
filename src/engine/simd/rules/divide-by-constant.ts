/** Division and remainder of thread numbers by constant block sizes, by multiplication with a reciprocal. */
import type { Code } from '../../../wasm/index.ts';

/**
 * Divides the thread number on the stack, which is below 2^10, by a constant of at most 2^10; engines do not strength-reduce divisions. The
 * reciprocal ceil(2^20 / count) is too large by less than 1, so the quotient by less than 2^-10, which never reaches the next integer.
 */
export function quotient(code: Code, count: number): void {
  if (count === 1) return;
  const shift = Math.log2(count);
  if (!Number.isInteger(shift)) {
    code.i32(Math.ceil(2 ** 20 / count));
    code.op('i32.mul');
  }
  code.i32(Number.isInteger(shift) ? shift : 20);
  code.op('i32.shr_u');
}

/** The remainder of the thread number on the stack by a constant. */
export function remainder(code: Code, count: number): void {
  if (Number.isInteger(Math.log2(count))) {
    code.i32(count - 1);
    return code.op('i32.and');
  }
  const whole = code.local('i32');
  code.at('local.tee', whole);
  code.at('local.get', whole);
  quotient(code, count);
  code.i32(count);
  code.op('i32.mul');
  code.op('i32.sub');
}
