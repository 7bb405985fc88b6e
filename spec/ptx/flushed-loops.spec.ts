/**
 * Sums, maxima and products with `.ftz` that a loop carries from one turn to the next. What they give is computed here by PTX ISA 9.0, 9.7.3: subnormal
 * operands and results are zeros of their sign.
 */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import { compile } from '../../src/compile/index.ts';
import { launchMetallib } from '../support/launch.ts';

const test = suite('ptx/flushed-loops');

/** In units of the smallest number that is not subnormal: differences, products and single numbers among them are subnormal. */
const numbers = [1.5, -1.25, 0.75, 4, -3.5, 0.5, -0.5, 1.125, -2, 0.25, 1, -1, 3, -2.75, 0.125, -0.875].map((x) => x * 2 ** -126);
const turns = 8;

const flush = (x: number): number => (Math.abs(x) < 2 ** -126 ? (Object.is(x, -0) || x < 0 ? -0 : 0) : x);

/** An instruction on what is carried, and the same in numbers. */
const steps: readonly (readonly [text: string, step: (carried: number, x: number) => number])[] = [
  ['add.ftz.f32 s, s, x', (s, x) => flush(Math.fround(flush(s) + flush(x)))],
  ['sub.ftz.f32 s, x, s', (s, x) => flush(Math.fround(flush(x) - flush(s)))],
  ['mul.ftz.f32 s, s, 0f3F000000', (s) => flush(Math.fround(flush(s) * 0.5))],
  // Plain, a sum may be subnormal, and is flushed where it is read.
  ['add.f32 s, s, x;\n  sub.ftz.f32 t, s, x;\n  add.f32 u, u, t', (s, x) => Math.fround(s + x)],
];

const text = (step: string, first: string): string => `.version 8.0
.target sm_80
.address_size 64
.visible .entry kernel(.param .u64 from, .param .u64 to)
{
  .reg .pred q; .reg .b32 i, k; .reg .f32 s, t, u, x; .reg .b64 p, o, e;
  ld.param.u64 p, [from]; ld.param.u64 o, [to];
  mov.u32 i, %tid.x; mul.wide.u32 e, i, 4; add.u64 p, p, e; mul.wide.u32 e, i, 8; add.u64 o, o, e;
  mov.u32 k, 0; mov.f32 u, 0f00000000; ${first}
again:
  ld.global.f32 x, [p];
  ${step};
  add.u64 p, p, 4; add.u32 k, k, 1; setp.lt.u32 q, k, ${turns}; @q bra again;
  st.global.f32 [o], s; st.global.f32 [o+4], u;
  ret;
}`;

/** What is carried at first. */
const firsts = [
  ['mov.f32 s, 0f00000000;', () => 0],
  ['ld.global.f32 s, [p+8];', (thread: number) => numbers[thread + 2]!],
] as const;

function run(source: string, target: 'macos15' | 'cpu', threads: number): Uint32Array {
  const file = new SourceFile('loop.ptx', source);
  const diagnostics = new Diagnostics(file);
  const compiled = compile(file, { target }, diagnostics);
  assert.ok(compiled, diagnostics.list.map(({ message }) => message).join('; '));
  const args = [Float32Array.from(numbers), new Uint32Array(2 * threads)];
  const [, out] = launchMetallib(compiled.metallib, { kernel: 'kernel', blocks: 1, threads, args });
  return new Uint32Array(out!.slice().buffer);
}

const bitsOf = (x: number): number => new Uint32Array(Float32Array.of(x).buffer)[0]!;

for (const [instruction, step] of steps)
  for (const [first, start] of firsts)
    test(`${instruction.replace(/\n\s*/g, ' ')} from ${first}`, () => {
      const threads = numbers.length - turns;
      const expected = Array.from({ length: threads }, (_, thread) => {
        let [s, u] = [start(thread), 0];
        for (let k = 0; k < turns; k++) {
          const x = numbers[thread + k]!;
          s = step(s, x);
          if (instruction.includes('u, u, t')) u = Math.fround(u + flush(Math.fround(flush(s) - flush(x))));
        }
        return [bitsOf(s), bitsOf(u)];
      });
      for (const target of ['macos15', 'cpu'] as const)
        assert.equal([...run(text(instruction, first), target, threads)], expected.flat(), target);
    });

test.run();
