/** Every pass and transform leaves a kernel that the verifier accepts: of lowering, of the IR, of legalization, of the device and of the vectorizer. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { raiseModule } from '../../src/air/index.ts';
import { InternalError } from '../../src/base/bug.ts';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import { readModule } from '../../src/bitcode/index.ts';
import { type CompileOptions, compile, passNames } from '../../src/compile/index.ts';
import { insertChecks } from '../../src/device/cpu/sanitizer/fast/insert-checks.ts';
import { splitAtSyncPoints } from '../../src/engine/codegen/split-at-sync-points.ts';
import { expandMatmul } from '../../src/engine/scalar/matmul.ts';
import { planKernel } from '../../src/engine/simd/transform/plan-kernel.ts';
import { simdTransforms } from '../../src/engine/simd/transform/transforms.ts';
import {
  type AfterPass,
  copyOf,
  isNarrowed,
  type Kernel,
  optimize,
  parseModule,
  printKernel,
  replaceMasks,
  runPass,
  runPasses,
  standardPasses,
  verifyAfterPass,
} from '../../src/ir/index.ts';
import { interpret } from '../../src/ir/interpret.ts';
import { readMetallib } from '../../src/metallib/index.ts';
import { root } from '../support/examples.ts';
import { randomFlow } from '../support/random-flow.ts';
import { inputSize, outputSize, randomKernel } from '../support/random-kernel.ts';
import { randomLanes } from '../support/random-lanes.ts';

const test = suite('ir/verify passes');

const folders = ['examples', 'bench/kernels', 'bench/kernels/cpu'];
const files = folders.flatMap((folder) =>
  readdirSync(join(root, folder)).flatMap((name) => (name.endsWith('.ptx') ? [join(root, folder, name)] : [])),
);

const seen = new Set<string>();
/** The verifier, which notes the passes that it ran after. */
const observe: AfterPass = (pass, kernel) => {
  seen.add(pass);
  verifyAfterPass(pass, kernel);
};

/** What the CPU device does to a kernel that it read, for blocks of a shape. */
function vectorize(kernel: Kernel, threads: number): void {
  planKernel(kernel, [threads, 1, 1], { fma: 'exact', afterPass: observe });
}

function onDevice(metallib: Uint8Array): void {
  for (const fn of readMetallib(metallib, new Diagnostics())!.functions) {
    const diagnostics = new Diagnostics();
    const module = readModule(fn.bitcode, diagnostics)!;
    const { kernel } = raiseModule(module, diagnostics).find((each) => each.reflection.name === fn.name)!;
    runPasses(kernel, standardPasses, observe);
    runPass(kernel, { name: 'expand-matmul', run: expandMatmul }, observe);
    vectorize(kernel, 64);
    const guarded = copyOf(kernel);
    if (replaceMasks(guarded, { areRowsAligned: true, keepsMembers: true })) observe('replace-masks', guarded);
    if (!('why' in insertChecks(guarded, new Set(['memory', 'race', 'init'])))) {
      observe('insert-checks', guarded);
      vectorize(guarded, 64);
    }
    splitAtSyncPoints(kernel);
    observe('split-at-sync-points', kernel);
  }
}

/** What is compiled, and of the files which share: each, or every second or third. */
const choices: readonly (readonly [CompileOptions, step: number])[] = [
  [{ target: 'cpu' }, 1],
  [{ target: 'cpu', sanitize: true }, 3],
  [{ target: 'macos14' }, 2],
  [{ target: 'macos15', fp64: 'emulate', mma: 'fast' }, 1],
];

for (const [options, step] of choices)
  test(`examples and bench kernels, every ${step === 1 ? 'one' : `${step}.`}, with ${JSON.stringify(options)}`, () => {
    for (const path of files.filter((_, i) => i % step === 0)) {
      const source = new SourceFile(path, readFileSync(path, 'utf8'));
      const compiled = compile(source, { ...options, afterPass: observe }, new Diagnostics(source));
      if (compiled && options.target === 'cpu') onDevice(compiled.metallib);
    }
  });

/** A branch whose arms have collectives, for Apple targets. */
const divergent = (arm: string, other: string, version: string, behind: string): string => `.version 8.0
.target ${version}
.address_size 64
.entry k(.param .u64 out) {
  .reg .pred %p; .reg .b32 %r<4>;
  mov.u32 %r1, %tid.x;
  setp.eq.u32 %p, %r1, 0;
  @%p bra A;
  ${arm}
  bra B;
A: ${other}
B: ${behind}
  ret;
}`;

