/**
 * `npm run bench -- NAME [--json]`: one benchmark, ours and a named peer side by side in one run. A ratio above 1 is better
 * for us, but for what `sanitize` costs. With `--json` the last line is one object.  `air --prepare FOLDER` and `math --prepare FOLDER` make what runs on another machine.
 * Exit code 4: the peer is not on this machine. `all --against COMMIT` compares with other sources, `code-size` with recorded sizes,
 * and `growth` with linear growth.
 */
import { compareWith } from './against.ts';
import { air, prepare } from './air.ts';
import { bitcode } from './bitcode.ts';
import { codeSize } from './code-size.ts';
import { compile } from './compile.ts';
import { cpu } from './cpu.ts';
import { fft } from './fft.ts';
import { growth } from './growth.ts';
import { launching } from './launch.ts';
import { libraries } from './libraries.ts';
import { math, prepareMath } from './math.ts';
import { opencl } from './opencl.ts';
import { parsing } from './parse.ts';
import { pool } from './pool.ts';
import { type Bench, report } from './report.ts';
import { sanitizing } from './sanitize.ts';
import { webgpu } from './webgpu.ts';

const benches: Readonly<Record<string, (words: readonly string[]) => Bench | undefined | Promise<Bench | undefined>>> = {
  air,
  bitcode,
  compile,
  cpu,
  fft,
  launch: launching,
  libraries,
  math,
  opencl,
  parse: parsing,
  pool,
  sanitize: sanitizing,
  webgpu,
};

const [name = '', ...words] = process.argv.slice(2);
if (name === 'code-size') process.exit(codeSize(words) ? 0 : 1);
if (name === 'growth') {
  const isLinear = growth(words);
  process.exit(isLinear === undefined ? 2 : isLinear ? 0 : 1);
}
const commit = words[words.indexOf('--against') + 1];
if (name === 'all' && words.includes('--against') && commit !== undefined) process.exit(compareWith(commit, words) ? 0 : 1);
const bench = benches[name];
if (!bench) {
  const names = [...Object.keys(benches), 'code-size', 'growth FOLDER…', 'all --against COMMIT'].join(', ');
  console.error(`usage: npm run bench -- NAME [--json]; NAME is ${names}`);
  process.exit(2);
}
const folder = words[words.indexOf('--prepare') + 1];
if (name === 'air' && words.includes('--prepare') && folder !== undefined) {
  prepare(folder);
  process.exit(0);
}
if (name === 'math' && words.includes('--prepare') && folder !== undefined) {
  prepareMath(folder, words);
  process.exit(0);
}
const result = await bench(words);
if (!result) process.exit(4);
console.log(report(result, words.includes('--json')));
