/** When native code takes the place of WebAssembly: after launches that took as long as its compilation, and unless it is slower. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { CompiledKernel } from '../../src/device/cpu/launch/loaded-kernel.ts';
import { chosenCode, type NativeSource, NativeTwin } from '../../src/device/cpu/launch/native-twin.ts';
import { canRunNative } from '../../src/device/cpu/native/mode.ts';

const test = suite('device/native-twin');
const onlyHere = canRunNative() ? test : test.skip;

const native = { lanes: 16 } as CompiledKernel;

/** Code with a twin whose module has some bytes, and what was made of it. */
function codeOf(
  bytes: number,
  { source = bytes, compile = () => native }: { source?: number; compile?: NativeSource<CompiledKernel>['compile'] } = {},
) {
  const made: string[] = [];
  const twin = new NativeTwin(bytes, () => {
    made.push('module');
    return {
      bytes: source,
      compile() {
        made.push('code');
        return compile();
      },
    };
  });
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

test.run();
