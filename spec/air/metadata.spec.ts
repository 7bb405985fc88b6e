/**
 * The kernel metadata compared with the output of Apple's compiler for the same kernel in MSL (metalfe 32023, macOS 14): `kernel void
 * vector_add(device const float *a, device const float *b, device float *c, constant uint &n, uint gid)`.
 */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { emitKernel, reflectModule, targets } from '../../src/air/index.ts';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { writeModule } from '../../src/bitcode/index.ts';
import type { Metadata, MetadataNode, Module } from '../../src/bitcode/model.ts';
import { spell } from '../../src/bitcode/types.ts';
import type { Kernel } from '../../src/ir/index.ts';
import { oneBlock, pointerParam, valueParam, vectorAdd } from '../support/kernels.ts';
import { llvmText, scratch } from '../support/llvm.ts';
import { need } from '../support/need.ts';

const test = suite('air metadata');
const keep = scratch();

const leaf = (m: Metadata | undefined): string => {
  if (!m) return 'null';
  if (m.kind === 'string') return `!"${m.value}"`;
  if (m.kind === 'node') return `{${m.operands.map(leaf).join(', ')}}`;
  const v = m.value;
  if (v.kind === 'constant' && v.form === 'int') return `${spell(v.type)} ${v.value}`;
  if (v.kind === 'constant' && v.form === 'aggregate')
    return `${spell(v.type)} [${v.elements.map((e) => leaf({ kind: 'value', value: e })).join(', ')}]`;
  return spell(v.type);
};

const named = (module: Module, name: string): MetadataNode[] => module.namedMetadata.find((n) => n.name === name)!.nodes;
const emit = (): Module => emitKernel(vectorAdd(), targets.macos14, new Diagnostics());

const buffer = (index: number, access: string, name: string): string =>
  `{i32 ${index}, !"air.buffer", !"air.location_index", i32 ${index}, i32 1, !"${access}", !"air.address_space", i32 1, !"air.arg_type_size", i32 4, !"air.arg_type_align_size", i32 4, !"air.arg_type_name", !"float", !"air.arg_name", !"${name}"}`;

test('kernel node: Apple’s fields, one by one', () => {
  const [kernel] = named(emit(), 'air.kernel');
  const [fn, outputs, args] = kernel!.operands;
  assert.is(leaf(fn), 'void (float addrspace(1)*, float addrspace(1)*, float addrspace(1)*, i32 addrspace(2)*, i32)*');
  assert.is(leaf(outputs), '{}');
  assert.equal((args as MetadataNode).operands.map(leaf), [
    buffer(0, 'air.read', 'a'),
    buffer(1, 'air.read', 'b'),
    buffer(2, 'air.read_write', 'c'),
    '{i32 3, !"air.buffer", !"air.buffer_size", i32 4, !"air.location_index", i32 3, i32 1, !"air.read", !"air.address_space", i32 2, !"air.arg_type_size", i32 4, !"air.arg_type_align_size", i32 4, !"air.arg_type_name", !"uint", !"air.arg_name", !"n"}',
    '{i32 4, !"air.thread_position_in_grid", !"air.arg_type_name", !"uint", !"air.arg_name", !"gid"}',
  ]);
});

test('places of threads along y and z: a vector of three, of which what is wanted is a part', () => {
  const kernel = oneBlock('places', [pointerParam('out', 0, 'i32', 'write')], (b) => {
    const sum = b.add(b.sreg('i32', { name: 'tid.y' }), b.add(b.sreg('i32', { name: 'ctaid.z' }), b.sreg('i32', { name: 'laneid' })));
    b.store(b.param('ptr.global', { index: 0 }), sum, { align: 4, volatile: false });
  });
  const args = named(emitKernel(kernel, targets.macos14, new Diagnostics()), 'air.kernel')[0]!.operands[2] as MetadataNode;
  assert.equal(args.operands.slice(1).map(leaf), [
    '{i32 1, !"air.thread_position_in_threadgroup", !"air.arg_type_name", !"uint3", !"air.arg_name", !"tid"}',
    '{i32 2, !"air.threadgroup_position_in_grid", !"air.arg_type_name", !"uint3", !"air.arg_name", !"ctaid"}',
    '{i32 3, !"air.thread_index_in_simdgroup", !"air.arg_type_name", !"uint", !"air.arg_name", !"laneid"}',
  ]);
});

