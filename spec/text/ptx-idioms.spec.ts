/** Instructions of PTX that are several ops in a metallib: they are printed as one again, and have the same bits. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Kind, kernelOf } from '../support/one-instruction.ts';
import { ptxOfMetallib } from '../support/ptx-again.ts';
import { sweepForms } from '../support/sweep/forms.ts';
import { sweepResult } from '../support/sweep/run.ts';

const test = suite('text/ptx-idioms');

/** The lines between the load of the operands and the store of the result. */
function printed(text: string, kind: Kind, from: Kind, target: 'cpu' | 'macos15'): string {
  const sources = ['a', 'b'].map((name) => ({ name, kind: from }));
  const again = ptxOfMetallib('form', kernelOf({ text, sources, results: [{ name: 'd', kind }] }), target, 'sm_90');
  if ('refused' in again) throw new Error(again.refused.join('; '));
  return again.ptx;
}

const single = [
  'rcp.approx.ftz.f32 d, a',
  'rsqrt.approx.ftz.f32 d, a',
  'ex2.approx.ftz.f32 d, a',
  'cvt.sat.f32.f32 d, a',
  'cvt.rni.s32.f32 d, a',
  'cvt.rmi.u32.f32 d, a',
  'min.s32 d, a, b',
  'max.u32 d, a, b',
  'shl.b32 d, a, b',
] as const;
for (const text of single)
  test(text, () => {
    const ptx = printed(text, 'b32', 'b32', 'macos15');
    assert.match(ptx, new RegExp(`\\t${text.split(' ')[0]!.replaceAll('.', '\\.')} %`));
    assert.not.match(ptx, /selp/);
  });

test('the reciprocal of an integer is flushed by its instruction: no integer is subnormal', () => {
  const ptx = printed('cvt.rn.f32.s32 t, a;\n  rcp.approx.ftz.f32 d, t', 'b32', 'b32', 'macos15');
  assert.match(ptx, /\trcp\.approx\.ftz\.f32 %/);
  assert.not.match(ptx, /cvt\.ftz/);
});

for (const text of ['rcp.approx.ftz.f64 d, a', 'rsqrt.approx.ftz.f64 d, a', 'rsqrt.approx.f64 d, a', 'cvt.rni.s64.f64 d, a'])
  test(text, () => {
    const ptx = printed(text, 'b64', 'b64', 'cpu');
    assert.match(ptx, new RegExp(`\\t${text.split(' ')[0]!.replaceAll('.', '\\.')} %`));
    assert.not.match(ptx, /selp/);
  });

test('signs are instructions on floats where no bits are seen, and on bits elsewhere', () => {
  assert.match(printed('neg.f32 d, a;\n  abs.f32 t, b;\n  div.rn.f32 d, d, t', 'b32', 'b32', 'macos15'), /neg\.f32[\s\S]*abs\.f32/);
  const bits = printed('neg.f32 d, a', 'b32', 'b32', 'macos15');
  assert.match(bits, /xor\.b32/);
  assert.not.match(bits, /neg\.f32/);
});

test('a half with the sign of x, added towards zero and cut, is added to nearest', () => {
  const text = '.reg .f32 h;\n  copysign.f32 h, a, 0f3F000000;\n  add.rz.f32 h, a, h;\n  cvt.rzi.f32.f32 d, h';
  const ptx = printed(text, 'b32', 'b32', 'macos15');
  assert.match(ptx, /or\.b32 %r\d+, %r\d+, 1056964607;/);
  assert.is(ptx.match(/setp/g)!.length, 1, 'of the bound of the launch');
});

test('forms of the sweep have their bits', () => {
  const names = [
    'cvt.rni.s64.f64',
    'cvt.sat.f32.f32',
    'min.s64',
    'shr.u64',
    'add.rz.f32',
    'fma.rm.ftz.sat.f32',
    'neg.ftz.f32',
    'abs.ftz.f32',
    'mul.ftz.f32',
  ];
  const forms = sweepForms().filter(({ name }) => names.includes(name));
  assert.equal(forms.map(({ name }) => name).sort(), [...names].sort());
  for (const form of forms) {
    const again = ptxOfMetallib(form.name, form.ptx, 'cpu');
    if ('refused' in again) throw new Error(`${form.name}: ${again.refused.join('; ')}`);
    assert.equal(sweepResult({ ...form, ptx: again.ptx }, 'cpu'), sweepResult(form, 'cpu'), form.name);
  }
});

test.run();
