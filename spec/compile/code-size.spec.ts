/** The code of the examples and benchmarks does not grow: instructions of AIR and bytes of the metallib against what was recorded. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { instructionsIn, recordedSizes, sizedKernels, sizeOf, worsening } from '../../bench/code-size.ts';
import { costPasses, instructionPasses, type Kernel } from '../../src/ir/index.ts';

const test = suite('compile/code-size');
const recorded = recordedSizes();

test('every kernel has its size recorded, and no other has', () => {
  assert.equal(Object.keys(recorded), sizedKernels);
});

for (const file of sizedKernels)
  test(`${file} is at most 5 % larger than recorded: \`npm run bench -- code-size --write\` records a size that is meant`, () => {
    assert.is(worsening(file, sizeOf(file), recorded[file]!), undefined);
  });

/** A kernel that grows by more than 5 % where a pass does nothing. Passes that are not named save time, and less than that of instructions. */
const shown: Readonly<Record<string, string>> = {
  simplify: 'fixtures/triton/matmul_f32.ptx',
  cse: 'fixtures/triton/cross_entropy.ptx',
  'load-types': 'fixtures/triton/rope.ptx',
  'cleanup-cfg': 'examples/saxpy.ptx',
};

for (const [name, file] of Object.entries(shown))
  test(`${file} shows that the pass ${name} is lost`, () => {
    assert.ok(sizedKernels.includes(file));
    const pass = [...instructionPasses, ...costPasses].find((each) => each.name === name) as { run: (kernel: Kernel) => boolean };
    const { run } = pass;
    pass.run = () => false;
    try {
      assert.match(worsening(file, sizeOf(file), recorded[file]!) ?? '', /instructions/);
    } finally {
      pass.run = run;
    }
  });

test('more than 5 % of either number is worse', () => {
  const before = { instructions: 100, bytes: 1000 };
  assert.is(worsening('k', { instructions: 105, bytes: 1050 }, before), undefined);
  assert.is(worsening('k', { instructions: 106, bytes: 1000 }, before), 'k: 106 instructions in place of 100');
  assert.is(worsening('k', { instructions: 90, bytes: 1051 }, before), 'k: 1051 bytes in place of 1000');
});

test('instructions are the lines of functions that are no labels, comments or cases of a switch', () => {
  const text = `; comment
@g = internal constant i32 0
define void @k() #0 {
  %1 = add i32 1, 2
  br label %2

2:                                                ; preds = %0
  switch i32 %1, label %3 [
    i32 0, label %3
  ]
  ; comment
}
declare void @f()
!0 = !{}
`;
  assert.is(instructionsIn(text), 3);
});

test.run();
