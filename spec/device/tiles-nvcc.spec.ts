/**
 * Tiles of cooperative groups as nvcc compiles them: optimized, without optimization, and for a debugger. Without optimization, groups are objects
 * in local memory, and their functions get `this`. Expected results are worked out here from the CUDA source, `fixtures/groups/tiles.cu`.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import { compile } from '../../src/compile/index.ts';
import { launchMetallib } from '../support/launch.ts';
import { need } from '../support/need.ts';

const test = suite('device/tiles-nvcc');

const source = join(import.meta.dirname, '../../fixtures/groups/tiles.cu');
const given = Int32Array.from({ length: 64 }, (_, i) => (i * 37 + 11) % 101);
const all = [...given.keys()];

/** The values of the threads of a tile of some size that a thread is in. */
const tileOf = (thread: number, size: number): number[] => [...given.slice(thread - (thread % size), thread - (thread % size) + size)];
const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0);

const sums = all.map((i) => (i % 16 === 0 ? sum(tileOf(i, 16)) : -1));
const wanted: Readonly<Record<string, readonly number[]>> = {
  sums,
  totals: all.map((i) => sum(tileOf(i, 8)) + 10000 * ((i % 32) >> 3)),
  votes: all.map((i) => {
    const tile = tileOf(i, 4);
    const ballot = sum(tile.map((x, lane) => (x & 1) << lane));
    return ballot + 100 * Number(tile.some((x) => x % 7 === 0)) + 1000 * Math.max(...tile);
  }),
  odd: all.map((i) => {
    const warp = tileOf(i, 32);
    const odd = warp.flatMap((x, lane) => (x & 1 ? [lane] : []));
    const rank = odd.indexOf(i % 32);
    return rank < 0 ? -1 : warp[odd[0]!]! + 1000 * odd.length + 100000 * rank;
  }),
  groups: sums,
};

/** The PTX that nvcc makes with some options. */
function ptxBy(options: readonly string[]): string {
  const folder = mkdtempSync(join(tmpdir(), 'cumetal-'));
  try {
    const path = join(folder, 'tiles.ptx');
    const { exitCode, stderr } = Bun.spawnSync(['nvcc', '-std=c++17', '-arch=sm_80', '-ptx', ...options, source, '-o', path]);
    assert.is(exitCode, 0, stderr.toString());
    return readFileSync(path, 'latin1');
  } finally {
    rmSync(folder, { recursive: true });
  }
}

for (const options of [[], ['-Xcicc', '-O0'], ['-G']])
  need(test, ['nvcc'], `tiles by nvcc ${options.join(' ') || 'with optimization'}`, () => {
    const file = new SourceFile('tiles.ptx', ptxBy(options));
    for (const target of ['macos15', 'cpu'] as const)
      for (const [kernel, expected] of Object.entries(wanted)) {
        const diagnostics = new Diagnostics(file);
        const compiled = compile(file, { target, entries: [kernel] }, diagnostics);
        assert.ok(compiled, `${kernel}: ${diagnostics.list.map(({ message }) => message).join('; ')}`);
        const [, out] = launchMetallib(compiled.metallib, { kernel, blocks: 1, threads: 64, args: [given, new Int32Array(64)] });
        assert.equal([...new Int32Array(out!.slice().buffer)], expected, `${kernel} for ${target}`);
      }
  });

test.run();
