/**
 * Kernels printed as PTX again, from PTX and from metallibs: the CPU device gets the bytes that an NVIDIA H200 has recorded, or those of the
 * original. `scripts/ptx-again.ts` runs all examples and the sweep, and has the assembler take the texts.
 */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import { compile } from '../../src/compile/index.ts';
import { openCpuDevice } from '../../src/device/index.ts';
import { checkOutput } from '../../src/runtime/index.ts';
import { inOrder } from '../../src/text/ptx/moves.ts';
import { cli } from '../support/cli.ts';
import { assertQuiet, diskIo, exampleText, launchOnCpu, poisoned, recordedLaunch } from '../support/examples.ts';
import { need } from '../support/need.ts';
import { type Again, differenceFrom, ptxAgain, ptxOfKernel, ptxOfMetallib, randomIr } from '../support/ptx-again.ts';
import { ptxasFaults } from '../support/ptxas.ts';
import { sweepForms } from '../support/sweep/forms.ts';
import { sweepResult } from '../support/sweep/run.ts';
import { arms, armsExpected, ops, opsExpected } from '../support/warp-ops.ts';

const test = suite('text/ptx');

function printed(again: Again): string {
  if ('refused' in again) throw new Error(again.refused.join('; '));
  return again.ptx;
}

/** The outputs of an example that differ from the recording. */
function differences(name: string, ptx: string): string[] {
  const diagnostics = new Diagnostics(new SourceFile(`${name}.ptx`, ptx));
  const compiled = compile(diagnostics.file!, { target: 'cpu' }, diagnostics);
  assertQuiet(diagnostics);
  const { outputs } = launchOnCpu(compiled!.metallib, poisoned(recordedLaunch(name), 93));
  return outputs
    .filter((output) => output.expect && !checkOutput(output, output.expect, diskIo, diagnostics)!.pass)
    .map((output) => output.name);
}

// Atomics and local memory; shuffles, and shared memory; barriers and early returns; constants.
for (const name of ['energy', 'argmax', 'reduce', 'blur']) {
  test(`${name} has the recorded bits`, () => assert.equal(differences(name, printed(ptxAgain(name, exampleText(name)))), []));
  test(`${name} through a metallib`, () =>
    assert.equal(differences(name, printed(ptxOfMetallib(name, exampleText(name), 'macos15', 'sm_75'))), []));
}

test('a part of the sweep, by both ways', () => {
  const forms = sweepForms();
  let compared = 0;
  for (let i = 11; i < forms.length; i += 1103) {
    const form = forms[i]!;
    const wanted = sweepResult(form, 'cpu');
    if (typeof wanted === 'string') continue;
    for (const again of [ptxAgain(form.name, form.ptx), ptxOfMetallib(form.name, form.ptx, 'cpu')]) {
      assert.equal(sweepResult({ ...form, ptx: printed(again) }, 'cpu'), wanted, form.name);
      compared++;
    }
  }
  assert.ok(compared > 8, `${compared}`);
});

/** The words that a warp of the only kernel of a text stores. */
function words(ptx: string, count: number): number[] {
  const diagnostics = new Diagnostics(new SourceFile('k.ptx', ptx));
  const compiled = compile(diagnostics.file!, { target: 'cpu' }, diagnostics)!;
  const device = openCpuDevice();
  const buffer = device.allocate(4 * count, diagnostics)!;
  const module = device.load(compiled.metallib, diagnostics)!;
  const shape = { grid: [1, 1, 1], block: [32, 1, 1], dynamicSharedBytes: 0, timeoutMs: 10_000 } as const;
  module.launch({ kernel: compiled.reflection.kernels[0]!.name, ...shape, args: [{ kind: 'buffer', buffer }] }, diagnostics);
  const found = [...new Uint32Array(buffer.read().slice().buffer)];
  device.close();
  assertQuiet(diagnostics);
  return found;
}

test('random kernels of the IR, for old and new architectures', () => {
  let compared = 0;
  for (let i = 0; i < 16; i++) {
    const random = randomIr(i);
    const again = ptxOfKernel(random.kernel, ['sm_60', 'sm_75', 'sm_80', 'sm_90'][i % 4]!);
    if ('refused' in again) assert.match(again.refused.join(), /a fused sum of bf16|an atomic/);
    else {
      assert.is(differenceFrom(random, again.ptx), undefined, `kernel ${i}`);
      compared++;
    }
  }
  assert.ok(compared >= 12, `${compared}`);
});

