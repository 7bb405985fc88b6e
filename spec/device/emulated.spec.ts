/** The list of tests for devices on Metal, by all three ways to it, under an emulated arm64 Bun, whose calls are those of Macs. */
import { suite } from 'uvu';
import { emulated } from '../support/metal/emulate.ts';

const test = suite('device/emulated');
emulated(test, 'device', 60);
test.run();
