/**
 * Kernels of the bench as the engine compiles them for native code: what their inner loops compute, they compute on wide vectors. A lane group of 16 or
 * 32 threads has 512 bits of each value at once, so that no vector of 128 bits is left where no lane is treated on its own.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../../src/base/diagnostic.ts';
import { SourceFile } from '../../../src/base/source.ts';
import { compile } from '../../../src/compile/index.ts';
import { prepareKernel, raiseFunction, simdModule } from '../../../src/device/cpu/launch/make-kernel.ts';
import type { Dim3 } from '../../../src/device/device.ts';
import { standardPasses } from '../../../src/ir/index.ts';
import { readMetallib } from '../../../src/metallib/index.ts';
import { pack } from '../../../src/native/pack/index.ts';
import { buildSsa } from '../../../src/native/ssa/build.ts';
import { simplify } from '../../../src/native/ssa/simplify.ts';
import type { Inst, SsaFunction, SsaType } from '../../../src/native/ssa/types.ts';
import { verifySsa } from '../../../src/native/ssa/verify.ts';
import { readWasm } from '../../../src/wasm/index.ts';

const test = suite('native/pack/kernels');

const file = join(import.meta.dirname, '../../../bench/kernels/cpu/eleven.ptx');
const diagnostics = new Diagnostics();
const { metallib } = compile(new SourceFile(file, readFileSync(file, 'utf8')), { target: 'cpu' }, diagnostics)!;
const functions = readMetallib(metallib, diagnostics)!.functions;
const targets = { 64: { vectorBytes: 64, vectorRegisters: 32 }, 32: { vectorBytes: 32, vectorRegisters: 16 } } as const;

/** The packed functions of a kernel. */
function packed(name: string, block: Dim3, widest: 32 | 64): SsaFunction[] {
  const { kernel } = raiseFunction(functions.find((fn) => fn.name === name)!, diagnostics)!;
  prepareKernel(kernel, standardPasses);
  const made = simdModule(kernel, block, {}, undefined, targets[widest]);
  if ('why' in made) throw new Error(made.why);
  const module = readWasm(made.bytes);
  const own = module.functions.map((_, index) => index).slice(module.importedFunctions);
  return own.map((index) => {
    const fn = buildSsa(module, index) as SsaFunction;
    simplify(fn);
    pack(fn, widest);
    assert.equal(verifySsa(fn, module), [], name);
    return fn;
  });
}

/** The types of results of some instructions, where blocks are in so many loops. */
const typesOf = (fns: readonly SsaFunction[], op: RegExp, depth: number, isOf: (inst: Inst) => boolean = () => true): SsaType[] =>
  fns.flatMap(({ blocks, types }) =>
    blocks
      .filter(({ loopDepth, isRare }) => loopDepth >= depth && !isRare)
      .flatMap(({ insts }) => insts.filter((inst) => op.test(inst.op) && isOf(inst)).map(({ result }) => types[result!]!)),
  );

const cases: readonly { name: string; block: Dim3; ops: RegExp; depth: number; min: number }[] = [
  { name: 'saxpy', block: [256, 1, 1], ops: /^f32x4\.(mul|add|relaxed_madd)$/, depth: 1, min: 2 },
  { name: 'sgemm16', block: [16, 16, 1], ops: /^f32x4\./, depth: 1, min: 16 },
  { name: 'sgemm32', block: [32, 32, 1], ops: /^f32x4\./, depth: 1, min: 32 },
  { name: 'xorshift', block: [256, 1, 1], ops: /^v128\.xor$|^i32x4\.sh/, depth: 2, min: 24 },
  { name: 'mandelbrot', block: [16, 16, 1], ops: /^f32x4\.|^v128\.(and|bitselect)/, depth: 2, min: 8 },
  { name: 'sha256', block: [256, 1, 1], ops: /^v128\.xor$|^i32x4\.(shl|shr_u)$/, depth: 1, min: 1000 },
];

for (const widest of [64, 32] as const)
  for (const { name, block, ops, depth, min } of cases) {
    // One width is enough of the largest kernel.
    if (name === 'sha256' && widest === 32) continue;
    test(`${name} on ${widest} bytes`, () => {
      const types = typesOf(packed(name, block, widest), ops, depth);
      const wide = types.filter((type) => type === (widest === 64 ? 'v512' : 'v256')).length;
      assert.is(wide, types.length);
      assert.ok(wide >= min, `${wide} wide instructions`);
    });
  }

test('warp shuffles by constants are permutations of whole groups', () => {
  const fns = packed('shuffled', [256, 1, 1], 64);
  const adds = typesOf(fns, /^f32x4\.add$/, 1);
  assert.ok(adds.filter((type) => type === 'v512').length >= 8, adds.join());
});

test.run();
