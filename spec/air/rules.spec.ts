/** Each rule of AIR with modules, in LLVM's text, that break it and no other. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { airRules, validateAir } from '../../src/air/index.ts';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { readModule } from '../../src/bitcode/index.ts';
import { airBitcode, airModule, buffer } from '../support/air-text.ts';
import { has, need } from '../support/need.ts';

const test = suite('air rules');

/** A kernel of one buffer, `%p0`. */
const kernel = (body: string, more = ''): string => airModule([buffer], body, more);
const plain = kernel('  store i32 7, i32 addrspace(1)* %p0, align 4');
const oldLevel = (body: string, more = ''): string => kernel(body, more).replace('i32 2, i32 6, i32 0', 'i32 2, i32 5, i32 0');
const withThreads = (count: number): string =>
  plain.replace('@k, !3, !4}', `@k, !3, !4, !5}\n!5 = !{!"air.max_work_group_size", i32 ${count}}`);

/** So many phis of pointers in a loop. */
const pointerPhis = (count: number): string => {
  const each = (line: (i: number) => string): string => Array.from({ length: count }, (_, i) => line(i)).join('\n');
  return kernel(`  br label %loop
loop:
${each((i) => `  %q${i} = phi i32 addrspace(1)* [ %p0, %entry ], [ %n${i}, %loop ]`)}
${each((i) => `  %n${i} = getelementptr i32, i32 addrspace(1)* %q${i}, i64 1`)}
  %word = load i32, i32 addrspace(1)* %q0, align 4
  %more = icmp eq i32 %word, 0
  br i1 %more, label %loop, label %end
end:`);
};

const barrier = (attributes: string): string =>
  kernel('  call void @air.wg.barrier(i32 2, i32 1)', `declare void @air.wg.barrier(i32, i32) ${attributes}`);

