/** `--mma=fast`: which products become tiles that the GPU multiplies, how many, and that their AIR is what LLVM and the rules take. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type TargetName, targets, validateAir } from '../../src/air/index.ts';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import { readModule } from '../../src/bitcode/index.ts';
import { type CompileOptions, emit } from '../../src/compile/index.ts';
import { scratch, verifiedText } from '../support/llvm.ts';
import { type Form, recording, sourceOf, sumType } from '../support/matrix-recording.ts';
import { need } from '../support/need.ts';

const test = suite('compile/mma-fast');
const file = scratch();

function made<W extends 'air' | 'air-ll' | 'ir'>(
  { form, frame, code }: Form,
  what: W,
  options: CompileOptions,
): W extends 'air' ? Uint8Array : string {
  const source = sourceOf(form, frame, code);
  const diagnostics = new Diagnostics(source);
  const text = emit(source, what, options, diagnostics);
  assert.equal(diagnostics.list, []);
  return text as never;
}

const count = (text: string, what: RegExp): number => [...text.matchAll(what)].length;

const products = recording.forms.filter(({ form }) => /^w?mma\.(mma\.|sync)/.test(form));
/** Of 8 or more along k. */
const isTiled = (form: Form): boolean => sumType(form) !== undefined && !/k4\./.test(form.form);

/** What the tiles hold: halves as they are, floats of 8 bits as halves, all else as singles. */
function tilesOf(form: string): string {
  if (/\.e[45]m[23]\./.test(form)) return 'v64f16.v64f16';
  return /tf32|bf16/.test(form) ? 'v64f32.v64f32' : 'v64f16.v64f16';
}

for (const form of products.filter(isTiled))
  need(test, ['opt-14'], form.form, () => {
    const [, m, n, k] = /m(\d+)n(\d+)k(\d+)/.exec(form.form)!.map(Number);
    const text = made(form, 'air-ll', { mma: 'fast' });
    const calls = count(text, /= tail call <64 x float> @air\.simdgroup_matrix_8x8_multiply_accumulate\.v64f32\.(\S+)\.v64f32\(/g);
    assert.is(calls, (m! * n! * k!) / 512);
    assert.is(count(text, /= tail call .*multiply_accumulate/g), calls);
    assert.ok(text.includes(`v64f32.${tilesOf(form.form)}.v64f32(`));
    assert.not.match(text, /air\.fma\./);
    assert.match(text, /"min-legal-vector-width"="2048"/);
    verifiedText(file, 'form', text);
  });

// For the CPU device a product is one function, which is no part of AIR.
for (const target of (Object.keys(targets) as TargetName[]).filter((each) => each !== 'cpu'))
  test(`${target}: the rules of AIR hold, and no bfloats are put together`, () => {
    for (const form of products.filter((each) => isTiled(each) && (target === 'macos13' || each.form.includes('.row.col.')))) {
      const diagnostics = new Diagnostics();
      const module = readModule(made(form, 'air', { mma: 'fast', target }), diagnostics)!;
      assert.ok(validateAir(module, diagnostics), diagnostics.list.map((d) => d.message).join('; '));
      assert.not(module.functions.some(({ name }) => name.includes('v64bf16')));
    }
  });

test('what has no tiles is exact either way', () => {
  const others = products.filter((form) => !isTiled(form));
  assert.ok(others.length > 80);
  for (const form of others) {
    const [exact, fast] = (['exact', 'fast'] as const).map((mma) => made(form, 'ir', { mma }));
    assert.is(fast, exact, form.form);
    assert.not.match(fast!, /matmul/);
  }
});

test('exact is the default', () => {
  const [form] = products.filter(isTiled);
  assert.is(made(form!, 'ir', {}), made(form!, 'ir', { mma: 'exact' }));
  assert.not.match(made(form!, 'ir', {}), /matmul/);
});

test('a product under a guard is in a block of its own, as the exact form is', () => {
  const form = products.find((each) => each.form === 'mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32')!;
  const guarded = { ...form, code: [`setp.ne.u32 p, i, 0;`, ...form.code.map((line) => (line.startsWith('mma') ? `@p ${line}` : line))] };
  const blocks = (mma: 'exact' | 'fast', of: Form): number => count(made(of, 'ir', { mma }), /^b\d+/gm);
  assert.is(blocks('fast', guarded), blocks('exact', guarded));
  assert.ok(blocks('fast', guarded) > blocks('fast', form));
});

test('matrices that several products need are put together once', () => {
  const text = made(products.find(({ form }) => form === 'wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32')!, 'air-ll', { mma: 'fast' });
  // Four tiles of each factor, of two elements each.
  assert.is(count(text, /insertelement <64 x half>/g), 16);
  // Sums go from one product to the next: only c is put together.
  assert.is(count(text, /insertelement <64 x float>/g), 8);
});

test('what one product leaves to the next stays in tiles', () => {
  const form = products.find((each) => each.form === 'mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32')!;
  const line = form.code.find((each) => each.startsWith('mma'))!;
  const [d, , , c] = [...line.matchAll(/\{[^}]*\}/g)].map(([operand]) => operand);
  const again = line.replace(c!, d!);
  const times = (lines: readonly string[]): string => made({ ...form, code: [...form.code, ...lines] }, 'air-ll', { mma: 'fast' });
  const [one, three] = [times([]), times([again, again])];
  assert.is(count(three, /= tail call .*multiply_accumulate/g), 3 * count(one, /= tail call .*multiply_accumulate/g));
  assert.is(count(three, /= tail call .*simd_shuffle/g), count(one, /= tail call .*simd_shuffle/g));
  assert.is(count(three, /insertelement <64 x/g), count(one, /insertelement <64 x/g));
});

test('sums go round a loop in tiles', () => {
  const source = new SourceFile('tiles.ptx', readFileSync(join(import.meta.dirname, '../../fixtures/matrix/tiles.ptx'), 'utf8'));
  const text = emit(source, 'ir', { mma: 'fast', entries: ['halves'] }, new Diagnostics(source)) as string;
  const [turn] = text.split(/^(?=b\d)/m).filter((block) => block.includes('matmul'));
  assert.is(count(turn!, /= matmul/g), 8);
  // Four tiles of a, which four registers hold, and four of b, of which each thread asks two others.
  assert.is(count(turn!, /= shuffle i32/g), 12);
  assert.is(count(turn!, /= shuffle/g), 12);
});

test.run();
