/** Built files are split by what imports what, so an import from the index of a room names the file that has what is imported. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Glob } from 'bun';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { withDirectImports } from '../../scripts/direct-imports.ts';

const test = suite('dist/direct-imports');
const src = join(import.meta.dirname, '../../src');
const file = join(src, 'compile/example.ts');

test('a name comes from the file that defines it, through any number of indices', () => {
  const text = "import { type Kernel, runPass as run } from '../ir/index.ts';\nrun;\n";
  assert.is(withDirectImports(text, file), `import { runPass as run } from "${join(src, 'ir/passes/index.ts')}";\nrun;\n`);
});

test('lines keep their numbers, and imports of types alone stay', () => {
  const text = "import {\n  runPass,\n  dce,\n} from '../ir/index.ts';\nimport type { Kernel } from '../ir/index.ts';\n";
  const lines = withDirectImports(text, file).split('\n');
  assert.is(lines.length, text.split('\n').length);
  assert.is(lines[4], "import type { Kernel } from '../ir/index.ts';");
});

test('what an index computes or does not have stays as it is written', () => {
  const text = "import { noSuchName } from '../ir/index.ts';\n";
  assert.is(withDirectImports(text, file), text);
});

test('every import of the sources is direct, from a file that is there', () => {
  let count = 0;
  for (const name of new Glob('**/*.ts').scanSync({ cwd: src })) {
    const path = join(src, name);
    const before = readFileSync(path, 'utf8');
    const text = withDirectImports(before, path);
    for (const [, origin] of text.matchAll(/^import \{.*? from "([^"]+)";/gm)) assert.ok(existsSync(origin!), `${name}: ${origin}`);
    const left = [...text.matchAll(/^import \{[^}]*\} from '(\.[^']*\/index\.ts)';$/gm)].filter(([, index]) =>
      existsSync(join(dirname(path), index!)),
    );
    assert.equal(
      left.map(([whole]) => whole),
      [],
      name,
    );
    if (text !== before) count++;
  }
  assert.ok(count > 300, `${count}`);
});

test.run();
