/** The block of memory that the variables of a space share: places by their alignments, and an element type that fits all accesses. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { windowOf } from '../../src/air/windows.ts';
import type { ScalarType, Type, Variable } from '../../src/ir/index.ts';
import { writeKernel } from '../support/kernel-writer.ts';

const test = suite('air/windows');

const variable = (name: string, size: number, align: number, more: Partial<Variable> = {}): Variable => ({
  name,
  space: 'shared',
  size,
  align,
  isDynamic: false,
  init: undefined,
  element: undefined,
  ...more,
});

const kernelOf = (variables: readonly Variable[], accesses: readonly { readonly type: Type; readonly space: Variable['space'] }[] = []) =>
  writeKernel('k', [], variables, ({ b }) => {
    for (const { type, space } of accesses) {
      const { name } = variables.find((each) => each.space === space)!;
      b.load(type, b.variable(`ptr.${space}`, { name }), { align: 1, volatile: false });
    }
  });

test('variables lie one behind the other, each at a multiple of its alignment, and dynamic memory behind them', () => {
  const kernel = kernelOf([
    variable('a', 3, 1),
    variable('grows', 0, 4, { isDynamic: true }),
    variable('b', 8, 8),
    variable('other', 64, 64, { space: 'local' }),
    variable('c', 5, 4),
    variable('grows too', 0, 8, { isDynamic: true }),
  ]);
  const { offsets, size, align, dynamicOffset, init } = windowOf(kernel, 'shared')!;
  assert.equal(Object.fromEntries(offsets), { a: 0, b: 8, c: 16, grows: 32, 'grows too': 32 });
  assert.is(size, 24);
  assert.is(align, 8);
  assert.is(dynamicOffset, 32);
  assert.is(init, undefined);
  assert.is(windowOf(kernel, 'constant'), undefined);
  assert.is(windowOf(kernel, 'local')!.dynamicOffset, undefined);
  assert.is(windowOf(kernelOf([variable('grows', 0, 4, { isDynamic: true })]), 'shared')!.dynamicOffset, 0);
  assert.is(windowOf(kernel, 'local')!.align, 64);
  // Source: ptxas 13.0, which counts 1024 bytes of shared memory.
  const apart = windowOf(kernelOf([variable('a', 8, 8), variable('grows', 0, 1024, { isDynamic: true })]), 'shared')!;
  assert.equal([apart.size, apart.dynamicOffset], [1024, 1024]);
});

test('constants start with their bytes, and zeros where there are none', () => {
  const constant = (name: string, init: readonly number[] | undefined, align: number): Variable =>
    variable(name, 3, align, { space: 'constant', init: init && Uint8Array.from(init) });
  const window = windowOf(kernelOf([constant('a', [1, 2, 3], 1), constant('b', undefined, 1), constant('c', [7, 8, 9], 4)]), 'constant')!;
  assert.equal([...window.init!], [1, 2, 3, 0, 0, 0, 0, 0, 7, 8, 9, 0]);
});

test('the element is the type of all accesses; else an integer as narrow as the narrowest, of four bytes at most', () => {
  const elementFor = (...types: Type[]): ScalarType => {
    const variables = [variable('s', 64, 1), variable('l', 64, 1, { space: 'local' })];
    // Accesses to another space do not count.
    const accesses = [{ type: 'i8', space: 'local' } as const, ...types.map((type) => ({ type, space: 'shared' }) as const)];
    return windowOf(kernelOf(variables, accesses), 'shared')!.element;
  };
  for (const type of ['i8', 'i16', 'i32', 'i64', 'f16', 'bf16', 'f32', 'f64'] as const) assert.is(elementFor(type, type), type);
  assert.is(elementFor(), 'i32');
  assert.is(elementFor('i32', 'f32'), 'i32');
  assert.is(elementFor('f32', 'f16'), 'i16');
  assert.is(elementFor('f16', 'bf16'), 'i16');
  assert.is(elementFor('i64', 'i8'), 'i8');
  assert.is(elementFor('i16', 'i8', 'f64'), 'i8');
  // A word of 8 bytes may be in the middle of two elements.
  assert.is(elementFor('i64', 'f64'), 'i32');
  assert.is(windowOf(kernelOf([variable('s', 5, 1)], [{ type: 'i64', space: 'shared' }]), 'shared')!.size, 8);
  assert.is(windowOf(kernelOf([variable('s', 5, 1)], [{ type: 'i64', space: 'shared' }]), 'shared')!.align, 8);
});

test.run();
