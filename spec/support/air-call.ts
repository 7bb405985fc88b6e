/** Calls of one function with many operands: a kernel written as AIR text, with one thread per call, run on the CPU device. */
import { type AirParam, airLibrary, airModule } from './air-text.ts';
import { launchMetallib } from './launch.ts';

export interface AirCall {
  readonly name: string;
  /** LLVM type of the result, such as `float` or `<2 x i32>`. */
  readonly result: string;
  /** Operands: a type with contiguous values per thread, or a constant for all threads. */
  readonly operands: readonly (readonly [type: string, values: ArrayBufferView | string])[];
  readonly threads: number;
  /** Bytes between results; an i1 is stored as an i32. */
  readonly stride: number;
}

/** The contiguous results of all threads. */
export function callEach({ name, result, operands, threads, stride }: AirCall): Uint8Array {
  const given = operands.flatMap(([type, values], i) => (typeof values === 'string' ? [] : [{ type, values, i }]));
  const pointer = (type: string): AirParam => ({ type: `${type} addrspace(1)*`, kind: 'air.buffer' });
  const stored = result === 'i1' ? 'i32' : result;
  const params = [pointer(stored), ...given.map(({ type }) => pointer(type)), { type: 'i32', kind: 'air.thread_position_in_grid' }];
  const address = (to: string, type: string, param: number): string =>
    `  ${to} = getelementptr ${type}, ${type} addrspace(1)* %p${param}, i64 %wide`;
  const loads = given.map(({ type, i }, k) => `${address(`%a${i}`, type, k + 1)}\n  %x${i} = load ${type}, ${type} addrspace(1)* %a${i}`);
  const args = operands.map(([type, values], i) => `${type} ${typeof values === 'string' ? values : `%x${i}`}`).join(', ');
  const body = [
    `  %wide = zext i32 %p${params.length - 1} to i64`,
    ...loads,
    `  %r = call ${result} @${name}(${args})`,
    ...(result === 'i1' ? ['  %s = zext i1 %r to i32'] : []),
    address('%to', stored, 0),
    `  store ${stored} ${result === 'i1' ? '%s' : '%r'}, ${stored} addrspace(1)* %to`,
  ];
  const text = airModule(params, body.join('\n'), `declare ${result} @${name}(${operands.map(([type]) => type).join(', ')})`);
  const args2 = [new Uint8Array(threads * stride), ...given.map(({ values }) => values)];
  const [after] = launchMetallib(airLibrary(text), { kernel: 'k', blocks: 1, threads, args: args2 });
  return after!.slice();
}

/** The same with 32-bit floats, scalar. */
export function floatsOf(name: string, operands: readonly Float32Array[]): Float32Array {
  const threads = operands[0]!.length;
  const bytes = callEach({ name, result: 'float', operands: operands.map((values) => ['float', values]), threads, stride: 4 });
  return new Float32Array(bytes.buffer);
}
