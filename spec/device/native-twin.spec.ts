/** When native code takes the place of WebAssembly: after launches that took as long as its compilation, and unless it is slower. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { CompiledKernel } from '../../src/device/cpu/launch/loaded-kernel.ts';
import { chosenCode, type NativeMemory, type NativeSource, NativeTwin, type Standing } from '../../src/device/cpu/launch/native-twin.ts';
import { canRunNative } from '../../src/device/cpu/native/mode.ts';

const test = suite('device/native-twin');
const onlyHere = canRunNative() ? test : test.skip;

const native = { lanes: 16 } as CompiledKernel;

/** Code with a twin whose module has some bytes, and what was made of it. */
function codeOf(
  bytes: number,
  {
    source = bytes,
    compile = () => native,
    memory,
  }: { source?: number; compile?: NativeSource<CompiledKernel>['compile']; memory?: NativeMemory<CompiledKernel> } = {},
) {
  const made: string[] = [];
  const make = (): NativeSource<CompiledKernel> => {
    made.push('module');
    return {
      bytes: source,
      compile() {
        made.push('code');
        return compile();
      },
    };
  };
  const twin = new NativeTwin(bytes, make, memory);
  const code = { lanes: 4, twin } as CompiledKernel;
  return { code, twin, made };
}

onlyHere('nothing is made before launches have taken as long as the compilation', () => {
  const { code, twin, made } = codeOf(10_000);
  const { expectedMs } = twin;
  assert.ok(expectedMs > 0);
  twin.note(false, 0.4 * expectedMs, 10);
  assert.is(chosenCode(code, 'auto'), code);
  assert.equal(made, []);
  twin.note(false, 0.7 * expectedMs, 10);
  assert.is(chosenCode(code, 'auto'), native);
  assert.is(chosenCode(code, 'auto'), native);
  assert.equal(made, ['module', 'code'], 'made once');
  assert.is(twin.expectedMs, 0);
});

onlyHere('a module that is larger than expected waits for more launches', () => {
  const { code, twin, made } = codeOf(1000, { source: 1_000_000 });
  twin.note(false, twin.expectedMs, 1);
  assert.is(chosenCode(code, 'auto'), code);
  assert.equal(made, ['module']);
  twin.note(false, twin.expectedMs, 1);
  assert.is(chosenCode(code, 'auto'), native);
});

test('the modes `always` and `never` do not wait', () => {
  const { code } = codeOf(1e6);
  assert.is(chosenCode(code, 'never'), code);
  assert.is(chosenCode(code, 'always'), canRunNative() ? native : code);
  const plain = { lanes: 4 } as CompiledKernel;
  assert.is(chosenCode(plain, 'always'), plain, 'code without a twin');
});

onlyHere('native code that turns out to be slower is not run again', () => {
  for (const [each, isKept] of [
    [1.05, true],
    [1.5, false],
  ] as const) {
    const { code, twin } = codeOf(1000);
    for (let i = 0; i < 10; i++) twin.note(false, 10, 10);
    assert.is(chosenCode(code, 'auto'), native);
    for (let i = 0; i < 4; i++) twin.note(true, 10 * each + (i === 0 ? 100 : 0), 10);
    assert.is(chosenCode(code, 'auto'), isKept ? native : code);
  }
});

onlyHere('a kernel without native code, and a mistake of the compiler, leave launches with WebAssembly', () => {
  const none = codeOf(1000, { compile: () => undefined });
  assert.is(chosenCode(none.code, 'always'), none.code);
  const mistake = (): never => {
    throw new Error('a mistake');
  };
  const broken = codeOf(1000, { compile: mistake });
  broken.twin.note(false, 1e6, 1);
  assert.is(chosenCode(broken.code, 'auto'), broken.code);
  assert.is(chosenCode(broken.code, 'auto'), broken.code);
  assert.is(broken.made.filter((what) => what === 'code').length, 1, 'it is not tried again');
  assert.throws(() => chosenCode(codeOf(1000, { compile: mistake }).code, 'always'), 'a mistake');
});

