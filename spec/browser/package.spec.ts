/** The browser build, read as files: its imports, its size, and the server of the example page. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { buildForPages, sizeOf } from '../../scripts/browser/build.ts';
import { servePage } from '../../scripts/browser/serve.ts';
import { packageEntries } from '../../scripts/entries.ts';
import { root } from '../support/examples.ts';

const test = suite('browser/package');

const built = await buildForPages();
const texts = new Map(built.map(({ path, bytes }) => [path, new TextDecoder().decode(bytes)]));
const entries = packageEntries().map(({ browser, source }) => ({ path: browser.replace('./dist/browser/', ''), source }));

test('every entry of the package is built at the path in package.json', () => {
  assert.ok(entries.length >= 6);
  for (const { path, source } of entries) {
    assert.ok(texts.has(path), path);
    assert.ok(existsSync(join(root, source)), source);
    assert.is(`src/${path.replace(/\.js$/, '.ts')}`, source);
  }
});

test('its files import only each other', () => {
  const transpiler = new Bun.Transpiler({ loader: 'js' });
  for (const [path, text] of texts)
    for (const { path: other } of transpiler.scanImports(text)) {
      assert.match(other, /^\.\.?\//, `${path} imports ${other}`);
      assert.ok(texts.has(join(path, '..', other)), `${path} imports ${other}`);
    }
});

test('bindings to system libraries are left out', () => {
  const all = [...texts.values()].join('\n');
  for (const word of ['objc_msgSend', 'MTLCreateSystemDefaultDevice', 'cuModuleLoadDataEx', 'dlopen', 'gunzipSync'])
    assert.not.ok(all.includes(word), word);
});

test('its size is within the limit', () => {
  const kib = ({ path }: { readonly path: string }): number => sizeOf(built, path).zipped / 1024;
  const [all] = entries;
  assert.ok(kib(all!) < 680, `${kib(all!)} KiB`);
  assert.ok(entries.every((entry) => kib(entry) < 680));
});

test('the example page is served with the package, isolated or not, and nothing else is', async () => {
  for (const isIsolated of [true, false]) {
    await using server = await servePage({ port: 0, isIsolated });
    const get = (path: string): Promise<Response> => fetch(new URL(path, server.url));
    const page = await get('/');
    assert.is(page.url, `${server.url}examples/browser/index.html`);
    assert.match(await page.text(), /<script type="module" src="page.js">/);
    for (const path of ['/examples/browser/page.js', '/examples/mandelbrot.ptx', '/dist/browser/index.js']) {
      const { status, headers } = await get(path);
      assert.is(status, 200, path);
      assert.is(headers.get('cross-origin-embedder-policy'), isIsolated ? 'require-corp' : null);
      assert.is(headers.get('cross-origin-opener-policy'), isIsolated ? 'same-origin' : null);
    }
    for (const path of [
      '/package.json',
      '/examples/../package.json',
      '/examples/browser/%2e%2e/%2e%2e/package.json',
      '/dist/browser/none.js',
    ])
      assert.is((await get(path)).status, 404, path);
  }
});

test.run();
