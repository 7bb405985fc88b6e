/** Numbers of threads by sizes of blocks. */
import type { Code } from '../../../wasm/index.ts';

/** Divides a thread's number, which is below 2^10, as engines do not replace divisions: 2^20 / count, rounded up, is off by less than tells. */
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

/** What is left of a thread's number. */
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
