/**
 * The library as installed, under Bun and under Node: the API contract (`spec/support/api-contract.ts`) on the CPU device, and the programs of
 * the documentation.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Glob } from 'bun';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { packageEntries } from '../../scripts/entries.ts';
import { root } from '../support/examples.ts';
import { installedApp } from '../support/installed.ts';

const test = suite('dist/installed-api');

const folder = mkdtempSync(join(tmpdir(), 'cumetal-spec-'));
test.after(() => rmSync(folder, { recursive: true, force: true }));
test.before(async () => {
  symlinkSync(join(await installedApp(), 'node_modules'), join(folder, 'node_modules'));
  writeFileSync(join(folder, 'contract.js'), await contract());
});

const runtimes = { Bun: process.execPath, Node: Bun.which('node') ?? 'node' };

/** Imports of an entry's source become imports of the installed package; `src/api` is what the main entry exports. */
const entryOf = new Map([
  ...packageEntries().map(({ name, source }) => [join(root, source), `cumetal${name.slice(1)}`] as const),
  [join(root, 'src/api/index.ts'), 'cumetal'],
]);

/** The contract as one file that imports the package. */
async function contract(): Promise<string> {
  const { outputs } = await Bun.build({
    entrypoints: [join(root, 'spec/support/installed-contract.ts')],
    target: 'node',
    plugins: [
      {
        name: 'installed',
        setup: (build) =>
          void build.onResolve({ filter: /^\..*\.ts$/ }, ({ path, importer }) => {
            const entry = entryOf.get(join(importer, '..', path));
            return entry === undefined ? undefined : { path: entry, external: true };
          }),
      },
    ],
  });
  return outputs[0]!.text();
}

for (const [name, runtime] of Object.entries(runtimes))
  test(`the API contract under ${name}`, () => {
    const { status, stdout, stderr } = spawnSync(runtime, [join(folder, 'contract.js')], { cwd: folder, encoding: 'utf8' });
    assert.is(status, 0, stdout + stderr);
    assert.ok(Number(/Passed: +(\d+)/.exec(stdout)?.[1]) >= 20, stdout);
  });

// ── documentation ──

/** A program of a page; `name` is also that of its file. */
interface Program {
  readonly name: string;
  readonly code: string;
}

const pages = ['docs/api.md', ...new Glob('docs/api/*.md').scanSync(root)];
const programs: readonly Program[] = pages.flatMap((page) => {
  const codes = [...readFileSync(join(root, page), 'utf8').matchAll(/^```ts\n([\s\S]*?)^```$/gm)];
  return codes.map(([, code], i) => ({ name: `${page.replace(/^docs\//, '').replaceAll('/', '-')}-${i + 1}`, code: code! }));
});

test('the programs of the documentation have the types of the package', () => {
  const told = "const said: string[] = []; console.log = (...all) => void said.push(all.map(String).join(' '));\n";
  const end = '\nprocess.stdout.write(JSON.stringify(said)); process.exit(0);\n';
  for (const { name, code } of programs) writeFileSync(join(folder, `${name}.mts`), told + code + end);
  const compilerOptions = {
    module: 'nodenext',
    target: 'es2022',
    strict: true,
    types: ['bun-types'],
    typeRoots: [join(root, 'node_modules')],
  };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.mts'] }));
  const { status, stdout } = spawnSync(join(root, 'node_modules/.bin/tsc'), ['-p', folder], { encoding: 'utf8' });
  assert.is(status, 0, stdout);
});

for (const { name, code } of programs)
  for (const [runtime, path] of Object.entries(runtimes))
    test(`${name} under ${runtime} prints what it says`, () => {
      const wanted = [...code.matchAll(/\/\/ → (.*)$/gm)].map(([, text]) => text!);
      const { stdout, stderr } = spawnSync(path, [join(folder, `${name}.mjs`)], { cwd: root, encoding: 'utf8' });
      assert.is(stderr, '');
      assert.equal(JSON.parse(stdout), wanted);
    });

test.run();