/** What processes leave each other, and how often one has looked. */
function sharedMemory(): NativeMemory<CompiledKernel> & { kept: [Standing, CompiledKernel | undefined][]; looks: number } {
  return {
    kept: [],
    looks: 0,
    recall() {
      this.looks++;
      const [standing, code] = this.kept.at(-1) ?? [];
      return standing && { standing, code };
    },
    keep(standing, code) {
      this.kept.push([standing, code]);
    },
  };
}

onlyHere('a later process has what an earlier one has made from its first launch on', () => {
  const memory = sharedMemory();
  const first = codeOf(1000, { memory });
  assert.is(chosenCode(first.code, 'never'), first.code);
  assert.is(memory.looks, 0);
  assert.is(chosenCode(first.code, 'auto'), first.code);
  first.twin.note(false, first.twin.expectedMs, 1);
  assert.is(chosenCode(first.code, 'auto'), native);
  assert.equal([memory.looks, memory.kept], [1, [['used', native]]]);
  const second = codeOf(1000, { memory });
  assert.is(chosenCode(second.code, 'auto'), native);
  assert.is(second.twin.expectedMs, 0);
  assert.equal([second.made, memory.looks, memory.kept.length], [[], 2, 1]);
  // Without launches of WebAssembly in this process, there is nothing that native code can be compared with.
  for (let i = 0; i < 8; i++) second.twin.note(true, 1000, 1);
  assert.is(chosenCode(second.code, 'auto'), native);
});

onlyHere('which of both was faster in launches is known to later processes, unless native code is wanted in any case', () => {
  const memory = sharedMemory();
  const first = codeOf(1000, { memory });
  for (let i = 0; i < 10; i++) first.twin.note(false, 10, 10);
  assert.is(chosenCode(first.code, 'auto'), native);
  for (let i = 0; i < 4; i++) first.twin.note(true, 15, 10);
  assert.is(chosenCode(first.code, 'auto'), first.code);
  assert.equal(memory.kept.at(-1), ['slower', undefined]);
  const later = codeOf(1000, { memory });
  later.twin.note(false, 1e6, 1);
  assert.is(chosenCode(later.code, 'auto'), later.code);
  assert.equal([later.made, later.twin.expectedMs], [[], Number.POSITIVE_INFINITY]);
  assert.is(chosenCode(codeOf(1000, { memory }).code, 'always'), native);
  assert.equal(memory.kept.at(-1), ['slower', undefined], 'it stays known');
});

onlyHere('code that was slower for some blocks of a launch is tried by the next long launch, without being compiled', () => {
  const memory = sharedMemory();
  const first = codeOf(1000, { memory });
  first.twin.note(false, first.twin.expectedMs, 1);
  assert.is(first.twin.code(), native);
  first.twin.noteTrial(true);
  assert.equal(memory.kept, [['used', native]], 'that was known');
  first.twin.noteTrial(false);
  assert.equal(memory.kept.at(-1), ['doubtful', native]);
  const later = codeOf(1000, { memory });
  assert.is(chosenCode(later.code, 'auto'), later.code);
  assert.equal([later.twin.expectedMs, later.twin.isPossible], [0, true]);
  assert.equal([later.twin.code(), later.made], [native, []]);
  later.twin.noteTrial(true);
  assert.equal([chosenCode(later.code, 'auto'), memory.kept.at(-1)], [native, ['used', native]]);
});

onlyHere('code that was slower for some blocks runs launches of its own when these have taken long, and is compared', () => {
  const memory = sharedMemory();
  memory.keep('doubtful', native);
  const { code, twin } = codeOf(1000, { memory });
  for (let i = 0; i < 10; i++) twin.note(false, 10, 10);
  assert.is(chosenCode(code, 'auto'), native);
  for (let i = 0; i < 4; i++) twin.note(true, 9, 10);
  assert.equal(memory.kept.at(-1), ['used', native]);
  memory.keep('doubtful', native);
  const wanted = codeOf(1000, { memory });
  assert.is(chosenCode(wanted.code, 'always'), native);
  for (let i = 0; i < 4; i++) wanted.twin.note(true, 9, 10);
  assert.equal(memory.kept.at(-1), ['doubtful', native], 'it was not compared');
});

test.run();
