/** What the page of kernels shows, without a browser: texts with the lines that belong together, findings, launches. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import { withOwnLines } from '../../src/explore/annotate.ts';
import { answerTo } from '../../src/explore/answer.ts';
import type { Answer } from '../../src/explore/messages.ts';
import { translationOf } from '../../src/explore/translation.ts';
import { views } from '../../src/explore/views.ts';
import { parse } from '../../src/ptx/index.ts';
import { examplesFolder } from '../support/examples.ts';

const test = suite('explore/views');

const text = (name: string): string => readFileSync(join(examplesFolder, `${name}.ptx`), 'utf8');
const shown = async (source: string, view: string): Promise<Answer & { kind: 'shown' }> => {
  const answer = await answerTo({ kind: 'show', number: 1, text: source, view });
  assert.is(answer.kind, 'shown', JSON.stringify(answer));
  return answer as Answer & { kind: 'shown' };
};

for (const { name } of views)
  test(`${name} of an example is a text without the marks of its lines`, async () => {
    const { view, findings } = await shown(text('saxpy'), name);
    assert.equal(findings, []);
    assert.match(view!.text, /saxpy/);
    assert.not.match(view!.text, /7777|\/\/ @:/);
    assert.ok(view!.lines.length === 0 || view!.lines.length === view!.text.split('\n').length);
  });

/** Lines of a view that come from the line of the text with a part. */
async function linesFrom(source: string, view: string, part: string): Promise<string[]> {
  const line = source.split('\n').findIndex((each) => each.includes(part)) + 1;
  const made = (await shown(source, view)).view!;
  return made.text.split('\n').filter((_, i) => made.lines[i] === line);
}

