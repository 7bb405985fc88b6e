/**
 * Kernels in the manner of compilers that are not run here (fixtures/producers/manners): tinygrad, CUDA.jl, Rust, GCC, ILGPU and NVIDIA's OpenCL.
 * They are ours; only habits are those of the compilers: names, declarations within code, debug sections, structs of pointers, traps.
 * Each multiplies 64 integers by three and adds their index.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { cli } from '../support/cli.ts';
import { need } from '../support/need.ts';
import { familiesFolder } from '../support/producers.ts';
import { ptxasTakes } from '../support/ptxas.ts';

const test = suite('ptx/manners');

const textOf = (name: string): string => readFileSync(join(familiesFolder, 'manners', `${name}.ptx`), 'utf8');

const words = (...values: readonly bigint[]): Uint8Array => new Uint8Array(BigInt64Array.from(values).buffer);
/** Arrays by value: a pointer, which `--arg` puts there, and lengths. */
const structs = () => ({ 'x.bin': words(0n, 64n), 'y.bin': words(0n, 64n), 'state.bin': words(0n, 0n) });
const julia = () => ({ ...structs(), 'x.bin': words(0n, 64n, 64n, 64n), 'y.bin': words(0n, 64n, 64n, 64n) });

/** The arguments of each, the files of them, and the index of the output. */
const launches: Readonly<
  Record<string, { readonly args: string; readonly output: number; readonly files?: () => Record<string, Uint8Array> }>
> = {
  tinygrad: { args: '--grid 4 --block 8 --arg i32:64 --arg i32:64=iota --arg i32=3', output: 0 },
  gcc: { args: '--grid 2 --block 32 --arg u32:64=iota --arg u32:64', output: 1 },
  rust: { args: '--grid 2 --block 32 --arg u32:64=iota --arg u64=64 --arg u32:64 --arg u64=64 --arg u32=3', output: 2 },
  ilgpu: {
    args: '--grid 2 --block 32 --arg i32=64 --arg bytes@x.bin+0=&4 --arg bytes@y.bin+0=&5 --arg i32=3 --arg i32:64=iota --arg i32:64',
    output: 5,
    files: structs,
  },
  julia: {
    args: '--grid 2 --block 32 --arg bytes@state.bin --arg bytes@x.bin+0=&4 --arg bytes@y.bin+0=&5 --arg i32=3 --arg i32:64=iota --arg i32:64',
    output: 5,
    files: julia,
  },
};

const want = Array.from({ length: 64 }, (_, i) => 3 * i + i);

for (const [name, { args, output, files = () => ({}) }] of Object.entries(launches))
  test(name, async () => {
    const given = ['run', 'k.ptx', '--device', 'cpu', ...args.split(' '), '--print', String(output), '--json'];
    const { code, out, err } = await cli(given, { 'k.ptx': textOf(name), ...files() });
    assert.is(code, 0, err);
    const { outputs } = JSON.parse(out) as { outputs: readonly { readonly index: number; readonly data: readonly number[] }[] };
    assert.equal(outputs.find(({ index }) => index === output)!.data, want);
  });

test('opencl: registers of the driver and pointers to shared memory are refused where they stand', async () => {
  const said = async (text: string): Promise<string[]> => {
    const { err } = await cli(['build', 'k.ptx', '-o', 'k.metallib'], { 'k.ptx': text });
    return [...err.matchAll(/error\[(CM\d+)\]: .*\n *--> (k\.ptx:\d+)/g)].map(([, code, at]) => `${code} ${at}`);
  };
  const text = textOf('opencl');
  assert.equal(await said(text), ['CM2002 k.ptx:29']);
  assert.equal(await said(text.replace('%envreg3', '0')), ['CM2044 k.ptx:18']);
  assert.equal(await said(text.replace('%envreg3', '0').replace('.ptr .shared .align 4 ', '')), []);
});

need(test, ['ptxas'], 'ptxas takes them all', async () => {
  const names = [...Object.keys(launches), 'opencl'];
  assert.equal(
    await ptxasTakes(names.map(textOf)),
    names.map(() => true),
  );
});

test.run();
