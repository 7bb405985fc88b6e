/** Addresses: one GEP in units of the access, as Apple's compiler writes; windows for shared memory; i64 for joined pointers. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { emitKernel, raiseModule, targets, validateAir } from '../../src/air/index.ts';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import type { Instruction, InstructionOf, Module, Value } from '../../src/bitcode/model.ts';
import { spell } from '../../src/bitcode/types.ts';
import { compile, emit as emitText } from '../../src/compile/index.ts';
import { addBlock, addBlockParam, type Builder, builder, emptyKernel, type Kernel, type Variable } from '../../src/ir/index.ts';
import { oneBlock, pointerParam, valueParam, vectorAdd } from '../support/kernels.ts';
import { launchMetallib } from '../support/launch.ts';

const test = suite('air addresses');
const plain = { align: 4, volatile: false };

function emit(kernel: Kernel): { module: Module; insts: Instruction[] } {
  const diagnostics = new Diagnostics();
  const module = emitKernel(kernel, targets.macos14, diagnostics);
  assert.ok(validateAir(module, diagnostics), JSON.stringify(diagnostics.list.map((d) => d.message)));
  assert.equal(diagnostics.list, []);
  return { module, insts: module.functions[0]!.blocks.flatMap((b) => b.body) };
}

const only = <O extends Instruction['op']>(insts: Instruction[], op: O) => insts.filter((i): i is InstructionOf<O> => i.op === op);
const constant = (v: Value): bigint | undefined => (v.kind === 'constant' && v.form === 'int' ? v.value : undefined);

const shared = (name: string, size: number, isDynamic = false): Variable => ({
  name,
  space: 'shared',
  size,
  align: 4,
  isDynamic,
  init: undefined,
  element: undefined,
});

test('a scaled index becomes one inbounds GEP of the element type, and its multiplication goes away', () => {
  const { insts } = emit(vectorAdd());
  const geps = only(insts, 'gep');
  assert.is(geps.length, 3);
  for (const gep of geps) {
    assert.is(spell(gep.sourceType), 'float');
    assert.is(gep.inbounds, true);
    assert.is((gep.indices[0] as Instruction).op, 'cast');
  }
  assert.equal(
    only(insts, 'binary').map((i) => i.opcode),
    ['fadd'],
  );
});

test('a constant that divides joins the index; one that does not makes a byte-wise GEP', () => {
  const load = (offset: number) => (b: Builder) => {
    const p = b.param('ptr.global', { index: 0 });
    b.store(p, b.load('f32', b.ptradd(p, b.const('i64', offset)), { align: 1, volatile: false }), plain);
  };
  const aligned = only(emit(oneBlock('k', [pointerParam('a', 0, 'f32', 'read_write')], load(8))).insts, 'gep');
  assert.equal(
    aligned.map((g) => [spell(g.sourceType), constant(g.indices[0]!)]),
    [['float', 2n]],
  );
  const odd = only(emit(oneBlock('k', [pointerParam('a', 0, 'f32', 'read_write')], load(5))).insts, 'gep');
  assert.equal(
    odd.map((g) => [spell(g.sourceType), constant(g.indices[0]!)]),
    [['i8', 5n]],
  );
});

test('shared variables share one threadgroup global, and the second starts behind the first', () => {
  const kernel = oneBlock('k', [pointerParam('a', 0, 'f32', 'read_write')], (b) => {
    const value = b.load('f32', b.param('ptr.global', { index: 0 }), plain);
    b.store(b.variable('ptr.shared', { name: 'one' }), value, plain);
    b.store(b.variable('ptr.shared', { name: 'two' }), value, plain);
  });
  kernel.variables.push(shared('one', 12), shared('two', 16));
  const { module, insts } = emit(kernel);
  assert.equal(
    module.globals.map((g) => [g.name, spell(g.type), g.linkage, g.align]),
    [['k.shared', '[7 x float] addrspace(3)*', 'internal', 4]],
  );
  // Their addresses are constants.
  assert.is(only(insts, 'gep').length, 0);
  assert.equal(
    only(insts, 'store').map(({ pointer }) =>
      pointer.kind === 'constant' && pointer.form === 'gep' ? pointer.indices.map(constant) : pointer.kind,
    ),
    [
      [0n, 0n],
      [0n, 3n],
    ],
  );
});

test('a shared word by number: the index has the bits that a shift by the size does not drop', () => {
  const kernel = oneBlock('k', [valueParam('at', 0, 'i32')], (b) => {
    const at = b.load('i32', b.param('ptr.param', { index: 0 }), plain);
    const offset = b.zext('i64', b.shl(at, b.const('i32', 2)));
    b.store(b.inttoptr('ptr.shared', offset), b.const('f32', 0), plain);
  });
  kernel.variables.push(shared('one', 12));
  const { insts } = emit(kernel);
  assert.equal(
    only(insts, 'binary').map(({ opcode, b }) => [opcode, constant(b)]),
    [['and', 0x3fff_ffffn]],
  );
});

test('an integer address of shared memory is an offset in the window', () => {
  const kernel = oneBlock('k', [valueParam('at', 0, 'i32')], (b) => {
    const at = b.zext('i64', b.load('i32', b.param('ptr.param', { index: 0 }), plain));
    b.store(b.inttoptr('ptr.shared', at), b.const('i32', 7), plain);
  });
  kernel.variables.push(shared('one', 64));
  const [gep] = only(emit(kernel).insts, 'gep');
  const index = gep!.indices[1] as InstructionOf<'binary'>;
  assert.is(index.opcode, 'lshr');
  assert.is(constant(index.b), 2n);
  // `exact`: the index is the offset divided by 4, so that reading the AIR gives the offset back, with its last bits.
  assert.is(index.flags, 1);
});

test('static and dynamic shared memory: an address of unknown origin chooses at run time', () => {
  const kernel = oneBlock('k', [valueParam('at', 0, 'i32')], (b) => {
    const at = b.zext('i64', b.load('i32', b.param('ptr.param', { index: 0 }), plain));
    b.store(b.inttoptr('ptr.shared', at), b.const('i32', 7), plain);
    b.store(b.variable('ptr.shared', { name: 'dyn' }), b.const('i32', 8), plain);
  });
  kernel.variables.push(shared('one', 20), shared('dyn', 0, true));
  const { insts, module } = emit(kernel);
  // The dynamic part starts at the next multiple of 16 behind the static 20 bytes.
  assert.ok(only(insts, 'icmp').some((i) => i.predicate === 'uge' && constant(i.b) === 32n));
  assert.is(spell(module.functions[0]!.args[1]!.type), 'i32 addrspace(3)*');
});

/** A word of one memory to an address that a loop moves on, and to one that may be of either memory. */
const joinedText = `.version 8.0
.target sm_80
.address_size 64
.extern .shared .align 4 .b8 dyn[];
.visible .entry k(.param .u64 out)
{
  .reg .pred %p<3>; .reg .b32 %r<12>; .reg .b64 %rd<4>;
  .shared .align 4 .b8 fixed[32];
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, fixed; mov.u32 %r2, dyn; mov.u32 %r3, 0;
again:
  add.u32 %r4, %r3, 100; st.shared.u32 [%r1], %r4;
  add.u32 %r5, %r3, 200; st.shared.u32 [%r2+4], %r5;
  add.u32 %r1, %r1, 4; add.u32 %r2, %r2, 8; add.u32 %r3, %r3, 1;
  setp.lt.u32 %p1, %r3, 8; @%p1 bra again;
  ld.shared.u32 %r6, [%r1+-8]; ld.shared.u32 %r7, [%r2+-12];
  st.global.u32 [%rd1], %r6; st.global.u32 [%rd1+4], %r7;
  EITHER
  ret;
}
`;
const either = `ld.global.u32 %r8, [%rd1+8]; setp.eq.u32 %p2, %r8, 0; mov.u32 %r9, fixed; mov.u32 %r10, dyn;
  selp.u32 %r11, %r9, %r10, %p2; ld.shared.u32 %r11, [%r11+4]; st.global.u32 [%rd1+12], %r11;`;

