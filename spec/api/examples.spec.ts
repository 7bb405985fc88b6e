/** The examples of README.md and of pages in docs/: their types are checked, and they print what they say, in Bun and in Node. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { packageForNode, scriptForNode } from '../../scripts/node-program.ts';
import { nodeNeed } from '../support/both-runtimes.ts';
import { root } from '../support/examples.ts';
import { need } from '../support/need.ts';
import { sourcesOfEntries } from '../support/public-names.ts';

const test = suite('api/examples');

const folder = mkdtempSync(join(tmpdir(), 'cumetal-spec-'));
test.after(() => rmSync(folder, { recursive: true, force: true }));

interface Example {
  readonly title: string;
  /** `js` runs as it stands in the oldest Node. */
  readonly language: 'ts' | 'js';
  readonly code: string;
  /** The file of the program, with its imports as in the page. */
  readonly path: string;
}

const entries = readdirSync(join(root, 'docs/api')).map((name) => `docs/api/${name}`);
const named = ['api', 'build', 'kernels', 'cublas', 'cufft', 'curand'].map((name) => `docs/${name}.md`);
const pages = ['README.md', ...named, ...entries, 'docs/triton.md', 'docs/many-gpus.md'];
/** The page on Triton reads what its first step wrote. */
const placed = (code: string): string => code.replaceAll("readFileSync('add.", "readFileSync('fixtures/triton/page/add.");

/** The programs of a page, each under the last heading before it. */
function examplesOf(page: string): Example[] {
  let title = '';
  const found: Example[] = [];
  for (const [, heading, language, code] of readFileSync(join(root, page), 'utf8').matchAll(/^#+ (.*)$|^```(ts|js)\n([\s\S]*?)^```$/gm)) {
    if (heading !== undefined) title = heading;
    else {
      const name = `${page.replaceAll(/\W/g, '-')}-${found.length + 1}.${language === 'js' ? 'mjs' : 'ts'}`;
      found.push({ title: `${page}: ${title}`, language: language as 'ts' | 'js', code: placed(code!), path: join(folder, name) });
    }
  }
  return found;
}
const examples = pages.flatMap(examplesOf);

/** With the sources in the place of the package, for Bun and for types. */
const sourced = (code: string): string =>
  code.replaceAll(/'cumetal(\/\w+)?'/g, (_, name = '') => JSON.stringify(sourcesOfEntries().get(`.${name}`)));
const pathOfSourced = ({ path }: Example): string => join(folder, 'sourced', path.slice(folder.length).replace('.mjs', '.ts'));

const scriptOf = (path: string): string => path.replace('.ts', '.mjs');

/** Does something at the first call only. */
function once<T>(act: () => Promise<T>): () => Promise<T> {
  let done: Promise<T> | undefined;
  return () => (done ??= act());
}

test.before(async () => {
  for (const example of examples) {
    writeFileSync(example.path, example.code);
    await Bun.write(pathOfSourced(example), sourced(example.code));
  }
});

test('the pages have examples', () => {
  assert.ok(entries.length >= 4);
  for (const page of pages) assert.ok(examplesOf(page).length > 0, page);
  // What has `using` is no JavaScript of Node 20.
  for (const { language, code, title } of examples) if (language === 'js') assert.not.match(code, /\busing /, title);
});

test('every entry of the package has a page or a section', () => {
  const text = pages.map((page) => readFileSync(join(root, page), 'utf8')).join('');
  for (const name of sourcesOfEntries().keys()) assert.ok(text.includes(`'cumetal${name.slice(1)}'`) || name === './device', name);
});

test('their types are right', () => {
  const options = {
    extends: join(root, 'tsconfig.json'),
    compilerOptions: { rewriteRelativeImportExtensions: false, typeRoots: [join(root, 'node_modules')] },
    include: ['sourced/*.ts'],
  };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(options));
  const { stdout } = spawnSync(join(root, 'node_modules/.bin/tsc'), ['--noEmit', '-p', folder], { encoding: 'utf8', cwd: root });
  assert.is(stdout, '');
});

/** Runs program files one after the other in one process, and returns what each logs, or its error. */
function logsOf(runtime: string, paths: readonly string[]): ReadonlyMap<string, unknown> {
  const runner = join(folder, 'run.mjs');
  writeFileSync(
    runner,
    `const logs = [];
    for (const path of ${JSON.stringify(paths)}) {
      const said = [];
      console.log = (...all) => void said.push(all.map(String).join(' '));
      logs.push([path, await import(path).then(() => said, String)]);
    }
    process.stdout.write(JSON.stringify(logs)); process.exit(0);`,
  );
  const { stdout, stderr } = spawnSync(runtime, [runner], { encoding: 'utf8', cwd: root });
  assert.is(stderr, '');
  return new Map(JSON.parse(stdout) as [string, unknown][]);
}

/** The logs of all examples with the sources, in Bun. */
const inBun = once(async () => logsOf(process.execPath, examples.map(pathOfSourced)));

/** The logs of all examples with the built package, in Node. */
const inNode = once(async () => {
  await packageForNode(folder);
  for (const { language, path } of examples) if (language === 'ts') writeFileSync(scriptOf(path), await scriptForNode(path));
  return logsOf(
    'node',
    examples.map(({ path }) => scriptOf(path)),
  );
});

examples.forEach((example, i) => {
  const { title, code, path } = example;
  const wanted = [...code.matchAll(/\/\/ → (.*)$/gm)].map(([, text]) => text!);
  test(`${title}: example ${i + 1} prints what it says`, async () => {
    assert.ok(wanted.length > 0);
    assert.equal((await inBun()).get(pathOfSourced(example)), wanted);
  });
  need(test, [nodeNeed], `${title}: example ${i + 1} prints the same in Node`, async () =>
    assert.equal((await inNode()).get(scriptOf(path)), wanted),
  );
});

test.run();
