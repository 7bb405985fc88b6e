/** What the built files load at once for a launch whose code is stored (`scripts/lazy-modules.ts`). */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { checkLazyFunctions } from '../../scripts/lazy-modules.ts';

const test = suite('dist/lazy');
const dist = join(import.meta.dir, '../../dist');

interface Groups {
  readonly lazy: Readonly<Record<string, readonly string[]>>;
}

/** Parts that one imports, and those that they import, without what only functions of `lazy` load. */
function loadedWith(start: string, lazy: Groups['lazy']): Set<string> {
  const all = new Set([start]);
  for (const part of all)
    for (const [, names = '', path] of readFileSync(join(dist, part), 'utf8').matchAll(/\bimport(?:\{([^{}]*)\}from)?"(\.[^"]+)";/g)) {
      const to = join(dirname(part), path!);
      const isLater = names.split(',').every((each) => each === '' || lazy[to]?.includes(each.split(' as ')[0]!));
      if (!(to in lazy && isLater)) all.add(to);
    }
  return all;
}

test('the CPU device is loaded without the compilers of kernels and without observers', () => {
  if (!existsSync(join(dist, 'groups.json'))) return;
  const { lazy }: Groups = JSON.parse(readFileSync(join(dist, 'groups.json'), 'utf8'));
  const parts = readdirSync(join(dist, 'parts')).map((name) => `parts/${name}`);
  const isDevice = (part: string): boolean => readFileSync(join(dist, part), 'utf8').includes('CPU (WebAssembly)');
  const device = parts.find(isDevice)!;
  const [all, some] = [loadedWith(device, {}), loadedWith(device, lazy)];
  const defines = (list: Iterable<string>, name: string): boolean =>
    [...list].some((part) => readFileSync(join(dist, part), 'utf8').includes(`function ${name}`));
  for (const name of ['compileSimd', 'raiseModule', 'startPreciseSanitizer', 'startProfile', 'compileNative']) {
    assert.ok(defines(all, name), name);
    assert.not(defines(some, name), name);
  }
});

test('modules that are loaded when a function of theirs is called export nothing but functions', async () => {
  await checkLazyFunctions();
});

test.run();