need(test, ['llvm-dis-14'], 'attributes of parameters, as LLVM reads them: who reads and writes, and that a value is there whole', () => {
  const text = llvmText(keep('vector_add.bc', writeModule(emit())));
  const [, params] = /define void @vector_add\((.*)\) /.exec(text)!;
  assert.equal(params!.split(', '), [
    'float addrspace(1)* noundef readonly %0',
    'float addrspace(1)* noundef readonly %1',
    'float addrspace(1)* noundef writeonly %2',
    'i32 addrspace(2)* nocapture noundef readonly align 4 dereferenceable(4) %3',
    'i32 noundef %4',
  ]);
});

test('module flags, versions and options, in Apple’s order', () => {
  const module = emit();
  assert.equal(
    module.namedMetadata.map((n) => n.name),
    ['llvm.module.flags', 'llvm.ident', 'air.version', 'air.language_version', 'air.compile_options', 'air.kernel'],
  );
  assert.equal(named(module, 'llvm.module.flags').map(leaf), [
    '{i32 2, !"SDK Version", [2 x i32] [i32 14, i32 4]}',
    '{i32 1, !"wchar_size", i32 4}',
    '{i32 7, !"frame-pointer", i32 2}',
    '{i32 7, !"air.max_device_buffers", i32 31}',
    '{i32 7, !"air.max_constant_buffers", i32 31}',
    '{i32 7, !"air.max_threadgroup_buffers", i32 31}',
    '{i32 7, !"air.max_textures", i32 128}',
    '{i32 7, !"air.max_read_write_textures", i32 8}',
    '{i32 7, !"air.max_samplers", i32 16}',
  ]);
  assert.equal(named(module, 'air.version').map(leaf), ['{i32 2, i32 6, i32 0}']);
  assert.equal(named(module, 'air.language_version').map(leaf), ['{!"Metal", i32 3, i32 1, i32 0}']);
  // Precise math: PTX determines where a multiply and an add may be fused.
  assert.equal(named(module, 'air.compile_options').map(leaf), [
    '{!"air.compile.denorms_disable"}',
    '{!"air.compile.fast_math_disable"}',
    '{!"air.compile.framebuffer_fetch_enable"}',
  ]);
});

test('doubles held as integers: described as integers to Metal, and as doubles to people', () => {
  const scaled = (): Kernel =>
    oneBlock(
      'scaled',
      [pointerParam('x', 0, 'f64', 'read_write'), pointerParam('n', 1, 'i64', 'read'), valueParam('a', 2, 'f64', 8, 8)],
      (b) => {
        const x = b.param('ptr.global', { index: 0 });
        const how = { align: 8, volatile: false };
        b.store(x, b.fmul(b.load('f64', x, how), b.load('f64', b.param('ptr.param', { index: 2 }), how)), how);
      },
    );
  const names = (module: Module): string[] => {
    const args = named(module, 'air.kernel')[0]!.operands[2] as MetadataNode;
    return args.operands.map((arg) => /"air.arg_type_name", !"(\w+)"/.exec(leaf(arg))![1]!);
  };
  const elements = (module: Module) => reflectModule(module, new Diagnostics())[0]!.params.map((param) => param.element);
  const soft = emitKernel(scaled(), targets.macos14, new Diagnostics());
  assert.equal(names(soft), ['ulong', 'ulong', 'ulong']);
  assert.equal(
    named(soft, 'cumetal.f64').map(({ operands }) => operands.slice(1).map(leaf)),
    [['i32 0', 'i32 2']],
  );
  assert.equal(elements(soft), ['f64', 'u64', 'f64']);
  const native = emitKernel(scaled(), targets.cpu, new Diagnostics());
  assert.equal(names(native), ['double', 'ulong', 'double']);
  assert.is(
    native.namedMetadata.some((n) => n.name === 'cumetal.f64'),
    false,
  );
  assert.equal(elements(native), ['f64', 'u64', 'f64']);
});

test.run();
