/** What specs of the library share: numbers that repeat, comparison with references in f64, and launches under the sanitizer. */
import * as assert from 'uvu/assert';
import type { Extent } from '../../src/api/index.ts';
import type { Parameters } from '../../src/build/index.ts';
import { Device } from '../../src/index.ts';
import type { Procedure, Routine } from '../../src/kernels/index.ts';

/** Numbers from -1 to 1 that are the same in every run, rounded to f32. */
export function numbers(count: number, seed: number): Float32Array {
  let state = (seed * 2654435761 + 12345) >>> 0;
  return Float32Array.from({ length: count }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 31 - 1;
  });
}

/** Fails unless each value is within `relative` of the expected one and of `scale`, which is 1 by default. */
export function close(actual: ArrayLike<number>, expected: ArrayLike<number>, relative: number, what = '', scale = 1): void {
  assert.is(actual.length, expected.length, what);
  for (let i = 0; i < expected.length; i++) {
    const [a, e] = [actual[i]!, expected[i]!];
    if (Number.isNaN(e) ? !Number.isNaN(a) : !(Math.abs(a - e) <= relative * Math.max(Math.abs(e), scale)) && a !== e)
      assert.unreachable(`${what}: element ${i} is ${a}, not ${e}`);
  }
}

const kinds = ['memory', 'race', 'init', 'sync'] as const;

/** The findings of the sanitizer of a launch whose arguments a function makes on a device. */
export async function findings<P extends Parameters, G>(routine: Routine<P, G>, given: (device: Device) => G): Promise<string[]> {
  const device = Device.open('cpu', { print: false });
  try {
    const { kernel } = routine;
    const { grid, block, args, shared } = routine.plan(given(device));
    kernel.module(device, { compile: { target: 'cpu', sanitize: true, marks: true } });
    const sanitize = { kinds: new Set(kinds), source: kernel.source };
    const launched = kernel.launch(device, {
      grid,
      block: block as Extent & number,
      args,
      ...(shared ? { shared } : {}),
      watch: { sanitize },
    });
    const { warnings } = await launched.ended();
    return warnings.map(({ code, message }) => `${code} ${message}`);
  } finally {
    await device.close();
  }
}

/** The findings of the sanitizer of all launches of a procedure whose arguments a function makes on a device. */
export async function procedureFindings<G>(procedure: Procedure<G>, given: (device: Device) => G): Promise<string[]> {
  const device = Device.open('cpu', { print: false });
  try {
    for (const kernel of procedure.kernels) kernel.module(device, { compile: { target: 'cpu', sanitize: true, marks: true } });
    const works = procedure.launch(device, given(device), { watch: { sanitize: { kinds: new Set(kinds) } } });
    const reports = await Promise.all(works.map((work) => work.ended()));
    return reports.flatMap(({ warnings }) => warnings.map(({ code, message }) => `${code} ${message}`));
  } finally {
    await device.close();
  }
}