test('collectives in both arms of a branch: merged, in a loop where they differ, and checked beside those without a mask', () => {
  const [vote, other] = ['vote.sync.ballot.b32 %r2, %p, -1;', 'bar.warp.sync -1;'];
  const texts = [
    [divergent(vote, vote, 'sm_80', other), []],
    [divergent(vote, `${other} ${vote}`, 'sm_80', other), []],
    [
      divergent(vote, `${other} ${vote}`, 'sm_60', `shfl.idx.b32 %r1, %r1, 3, 31; setp.eq.u32 %p, %r1, 0; @%p ${other}`),
      ['CM2099', 'CM2099', 'CM2099'],
    ],
  ] as const;
  for (const [text, codes] of texts) {
    const source = new SourceFile('k.ptx', text);
    const diagnostics = new Diagnostics(source);
    assert.ok(compile(source, { target: 'macos15', afterPass: observe }, diagnostics));
    assert.equal(
      diagnostics.list.map(({ code }) => code),
      codes,
    );
  }
});

test('a clock on a target without one counts', () => {
  const source = new SourceFile('k.ptx', divergent('mov.u32 %r2, %clock;', 'mov.u32 %r2, %clock_hi;', 'sm_80', ''));
  assert.ok(compile(source, { target: 'macos15', allowFallback: ['clock'], afterPass: observe }, new Diagnostics(source)));
});

test('the kernels above go through every pass that has a name', () => {
  assert.equal(
    [...passNames, ...simdTransforms.map(({ name }) => name)].filter((name) => !seen.has(name)),
    [],
  );
});

const numbers = fc.array(fc.nat(0xffff), { minLength: 100, maxLength: 400 });

test('random kernels: any flow of blocks, with barriers and without', () => {
  const barriers = fc.constantFrom('none', 'anywhere', 'together', 'warps' as const);
  fc.assert(
    fc.property(numbers, fc.integer({ min: 1, max: 9 }), barriers, (seeds, blocks, which) => {
      const kernel = randomFlow(seeds, blocks, which);
      optimize(kernel, false, observe);
      vectorize(kernel, 32);
    }),
    { numRuns: 60, seed: 5 },
  );
});

test('random kernels: deep expressions of all types', () => {
  for (let seed = 0; seed < 20; seed++) {
    const kernel = randomLanes(seed, 64);
    optimize(kernel, false, observe);
    vectorize(kernel, 64);
  }
});

/** What the memory of a thread holds after the kernel. */
function memoryAfter(kernel: Kernel): Uint8Array {
  const global = Uint8Array.from({ length: inputSize + outputSize + 8 }, (_, i) => (i < inputSize ? Math.imul(i + 1, 0x9e37) >>> 3 : 0xa5));
  const thread = { memory: { global }, params: [0n, BigInt(inputSize)], variables: {}, sregs: {}, limit: 100_000 };
  assert.equal(interpret(kernel, thread), { ended: 'return' });
  return global;
}

test('the transforms of the vectorizer keep what random kernels store', () => {
  fc.assert(
    fc.property(numbers, (seeds) => {
      const kernel = randomKernel(seeds, 12);
      const expected = memoryAfter(kernel);
      let narrowed = 0;
      planKernel(kernel, [32, 1, 1], {
        fma: 'exact',
        afterPass(name, after) {
          observe(name, after);
          if (isNarrowed(after)) narrowed++;
          assert.equal(memoryAfter(after), expected, name);
        },
      });
      assert.is(narrowed, 5);
    }),
    { numRuns: 60, seed: 11 },
  );
});

test('kernels of the narrowed dialect print and read back equal', () => {
  for (let seed = 0; seed < 10; seed++)
    planKernel(randomLanes(seed, 32), [32, 1, 1], {
      fma: 'exact',
      afterPass(_, kernel) {
        const diagnostics = new Diagnostics();
        const text = printKernel(kernel);
        const { kernels } = parseModule(new SourceFile('a.ir', text), diagnostics);
        assert.equal(diagnostics.list, []);
        assert.is(printKernel(kernels[0]!), text);
      },
    });
});

test('a pass that breaks a kernel is a bug that names the pass', () => {
  const kernel = randomKernel([1, 2, 3], 2);
  const breaking = {
    name: 'breaking',
    run: () => {
      kernel.locs.pop();
      return true;
    },
  };
  assert.throws(
    () => runPass(kernel, breaking, verifyAfterPass),
    (error: unknown) => error instanceof InternalError && /the pass `breaking` breaks the IR: CM3001 .*rule V4/.test(error.message),
  );
});

test.run();
