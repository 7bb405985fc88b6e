/**
 * Kernels as WGSL: what the text looks like, where barriers are, what is refused. `spec/browser/wgsl.spec.ts` has Chromium take the texts,
 * `spec/device/webgpu.spec.ts` runs them.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import { textOf } from '../../src/cli/build-text.ts';
import { toIr } from '../../src/compile/index.ts';
import { cfgOf, dominatorsOf, loopsOf, opNames } from '../../src/ir/index.ts';
import { wgslKernel } from '../../src/text/index.ts';
import { structure } from '../../src/text/structure.ts';
import { rulesOf } from '../../src/text/wgsl/rules.ts';
import { portable } from '../../src/text/wgsl/types.ts';
import { isProvablyUniform } from '../../src/text/wgsl/uniform.ts';
import { exampleNames, exampleText, root } from '../support/examples.ts';

const test = suite('text/wgsl');

const head = '.version 8.0\n.target sm_80\n.address_size 64\n';

function print(ptx: string, isFast = false): { text: string; codes: string[]; diagnostics: Diagnostics } {
  const source = new SourceFile('k.ptx', ptx.startsWith('.version') || ptx.startsWith('//') ? ptx : head + ptx);
  const diagnostics = new Diagnostics(source);
  const text = textOf(source, 'wgsl', {}, diagnostics, isFast) ?? '';
  return { text, codes: diagnostics.list.map(({ code }) => code), diagnostics };
}

/** The lines from the first entry on. */
const entryOf = (text: string): string => text.slice(text.indexOf('@compute'));

/** A kernel whose block has a barrier behind these lines; `u` is a parameter, `x` is memory that threads write. */
const around = (lines: string, rest = ''): string => `.visible .entry k(.param .u64 out, .param .u32 n)
{
  .reg .pred p, q; .reg .b32 t, u, x, i; .reg .b64 o;
  ld.param.u64 o, [out]; ld.param.u32 u, [n]; mov.u32 t, %tid.x; ld.global.u32 x, [o]; mov.u32 i, 0;
${lines}
  bar.sync 0;
${rest}
  st.global.u32 [o+4], i;
  ret;
}`;
const isScheduled = (ptx: string): boolean => /switch \(state\)/.test(print(ptx).text);

