/** The allocator of scratch locals: locals in use are never handed out, and those given back are used again. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { newScratch, withScratch } from '../../src/engine/codegen/scratch.ts';
import { newCode } from '../../src/wasm/index.ts';

const test = suite('engine/scratch');

const someFunction = () => {
  const code = newCode(['i32', 'i32']);
  return { code, scratch: newScratch(code) };
};

test('nested scopes have locals of their own, behind the parameters', () => {
  const e = someFunction();
  withScratch(e, 'v128', 2, ([a, b]) => {
    withScratch(e, 'v128', 1, ([c]) => {
      assert.equal([a, b, c], [2, 3, 4]);
      withScratch(e, 'i32', 1, ([d]) => assert.equal(d, 5));
    });
  });
});

test('a scope that has ended gives its locals to the next of the type', () => {
  const e = someFunction();
  const first = withScratch(e, 'v128', 2, (locals) => [...locals]);
  const second = withScratch(e, 'v128', 2, (locals) => [...locals]);
  assert.equal(second, first);
  const other = withScratch(e, 'f64', 1, ([local]) => local);
  assert.not(first.includes(other));
  assert.is(e.code.locals, 2 + 3);
});

test('a rule whose operands are of the same rule keeps what it has set', () => {
  // Depth 3 holds one local for each level, and a second expression none more.
  const e = someFunction();
  const inUse: number[] = [];
  const expression = (depth: number): void =>
    withScratch(e, 'i32', 1, ([local]) => {
      assert.not(inUse.includes(local), `local ${local} is in use`);
      inUse.push(local);
      if (depth > 1) for (let operand = 0; operand < 2; operand++) expression(depth - 1);
      assert.is(inUse.pop(), local);
    });
  expression(3);
  expression(3);
  assert.is(e.code.locals, 2 + 3);
});

test('only a local that is in use can be given back, once', () => {
  const { code, scratch } = someFunction();
  const local = scratch.take('i32');
  const plain = code.local('i32');
  assert.throws(() => scratch.give(plain), /not in use/);
  scratch.give(local);
  assert.throws(() => scratch.give(local), /not in use/);
  assert.is(scratch.take('i32'), local);
});

test.run();
