/** The device contract on Metal through all three bindings, under an emulated arm64 Bun, whose calling convention is that of Macs. */
import { suite } from 'uvu';
import { emulated } from '../support/metal/emulate.ts';

const test = suite('device/emulated');
emulated(test, 'device', 60);
test.run();