test('shifts, quotients and warp operations, in loops of shuffles where there is no `redux`', () => {
  const expected = opsExpected();
  for (const architecture of ['sm_75', 'sm_80']) {
    const ptx = printed(ptxAgain('ops', ops, architecture));
    assert.is(ptx.includes('redux.sync'), architecture === 'sm_80');
    assert.equal(words(ptx, expected.length), expected);
    assert.equal(words(printed(ptxOfMetallib('ops', ops, 'macos15', architecture)), expected.length), expected);
  }
  assert.equal(words(printed(ptxAgain('arms', arms)), 64), armsExpected());
});

test('an address that is added to in a loop is the old one behind it', () => {
  const body = `mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 64; ld.param.u64 %rd1, [out]; add.s64 %rd1, %rd1, %rd2; mov.u32 %r2, 0; mov.u32 %r5, %r1;
$again: add.s64 %rd3, %rd1, 4; cvt.u64.u32 %rd4, %r5; st.global.u32 [%rd1], %r2; add.s64 %rd1, %rd1, 8; add.u32 %r5, %r5, 3; add.u32 %r2, %r2, 1;
setp.lt.u32 %p1, %r2, 4; @%p1 bra $again; mul.lo.u64 %rd5, %rd4, 5; cvt.u32.u64 %r6, %rd5; st.global.u32 [%rd3], %r6;`;
  const expected = Array.from({ length: 512 }, (_, at) => {
    const [thread, word] = [at >> 4, at & 15];
    return word === 7 ? 5 * (thread + 9) : word < 8 && word % 2 === 0 ? word / 2 : 0;
  });
  for (const ptx of [kernel(body), printed(ptxAgain('k', kernel(body)))]) assert.equal(words(ptx, 512), expected);
});

test('moves happen together', () => {
  let seed = 7;
  const next = (below: number): number => {
    seed = (Math.imul(seed, 1103515245) + 12345) >>> 0;
    return (seed >>> 8) % below;
  };
  for (let round = 0; round < 300; round++) {
    const names = Array.from({ length: 2 + next(6) }, (_, i) => `%r${i}`);
    const moves = names.filter(() => next(4) > 0).map((to) => ({ to, from: names[next(names.length)]! }));
    const before = new Map(names.map((name, i) => [name, i]));
    let spares = 0;
    const after = new Map(before);
    for (const { to, from } of inOrder(moves, () => `spare${spares++}`)) after.set(to, after.get(from)!);
    for (const name of names) assert.is(after.get(name), before.get(moves.find(({ to }) => to === name)?.from ?? name));
  }
});

const head = '.version 7.8\n.target sm_80\n.address_size 64\n';
const kernel = (body: string, before = '', params = '.param .u64 out'): string =>
  `${head}${before}.visible .entry k(${params}) {\n.reg .b64 %rd<9>; .reg .b32 %r<9>; .reg .f32 %f<9>; .reg .pred %p<9>;\n${body}\nret;\n}\n`;
const load = 'ld.param.u64 %rd1, [out];\nld.global.f32 %f1, [%rd1];\nld.global.u32 %r1, [%rd1];\n';

test('instructions that the architecture has stay, and others are expanded', () => {
  const forms = ['ex2.approx.ftz.f32 %f2, %f1', 'fma.rn.ftz.sat.f32 %f3, %f2, %f1, 0f40000000', 'div.full.f32 %f4, %f3, %f1'];
  const text = kernel(
    `${load}${forms.join(';\n')};\ntanh.approx.f32 %f5, %f4;\nlop3.b32 %r2, %r1, 77, %r1, 0x96;\nst.global.f32 [%rd1], %f5;\nst.global.u32 [%rd1+4], %r2;`,
  );
  const [new_, old] = [
    printed(ptxAgain('k', text)),
    printed(ptxAgain('k', text.replace('tanh.approx.f32 %f5, %f4', 'mov.f32 %f5, %f4'), 'sm_50')),
  ];
  for (const word of ['ex2.approx.ftz.f32', 'fma.rn.ftz.sat.f32', 'div.full.f32', 'tanh.approx.f32', 'lop3.b32'])
    assert.ok(new_.includes(word), word);
  assert.match(old, /^\.version 7\.8$/m, 'the version that has the words of the instructions');
  const again = ptxAgain('k', text, 'sm_50');
  assert.match('refused' in again ? again.refused.join() : '', /CM2090.*hyperbolic tangent/);
});

