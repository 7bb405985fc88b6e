/** The tests of all three ways to Metal under an emulated arm64 Bun, whose calling convention is that of Macs. */
import { suite } from 'uvu';
import { emulated } from '../support/metal/emulate.ts';

const test = suite('ffi/emulated');
emulated(test, 'binding', 36);
test.run();
