/** SSA form of functions: its parameters and order by hand, and random modules by WebAssembly's own results. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { buildSsa } from '../../../src/native/ssa/build.ts';
import { printSsa } from '../../../src/native/ssa/print.ts';
import type { SsaFunction } from '../../../src/native/ssa/types.ts';
import { verifySsa } from '../../../src/native/ssa/verify.ts';
import { type Code, newModule, readWasm, type ValueType } from '../../../src/wasm/index.ts';
import { differenceOf, initialMemory, runSsa, runWasm } from '../support/outcome.ts';
import { randomModule } from '../support/random-module.ts';

const test = suite('native/ssa/build');

/** The text of a function that `write` writes. */
function built(params: readonly ValueType[], results: readonly ValueType[], write: (code: Code) => void): string {
  const module = newModule();
  module.importMemory('memory', 1, 1);
  const { code } = module.fn({ params, results }, 'run');
  write(code);
  const bytes = module.finish();
  assert.ok(WebAssembly.validate(bytes as BufferSource), 'the module is valid');
  const read = readWasm(bytes);
  const fn = buildSsa(read, 0) as SsaFunction;
  assert.equal(verifySsa(fn, read), []);
  return printSsa(fn);
}

test('a loop has parameters for what it assigns and is read, and for nothing else', () => {
  const text = built(['i32', 'i32'], ['i32'], (code) => {
    const sum = code.local('i32');
    const unread = code.local('i64');
    code.open('loop');
    code.i64(1n);
    code.at('local.set', unread);
    code.at('local.get', sum);
    code.at('local.get', 1);
    code.op('i32.add');
    code.at('local.set', sum);
    code.at('local.get', 0);
    code.i32(1);
    code.op('i32.sub');
    code.at('local.tee', 0);
    code.at('br_if', 0);
    code.end();
    code.at('local.get', sum);
  });
  assert.equal(
    text,
    `function 0 (i32, i32) -> (i32)
b0(v0: i32, v1: i32)
  v8: i32 = i32.const 0x0
  jump b1(v8, v0)
b1(v3: i32, v5: i32) ; depth 1
  v2: i64 = i64.const 0x1
  v4: i32 = i32.add v3, v1
  v6: i32 = i32.const 0x1
  v7: i32 = i32.sub v5, v6
  branch v7, b1(v4, v7), b2()
b2()
  return v4
`,
  );
});

test('a local that both sides of an if assign alike, or none, has no parameter', () => {
  const text = built(['i32', 'i32'], ['i32'], (code) => {
    const same = code.local('i32');
    code.at('local.get', 0);
    code.openRare();
    code.at('local.get', 1);
    code.at('local.set', same);
    code.else();
    code.at('local.get', 1);
    code.at('local.set', same);
    code.end();
    code.at('local.get', same);
    code.at('local.get', 0);
    code.op('i32.xor');
  });
  assert.match(text, 'branch rare v0, b1(), b2()');
  assert.match(text, 'b1() ; rare');
  assert.match(text, /b3\(\)\n {2}v\d+: i32 = i32.xor v1, v0/);
});

test('what is behind a jump is left out, with the structures in it', () => {
  const text = built(['i32'], ['i32'], (code) => {
    code.open('block', 'i32');
    code.i32(5);
    code.at('br', 0);
    code.open('loop');
    code.at('br', 0);
    code.end();
    code.op('unreachable');
    code.end();
    code.at('local.get', 0);
    code.op('i32.add');
    code.op('return');
    code.i32(6);
    code.op('drop');
  });
  assert.not.match(text, 'trap');
  assert.equal(text.match(/^b\d/gm)?.length, 3);
});

test('a switch has its edges in order, the one for other numbers last', () => {
  const text = built(['i32'], ['i32'], (code) => {
    for (let i = 0; i < 3; i++) code.open('block');
    code.at('local.get', 0);
    code.table([2, 0, 0], 1);
    for (const value of [10, 20, 30]) {
      code.end();
      code.i32(value);
      if (value < 30) code.op('return');
    }
  });
  // Depth 0 is what returns 10, depth 2 what returns 30.
  const [, first, second, third, last] = /switch v0, b(\d+)\(\), b(\d+)\(\), b(\d+)\(\), b(\d+)\(\)/.exec(text)!;
  const returned = (block: string | undefined): string | undefined => new RegExp(`b${block}\\(\\)\\n.*const (0x\\w+)`).exec(text)?.[1];
  assert.equal([first, second, third, last].map(returned), ['0x1e', '0xa', '0xa', '0x14']);
});

test('blocks of a loop stand together, and those that leave it behind it', () => {
  const text = built(['i32'], ['i32'], (code) => {
    code.open('loop');
    code.at('local.get', 0);
    code.open('if');
    code.i32(7);
    code.at('local.get', 0);
    code.op('i32.mul');
    code.op('return');
    code.end();
    code.at('local.get', 0);
    code.i32(3);
    code.op('i32.add');
    code.at('local.tee', 0);
    code.at('br_if', 0);
    code.end();
    code.at('local.get', 0);
  });
  const depths = [...text.matchAll(/^b\d+\(.*\)( ; depth 1)?/gm)].map(([, depth]) => (depth ? 1 : 0));
  assert.equal(depths.lastIndexOf(1) - depths.indexOf(1) + 1, depths.filter((depth) => depth === 1).length);
});

test('a function of several results is declined', () => {
  const module = newModule();
  const { code } = module.fn({ params: [], results: ['i32', 'i32'] }, 'run');
  code.i32(1);
  code.i32(2);
  assert.equal(buildSsa(readWasm(module.finish()), 0), { why: 'a function of several results' });
});

test('random modules do what WebAssembly does', () => {
  for (let seed = 1; seed <= 60; seed++) {
    const bytes = randomModule({ seed, mayTrap: seed % 3 === 0, hasVectors: seed % 2 === 0 });
    assert.ok(WebAssembly.validate(bytes as BufferSource), `the module of seed ${seed} is valid`);
    const start = initialMemory(seed);
    const expected = runWasm(bytes, [seed, -seed], start);
    const found = runSsa(bytes, [seed, -seed], start, (fn, module) => {
      assert.equal(verifySsa(fn, module), [], `seed ${seed}`);
      return fn;
    });
    assert.equal(differenceOf(found, expected), undefined, `seed ${seed}`);
  }
});

test.run();
