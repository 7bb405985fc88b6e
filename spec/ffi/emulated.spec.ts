/** The list of tests for ways to Metal, all three of them, under an emulated arm64 Bun, whose calls are those of Macs. */
import { suite } from 'uvu';
import { emulated } from '../support/metal/emulate.ts';

const test = suite('ffi/emulated');
emulated(test, 'binding', 36);
test.run();
