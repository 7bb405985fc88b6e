/** Writes `encodings.txt`: LLVM's encodings of random instructions, of each mnemonic one for every encoding, with and without memory. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { randomFractions } from '../../support/lcg.ts';
import { everyForm, pick, randomCase } from './cases.ts';
import { encodingsByLlvm } from './judge.ts';
import { textOf } from './text.ts';

const fractions = randomFractions(1);
const below = (limit: number) => Math.floor(fractions() * limit);
const groups = new Map<string, string[]>();
for (const [mnemonic, form] of everyForm()) {
  const one = randomCase(mnemonic, form, below);
  if (one === undefined) continue;
  const key = [mnemonic, form.encoding, form.memory, form.immediate].join();
  groups.set(key, [...(groups.get(key) ?? []), textOf(one, form)]);
}
const texts = [...groups.values()].map((group) => pick(below, group));
const bytes = encodingsByLlvm(texts);
writeFileSync(join(import.meta.dirname, 'encodings.txt'), texts.map((text, i) => `${text} = ${bytes[i]}\n`).join(''));
