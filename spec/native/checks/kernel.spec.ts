/** The checks in the code of a kernel, as the engine writes them: an unrolled loop keeps one for each array. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../../src/base/diagnostic.ts';
import { SourceFile } from '../../../src/base/source.ts';
import { compile } from '../../../src/compile/index.ts';
import { prepareKernel, raiseFunction, simdModule } from '../../../src/device/cpu/launch/make-kernel.ts';
import { standardPasses } from '../../../src/ir/index.ts';
import { readMetallib } from '../../../src/metallib/index.ts';
import { removeChecks } from '../../../src/native/checks/index.ts';
import { buildSsa } from '../../../src/native/ssa/build.ts';
import { inlineCalls } from '../../../src/native/ssa/inline.ts';
import type { SsaFunction } from '../../../src/native/ssa/types.ts';
import { readWasm } from '../../../src/wasm/index.ts';

const test = suite('native checks of kernels');

/** Each thread adds eight products of a row that all share and a column of its own. */
const unrolled = `.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 a, .param .u64 b, .param .u64 out, .param .u32 n) {
  .reg .u64 %p<8>;
  .reg .u32 %r<4>;
  .reg .f32 %f<4>;
  .reg .pred %q;
  ld.param.u64 %p0, [a];
  ld.param.u64 %p1, [b];
  ld.param.u64 %p2, [out];
  ld.param.u32 %r0, [n];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %p3, %r1, 4;
  add.u64 %p1, %p1, %p3;
  add.u64 %p2, %p2, %p3;
  mov.f32 %f0, 0f00000000;
loop:
${Array.from(
  { length: 8 },
  (_, i) => `  ld.global.f32 %f1, [%p0+${4 * i}];
  ld.global.f32 %f2, [%p1+${256 * i}];
  fma.rn.f32 %f0, %f1, %f2, %f0;`,
).join('\n')}
  add.u64 %p0, %p0, 32;
  add.u64 %p1, %p1, 2048;
  sub.u32 %r0, %r0, 1;
  setp.ne.u32 %q, %r0, 0;
  @%q bra loop;
  st.global.f32 [%p2], %f0;
  ret;
}
`;

function functionsOf(text: string): SsaFunction[] {
  const diagnostics = new Diagnostics();
  const { metallib } = compile(new SourceFile('k.ptx', text), { target: 'cpu' }, diagnostics)!;
  const { kernel } = raiseFunction(readMetallib(metallib!, diagnostics)!.functions[0]!, diagnostics)!;
  prepareKernel(kernel, standardPasses);
  const made = simdModule(kernel, [64, 1, 1], {}, undefined, { vectorBytes: 64, vectorRegisters: 32 });
  if ('why' in made) throw new Error(made.why);
  const module = readWasm(made.bytes);
  const functions = new Map<number, SsaFunction>();
  for (let i = module.importedFunctions; i < module.functions.length; i++) functions.set(i, buildSsa(module, i) as SsaFunction);
  inlineCalls(functions, module);
  return [...functions.values()];
}

/** The rare branches in loops: those around the lanes of a block, and that of the kernel. */
const checksIn = (functions: readonly SsaFunction[]): number =>
  functions.flatMap(({ blocks }) => blocks).filter(({ end, loopDepth }) => loopDepth > 1 && end.op === 'branch' && end.isRare).length;

test('an unrolled loop of a kernel keeps one check for each array', () => {
  const functions = functionsOf(unrolled);
  const before = checksIn(functions);
  assert.ok(before >= 16, `${before} before`);
  for (const fn of functions) removeChecks(fn);
  const after = checksIn(functions);
  assert.ok(after <= before - 14, `${before} before, ${after} after`);
});

test.run();
