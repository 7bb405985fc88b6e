/**
 * Directed fused sums, products and sums whose operands are known to be neither small nor large: the very operations that a kernel has, evaluated in floats of
 * 2 to 5 bits for all significands and all distances of exponents that matter. They choose the next float if and only if the exact value is beyond the nearest.
 */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import { toIr } from '../../src/compile/index.ts';
import type { InstOf, Kernel, Value } from '../../src/ir/index.ts';
import { kernelOf } from '../support/one-instruction.ts';

const test = suite('ptx/rounding-small');

/** The nearest float of some bits, ties to even; exponents have no bounds. */
function nearest(value: number, bits: number): number {
  if (value === 0) return 0;
  const unit = 2 ** (Math.floor(Math.log2(Math.abs(value))) - bits + 1);
  const [whole, rest] = [Math.floor(Math.abs(value) / unit), (Math.abs(value) / unit) % 1];
  const isUp = rest > 0.5 || (rest === 0.5 && whole % 2 === 1);
  return Math.sign(value) * (whole + (isUp ? 1 : 0)) * unit;
}

/** Evaluates values of a kernel in floats of some bits, from given ones. */
function evaluator(kernel: Kernel, given: ReadonlyMap<Value, number>, bits: number): (value: Value) => number | boolean {
  const known = new Map<Value, number | boolean>(given);
  const float = (value: Value): number => of(value) as number;
  const compute = (value: Value): number | boolean => {
    const inst = kernel.insts[value]!;
    const round = (exact: number): number => nearest(exact, bits);
    if (inst.op === 'fadd') return round(float(inst.a) + float(inst.b));
    if (inst.op === 'fsub') return round(float(inst.a) - float(inst.b));
    if (inst.op === 'fmul') return round(float(inst.a) * float(inst.b));
    if (inst.op === 'fma') return round(float(inst.a) * float(inst.b) + float(inst.c));
    if (inst.op === 'fneg') return -float(inst.a);
    if (inst.op === 'fabs') return Math.abs(float(inst.a));
    if (inst.op === 'const' && inst.bits === 0n) return 0;
    if (inst.op === 'or') return Boolean(of(inst.a)) || Boolean(of(inst.b));
    if (inst.op === 'fcmp' && inst.pred === 'ogt') return float(inst.a) > float(inst.b);
    if (inst.op === 'fcmp' && inst.pred === 'olt') return float(inst.a) < float(inst.b);
    return assert.unreachable(`${inst.op} is not expected`) as never;
  };
  const of = (value: Value): number | boolean => {
    const found = known.get(value) ?? compute(value);
    known.set(value, found);
    return found;
  };
  return of;
}

/** The kernel of an instruction on integers with a scale, and the choice of the next float in it. */
function choiceOf(text: string): { readonly kernel: Kernel; readonly choice: InstOf<'select'>; readonly operands: readonly Value[] } {
  const made = ['a', 'b', 'c'].map((name) => `cvt.rn.f32.s32 ${name}, ${name};`).join(' ');
  const sources = ['a', 'b', 'c'].map((name) => ({ name, kind: 'b32' as const }));
  const ptx = kernelOf({ text: `${made} ${text}`, sources, results: [{ name: 'd', kind: 'b32' }] });
  const kernel = toIr(new SourceFile('form.ptx', ptx), { target: 'macos15' }, new Diagnostics())!.kernels[0]!;
  const all = kernel.blocks.flatMap(({ body }) => body);
  const choice = all
    .map((value) => kernel.insts[value]!)
    .find((inst): inst is InstOf<'select'> => inst.op === 'select' && inst.type === 'f32')!;
  // Operands are loaded in their order.
  const operands = all.filter((value) => kernel.insts[value]!.op === 'sitofp');
  return { kernel, choice, operands };
}

interface Form {
  readonly text: string;
  readonly exact: (a: number, b: number, c: number) => number;
  /** Whether the exact value is where the direction takes the next float. */
  readonly isBeyond: (exact: number, near: number) => boolean;
}

const isInward = (exact: number, near: number): boolean => (near < 0 ? exact > near : exact < near);
const forms: readonly Form[] = [
  { text: 'fma.rp.f32 d, a, b, c', exact: (a, b, c) => a * b + c, isBeyond: (exact, near) => exact > near },
  { text: 'fma.rz.f32 d, a, b, c', exact: (a, b, c) => a * b + c, isBeyond: isInward },
  { text: 'add.rp.f32 d, a, c', exact: (a, _, c) => a + c, isBeyond: (exact, near) => exact > near },
  { text: 'mul.rp.f32 d, a, b', exact: (a, b) => a * b, isBeyond: (exact, near) => exact > near },
  { text: 'mul.rz.f32 d, a, b', exact: (a, b) => a * b, isBeyond: isInward },
];

/** All operands with significands of some bits: products of every size, and addends at every distance from them. */
function* operandsOf(bits: number, isFused: boolean): Generator<readonly [number, number, number]> {
  const [low, high] = [2 ** (bits - 1), 2 ** bits];
  const scale = 2 ** (2 * bits + 3);
  for (let a = low; a < high; a++)
    for (let b = isFused ? a : low; b < high; b++)
      for (let k = 0; k <= 6 * bits + 3; k++)
        for (let c = low; c < high; c++) for (const sign of [-1, 1]) yield [a * scale, sign * b, c * 2 ** k];
}

for (const { text, exact, isBeyond } of forms)
  test(`${text} takes the next float where the exact value is beyond the nearest`, () => {
    const { kernel, choice, operands } = choiceOf(text);
    const used = [/\ba\b/, /\bb\b/, /\bc\b/].map((name) => name.test(text.slice(text.indexOf(' '))));
    const names = [0, 1, 2].filter((i) => used[i]);
    assert.is(operands.length, names.length);
    let taken = 0;
    for (let bits = 2; bits <= 4; bits++)
      for (const row of operandsOf(bits, text.startsWith('fma'))) {
        const of = evaluator(kernel, new Map(operands.map((value, i) => [value, row[names[i]!]!])), bits);
        const value = exact(...row);
        const [near, answer] = [of(choice.b) as number, of(choice.cond)];
        assert.is(near, nearest(value, bits));
        if (answer !== isBeyond(value, near)) assert.unreachable(`${bits} bits: ${row.join(', ')}`);
        taken += answer ? 1 : 0;
      }
    assert.ok(taken > 1000, `${taken}`);
  });

test.run();
