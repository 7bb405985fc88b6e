/** Modifiers in an order other than the manual's: equal forms, and invalid ones. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { isMatch, matchForm } from '../../src/ptx/index.ts';
import { need } from '../support/need.ts';
import { ptxasFaults } from '../support/ptxas.ts';

const test = suite('ptx/order');

const formOf = (name: string) => {
  const [opcode, ...modifiers] = name.split('.');
  return matchForm(opcode!, modifiers);
};

/** As written, the manual's order, and operands for the assembler. */
const same: readonly (readonly [written: string, inOrder: string, operands: string])[] = [
  ['setp.ftz.gt.f32', 'setp.gt.ftz.f32', '%p1, %f1, %f2'],
  ['setp.f32.gt', 'setp.gt.f32', '%p1, %f1, %f2'],
  ['setp.and.lt.f32', 'setp.lt.and.f32', '%p1, %f1, %f2, %p2'],
  ['add.ftz.rn.f32', 'add.rn.ftz.f32', '%f1, %f2, %f3'],
  ['add.f32.rn', 'add.rn.f32', '%f1, %f2, %f3'],
  ['add.s32.sat', 'add.sat.s32', '%r1, %r2, %r3'],
  ['fma.f32.ftz.rn', 'fma.rn.ftz.f32', '%f1, %f2, %f3, %f4'],
  ['div.ftz.rn.f32', 'div.rn.ftz.f32', '%f1, %f2, %f3'],
  ['cvt.f32.rn.s32', 'cvt.rn.f32.s32', '%f1, %r1'],
  ['cvt.s32.f32.rzi', 'cvt.rzi.s32.f32', '%r1, %f1'],
  ['ld.f32.v2.global', 'ld.global.v2.f32', '{%f1, %f2}, [%rd1]'],
  ['st.global.f32.v2', 'st.global.v2.f32', '[%rd1], {%f1, %f2}'],
  ['bra.uni', 'bra.uni', 'L'],
];

/** Words of one kind out of their order, and second words of opcodes out of their place. */
const different: readonly (readonly [written: string, operands: string])[] = [
  ['mad.s32.lo', '%r1, %r2, %r3, %r4'],
  ['mul.u32.wide', '%rd1, %r2, %r3'],
  ['cvta.global.to.u64', '%rd1, %rd2'],
  ['add.rn.rn.f32', '%f1, %f2, %f3'],
  ['add.f32.f32', '%f1, %f2, %f3'],
];

for (const [written, inOrder] of same) {
  test(`${written} is ${inOrder}`, () => {
    const [a, b] = [formOf(written)!, formOf(inOrder)!];
    assert.ok(isMatch(a) && isMatch(b));
    assert.is(a.row, b.row);
    assert.equal({ ...a.modifiers }, { ...b.modifiers });
  });
}

test('the order of types says which is which', () => {
  const [a, b] = [formOf('cvt.f32.rn.s32')!, formOf('cvt.s32.rzi.f32')!];
  assert.ok(isMatch(a) && isMatch(b));
  assert.not.equal({ ...a.modifiers }, { ...b.modifiers });
  assert.not.ok(isMatch(formOf('cvt.s32.rn.f32')!), 'a float to an integer rounds by .rzi and its like');
});

for (const [written] of different) test(`${written} is no form`, () => assert.not.ok(isMatch(formOf(written)!)));

test('what does not go together does not do so in another order', () => {
  assert.not.ok(isMatch(formOf('add.sat.u32')!));
  assert.not.ok(isMatch(formOf('add.u32.sat')!));
});

const text = (line: string): string => `.version 8.0\n.target sm_90\n.address_size 64\n.entry k ()\n{
.reg .pred %p<9>; .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<9>;\n${line}\nL: ret;\n}\n`;

need(test, ['ptxas'], 'ptxas takes and refuses the same', () => {
  const takes = (name: string, operands: string): boolean => ptxasFaults(text(`${name} ${operands};`)).size === 0;
  assert.equal(
    same.filter(([written, , operands]) => !takes(written, operands)),
    [],
  );
  assert.equal(
    different.filter(([written, operands]) => takes(written, operands)),
    [],
  );
});

test.run();
