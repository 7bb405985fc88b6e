/** The schemas of the package hold for what the commands print, and their names are of one case. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { commands } from '../../src/cli/commands.ts';
import { commandLine, type Ran } from '../support/command-line.ts';
import { examplesFolder } from '../support/examples.ts';
import { violations } from '../support/json-schema.ts';

const test = suite('cli/schemas');

const root = join(import.meta.dirname, '../..');
const folder = join(root, 'schemas');
const schemaOf = (name: string): Record<string, unknown> => JSON.parse(readFileSync(join(folder, `${name}.schema.json`), 'utf8'));
const names = readdirSync(folder).map((name) => name.replace('.schema.json', ''));
const saxpy = join(examplesFolder, 'saxpy.ptx');
const head = '.version 7.0\n.target sm_70\n.address_size 64\n';
const files = {
  'bad.ptx': `${head}.visible .entry k() { .reg .b32 %r<3>; add.s32 %r1, %r2, %zz; foo; ret; }\n`,
  'want.bin': new Uint8Array(16_000),
  'nan.ptx': `${head}.visible .entry k(.param .u64 p) { .reg .b64 %d<2>; ld.param.u64 %d1, [p]; st.global.u64 [%d1], 0xffffffffffffffff; ret; }\n`,
  'far.ptx': `${head}.visible .entry k(.param .u64 p) { .reg .b64 %d<2>; ld.param.u64 %d1, [p]; st.global.u32 [%d1+1000000000], 1; ret; }\n`,
};

/** Command lines by the schema of their output, and the file that has it if not standard output. */
const lines: readonly (readonly [schema: string, words: readonly string[], file?: string])[] = [
  ['run', ['run', saxpy]],
  ['run', ['run', saxpy, '--print', '2:3', '--check', '2=want.bin', '--repeat', '2']],
  ['run', ['run', saxpy, '--profile']],
  ['run', ['run', saxpy, '--trace-thread', '0,5', '--trace-limit', '2']],
  ['run', ['run', 'bad.ptx']],
  ['run', ['run', 'missing.ptx']],
  ['run', ['run', 'nan.ptx', '--grid', '1', '--block', '1', '--arg', 'u64:1']],
  ['run', ['run', 'nan.ptx', '--grid', '1', '--block', '1', '--arg', 'f64:1']],
  ['run', ['run', 'far.ptx', '--sanitize']],
  ['run', ['run', saxpy, '--out', '2=o.npy']],
  ['build', ['build', saxpy, '-o', 's.metallib']],
  ['build', ['build', 'bad.ptx', '-o', 's.metallib']],
  ['check', ['check', saxpy, 'bad.ptx', 'missing.ptx']],
  ['analyze', ['analyze', saxpy, 'bad.ptx', 'missing.ptx']],
  ['analyze', ['analyze', join(root, 'bench/kernels/layernorm.ptx')]],
  ['inspect', ['inspect', 's.metallib']],
  ['inspect', ['inspect', join(root, 'fixtures/container/several.fatbin')]],
  ['inspect', ['inspect', 'want.bin']],
  ['validate', ['validate', 's.metallib']],
  ['validate', ['validate', 'want.bin']],
  ['devices', ['devices']],
  ['targets', ['targets']],
  ['doctor', ['doctor']],
  ['explain', ['explain', 'CM2210']],
  ['explain', ['explain']],
  ['explain', ['explain', 'min.f32']],
  ['diff', ['diff', saxpy, '--devices', 'cpu:lane,cpu:simd']],
  ['diff', ['diff', 'bad.ptx', '--devices', 'cpu:lane,cpu:simd']],
  ['bench', ['bench', saxpy, '--repeat', '2']],
  ['tune', ['tune', '--device', 'cpu', '--size', '8', '--runs', '1', '--type', 'f32', '-o', 'tuning.json']],
  ['cache', ['cache', 'path']],
  ['cache', ['cache', 'list']],
  ['profile', ['run', saxpy, '--profile=p.json'], 'p.json'],
  ['trace', ['run', saxpy, '--trace-thread', '0,5', '--trace-out', 't.json'], 't.json'],
];

const ran = new Map<string, Promise<Ran>>();
async function outputOf(words: readonly string[], file: string | undefined): Promise<Record<string, unknown>> {
  const built = (await commandLine(['build', saxpy, '-o', 's.metallib'])).written;
  const key = words.join(' ');
  const env = { CUMETAL_CACHE_PATH: join(root, 'no-such-cache') };
  const made = ran.get(key) ?? commandLine([...words, '--json'], { ...files, ...built }, env);
  ran.set(key, made);
  const { out, written } = await made;
  return JSON.parse(file === undefined ? out : new TextDecoder().decode(written[file]));
}

for (const [schema, words, file] of lines)
  test(`${words.map((word) => word.replace(/^.*\//, '')).join(' ')}: ${schema}`, async () => {
    assert.equal(violations(schemaOf(schema), await outputOf(words, file)), []);
  });

test('every command with `--json` has a schema, with an id and a version', () => {
  const wanted = commands.filter(({ options }) => options.some(({ name }) => name === 'json')).map(({ name }) => name);
  for (const name of wanted)
    assert.ok(
      lines.some(([schema]) => schema === name),
      name,
    );
  assert.equal(names.sort(), [...wanted, 'launch', 'profile', 'trace'].sort());
  for (const name of names) assert.match(String(schemaOf(name).$id), new RegExp(`^urn:cumetal:schema:${name}:1$`));
});

test('names are in snake case, except for the version and for names of others', () => {
  for (const name of names.filter((each) => each !== 'launch'))
    for (const [, key] of JSON.stringify(schemaOf(name)).matchAll(/"(\w+)":\{"(?:type|\$ref|enum|anyOf|const)/g))
      assert.ok(/^[a-z0-9_]+$/.test(key!) || key === 'schemaVersion' || key === 'additionalProperties', `${name}: ${key}`);
});

test('launch files of the package follow their schema, which refuses what the reader refuses', () => {
  const schema = schemaOf('launch');
  const good = {
    module: 'k.ptx',
    kernel: 'k',
    grid: [1, 1, 1],
    block: [1, 1, 1],
    args: [
      { name: 's', bytes: 's.bin', pointers: [{ offset: 8, argument: 1 }] },
      { name: 'b', buffer: 'f32', shape: [2], init: { rand: 7 } },
      { null: true },
    ],
  };
  assert.equal(violations(schema, good), []);
  assert.ok(violations(schema, { ...good, grid: [0, 1, 1] }).length > 0);
  assert.ok(violations(schema, { ...good, extra: 1 }).length > 0);
  assert.ok(violations(schema, { ...good, args: [{ name: 's', bytes: 's.bin', pointers: [{ offset: -1, argument: 1 }] }] }).length > 0);
});

test('a preview says that it is one, and `--json=full` has every element', async () => {
  const run = async (...words: string[]) => JSON.parse((await commandLine(['run', saxpy, ...words])).out).outputs;
  const [short] = await run('--json');
  assert.equal([short.count, short.truncated, short.data.length < 4000], [4000, true, true]);
  const [whole] = await run('--json=full');
  assert.equal([whole.count, whole.truncated, whole.data.length], [4000, false, 4000]);
  assert.equal(whole.data.slice(0, short.data.length), short.data);
  const [asked] = await run('--json=full', '--print', '2:3');
  assert.equal([asked.data.length, asked.truncated], [4000, false]);
  assert.is((await commandLine(['run', saxpy, '--json=all'])).code, 2);
});

test.run();