/** Violations of each rule, and similar valid modules. */
const files: Readonly<Record<string, { readonly bad: readonly string[]; readonly good?: readonly string[] }>> = {
  triple: {
    bad: [
      plain.replace('air64-apple-macosx14.0.0', 'arm64-apple-macosx14.0.0'),
      plain.replace('air64-apple-macosx14.0.0', 'air64-apple-linux5.0.0'),
    ],
    good: ['air64-apple-ios17.5.0', 'air64_v28-apple-xros26.0.0-simulator'].map((triple) =>
      plain.replace('air64-apple-macosx14.0.0', triple),
    ),
  },
  'data-layout': { bad: [plain.replace('-n8:16:32', '-n8:16:32:64')] },
  versions: { bad: [plain.replace('!air.language_version', '!air.languages')] },
  level: {
    bad: [
      oldLevel('  %f = bitcast i32 7 to float\n  %n = fneg float %f'),
      oldLevel('  %w = load i32, i32 addrspace(1)* %p0, align 4\n  %n = freeze i32 %w'),
      oldLevel('  store i32 poison, i32 addrspace(1)* %p0, align 4'),
      oldLevel('  %b = bitcast i16 7 to bfloat'),
      oldLevel('  call void @air.f()', 'declare void @air.f() mustprogress'),
    ],
    good: [oldLevel('  store i32 undef, i32 addrspace(1)* %p0, align 4')],
  },
  'no-double': {
    bad: [
      kernel('  %d = bitcast i64 7 to double'),
      kernel('', '@d = internal addrspace(2) constant double 1.0, align 8'),
      airModule([buffer, { type: 'double addrspace(1)*', kind: 'air.buffer' }], ''),
    ],
  },
  'no-i128': { bad: [kernel('  %w = zext i32 7 to i128')] },
  'no-bool-memory': {
    bad: [
      kernel('  %a = alloca i1, align 1\n  store i1 true, i1* %a, align 1'),
      kernel('  %a = alloca i1, align 1\n  %b = load i1, i1* %a, align 1'),
    ],
  },
  'known-functions': {
    bad: [
      kernel('  %x = call float @air.fast_sqrt.f32(i32 7)', 'declare float @air.fast_sqrt.f32(i32)'),
      kernel('  %x = call i64 @cumetal.clock()', 'declare i64 @cumetal.clock()'),
    ],
    good: [kernel('  %x = call float @air.fast_sqrt.f32(float 7.0)', 'declare float @air.fast_sqrt.f32(float)')],
  },
  'convergent-barrier': { bad: [barrier('nounwind')], good: [barrier('convergent nounwind')] },
  'no-generic-pointers': {
    bad: [
      kernel('  %g = addrspacecast i32 addrspace(1)* %p0 to i32*'),
      kernel(
        '  store i32 7, i32* addrspacecast (i32 addrspace(3)* @s to i32*), align 4',
        '@s = internal addrspace(3) global i32 undef, align 4',
      ),
    ],
  },
  'threadgroup-memory': {
    bad: [
      kernel('', '@s = internal addrspace(3) global [8193 x i32] undef, align 4'),
      kernel('', '@s = internal addrspace(3) global i32 7, align 4'),
    ],
    good: [kernel('', '@s = internal addrspace(3) global [8192 x i32] undef, align 4')],
  },
  'global-spaces': { bad: [kernel('', '@g = internal addrspace(1) global i32 7, align 4')] },
  slots: {
    bad: [
      airModule([buffer, buffer], '').replace('"air.location_index", i32 1', '"air.location_index", i32 0'),
      plain.replace('"air.location_index", i32 0', '"air.location_index", i32 31'),
    ],
    good: [plain.replace('"air.location_index", i32 0', '"air.location_index", i32 30')],
  },
  'parameter-types': {
    bad: [
      plain.replace('"air.address_space", i32 1', '"air.address_space", i32 2'),
      airModule([{ type: 'i64', kind: 'air.buffer' }], ''),
      airModule([{ type: 'float', kind: 'air.thread_position_in_grid' }], ''),
    ],
  },
  'integer-widths': { bad: [kernel('  %t = trunc i32 7 to i4'), kernel('  %t = trunc i32 7 to i24')] },
  'vector-widths': {
    bad: [kernel('  %v = insertelement <8 x i16> undef, i16 7, i64 0'), kernel('  %v = insertelement <1 x i32> undef, i32 7, i64 0')],
    good: [
      kernel('  %v = insertelement <4 x i16> undef, i16 7, i64 0'),
      kernel('  %v = insertelement <64 x float> undef, float 7.0, i64 0'),
    ],
  },
  'no-null-store': {
    bad: [
      kernel(
        '  %q = bitcast i32 addrspace(1)* %p0 to i32 addrspace(1)* addrspace(1)*\n  store i32 addrspace(1)* null, i32 addrspace(1)* addrspace(1)* %q, align 8',
      ),
    ],
    good: [kernel('  store i32 0, i32 addrspace(1)* %p0, align 4')],
  },
  'pointer-phis': { bad: [pointerPhis(64)], good: [pointerPhis(63)] },
  'no-trap': {
    bad: [plain.replace('ret void', 'unreachable'), kernel('  call void @llvm.trap()', 'declare void @llvm.trap()')],
  },
  'llvm-functions': {
    bad: [
      kernel('  %x = call float @llvm.sin.f32(float 7.0)', 'declare float @llvm.sin.f32(float)'),
      kernel('  %x = call float @llvm.minimum.f32(float 7.0, float 8.0)', 'declare float @llvm.minimum.f32(float, float)'),
    ],
    good: [
      kernel(
        '  %x = call <2 x i32> @llvm.bitreverse.v2i32(<2 x i32> zeroinitializer)',
        'declare <2 x i32> @llvm.bitreverse.v2i32(<2 x i32>)',
      ),
      kernel(
        '  %x = call { i32, i1 } @llvm.uadd.with.overflow.i32(i32 1, i32 2)',
        'declare { i32, i1 } @llvm.uadd.with.overflow.i32(i32, i32)',
      ),
      kernel('  %x = call i32 @llvm.sadd.sat.i32(i32 1, i32 2)', 'declare i32 @llvm.sadd.sat.i32(i32, i32)'),
    ],
  },
  'copy-spaces': {
    bad: [kernel('', 'declare void @llvm_memcpy_p0i8_p0i8_i32(i8 addrspace(1)*, i8 addrspace(1)*, i32, i1)')],
    good: [
      kernel(
        '  %b = bitcast i32 addrspace(1)* %p0 to i8 addrspace(1)*\n  call void @llvm.memset.p1i8.i64(i8 addrspace(1)* %b, i8 0, i64 4, i1 false)',
        'declare void @llvm.memset.p1i8.i64(i8 addrspace(1)*, i8, i64, i1)',
      ),
    ],
  },
  'simd-widths': {
    bad: [
      kernel(
        '  %x = call i64 @air.simd_shuffle.u.i64(i64 7, i16 1) convergent',
        'declare i64 @air.simd_shuffle.u.i64(i64, i16) convergent',
      ),
      kernel('  %x = call i64 @air.quad_sum.s.i64(i64 7) convergent', 'declare i64 @air.quad_sum.s.i64(i64) convergent'),
    ],
    good: [kernel('  %x = call i64 @air.simd_ballot.i64(i1 true) convergent', 'declare i64 @air.simd_ballot.i64(i1) convergent')],
  },
  atomics: {
    bad: [
      kernel('', 'declare i64 @air.atomic.global.add.u.i64(i64 addrspace(1)*, i64, i32, i32, i1)'),
      kernel('', 'declare void @air.atomic.local.min.u.i64(i64 addrspace(3)*, i64, i32, i32, i1)'),
      kernel('', 'declare float @air.atomic.local.add.f32(float addrspace(3)*, float, i32, i32, i1)'),
    ],
    good: [kernel('', 'declare void @air.atomic.global.min.u.i64(i64 addrspace(1)*, i64, i32, i32, i1)')],
  },
  sections: {
    bad: [
      kernel('', '@c = internal addrspace(2) constant i32 7, section "mine", align 4'),
      plain.replace('%p0) {', '%p0) section "mine" {'),
    ],
    good: [kernel('', '@c = internal addrspace(2) constant i32 7, section "air.fc_initializer", align 4')],
  },
  stack: {
    bad: [
      kernel('  %n = load i32, i32 addrspace(1)* %p0, align 4\n  %a = alloca i32, i32 %n, align 4'),
      kernel('  br label %next\nnext:\n  %a = alloca i32, align 4'),
    ],
    good: [kernel('  %a = alloca [4 x i32], align 4')],
  },
  'no-recursion': {
    bad: [
      kernel('  call void @f()', 'define internal void @f() {\n  call void @f()\n  ret void\n}'),
      kernel(
        '',
        'define internal void @f() {\n  call void @g()\n  ret void\n}\ndefine internal void @g() {\n  call void @f()\n  ret void\n}',
      ),
    ],
    good: [
      kernel(
        '  call void @f()\n  call void @g()',
        'define internal void @f() {\n  call void @g()\n  ret void\n}\ndefine internal void @g() {\n  ret void\n}',
      ),
    ],
  },
  threads: { bad: [withThreads(1025), withThreads(0)], good: [withThreads(1), withThreads(1024)] },
};