test('lines belong to the instruction that they come from', async () => {
  const source = text('saxpy');
  assert.match((await linesFrom(source, 'ptx', 'fma.rn.f32')).join(), /^\tfma\.rn\.f32 /);
  assert.match((await linesFrom(source, 'ir', 'fma.rn.f32')).join(), /^ {2}%\d+ = fma f32 /);
  assert.match((await linesFrom(source, 'msl', 'st.global.f32')).join(), /= .*fma\(/);
  assert.match((await linesFrom(source, 'opencl', 'st.global.f32')).join(), /= .*fma\(/);
  assert.equal(await linesFrom(source, 'ptx', '.visible .entry'), []);
});

test('the annotated text is the same program, with its own lines instead of those of a compiler', () => {
  const source = `.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out)
{
  .reg .b32 %r<3>;
  .reg .b64 %rd<2>;
  .loc 1 3 0
  ld.param.u64 %rd1, [out]; mov.u32 %r1, 5;
  {
    st.global.u32 [%rd1], %r1;
  }
  ret;
}
.file 1 "a.cu"
`;
  const file = new SourceFile('k.ptx', source);
  const { text: annotated, origin } = withOwnLines(parse(file, new Diagnostics(file)));
  assert.equal(
    [...annotated.matchAll(/\.loc 7777 (\d+) 0/g)].map((found) => Number(found[1])),
    [9, 9, 11, 13],
  );
  assert.not.match(annotated, /\.loc 1 |"a\.cu"/);
  const removed = annotated.replace(/\.(loc|file) 7777 .*\n/g, '');
  const blanked = source.replace('.loc 1 3 0', ' '.repeat(10)).replace('.file 1 "a.cu"', ' '.repeat(14));
  assert.is(removed, blanked);
  for (const part of ['ld.param', 'mov.u32', '[%rd1], %r1', 'ret;']) assert.is(origin(annotated.indexOf(part)), source.indexOf(part));
});

test('what is wrong is said at the lines of the text, whatever the view', async () => {
  const source = text('saxpy').replace('fma.rn.f32', 'fma.rn.f99');
  for (const { name } of views) {
    const { view, findings } = await shown(source, name);
    assert.is(view, undefined);
    assert.is(findings[0]?.line, source.split('\n').findIndex((line) => line.includes('f99')) + 1);
  }
});

test('what a target lacks is said for its views alone', async () => {
  const source = `.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out)
{
  .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [out];
  mov.u64 %rd2, %clock64;
  st.global.u64 [%rd1], %rd2;
  ret;
}
`;
  assert.ok((await shown(source, 'ir')).view);
  const { view, findings } = await shown(source, 'msl');
  assert.is(view, undefined);
  assert.ok(
    findings.some(({ line, severity }) => line === 8 && severity === 'error'),
    JSON.stringify(findings),
  );
});

test('a launch prints what the command line prints, and counts lines', async () => {
  const answer = (await answerTo({ kind: 'run', number: 2, text: text('reduce') })) as Answer & { kind: 'ran' };
  assert.is(answer.kind, 'ran', JSON.stringify(answer));
  assert.ok(answer.isFine);
  // Eight blocks of 512 numbers each: the sum of 512 b + i for i below 512.
  const sums = Array.from({ length: 8 }, (_, b) => 512 * 512 * b + (511 * 512) / 2);
  assert.match(answer.output, new RegExp(sums.join('\\s+')));
  const first =
    text('reduce')
      .split('\n')
      .findIndex((line) => line.includes('ld.param.u64')) + 1;
  // Eight blocks of 256 threads are 64 warps.
  assert.equal(
    answer.heat.find(([line]) => line === first),
    [first, 64],
  );
});

test('a fault of a launch is a finding at its line; files and what is no launch are errors', async () => {
  const outside = text('saxpy').replace('--arg f32:4000=iota', '--arg f32:10=iota');
  const { findings, isFine } = (await answerTo({ kind: 'run', number: 3, text: outside })) as Answer & { kind: 'ran' };
  assert.is(isFine, false);
  assert.ok(
    findings.some(({ line, code }) => line > 0 && /^CM61/.test(code)),
    JSON.stringify(findings),
  );
  const file = (await answerTo({ kind: 'run', number: 4, text: text('saxpy').replace('rand(7)', '@/etc/passwd') })) as Answer & {
    kind: 'ran';
  };
  assert.is(file.isFine, false);
  assert.not.match(file.output, /root/);
  const none = (await answerTo({ kind: 'run', number: 5, text: 'nonsense' })) as Answer & { kind: 'ran' };
  assert.is(none.isFine, false);
});

// ── CUDA C++ ──

test('lines of PTX belong to those of the CUDA C++ that their .loc names, through code of headers', () => {
  const source = ['// a kernel', '//! cumetal: --grid 1', 'void k() {', '  one();', '  two();', '}'].join('\n');
  const made = [
    '.version 8.0',
    '.entry k()',
    '{',
    '\t.loc 2 4 3',
    '\tadd.u32 %r1, %r1, 1;',
    '\t.loc 1 99 1',
    '\tmul.lo.u32 %r1, %r1, 3;',
    '\t.loc 2 5 3',
    '\tsub.u32 %r1, %r1, 1;',
    '\tret;',
    '}',
    '.file 1 "/headers/kernel.h"',
    '.file 2 "/program/kernel.cu"',
  ].join('\n');
  const { ptx, lines, findings } = translationOf(source, made, '');
  assert.equal(findings, []);
  assert.is(ptx, `//! cumetal: --grid 1\n${made}`);
  assert.equal(lines, [2, 0, 0, 0, 0, 4, 0, 4, 0, 5, 5, 0, 0, 0]);
});

test('what the compiler reports is at lines of the text, or names the file', () => {
  const messages = `kernel.cu:3:7: error: use of undeclared identifier 'z'
    3 |   z = 1;
      |   ^
/headers/a.h:9:1: note: candidate function
kernel.cu:5:1: warning: unused variable
error[CM5001]: a call of \`f\` is not supported
2 errors generated.`;
  const { ptx, findings } = translationOf('', undefined, messages);
  assert.is(ptx, undefined);
  assert.equal(findings, [
    { line: 3, column: 7, severity: 'error', code: 'clang', message: "use of undeclared identifier 'z'" },
    { line: 0, column: 0, severity: 'note', code: 'clang', message: '/headers/a.h:9: candidate function' },
    { line: 5, column: 1, severity: 'warning', code: 'clang', message: 'unused variable' },
    { line: 0, column: 0, severity: 'error', code: 'CM5001', message: 'a call of `f` is not supported' },
  ]);
});

test.run();
