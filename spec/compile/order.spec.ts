/**
 * Accesses and atomics with an order: which functions of AIR they are, in which order (an acquire has its fence behind it, a
 * release before it), and what Apple GPUs are not asked for: accesses of other than 32 bits that other threadgroups see.
 */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import { compile, emit } from '../../src/compile/index.ts';
import { launchMetallib } from '../support/launch.ts';

const test = suite('compile/order');

const file = (body: string): SourceFile =>
  new SourceFile(
    'k.ptx',
    `.version 9.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out)
{
  .reg .b64 p, w; .reg .b32 r, s; .reg .b16 h; .reg .f32 f;
  .shared .align 8 .b8 own[8];
  ld.param.u64 p, [out];
  ${body}
  ret;
}
`,
  );

/** The functions that are called and the accesses that stay plain, in order; a fence with its scope. */
function accesses(body: string): string[] {
  const diagnostics = new Diagnostics();
  const text = emit(file(body), 'air-ll', { target: 'macos15' }, diagnostics);
  assert.equal(diagnostics.list, []);
  return [...(text as string).matchAll(/call [^@\n]*@air\.atomic\.(\S+?)\((.*)\)|(load volatile|store volatile)/g)].map(
    ([, name, args, plain]) => plain ?? (name === 'fence' ? `fence ${args!.at(-1)}` : name!),
  );
}

const store = 'st.global.u32 [p+16], r;';
const forms: readonly (readonly [body: string, wanted: readonly string[]])[] = [
  [`ld.relaxed.gpu.global.u32 r, [p]; ${store}`, ['global.load.i32']],
  [`ld.relaxed.sys.u32 r, [p]; ${store}`, ['global.load.i32']],
  [`ld.volatile.global.u32 r, [p]; ${store}`, ['global.load.i32']],
  [`ld.acquire.gpu.global.u32 r, [p]; ${store}`, ['global.load.i32', 'fence 2']],
  [`ld.acquire.cta.global.u32 r, [p]; ${store}`, ['global.load.i32', 'fence 1']],
  [`ld.acquire.sys.global.u32 r, [p]; ${store}`, ['global.load.i32', 'fence 2']],
  ['ld.relaxed.cta.global.f32 f, [p]; st.global.f32 [p+16], f;', ['global.load.f32']],
  [`ld.acquire.cta.shared.u32 r, [own]; ${store}`, ['load volatile', 'fence 1']],
  ['mov.b32 r, 1; st.relaxed.gpu.global.u32 [p], r;', ['global.store.i32']],
  ['mov.b32 r, 1; st.release.gpu.global.u32 [p], r;', ['fence 2', 'global.store.i32']],
  ['mov.b32 r, 1; st.release.cta.shared.u32 [own], r;', ['fence 1', 'store volatile']],
  ['mov.b32 f, 1; st.volatile.global.f32 [p], f;', ['global.store.f32']],
  [`atom.acquire.gpu.global.add.u32 r, [p], 1; ${store}`, ['global.add.u.i32', 'fence 2']],
  [`atom.release.cta.global.exch.b32 r, [p], 1; ${store}`, ['fence 1', 'global.xchg.i32']],
  [`atom.acq_rel.sys.global.or.b32 r, [p], 1; ${store}`, ['fence 2', 'global.or.u.i32', 'fence 2']],
  [`atom.acq_rel.cas.b32 r, [p], 1, 2; ${store}`, ['fence 2', 'global.cmpxchg.weak.i32', 'fence 2']],
  ['red.release.gpu.global.add.u32 [p], 1;', ['fence 2', 'global.add.u.i32']],
  ['red.relaxed.gpu.global.add.u32 [p], 1;', ['global.add.u.i32']],
  // A vector is as many accesses in any order (PTX ISA 9.0, 8.2.2).
  ['ld.relaxed.gpu.global.v2.u32 {r, s}, [p]; st.global.v2.u32 [p+16], {r, s};', ['global.load.i32', 'global.load.i32']],
  ['ld.acquire.gpu.global.v2.u32 {r, s}, [p]; st.global.v2.u32 [p+16], {r, s};', ['global.load.i32', 'global.load.i32', 'fence 2']],
  ['mov.b32 r, 1; mov.b32 s, 2; st.volatile.global.v2.u32 [p], {r, s};', ['global.store.i32', 'global.store.i32']],
  ['mov.b32 r, 1; mov.b32 s, 2; st.release.gpu.global.v2.u32 [p], {r, s};', ['fence 2', 'global.store.i32', 'global.store.i32']],
];
for (const [body, wanted] of forms) test(body, () => assert.equal(accesses(body), wanted));

const wide: readonly string[] = [
  'ld.relaxed.gpu.global.u64 w, [p]; st.global.u64 [p+16], w;',
  'ld.acquire.gpu.global.u8 r, [p]; st.global.u32 [p+16], r;',
  'ld.volatile.global.u16 h, [p]; st.global.u16 [p+16], h;',
  'ld.relaxed.gpu.global.v2.u64 {w, w}, [p]; st.global.u64 [p+16], w;',
  'mov.b64 w, 1; st.release.sys.global.u64 [p], w;',
  'mov.b32 r, 1; st.relaxed.gpu.global.u8 [p], r;',
];
for (const body of wide)
  test(`for the CPU device alone: ${body}`, () => {
    const source = file(body);
    const diagnostics = new Diagnostics(source);
    assert.is(compile(source, { target: 'macos15' }, diagnostics), undefined);
    assert.is(diagnostics.list.map(({ code }) => code).join(), 'CM2090');
    assert.is(source.position(diagnostics.list[0]!.labels[0]!.span.start).line, 9);
    assert.ok(compile(source, { target: 'cpu' }, new Diagnostics()));
  });

test('the CPU device reads and writes what an order stands at', () => {
  const body = `mov.b32 r, 0x11223344; st.release.cta.shared.u32 [own], r; ld.acquire.cta.shared.u8 s, [own+1]; st.relaxed.gpu.global.u32 [p], s;
  ld.acquire.sys.global.v2.u32 {r, s}, [p+8]; st.release.gpu.global.v2.u32 [p+16], {s, r}; ld.relaxed.gpu.global.u64 w, [p+8]; st.relaxed.sys.global.u64 [p+24], w;
  atom.acq_rel.gpu.global.add.u32 r, [p+4], 5; st.volatile.global.u32 [p+32], r;`;
  const { metallib } = compile(file(body), { target: 'cpu' }, new Diagnostics())!;
  const before = Uint32Array.of(0xa5a5_a5a5, 7, 1, 2, 0xa5a5_a5a5, 0xa5a5_a5a5, 0xa5a5_a5a5, 0xa5a5_a5a5, 0xa5a5_a5a5);
  const [after] = launchMetallib(metallib, { kernel: 'k', blocks: 1, threads: 1, args: [before] });
  assert.equal([...new Uint32Array(after!.slice().buffer)], [0x33, 12, 1, 2, 2, 1, 1, 2, 7]);
});

test.run();
