/** The ways to Metal beneath the device, against the fake one (spec/support/metal/binding-contract.ts), and their order. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { openMetal } from '../../src/ffi/index.ts';
import { firstOf } from '../../src/ffi/metal/open.ts';
import { compileShim, openShim } from '../../src/ffi/metal/shim.ts';
import { openMessages } from '../../src/ffi/metal/without-shim.ts';
import { bindingContract } from '../support/metal/binding-contract.ts';
import { fakeLibraries, waysTo } from '../support/metal/candidates.ts';
import { openFake } from '../support/metal/open.ts';

const all = suite('ffi/binding');
const { test, fake, built, folder } = openFake(all);
for (const binding of folder ? waysTo(folder) : []) bindingContract(test, binding, fake);

test('the first way that opens is taken, and what is said of those before it is kept', () => {
  const absent = { ...fakeLibraries(built.fake), objc: '/nowhere/libobjc.so' };
  const ways = [
    { name: 'a library', open: () => openShim('/nowhere/libcumetal.dylib') },
    { name: 'no C', open: () => openMessages(absent) },
    { name: 'compiled', open: () => compileShim(fakeLibraries(built.fake)) },
  ];
  const { binding, failures } = firstOf(ways);
  assert.is(binding?.way, 'the shim, compiled at run time');
  assert.equal(
    failures.map((failure) => failure.split(':')[0]),
    ['a library', 'no C'],
  );
  assert.match(failures[0]!, /nowhere/);
  assert.is(firstOf(ways.slice(0, 2)).binding, undefined);
});

test('without C only where structs travel by their addresses', () => {
  if (process.arch !== 'arm64') assert.throws(() => openMessages(fakeLibraries(built.fake)), /arm64/);
});

test('off a Mac there is nothing to look for', () => {
  if (process.platform !== 'darwin') assert.equal(openMetal(), { binding: undefined, failures: [] });
});

all.run();