test('parameters, bounds, lines and variables of the module stay', () => {
  const before =
    '.visible .const .align 4 .f32 weights[2] = {0f3F800000, 0f40000000};\n.global .align 8 .u64 table[2] = {generic(words)+4, 7};\n.visible .global .align 4 .u32 words[4] = {1, 2};\n';
  const params = '.param .u64 .ptr .global .align 16 out, .param .align 8 .b8 pair[16]';
  const body =
    '.loc 1 12 3\nld.param.u64 %rd1, [out];\nld.const.f32 %f1, [weights+4];\nst.global.f32 [%rd1], %f1;\nld.global.u64 %rd2, [table];\nld.u32 %r1, [%rd2];\nst.global.u32 [%rd1+4], %r1;';
  const text = `${kernel(body, before, params).replace('{\n', '.maxntid 128, 1, 1\n{\n')}.file 1 "k.cu"\n`;
  const ptx = printed(ptxAgain('k', text));
  for (const line of [
    '.param .u64 .ptr .global .align 16 out,',
    '.param .align 8 .b8 pair[16]',
    '.maxntid 128, 1, 1',
    '.loc 1 12 3',
    '.file 1 "k.cu"',
    '.visible .const .align 4 .b8 weights[8] = {0, 0, 128, 63, 0, 0, 0, 64};',
    '.global .align 8 .u64 table[2] = {generic(words)+4, 7};',
  ])
    assert.ok(ptx.includes(line), `${line} in\n${ptx}`);
});

test('a failing assertion and `printf` are calls of the system', () => {
  const before =
    '.extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 a);\n.global .align 1 .b8 text[6] = {104, 105, 37, 100, 10, 0};\n';
  const body = `.local .align 8 .b8 list[8];\n${load}mov.b64 %rd2, list;\ncvta.local.u64 %rd3, %rd2;\nst.local.u32 [list], %r1;\nmov.b64 %rd4, text;\ncvta.global.u64 %rd5, %rd4;
{ .param .b64 a; .param .b64 b; .param .b32 c;\nst.param.b64 [a], %rd5;\nst.param.b64 [b], %rd3;\ncall.uni (c), vprintf, (a, b);\n}\nsetp.eq.u32 %p1, %r1, 3;\n@%p1 trap;`;
  const ptx = printed(ptxAgain('k', kernel(body, before)));
  assert.match(ptx, /st\.local\.u32 \[printed\], %r\d+;/);
  assert.match(ptx, /call\.uni \(result\), vprintf/);
  assert.match(ptx, /^\ttrap;$/m);
  assert.match(ptx, /\.b8 cumetal_text_\d+\[6\] = \{104, 105, 37, 100, 10, 0\}/);
});

test('the command writes PTX as it is, anew for an architecture, and of a metallib', async () => {
  const ptx = exampleText('saxpy');
  const built = await cli(['build', 'k.ptx', '-o', 'k.metallib'], { 'k.ptx': ptx });
  const files = { 'k.ptx': ptx, 'k.metallib': built.files['k.metallib']! };
  const written = async (...words: readonly string[]): Promise<string> => {
    const { code, out, err } = await cli(['build', ...words, '--emit', 'ptx', '-o', '-'], files);
    return code === 0 ? out : `${code} ${err}`;
  };
  assert.is(await written('k.ptx'), ptx);
  assert.match(await written('k.ptx', '--arch', 'sm_90'), /^\.target sm_90$[\s\S]*fma\.rn\.f32/m);
  assert.match(await written('k.metallib'), /^\.target sm_75$[\s\S]*\.param \.f32 saxpy_param_0,\n\t\.param \.u64 \.ptr/m);
  assert.is((await cli(['build', 'k.ptx', '--arch', 'sm_80', '-o', '-'], files)).code, 2);
});

test('what the architecture lacks is refused at its line', () => {
  const refusedOf = (body: string, architecture: string): string => {
    const again = ptxAgain('k', kernel(body).replace('7.8', '8.0').replace('sm_80', 'sm_90'), architecture);
    return 'refused' in again ? again.refused.join() : again.ptx;
  };
  assert.match(refusedOf('griddepcontrol.wait;', 'sm_80'), /CM2090.*from sm_90 on/);
  assert.match(refusedOf('griddepcontrol.wait;', 'sm_90'), /\tgriddepcontrol\.wait;/);
});

need(test, ['ptxas'], 'the assembler takes the texts', () => {
  for (const name of ['argmax', 'energy'])
    for (const architecture of ['sm_75', 'sm_90'])
      assert.equal([...ptxasFaults(printed(ptxOfMetallib(name, exampleText(name), 'macos15', architecture)), architecture)], []);
});

test.run();