/** Names of the rules that a module breaks. */
function broken(text: string): string[] {
  const diagnostics = new Diagnostics();
  const module = readModule(airBitcode(text), diagnostics);
  assert.ok(module, diagnostics.list.map(({ message }) => message).join());
  // LLVM gives its own functions the names that belong to them.
  for (const fn of module!.functions) if (fn.name.startsWith('llvm_')) fn.name = fn.name.replaceAll('_', '.');
  validateAir(module!, diagnostics);
  return [...new Set(diagnostics.list.map(({ message }) => /AIR rule (\S+) is broken/.exec(message)?.[1] ?? message))];
}

test('every rule has files that break it', () => {
  assert.equal(
    airRules.map(({ name }) => name),
    Object.keys(files),
  );
  for (const { bad } of Object.values(files)) assert.ok(bad.length > 0);
});

if (has('llvm-as-14')) test('the kernel that all others are made of breaks none', () => assert.equal(broken(plain), []));

for (const [name, { bad, good = [] }] of Object.entries(files)) {
  need(test, ['llvm-as-14'], `${name}: broken, and nothing else is`, () => {
    for (const text of bad) assert.equal(broken(text), [name], text);
  });
  if (good.length > 0)
    need(test, ['llvm-as-14'], `${name}: what is next to it is no fault`, () => {
      for (const text of good) assert.equal(broken(text), [], text);
    });
}

test.run();
