/** The lists of tests over the fake in a folder, for a Bun that is emulated: `bun emulated.ts FOLDER device|binding|api`. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import { apiContract } from '../api-contract.ts';
import { contract, takeLibraries } from '../device-contract.ts';
import { bindingContract } from './binding-contract.ts';
import { fakeCandidates, waysTo } from './candidates.ts';
import { loadFake } from './harness.ts';

const [folder, word] = process.argv.slice(2) as [string, string];
const test = suite(`emulated: ${word}`);
if (word === 'device') {
  takeLibraries(readFileSync(join(folder, 'libraries.json'), 'utf8'));
  for (const candidate of fakeCandidates(folder)) contract(test, candidate);
} else if (word === 'api') {
  // Compiling is slow there, so only the arm64 way is tested.
  for (const candidate of fakeCandidates(folder).slice(-1)) apiContract(test, { ...candidate, launches: 200 });
} else {
  const fake = loadFake(join(folder, 'libfakemetal.so'));
  for (const binding of waysTo(folder)) bindingContract(test, binding, fake);
}
test.run();
