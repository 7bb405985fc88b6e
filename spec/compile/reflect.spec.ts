/** What is found in PTX for a device that takes it as it is: the same as what compiling for a device without limits says. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import { compile, reflect } from '../../src/compile/index.ts';

const test = suite('compile/reflect');
const folder = new URL('../../examples', import.meta.url).pathname;

for (const name of readdirSync(folder).filter((file) => file.endsWith('.ptx'))) {
  test(`${name}: what compiling says`, () => {
    const source = new SourceFile(name, readFileSync(join(folder, name), 'utf8'));
    const diagnostics = new Diagnostics(source);
    const found = reflect(source, {}, diagnostics);
    assert.equal(found?.kernels, compile(source, { target: 'cpu' }, diagnostics)?.reflection.kernels);
    assert.ok(found && found.kernels.length > 0);
  });
}

const text = `.version 7.0
.target sm_70
.address_size 64
.visible .entry one(.param .u8 a, .param .u64 out, .param .align 8 .b8 s[24]) .maxntid 64
{ .shared .align 4 .b8 own[100000]; .reg .b32 x; .reg .b64 p; ld.param.u64 p, [out]; ld.shared.u32 x, [own]; st.global.u32 [p], x; ret; }
.visible .entry two() { sturdy; ret; }
`;

test('a parameter that is declared as bits is a float if it only serves as one', () => {
  const body = (load: string, use: string) => `.visible .entry k(.param .b32 x, .param .u64 out)
{ .reg .b32 b; .reg .f32 f; .reg .b64 p; ld.param.u64 p, [out]; ld.param.${load}, [x]; ${use} ret; }`;
  const elementFor = (load: string, use: string) => {
    const source = new SourceFile('k.ptx', `.version 7.0\n.target sm_70\n.address_size 64\n${body(load, use)}`);
    return reflect(source, {}, new Diagnostics(source))?.kernels[0]?.params[0]?.element;
  };
  assert.is(elementFor('f32 f', 'add.f32 f, f, f; st.global.f32 [p], f;'), 'f32');
  assert.is(elementFor('b32 f', 'add.f32 f, f, f; st.global.f32 [p], f;'), 'f32');
  assert.is(elementFor('b32 b', 'st.global.b32 [p], b;'), 'u32');
  assert.is(elementFor('b32 b', 'mov.b32 f, b; st.global.f32 [p], f; st.global.u32 [p+4], b;'), 'u32');
});

test('sizes of parameters are those of the PTX, and no target of ours limits shared memory', () => {
  const source = new SourceFile('k.ptx', text);
  const diagnostics = new Diagnostics(source);
  const found = reflect(source, { entries: ['one'] }, diagnostics);
  const [kernel] = found?.kernels ?? [];
  assert.equal(
    kernel?.params.map(({ name, kind, size }) => [name, kind, size]),
    [
      ['a', 'bytes', 1],
      ['out', 'buffer', 4],
      ['s', 'bytes', 24],
    ],
  );
  assert.equal([kernel?.maxThreads, kernel?.staticSharedBytes], [64, 100000]);
});

test('what does not check is reported, and gives nothing', () => {
  const source = new SourceFile('k.ptx', text);
  const diagnostics = new Diagnostics(source);
  assert.is(reflect(source, {}, diagnostics), undefined);
  assert.ok(diagnostics.hasErrors);
});

test.run();
