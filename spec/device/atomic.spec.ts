/**
 * Atomics of all threads of a grid on one word: no update is lost, and each thread gets a different old value. Expected
 * values follow from the manual (PTX ISA 9.0, 9.7.13.5): `inc` counts from 0 to b, `dec` from b to 0.
 */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { f32Bits } from '../../src/base/float.ts';
import { SourceFile } from '../../src/base/source.ts';
import { compile } from '../../src/compile/index.ts';
import { launchMetallib } from '../support/launch.ts';

const test = suite('device/atomic');

const [blocks, threads] = [3, 96];

/** `place` holds one word, in global or shared memory; each thread stores the result of its atomic, and block k the final word in `last[k]`. */
const kernelOf = (space: 'global' | 'shared', atomic: string): string => `.version 9.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 given, .param .u64 last${space === 'global' ? ', .param .u64 place' : ''})
{
  .reg .pred first;
  .reg .b32 t, i, n, d, one;
  .reg .b64 at, out, end, offset;
  .shared .align 4 .b32 word;
  mov.u32 t, %tid.x;
  mov.u32 i, %ctaid.x;
  mov.u32 n, %ntid.x;
  mul.wide.u32 offset, i, 4;
  ld.param.u64 end, [last];
  add.s64 end, end, offset;
  mad.lo.s32 i, i, n, t;
  mul.wide.u32 offset, i, 4;
  ld.param.u64 out, [given];
  add.s64 out, out, offset;
  setp.eq.u32 first, t, 0;
${space === 'shared' ? '  mov.u64 at, word;\n  mov.b32 d, 0;\n  @first st.shared.u32 [at], d;' : '  ld.param.u64 at, [place];'}
  bar.sync 0;
  mov.b32 one, 0f3F800000;
  ${atomic};
  st.global.u32 [out], d;
  bar.sync 0;
  @first ld.${space}.u32 d, [at];
  @first st.global.u32 [end], d;
  ret;
}
`;

function run(space: 'global' | 'shared', atomic: string, target: 'macos14' | 'cpu') {
  const source = new SourceFile('k.ptx', kernelOf(space, atomic));
  const diagnostics = new Diagnostics(source);
  const compiled = compile(source, { target }, diagnostics);
  assert.ok(compiled, diagnostics.list.map((d) => d.message).join('; '));
  const unwritten = (instruction: number): Uint32Array => new Uint32Array(instruction).fill(0xa5a5_5a5a);
  const args = [unwritten(blocks * threads), unwritten(blocks), ...(space === 'global' ? [new Uint32Array(1)] : [])];
  const after = launchMetallib(compiled.metallib, { kernel: 'k', blocks, threads, args });
  const [given, last, place] = after.map((bytes) => [...new Uint32Array(bytes.buffer)]) as [number[], number[], number[]?];
  return { given, last, place: place?.[0] };
}

const sorted = (values: readonly number[]): number[] => [...values].sort((a, b) => a - b);

/** `count` values of a sequence, sorted. */
const cycled = (count: number, valueAt: (k: number) => number): number[] => sorted(Array.from({ length: count }, (_, k) => valueAt(k)));

/** The result of the atomic for the k-th thread in order of execution. */
const updates: readonly [name: string, instruction: string, valueAt: (k: number) => number][] = [
  ['add', 'add.u32 d, [at], 3', (k) => 3 * k],
  // The first sum is a signaling NaN in single precision.
  ['integer add of the bits of a NaN', 'add.u32 d, [at], 0x7f800001', (k) => Math.imul(k, 0x7f80_0001) >>> 0],
  ['inc', 'inc.u32 d, [at], 9', (k) => k % 10],
  ['dec', 'dec.u32 d, [at], 9', (k) => (10 - (k % 10)) % 10],
  ['add of f32 values', 'add.f32 d, [at], one', (k) => f32Bits(k)],
  ['max', 'max.u32 d, [at], 7', (k) => (k === 0 ? 0 : 7)],
  ['exch', 'exch.b32 d, [at], 5', (k) => (k === 0 ? 0 : 5)],
  ['cas', 'cas.b32 d, [at], 0, 4', (k) => (k === 0 ? 0 : 4)],
];

for (const target of ['macos14', 'cpu'] as const)
  for (const [name, instruction, valueAt] of updates) {
    test(`${name} in global memory, for ${target}`, () => {
      const { given, place } = run('global', `atom.global.${instruction}`, target);
      assert.equal(sorted(given), cycled(blocks * threads, valueAt));
      assert.is(place, valueAt(blocks * threads));
    });
    test(`${name} in shared memory, for ${target}`, () => {
      const { given, last } = run('shared', `atom.shared.${instruction}`, target);
      for (let block = 0; block < blocks; block++)
        assert.equal(sorted(given.slice(block * threads, (block + 1) * threads)), cycled(threads, valueAt));
      assert.equal(
        last,
        Array.from({ length: blocks }, () => valueAt(threads)),
      );
    });
  }

test.run();