test('saxpy reads as a person would write it', () => {
  const { text, codes } = print(exampleText('saxpy'), true);
  assert.equal(codes, []);
  assert.is(
    entryOf(text),
    `@compute @workgroup_size(block_x, block_y, block_z)
fn saxpy(@builtin(local_invocation_id) tid: vec3<u32>, @builtin(workgroup_id) group: vec3<u32>) {
  let param_1 = u64(launch[10], launch[11]);
  let param_2 = u64(launch[12], launch[13]);
  let gid_x = (group.x + launch[3]) * block_x + tid.x;
  let f1 = bitcast<f32>(launch[8u]);
  if (gid_x >= launch[14u]) { return; }
  let f4 = fma(bitcast<f32>(arena[(param_1.x >> 2u) + gid_x]), f1, bitcast<f32>(arena[(param_2.x >> 2u) + gid_x]));
  arena[(param_2.x >> 2u) + gid_x] = bitcast<u32>(f4);
  return;
}
`,
  );
  assert.match(print(exampleText('saxpy')).text, /let f4 = fma_f32\(/);
});

/** Whether WGSL sees that all threads reach the barriers, whatever the IR knows of them. */
function isSeen(ptx: string): boolean {
  const source = new SourceFile('k.ptx', head + ptx);
  const [kernel] = toIr(source, { target: 'cpu' }, new Diagnostics(source))!.kernels;
  const cfg = cfgOf(kernel!);
  const dominators = dominatorsOf(cfg);
  const graph = { cfg, dominators, entry: 0, isReducible: loopsOf(cfg, dominators).isReducible, isLast: () => false };
  return isProvablyUniform(kernel!, structure(kernel!, graph));
}

const uniform: Readonly<Record<string, string>> = {
  'no choice': around(''),
  'a choice by a parameter': around('  setp.eq.u32 p, u, 1; @p bra over; mov.u32 i, 1; bar.sync 0;\nover:'),
  'a loop that a parameter ends': around('again: bar.sync 0; add.u32 i, i, 1; setp.lt.u32 p, i, u; @p bra again;'),
  'a choice by a thread whose arms meet again': around('  setp.gt.u32 p, t, 7; @p bra over; st.global.u32 [o+8], i;\nover:'),
  'a loop of each thread in front': around('again: st.global.u32 [o+8], i; add.u32 i, i, 1; setp.lt.u32 p, i, t; @p bra again;'),
};

const varying: Readonly<Record<string, string>> = {
  'a choice by a thread': around('  setp.gt.u32 p, t, 7; @p bra over; bar.sync 0;\nover:'),
  'a choice by what memory has': around('  setp.gt.u32 p, x, 7; @p bra over; bar.sync 0; mov.u32 i, 1;\nover:'),
  'a return of some threads': around('  setp.ge.u32 p, t, u; @p ret;'),
  'a loop that memory ends': around('again: bar.sync 0; add.u32 i, i, 1; setp.lt.u32 p, i, x; @p bra again;'),
  'a number that a choice by a thread has set': around(
    '  setp.gt.u32 p, t, 7; @p bra over; st.global.u32 [o+8], i; mov.u32 i, 3;\nover: setp.eq.u32 q, i, 3; @q bra more; bar.sync 0;\nmore:',
  ),
  'turns of a loop that each thread counts': around(
    'again: st.global.u32 [o+8], i; add.u32 i, i, 1; setp.lt.u32 p, i, t; @p bra again; setp.gt.u32 q, i, 3; @q bra over; bar.sync 0;\nover:',
  ),
};

test('a barrier stays where WGSL can prove that all threads reach it', () => {
  for (const [what, ptx] of Object.entries(uniform)) assert.equal([isSeen(ptx), isScheduled(ptx)], [true, false], what);
});

test('a barrier that WGSL cannot prove goes to the scheduler', () => {
  for (const [what, ptx] of Object.entries(varying)) assert.equal([isSeen(ptx), isScheduled(ptx)], [false, true], what);
});

test('a loop without an end has one that no thread takes, as the language demands', () => {
  const { text } = print(
    '.visible .entry k(.param .u64 out) { .reg .b64 p; ld.param.u64 p, [out];\nagain: st.global.u64 [p], 5; bra again; }',
  );
  assert.match(entryOf(text), /loop \{\n(.*\n)+ {4}if \(launch\[6\] != 0u\) \{ break; \}\n {2}\}/);
  assert.is(entryOf(print(exampleText('collatz')).text).includes('launch[6] != 0u'), false);
});

test('the largest float is a number of the language', () => {
  const ptx =
    '.visible .entry k(.param .u64 out) { .reg .b64 p; .reg .f32 x; ld.param.u64 p, [out]; ld.global.f32 x, [p]; max.f32 x, x, 0f7f7fffff; st.global.f32 [p], x; ret; }';
  assert.match(print(ptx).text, /bitcast<f32>\(0x7f7fffffu\)/);
});

test('words are atomic where threads may write parts of them, and only there', () => {
  const store = (type: string): string => `.visible .entry k(.param .u64 out)
{ .reg .b32 t; .reg .b64 o; ld.param.u64 o, [out]; mov.u32 t, %tid.x; st.global.${type} [o+4], t; ret; }`;
  assert.match(print(store('u32')).text, /arena\[\(out\.x >> 2u\) \+ 1u\] = /);
  for (const type of ['u8', 'u16']) assert.match(print(store(type)).text, /atomicCompareExchangeWeak\(&arena_words/, type);
});

test('what a language lacks is refused at its line', () => {
  const refused = (line: string): string[] => {
    const { diagnostics, codes } = print(`.visible .entry k(.param .u64 out)
{ .reg .b64 p, t, v; ld.param.u64 p, [out]; mov.u64 v, 5;
  ${line}
  st.global.u64 [p], v; ret; }`);
    const [found] = diagnostics.list;
    assert.ok(diagnostics.file!.text.slice(found?.labels[0]?.span.start).startsWith(line), line);
    return codes;
  };
  assert.equal(refused('mov.u64 v, %clock64;'), ['CM2090']);
});

/** Whether a block of a kernel with these instructions runs without the others, and whether the threads of a block take turns. */
function orderOf(lines: string): { isAlone: boolean; takesTurns: boolean } {
  const source = new SourceFile(
    'k.ptx',
    `${head}.visible .entry k(.param .u64 out) { .shared .align 8 .b8 s[64]; .reg .b64 p, v; .reg .b32 w; ld.param.u64 p, [out]; mov.u64 v, 5;
  ${lines}
  st.global.u64 [p+8], v; ret; }`,
  );
  const diagnostics = new Diagnostics(source);
  const [kernel] = toIr(source, { target: 'cpu' }, diagnostics)!.kernels;
  const { text, isAlone } = wgslKernel(kernel!, diagnostics);
  assert.equal(diagnostics.list, []);
  return { isAlone, takesTurns: hasTurns(text) };
}

/** Whether the text lets one thread at a time be in a state, which then reads or writes both words of something. */
function hasTurns(text: string): boolean {
  const states = [...(/has_turn = !\((.*)\);/.exec(text)?.[1]?.matchAll(/of_other == (\d+)u/g) ?? [])].map(([, id]) => id!);
  for (const id of states) {
    const [, step] = text.split(`case ${id}u: {`);
    assert.match(step!.split(' state = ')[0]!, /\[(?:\w+ \+ )?1u\]/, `state ${id}`);
  }
  assert.is(/if \(state == lowest && has_turn\)/.test(text), states.length > 0);
  return states.length > 0;
}

test('what only the CPU device has is refused, also where an access reaches it without a value of its own', () => {
  for (const file of ['clusters/clusters', 'linking/grid']) {
    const path = join(root, 'fixtures', `${file}.ptx`);
    const source = new SourceFile(file, readFileSync(path, 'utf8'));
    for (const entry of file === 'linking/grid' ? ['_Z6roundsPjS_ii'] : ['neighbours', 'accesses', 'early', 'fixed4']) {
      const diagnostics = new Diagnostics(source);
      const [kernel] = toIr(source, { target: 'cpu', entries: [entry] }, diagnostics)!.kernels;
      wgslKernel(kernel!, diagnostics);
      assert.ok(
        diagnostics.list.every(({ code }) => code === 'CM2090'),
        entry,
      );
      assert.ok(diagnostics.hasErrors, entry);
    }
  }
});

test('blocks that order memory for each other run alone', () => {
  assert.equal(orderOf('membar.cta;'), { isAlone: false, takesTurns: false });
  assert.equal(orderOf('membar.gl;'), { isAlone: true, takesTurns: false });
  assert.equal(orderOf('fence.acq_rel.gpu;'), { isAlone: true, takesTurns: false });
  assert.equal(orderOf('atom.global.add.u32 w, [p], 1;'), { isAlone: false, takesTurns: false });
});

test('threads take turns at words of 64 bits, unless their halves may be updated one after the other', () => {
  // Without a result nothing sees what is between the two halves.
  assert.equal(orderOf('red.global.add.u64 [p], 5;'), { isAlone: false, takesTurns: false });
  assert.equal(orderOf('atom.global.add.u64 v, [p], v;'), { isAlone: true, takesTurns: true });
  // A sum between the halves of another operation would be lost.
  assert.equal(orderOf('red.global.add.u64 [p], 5; red.global.xor.b64 [p], 5;'), { isAlone: true, takesTurns: true });
  assert.equal(orderOf('red.global.add.u64 [p], 5; ld.volatile.global.u64 v, [p];'), { isAlone: true, takesTurns: true });
  assert.equal(orderOf('atom.shared.exch.b64 v, [s], 5;'), { isAlone: false, takesTurns: true });
  assert.equal(orderOf('ld.volatile.shared.u64 v, [s];'), { isAlone: false, takesTurns: true });
  assert.equal(orderOf('red.shared.add.u64 [s], 5; atom.global.max.u64 v, [p], 5;'), { isAlone: true, takesTurns: true });
});

test('an invocation may run several threads, with what each keeps over a barrier', () => {
  const source = new SourceFile('k.ptx', head + around('  add.u32 i, t, 1;'));
  const diagnostics = new Diagnostics(source);
  const [kernel] = toIr(source, { target: 'cpu' }, diagnostics)!.kernels;
  const { text } = wgslKernel(kernel!, diagnostics, { threads: 4 });
  assert.match(text, /var<private> saved_of_k: array<Thread_of_k, 4u>;/);
  assert.match(text, /let thread_number = index \+ part \* group_threads;/);
});

test('every op has a rule, and every example a text', () => {
  const store = { name: 'arena', isAtomic: false };
  const stores = { global: store, shared: store, local: store, param: store, constant: store };
  const rules = rulesOf({ exact: portable, stores, hasLocalStart: false, offsets: [] });
  assert.equal(Object.keys(rules).sort(), [...opNames].sort());
  for (const name of exampleNames) assert.equal(print(exampleText(name)).codes, [], name);
  // Threads that wait in a loop let others run, and barriers in shared memory start at zero.
  const { text } = print(readFileSync(join(root, 'fixtures/linking/barriers.ptx'), 'utf8'));
  assert.match(text, /for \(var at = thread_number; at < \d+u; at \+= block_threads\) \{ atomicStore\(&shared_of_/);
});

test.run();
