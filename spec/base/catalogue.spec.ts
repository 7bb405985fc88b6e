/** The catalogue: its style, and that a spec or fixture provokes every code. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Entry } from '../../src/base/catalogue/entry.ts';
import { catalogue, isCode } from '../../src/base/catalogue/index.ts';

const test = suite('base/catalogue');

const root = join(import.meta.dirname, '../..');
const entries: readonly [string, Entry][] = Object.entries(catalogue);

/** Texts that provoke diagnostics: all specs but this one, and the records of fixtures. */
function* sources(folder: string): Iterable<string> {
  for (const item of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, item.name);
    if (item.isDirectory()) yield* sources(path);
    else if (/\.(ts|ptx|json|txt|golden)$/.test(item.name) && item.name !== 'catalogue.spec.ts') yield readFileSync(path, 'utf8');
  }
}

function provoked(): Set<string> {
  const found = new Set<string>();
  for (const folder of ['spec', 'fixtures'])
    for (const text of sources(join(root, folder))) for (const [code] of text.matchAll(/CM\d{4}/g)) found.add(code);
  return found;
}

/** Codes that no spec provokes, and why. */
const unprovoked: Readonly<Record<string, string>> = {
  CM5003: 'no spec yet: needs a library without kernels',
  CM6018: 'no spec yet: needs a launch whose paths fill 1 GiB',
  CM5050: 'spec/cli/run-report.spec.ts provokes it by its words',
};

test('every code is provoked by a spec, or listed with the reason', () => {
  const found = provoked();
  assert.equal(
    entries.map(([code]) => code).filter((code) => !found.has(code) && unprovoked[code] === undefined),
    [],
  );
  for (const code of Object.keys(unprovoked)) {
    assert.ok(isCode(code), `${code} is in the catalogue`);
    assert.not.ok(found.has(code), `${code} is provoked by now: take it off the list`);
  }
});

test('specs speak of codes that are there', () => {
  assert.equal(
    [...provoked()].filter((code) => !isCode(code) && !code.endsWith('99')),
    [],
  );
});

test('messages start in lower case or with what they speak of, and end without full stop', () => {
  for (const [code, { message, title, help }] of entries) {
    assert.match(message, /^([a-z`{]|PTX|IR|AIR|Metal|macOS|f64)/, code);
    assert.not.match(message, /[.!\s]$/, code);
    assert.match(title, /^([a-z]|IR |AIR |GPU |PTX |CUDA |\.|f64|32-bit)/, code);
    assert.not.match(title, /[.!\s]$/, code);
    if (help !== undefined) assert.not.match(help, /[.!\s]$/, code);
  }
});

test('pages are sentences', () => {
  for (const [code, { page }] of entries) {
    assert.match(page, /^[A-Z`0-9]/, code);
    assert.match(page, /\.$/, code);
    assert.ok(page.length > 20, code);
  }
});

test('codes lie in their ranges, each severity being one', () => {
  for (const [code, { severity }] of entries) {
    assert.match(code, /^CM(1[01]|2[0123]|30|40|50|60|61)\d\d$/);
    assert.ok(['error', 'warning', 'note'].includes(severity), code);
  }
});

test('holes are words, and backquotes come in pairs', () => {
  for (const [code, { message, help, page }] of entries)
    for (const text of [message, help ?? '', page]) {
      assert.is((text.match(/`/g) ?? []).length % 2, 0, code);
      assert.equal(message.replace(/\{[a-z]+\}/g, '').match(/[{}]/g) ?? [], ['CM1007', 'CM1013'].includes(code) ? ['}'] : [], code);
    }
});

test.run();
