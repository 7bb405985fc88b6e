/**
 * A table of kernels by target: which targets take each kernel of PTX files that the target `cpu` takes, and what the others refuse.
 *
 *   bun scripts/kernels-by-target.ts [--all] FILE…
 *
 * A line for each kernel that a target refuses, with the code and the construct; with `--all` one for every kernel. The last lines count, in all
 * and without textures.
 */
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { SourceFile } from '../src/base/source.ts';
import { compile } from '../src/compile/index.ts';
import { printers, refusal } from './programs/printers.ts';

const words = process.argv.slice(2);
const files = words.filter((word) => !word.startsWith('--'));

const refused = new Map(Object.keys(printers).map((name) => [name, { all: 0, textures: 0, causes: new Map<string, number>() }]));
let taken = 0;
let withTextures = 0;
for (const file of files) {
  const source = new SourceFile(basename(file), readFileSync(file, 'utf8'));
  const entries = [...source.text.matchAll(/\.entry\s+([\w$]+)/g)].map(([, name]) => name!);
  for (const entry of new Set(entries)) {
    if (refusal((diagnostics) => void compile(source, { target: 'cpu', entries: [entry] }, diagnostics))) continue;
    taken += 1;
    const samples = /\b(tex|tld4|suld|sust|sured|txq|suq)\./.test(source.text);
    if (samples) withTextures += 1;
    const row: string[] = [];
    for (const [name, print] of Object.entries(printers)) {
      const cause = refusal((diagnostics) => print(source, entry, diagnostics));
      row.push(cause ? name : '');
      if (!cause) continue;
      const counts = refused.get(name)!;
      counts.all += 1;
      if (samples) counts.textures += 1;
      counts.causes.set(cause, (counts.causes.get(cause) ?? 0) + 1);
    }
    if (words.includes('--all') || row.some((cell) => cell))
      console.log(`${basename(file)} ${entry}: ${row.filter((cell) => cell).join(', ') || 'all'}`);
  }
}
for (const [name, { all, textures, causes }] of refused) {
  const plain = taken - withTextures;
  console.log(`${name}: ${taken - all} of ${taken} kernels, ${plain - (all - textures)} of ${plain} without textures`);
  for (const [cause, count] of [...causes].sort((a, b) => b[1] - a[1])) console.log(`  ${count} ${cause}`);
}
