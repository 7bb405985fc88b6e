/** `.cu` files: findings name their lines. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import { diagnosticJson, githubLine } from '../../src/cli/terminal/formats.ts';
import { atOrigin } from '../../src/cli/terminal/origin.ts';
import { renderDiagnostic } from '../../src/cli/terminal/render.ts';
import { commandLine } from '../support/command-line.ts';
import { need } from '../support/need.ts';

const test = suite('cli/cuda-source');

const folder = mkdtempSync(join(tmpdir(), 'cumetal-spec-'));
test.after(() => rmSync(folder, { recursive: true, force: true }));

const cu =
  'template <class T> __device__ void put(T *p, int i, T v) {\n  p[i] = v;\n}\n__global__ void scale(float *p) {\n  int i = threadIdx.x;\n  put(p, i + 1, p[i] * 2.0f);\n}\n';
const ptx = `.version 8.0
.file 1 "/work/dir/scale.cu"
.file 2 "/usr/include/header.h"
.visible .entry k() {
.loc 1 6 17
first;
.loc 1 2 3, function_name $L__info, inlined_at 1 6 3
second;
.loc 2 9 1
third;
}
`;

/** A diagnostic at some words of the PTX, the first one its main place. */
function reported(...words: string[]) {
  const file = new SourceFile('dir/scale.cu (PTX)', ptx, new SourceFile('dir/scale.cu', cu));
  const diagnostics = new Diagnostics(file);
  const [main, ...more] = words.map((word) => ({ start: ptx.indexOf(word), end: ptx.indexOf(word) + word.length }));
  diagnostics.report('CM1102', { word: 'x' } as never, { span: main!, label: 'here', more: more.map((span) => ({ span, text: 'other' })) });
  return diagnostics.list[0]!;
}

test('a diagnostic of PTX is at the line and column of its origin', () => {
  const { file, labels } = atOrigin(reported('first'));
  assert.is(file!.path, 'dir/scale.cu');
  assert.equal(file!.position(labels[0]!.span.start), { line: 6, column: 17 });
  assert.match(
    renderDiagnostic(reported('first')),
    /--> dir\/scale\.cu:6:17\n[\s\S]*6 \| {3}put\(p, i \+ 1, p\[i\] \* 2\.0f\);\n[\s\S]*= note: compiled to `first;`, at 6:1 of the PTX/,
  );
});

test('an inlined instruction is where it is written, and other places are labels', () => {
  const { line, column, labels } = diagnosticJson(reported('second', 'first')) as {
    line: number;
    column: number;
    labels: { line: number }[];
  };
  assert.equal([line, column, labels.map((each) => each.line)], [2, 3, [2, 6]]);
  assert.match(githubLine(reported('second')), /^::error file=dir\/scale\.cu,line=2,/);
});

test('an instruction of another file stays at the line of the PTX', () => {
  assert.match(renderDiagnostic(reported('third')), /--> dir\/scale\.cu \(PTX\):10:1\n/);
});

need(test, ['nvcc'], 'nvcc compiles with lines, which the sanitizer and the checker name', async () => {
  const path = join(folder, 'scale.cu');
  writeFileSync(path, cu);
  const { code, err } = await commandLine(['run', path, '--sanitize=memory', '--grid', '1', '--block', '32', '--arg', 'f32:32']);
  assert.is(code, 1);
  assert.ok(err.startsWith('error[CM6101]: kernel `scale(float*)` writes 4 bytes at '), err);
  assert.ok(err.includes(` --> ${path}:2:3\n`), err);
  const refused = join(folder, 'smid.cu');
  writeFileSync(refused, '__global__ void t(int *p) {\n  asm("mov.u32 %0, %%smid;" : "=r"(*p));\n}\n');
  const checked = await commandLine(['check', refused, '--json']);
  assert.is(checked.code, 3);
  const [error] = JSON.parse(checked.out).diagnostics.filter((d: { severity: string }) => d.severity === 'error');
  assert.equal([error.file, error.line], [refused, 2]);
});

test.run();
