/** A module in shares: the same bytes as in one, and the same findings in the same order. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import { packedAnswer, packedJob, type ShareAnswer, unpackedAnswer, unpackedJob } from '../../src/cli/jobs/protocol.ts';
import { type CompileOptions, compile, compiledOfShares, compileShare, joined } from '../../src/compile/index.ts';
import { entriesOfShare } from '../../src/compile/shares.ts';

const test = suite('compile/shares');

const head = '.version 7.0\n.target sm_70\n.address_size 64\n.global .u32 count;\n.const .u32 table[2] = {3, 4};\n';
/** A function that entries share, a variable of the module, a constant. */
const helper = `.func (.param .u32 r) twice(.param .u32 a) { .reg .b32 %r<3>; ld.param.u32 %r1, [a]; add.u32 %r2, %r1, %r1; st.param.u32 [r], %r2; ret; }\n`;
const entry = (name: string, lines: number): string => `.visible .entry ${name}(.param .u64 p) {
.reg .b64 %rd<2>; .reg .b32 %r<9>;
ld.param.u64 %rd1, [p]; ld.global.u32 %r1, [%rd1]; ld.const.u32 %r4, [table+4];
${Array.from({ length: lines }, (_, i) => `mad.lo.u32 %r1, %r1, ${i + 3}, %r4;`).join('\n')}
{ .param .b32 in; .param .b32 out; st.param.b32 [in], %r1; call (out), twice, (in); ld.param.b32 %r2, [out]; }
atom.global.add.u32 %r3, [count], %r2;
st.global.u32 [%rd1], %r3; ret; }\n`;
const text = head + helper + [9, 2, 40, 1, 7, 3].map((lines, i) => entry(`kernel${i}`, lines)).join('');

const sourceOf = (text: string): SourceFile => new SourceFile('k.ptx', text);

/** All shares, each of which has come out of its bytes as another process has it. */
function inShares(source: SourceFile, options: CompileOptions, count: number): (ShareAnswer | undefined)[] {
  return Array.from({ length: count }, (_, number) => {
    const { path, text, ...job } = unpackedJob(packedJob({ path: source.path, text: source.text, options, share: { number, count } }))!;
    const made = compileShare(new SourceFile(path, text), job.options, job.share);
    return made && unpackedAnswer(packedAnswer(made));
  });
}

test('the metallib and the reflection of all shares are those of the module', () => {
  for (const target of ['macos15', 'cpu'] as const)
    for (const count of [1, 2, 3, 8]) {
      const whole = compile(sourceOf(text), { target }, new Diagnostics())!;
      const parts = inShares(sourceOf(text), { target }, count) as ShareAnswer[];
      const all = joined(parts, 6)!;
      const made = compiledOfShares(all, { target });
      assert.ok(Buffer.from(made.metallib).equals(whole.metallib), `${target} in ${count}`);
      assert.equal(made.reflection, JSON.parse(JSON.stringify(whole.reflection)));
    }
});

test('every entry is in one share, and the longest are apart', () => {
  const lengths = [5, 90, 7, 80, 3, 2];
  for (const count of [1, 2, 3, 9]) {
    const shares = Array.from({ length: count }, (_, number) => [...entriesOfShare(lengths, { number, count })]);
    assert.equal(
      shares.flat().sort((a, b) => a - b),
      [0, 1, 2, 3, 4, 5],
    );
  }
  assert.not.ok(entriesOfShare(lengths, { number: 0, count: 2 }).has(3));
});

test('a share with findings of the passes is none, and neither is one of a module with faults in its text', () => {
  const large = entry('large', 1).replace('{', '{ .shared .b8 much[300000]; .reg .b64 %q; mov.u64 %q, much; st.global.u64 [%q], %q;');
  const parts = inShares(sourceOf(text + large), { target: 'macos15' }, 2);
  assert.is(parts.filter((part) => part === undefined).length, 1);
  assert.equal(inShares(sourceOf(`${text}nonsense`), { target: 'macos15' }, 2), [undefined, undefined]);
});

test('a process checks what it compiles and what that calls: an error or a warning elsewhere is that of another process', () => {
  const faulty = entry('faulty', 1).replace('mad.lo.u32', 'mad.lo.f32');
  const among = (bad: string, count: number): string =>
    inShares(sourceOf(text + bad), {}, count)
      .map((part) => (part ? (part.isSilent ? '.' : 'w') : 'x'))
      .join('');
  assert.equal(among('', 7), '.......');
  assert.is(among(faulty, 7).replaceAll('.', ''), 'x');
  const warned = entry('warned', 1).replace('ret;', 'bmsk.wrap.b32 %r5, %r4, %r4; ret;');
  assert.is(among(warned, 7).replaceAll('.', ''), 'w');
  // What all entries call is checked by all.
  const all = inShares(sourceOf(text.replace('add.u32 %r2, %r1, %r1', 'add.f32 %r2, %r1, %r1.x')), {}, 2);
  assert.equal(all, [undefined, undefined]);
});

test('functions that call themselves have the order of the whole module in every share', () => {
  const loop = (name: string, other: string): string =>
    `.func (.param .u32 r) ${name}(.param .u32 a) { .reg .pred %p; .reg .b32 %r<3>; ld.param.u32 %r1, [a]; setp.eq.u32 %p, %r1, 0; @%p bra END; add.u32 %r1, %r1, -1;
{ .param .b32 in; .param .b32 out; st.param.b32 [in], %r1; call (out), ${other}, (in); ld.param.b32 %r1, [out]; }
END: st.param.u32 [r], %r1; ret; }\n`;
  const declared = ['fa', 'fb', 'fc', 'fd'].map((name) => `.func (.param .u32 r) ${name}(.param .u32 a);\n`).join('');
  const functions = declared + loop('fa', 'fb') + loop('fb', 'fa') + loop('fc', 'fd') + loop('fd', 'fc');
  const calling = (name: string, lines: number, ...called: string[]): string =>
    called.reduce((body, each) => body.replace('call (out), twice', `call (out), ${each}, (in); call (out), twice`), entry(name, lines));
  const module = head + helper + functions + calling('k0', 9, 'fc') + calling('k1', 8, 'fb', 'fd', 'fa') + calling('k2', 7, 'fa', 'fc');
  for (const target of ['macos15', 'cpu'] as const) {
    const source = sourceOf(module);
    const whole = compile(source, { target }, new Diagnostics(source))!;
    const made = compiledOfShares(joined(inShares(sourceOf(module), { target }, 3) as ShareAnswer[], 3)!, { target });
    assert.ok(Buffer.from(made.metallib).equals(whole.metallib), target);
  }
});

test('entries that are missing, or there twice, are no module, and neither are bytes that were cut off', () => {
  const parts = inShares(sourceOf(text), {}, 2) as ShareAnswer[];
  assert.is(joined([parts[0]!], 6), undefined);
  assert.is(joined([...parts, parts[0]!], 6), undefined);
  const bytes = packedAnswer(parts[0]!);
  for (const length of [0, 3, 20, bytes.length - 1]) assert.is(unpackedAnswer(bytes.subarray(0, length)), undefined, `${length}`);
});

test.run();