for (const [text, selects, wanted] of [
  [joinedText.replace('EITHER', ''), 0, [106, 206, 1, 9]],
  [joinedText.replace('EITHER', either), 3, [106, 206, 1, 200]],
] as const)
  test(`32-bit addresses that loops move on are of the memory that they come from: ${selects} choices`, () => {
    const file = new SourceFile('k.ptx', text);
    const disassembly = emitText(file, 'air-ll', {}, new Diagnostics(file));
    assert.is((String(disassembly).match(/ = select /g) ?? []).length, selects);
    const diagnostics = new Diagnostics(file);
    const { metallib } = compile(file, {}, diagnostics)!;
    const after = launchMetallib(metallib, { kernel: 'k', blocks: 1, threads: 1, shared: 68, args: [Uint32Array.of(0, 0, 1, 9)] });
    assert.equal([...new Uint32Array(after[0]!.slice().buffer)], wanted);
  });

test('pointers that a loop joins travel as i64, never as a phi of pointers', () => {
  const kernel = emptyKernel('k');
  kernel.params.push(pointerParam('a', 0, 'f32', 'read_write'));
  const [entry, loop, exit] = [addBlock(kernel), addBlock(kernel), addBlock(kernel)];
  const b = builder(kernel, entry!);
  const start = b.param('ptr.global', { index: 0 });
  const at = addBlockParam(kernel, loop!, 'ptr.global');
  entry!.end = { op: 'br', to: { block: loop!, args: [start] } };
  b.block = loop!;
  const value = b.load('f32', at, plain);
  b.store(at, b.fadd(value, value), plain);
  const next = b.ptradd(at, b.const('i64', 4));
  const more = b.fcmp(value, b.const('f32', 0), { pred: 'ogt' });
  loop!.end = { op: 'condbr', cond: more, then: { block: loop!, args: [next] }, else: { block: exit!, args: [] } };
  const { insts } = emit(kernel);
  assert.equal(
    only(insts, 'phi').map((p) => spell(p.type)),
    ['i64'],
  );
});

test('what is emitted can be raised again, with the same parameters', () => {
  const { module } = emit(vectorAdd());
  const diagnostics = new Diagnostics();
  const [raised] = raiseModule(module, diagnostics);
  assert.equal(diagnostics.list, []);
  assert.equal(
    raised!.reflection.params.map((p) => [p.name, p.slot, p.kind, p.element, p.access]),
    [
      ['a', 0, 'buffer', 'f32', 'read'],
      ['b', 1, 'buffer', 'f32', 'read'],
      ['c', 2, 'buffer', 'f32', 'read_write'],
      ['n', 3, 'bytes', 'u32', 'read'],
    ],
  );
});

test.run();
