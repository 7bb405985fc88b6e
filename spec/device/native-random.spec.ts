/** Random kernels as native code and as WebAssembly, scalar and vectorized: the same bytes and the same diagnostics. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { canRunNative } from '../../src/device/cpu/native/mode.ts';
import { assertEnginesAgree, nativeDifferenceOf } from '../support/engine-difference.ts';

const test = suite('device/native-random');
const onlyHere = canRunNative() ? test : test.skip;

onlyHere('native code has the results of WebAssembly', () => {
  assert.is(
    assertEnginesAgree(5, (i) => nativeDifferenceOf(7 * i + 1)),
    5,
    'kernels with native code',
  );
});

test.run();
