/**
 * The messages of our bindings compared with the public headers (spec/support/metal/headers.ts): each selector exists in a class, with our
 * argument and result types. A misspelled selector, or a number in place of a pointer, would otherwise only fail on a Mac.
 */
import { readFileSync } from 'node:fs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { differences, typesOf } from '../../scripts/metal/check-headers.ts';
import { messages } from '../../src/ffi/metal/messages.ts';
import { libraryOf } from '../support/device-contract.ts';
import { shimSource } from '../support/metal/build.ts';
import { type Encoding, methods } from '../support/metal/headers.ts';
import { openFake } from '../support/metal/open.ts';

const test = suite('ffi/selectors');

/** The C spelling of a type, from its encoding. */
const inC: Readonly<Record<string, Encoding>> = {
  void: 'v',
  id: '@',
  NSUInteger: 'Q',
  u64: 'Q',
  NSInteger: 'q',
  double: 'd',
  BOOL: 'B',
  u8: 'C',
  'const char *': '*',
  'void *': '^v',
  'const void *': '^v',
  'id *': '^@',
  'struct completion *': '@?',
  MTLSize: '{MTLSize}',
  NSRange: '{NSRange}',
};

/** All type lists that classes have for a selector. */
const knownTypes = (selector: string): string[] => [
  ...new Set(methods.filter((m) => m.selector === selector).map((m) => m.types.join(' '))),
];

const shim = readFileSync(shimSource, 'utf8');
/** The end of the first of several arguments between balanced parentheses. */
function endOfFirst(at: number): number {
  for (let depth = 0; ; at++) {
    if (shim[at] === ',' && depth === 0) return at;
    if (shim[at] === '(') depth++;
    if (shim[at] === ')') depth--;
  }
}

/** `MSG(result, arguments)(object, S("selector")`. */
const sends = [...shim.matchAll(/\bMSG(?:_STRUCT)?\(([^()]*)\)\(/g)].map(({ 0: start, 1: types, index }) => {
  const selector = /^,\s*S\("([^"]+)"\)/.exec(shim.slice(endOfFirst(index + start.length)))?.[1];
  return { selector: selector ?? start, types: types!.split(',').map((type) => type.trim()) };
});

test('every message of the shim is found by this spec', () => {
  const named = [...shim.matchAll(/\bS\("([^"]+)"\)/g)].map(([, selector]) => selector!);
  assert.ok(named.length > 60, `${named.length} selectors`);
  assert.equal(sends.map(({ selector }) => selector).sort(), named.sort());
});

test('the shim sends what classes answer, with their types', () => {
  for (const { selector, types } of sends) {
    const encoded = types.map((type) => {
      assert.ok(type in inC, `${selector}: ${type}`);
      return inC[type];
    });
    // A block that is nil is any pointer.
    const ours = selector.endsWith('deallocator:') ? [...encoded.slice(0, -1), '@?'] : encoded;
    assert.ok(
      knownTypes(selector).includes(ours.join(' ')),
      `${selector}: ${ours.join(' ')}, and classes have ${knownTypes(selector).join(' or ')}`,
    );
  }
});

/** The bun:ffi name of a type: every pointer is `ptr`, and a byte is zero-extended in its register. */
const inFfi: Readonly<Record<string, readonly Encoding[]>> = {
  void: ['v'],
  ptr: ['@', '^v', '^@', '@?', '*'],
  u64: ['Q'],
  i64: ['q'],
  u32: ['C'],
  f64: ['d'],
  bool: ['B'],
  cstring: ['*'],
  size: ['{MTLSize}'],
  range: ['{NSRange}'],
};

test('so do the messages without C', () => {
  assert.ok(Object.keys(messages).length > 50);
  for (const [selector, types] of Object.entries(messages)) {
    const fits = knownTypes(selector).some((known) => {
      const wanted = known.split(' ');
      return wanted.length === types.length && types.every((type, i) => inFfi[type]!.includes(wanted[i] as Encoding));
    });
    assert.ok(fits, `${selector}: ${types.join(' ')}, and classes have ${knownTypes(selector).join(' or ') || 'no such method'}`);
  }
});

test('the two ways send the same', () => {
  const byShim = new Set(sends.map(({ selector }) => selector));
  // bun:ffi cannot pass the address for a struct result, and blocks do not exist without C.
  const onlyByShim = ['addCompletedHandler:', 'maxThreadsPerThreadgroup'];
  assert.equal([...byShim].filter((selector) => !onlyByShim.includes(selector)).sort(), Object.keys(messages).sort());
});

test('the comparison with the classes of a Mac reads what a runtime spells, and sees what differs', () => {
  assert.is(typesOf('@40@0:8Q16Q24'), '@ Q Q');
  assert.is(typesOf('Vv16@0:8'), 'v');
  assert.is(typesOf('v64@0:8{?=QQQ}16{?=QQQ}40'), 'v {MTLSize} {MTLSize}');
  assert.is(typesOf('v44@0:8@16{_NSRange=QQ}24C40'), 'v @ {NSRange} C');
  assert.is(typesOf('v40@0:8r^v16Q24Q32'), 'v ^v Q Q');
  assert.is(typesOf('@48@0:8^v16Q24Q32@?<v@?^vQ>40'), '@ ^v Q Q @?');
  assert.is(typesOf('B32@0:8@"MTLCaptureDescriptor"16^@24'), 'B @ ^@');
});

const { test: onFake, fake, binding, built } = openFake(test);
onFake('and finds none in the classes of the fake', () => {
  fake.reset();
  const library = libraryOf('.visible .entry k() { ret; }');
  assert.equal(differences(binding, built.fake, library, 'k'), []);
});

test.run();
