/** The examples of docs/api.md: their types are checked, and they print what they say. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { root } from '../support/examples.ts';

const test = suite('api/examples');

const folder = mkdtempSync(join(tmpdir(), 'cumetal-spec-'));
test.after(() => rmSync(folder, { recursive: true, force: true }));

const page = readFileSync(join(root, 'docs/api.md'), 'utf8');
const examples = [...page.matchAll(/^## (.*)$|^```ts\n([\s\S]*?)^```$/gm)].reduce<{ title: string; code: string }[]>(
  (list, [, title, code]) => {
    if (title !== undefined) list.push({ title, code: '' });
    else list.push({ title: list.at(-1)?.title ?? '', code: code! });
    return list;
  },
  [],
);
const programs = examples.filter(({ code }) => code !== '');

/** What a program is called by its place on the page. */
const paths = programs.map((_, i) => join(folder, `example${i}.ts`));
programs.forEach(({ code }, i) => {
  const at = (name: string): string => JSON.stringify(join(root, 'src', name));
  writeFileSync(paths[i]!, code.replace("'cumetal/cuda'", at('cudart/index.ts')).replaceAll("'cumetal'", at('index.ts')));
});

test('the page has examples', () => assert.ok(programs.length >= 7));

test('their types are right', () => {
  const options = {
    extends: join(root, 'tsconfig.json'),
    compilerOptions: { rewriteRelativeImportExtensions: false, typeRoots: [join(root, 'node_modules')] },
    include: ['*.ts'],
  };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(options));
  const { stdout } = spawnSync(join(root, 'node_modules/.bin/tsc'), ['--noEmit', '-p', folder], { encoding: 'utf8', cwd: root });
  assert.is(stdout, '');
});

programs.forEach(({ title, code }, i) => {
  test(`${title}: example ${i + 1} prints what it says`, () => {
    const wanted = [...code.matchAll(/\/\/ → (.*)$/gm)].map(([, text]) => text!);
    assert.ok(wanted.length > 0);
    const told = `const said = []; console.log = (...all) => void said.push(all.map(String).join(' '));
      await import(${JSON.stringify(paths[i])}); process.stdout.write(JSON.stringify(said)); process.exit(0);`;
    const { stdout, stderr } = spawnSync(process.execPath, ['-e', told], { encoding: 'utf8', cwd: root });
    assert.is(stderr, '');
    assert.equal(JSON.parse(stdout), wanted);
  });
});

test.run();
