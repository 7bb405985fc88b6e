/** LLVM 14 as the judge: it accepts what is written, and its disassembler says what ours says. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { emitKernel, targets } from '../../src/air/index.ts';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { disassemble, type Module, readModule, writeModule } from '../../src/bitcode/index.ts';
import type { Kernel } from '../../src/ir/index.ts';
import { oneBlock, pointerParam, valueParam, vectorAdd } from '../support/kernels.ts';
import { accepts, assembled, llvmText, scratch } from '../support/llvm.ts';
import { moduleFrom } from '../support/modules.ts';
import { need } from '../support/need.ts';

const test = suite('bitcode and LLVM');
const tools = ['llvm-as-14', 'llvm-dis-14', 'llvm-bcanalyzer-14', 'opt-14'];
const file = scratch();

function read(bytes: Uint8Array): Module {
  const diagnostics = new Diagnostics();
  const module = readModule(bytes, diagnostics);
  assert.ok(module, diagnostics.list.map((d) => d.message).join());
  return module!;
}

/** Writes a module, has LLVM judge it, and compares the texts. */
function judged(module: Module): void {
  const path = file('written.bc', writeModule(module));
  accepts(path);
  assert.is(asLlvmReads(disassemble(module)), llvmText(path));
}

/** LLVM 14 puts its own words for how older ones said that the frame pointer stays, whether it reads bitcode or text. */
function asLlvmReads(text: string): string {
  if (!text.includes('"no-frame-pointer-elim"="true"')) return text;
  return llvmText(file('assembled.bc', assembled(file('ours.ll', new TextEncoder().encode(text)))));
}

// ── what is written ──

const plain = { align: 4, volatile: false };

function sharedAndTable(): Kernel {
  const kernel = oneBlock('shared', [pointerParam('a', 0, 'i32', 'read_write'), valueParam('n', 1, 'i32')], (b) => {
    const n = b.load('i32', b.param('ptr.param', { index: 1 }), plain);
    const offset = b.mul(b.zext('i64', n), b.const('i64', 4));
    const at = b.ptradd(b.variable('ptr.shared', { name: 'scratch' }), offset);
    b.store(at, b.load('i32', b.ptradd(b.variable('ptr.constant', { name: 'table' }), offset), plain), plain);
    b.barrier();
    b.store(b.ptradd(b.param('ptr.global', { index: 0 }), offset), b.load('i32', at, plain), plain);
    b.store(b.variable('ptr.local', { name: 'mine' }), b.sreg('i32', { name: 'tid.x' }), plain);
  });
  const common = { align: 4, isDynamic: false, element: undefined };
  kernel.variables.push(
    { ...common, name: 'scratch', space: 'shared', size: 128, init: undefined },
    { ...common, name: 'mine', space: 'local', size: 16, init: undefined },
    { ...common, name: 'table', space: 'constant', size: 8, init: Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8) },
  );
  return kernel;
}

const kernels: Record<string, () => Kernel> = {
  vector_add: vectorAdd,
  'shared memory, a table, stack memory, a barrier': sharedAndTable,
  'integers and vectors': () =>
    oneBlock('integers', [pointerParam('a', 0, 'i32', 'read_write')], (b) => {
      const p = b.param('ptr.global', { index: 0 });
      const v = b.load('v4.i32', p, { align: 16, volatile: false });
      const x = b.extract('i32', v, { lane: 2 });
      const sum = b.select(b.icmp(x, b.const('i32', 7), { pred: 'slt' }), b.sub(x, b.const('i32', -1)), b.ashr(x, b.const('i32', 3)));
      b.store(p, b.add(b.clz(sum), b.trunc('i32', b.sext('i64', x))), plain);
    }),
};

for (const [name, kernel] of Object.entries(kernels))
  for (const target of Object.values(targets))
    need(test, tools, `emitted: ${name}, ${target.name}`, () => {
      const module = emitKernel(kernel(), target, new Diagnostics());
      // LLVM knows no processor of this name, and takes it for nothing else than text.
      assert.match(module.triple, /^air64[^-]*-apple-(macosx|ios)/);
      module.triple = module.triple.replace(/^air64[^-]*/, 'arm64');
      judged(module);
    });

need(test, tools, 'any module: accepted, and disassembled alike', () => {
  const tapes = fc.sample(fc.array(fc.nat(0xffff), { minLength: 100, maxLength: 400, size: 'max' }), { numRuns: 40, seed: 14 });
  for (const tape of tapes) judged(moduleFrom(tape));
});

// ── what LLVM wrote ──

const folder = join(import.meta.dirname, '../../fixtures/bitcode');

const texts = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((each) => each.endsWith('.ll'));

for (const name of texts) {
  need(test, tools, `${name}: read and disassembled as by LLVM`, () => {
    const bytes = assembled(join(folder, name));
    assert.is(disassemble(read(bytes)), llvmText(file('read.bc', bytes)));
  });
  need(test, tools, `${name}: read, written, accepted, and the same again`, () => {
    const bytes = assembled(join(folder, name));
    const again = writeModule(read(bytes));
    const path = file('again.bc', again);
    accepts(path);
    assert.is(llvmText(path), llvmText(file('read.bc', bytes)));
    assert.equal(writeModule(read(again)), again, 'what is written is read and written as it was');
  });
}

need(test, tools, 'fast-math flags of the oldest form, whose lowest bit means all of them', () => {
  const module = emitKernel(
    oneBlock('fast', [pointerParam('a', 0, 'f32', 'read_write')], (b) => {
      const p = b.param('ptr.global', { index: 0 });
      b.store(p, b.fadd(b.load('f32', p, plain), b.const('f32', 0x40000000n)), plain);
    }),
    targets.macos14,
    new Diagnostics(),
  );
  const sum = module.functions.flatMap((fn) => fn.blocks.flatMap(({ body }) => body)).find((inst) => inst.op === 'binary')!;
  Object.assign(sum, { flags: 1 });
  const bytes = writeModule(module);
  const text = disassemble(read(bytes));
  assert.match(text, /fadd fast float/);
  assert.is(text, llvmText(file('fast.bc', bytes)));
});

const unknown: [what: string, text: string, expected: RegExp][] = [
  ['aliases', '@a = global i32 1\n@b = alias i32, i32* @a\ndefine i32* @f() {\n  ret i32* @b\n}', /alias/],
  ['thread-local variables', '@a = thread_local global i32 1', /thread-local/],
  ['comdats', '$c = comdat any\n@a = global i32 1, comdat($c)', /comdat/],
  ['personalities', 'declare i32 @p()\ndefine void @f() personality i32 ()* @p {\n  ret void\n}', /personality/],
  ['atomic operations', 'define i32 @f(i32* %p) {\n  %1 = atomicrmw add i32* %p, i32 1 seq_cst\n  ret i32 %1\n}', /record 59 is not known/],
  ['inline assembly', 'define void @f() {\n  call void asm "nop", ""()\n  ret void\n}', /constant record \d+ is not known/],
];

for (const [what, text, expected] of unknown)
  need(test, tools, `refused, since the model has no place for them: ${what}`, () => {
    const diagnostics = new Diagnostics();
    assert.is(readModule(assembled(file('unknown.ll', new TextEncoder().encode(text))), diagnostics), undefined);
    assert.match(diagnostics.list[0]!.message, expected);
    assert.is(diagnostics.list[0]!.code, 'CM4002');
  });

test.run();
