/** The device contract over the fake in a folder, for a Bun that is emulated: `bun emulated.ts FOLDER`. */
import { suite } from 'uvu';
import { contract } from '../device-contract.ts';
import { fakeCandidates } from './candidates.ts';

const test = suite('device/contract, emulated');
for (const candidate of fakeCandidates(process.argv[2]!, 5000)) contract(test, candidate);
test.run();
