/** The list of tests for the API on Metal, under an emulated arm64 Bun, whose calls are those of Macs. */
import { suite } from 'uvu';
import { emulated } from '../support/metal/emulate.ts';

const test = suite('api/emulated');
emulated(test, 'api', 20);
test.run();
