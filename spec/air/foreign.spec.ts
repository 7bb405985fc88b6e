/** Kernel metadata of other compilers: inputs that are no special register, and refusals by name. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { raiseModule, validateAir } from '../../src/air/index.ts';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { readModule } from '../../src/bitcode/index.ts';
import { airBitcode, airLibrary, airModule, buffer } from '../support/air-text.ts';
import { launchMetallib } from '../support/launch.ts';
import { need } from '../support/need.ts';

const test = suite('air of others');

/** Stores words of a thread one behind the other. */
const storeAll = (values: readonly string[]): string =>
  values
    .map(
      (value, i) => `  %at${i} = add i32 %first, ${i}
  %wide${i} = zext i32 %at${i} to i64
  %to${i} = getelementptr i32, i32 addrspace(1)* %p0, i64 %wide${i}
  store i32 ${value}, i32 addrspace(1)* %to${i}, align 4`,
    )
    .join('\n');

need(test, ['llvm-as-14'], 'sizes of the grid, widths, quadgroups', () => {
  const inputs = [
    { type: '<3 x i32>', kind: 'air.threads_per_grid' },
    { type: 'i32', kind: 'air.threads_per_simdgroup' },
    { type: 'i16', kind: 'air.thread_execution_width' },
    { type: 'i32', kind: 'air.thread_index_in_quadgroup' },
    { type: 'i32', kind: 'air.quadgroup_index_in_threadgroup' },
    { type: 'i32', kind: 'air.thread_position_in_grid' },
    { type: 'i16', kind: 'air.quadgroups_per_threadgroup' },
  ];
  const body = `  %x = extractelement <3 x i32> %p1, i64 0
  %y = extractelement <3 x i32> %p1, i64 1
  %short = zext i16 %p3 to i32
  %quads = zext i16 %p7 to i32
  %first = mul i32 %p6, 7
${storeAll(['%x', '%y', '%p2', '%short', '%p4', '%p5', '%quads'])}`;
  const metallib = airLibrary(airModule([buffer, ...inputs], body));
  const [after] = launchMetallib(metallib, { kernel: 'k', blocks: 3, threads: 38, args: [new Uint32Array(3 * 38 * 7)] });
  const words = new Uint32Array(after!.slice().buffer);
  for (let i = 0; i < 114; i++) {
    const thread = i % 38;
    assert.equal([...words.subarray(7 * i, 7 * i + 7)], [114, 1, 32, 32, thread % 4, Math.floor(thread / 4), 10], `thread ${i}`);
  }
});

function judged(text: string): { raised: string; validated: string } {
  const module = readModule(airBitcode(text), new Diagnostics())!;
  const [raising, validating] = [new Diagnostics(), new Diagnostics()];
  raiseModule(module, raising);
  validateAir(module, validating);
  const said = (d: Diagnostics): string => d.list.map((each) => `${each.code} ${each.message}`).join();
  return { raised: said(raising), validated: said(validating) };
}

need(test, ['llvm-as-14'], 'textures are no fault, and refused by their name where a kernel is to run', () => {
  const texture = { type: '%struct._texture_2d_t addrspace(1)*', kind: 'air.texture' };
  const { raised, validated } = judged(airModule([buffer, texture], '', '%struct._texture_2d_t = type opaque'));
  assert.is(validated, '');
  assert.match(raised, /^CM4053 .*`k`.*a parameter of the kind `air\.texture`/);
});

need(test, ['llvm-as-14'], 'a function constant that has to have a value and has none', () => {
  const text = `${airModule([buffer], '')}
@scale.MTL_FC_INIT_3_f = internal unnamed_addr addrspace(2) externally_initialized constant float undef, section "air.fc_initializer", align 4
!air.function_constants = !{!5}
!5 = !{float addrspace(2)* @scale.MTL_FC_INIT_3_f, !"float", !"scale", i32 3, i1 true}
`;
  const { raised, validated } = judged(text);
  assert.is(validated, '');
  assert.match(raised, /^CM4054 kernel `k` needs a value for its function constant `scale`, float, number 3$/);
});

need(test, ['llvm-as-14'], 'the data layout of iOS 11, which has words for floats of 80 bits', () => {
  const text = airModule([buffer], '').replace('-f64:64:64', '-f64:64:64-f80:128:128').replace('-n8:16:32', '-f80:128:128-n8:16:32');
  assert.is(judged(text).validated, '');
  assert.match(judged(text.replace('-v16:16:16', '')).validated, /data-layout/);
});

need(test, ['llvm-as-14'], 'a library with a kernel that is not run: the others are, and the reason is told of that one alone', () => {
  const texture = { type: '%struct._texture_2d_t addrspace(1)*', kind: 'air.texture' };
  const good = airModule([buffer], '  store i32 7, i32 addrspace(1)* %p0, align 4');
  const bad = airModule([buffer, texture], '', '%struct._texture_2d_t = type opaque').replaceAll('@k', '@t');
  const metallib = airLibrary(good, {}, [{ name: 't', bitcode: airBitcode(bad) }]);
  const [after] = launchMetallib(metallib, { kernel: 'k', blocks: 1, threads: 1, args: [new Uint32Array(1)] });
  assert.equal([...after!], [7, 0, 0, 0]);
  assert.throws(
    () => launchMetallib(metallib, { kernel: 't', blocks: 1, threads: 1, args: [new Uint32Array(1)] }),
    /`t` cannot run on this device: a parameter of the kind `air\.texture`/,
  );
});

need(test, ['llvm-as-14'], 'initial values of threadgroup variables are there before the kernel, in each block', () => {
  const body = `  %wide = zext i32 %p1 to i64
  %at = getelementptr [40 x i32], [40 x i32] addrspace(3)* @sums, i64 0, i64 %wide
  %old = load i32, i32 addrspace(3)* %at
  %some = getelementptr <{ i16, [3 x i16] }>, <{ i16, [3 x i16] }> addrspace(3)* @mixed, i64 0, i32 0
  %first = load i16, i16 addrspace(3)* %some
  %word = zext i16 %first to i32
  %sum = add i32 %old, %word
  store i32 99, i32 addrspace(3)* %at
  store i16 5, i16 addrspace(3)* %some
  %g = zext i32 %p2 to i64
  %to = getelementptr i32, i32 addrspace(1)* %p0, i64 %g
  store i32 %sum, i32 addrspace(1)* %to, align 4`;
  const inputs = ['thread_position_in_threadgroup', 'thread_position_in_grid'].map((name) => ({ type: 'i32', kind: `air.${name}` }));
  const globals = `@sums = internal addrspace(3) global [40 x i32] zeroinitializer
@mixed = internal addrspace(3) global <{ i16, [3 x i16] }> <{ i16 700, [3 x i16] zeroinitializer }>, align 2`;
  const metallib = airLibrary(
    airModule(
      [buffer, ...inputs],
      body.replace('  store i16 5', '  call void @air.wg.barrier(i32 2, i32 1)\n  store i16 5'),
      `${globals}\ndeclare void @air.wg.barrier(i32, i32)`,
    ),
  );
  const [after] = launchMetallib(metallib, { kernel: 'k', blocks: 3, threads: 40, args: [new Uint32Array(120)] });
  assert.equal([...new Uint32Array(after!.slice().buffer)], Array(120).fill(700));
});

need(test, ['llvm-as-14'], 'barriers and atomics with an order more, as AIR 2.9 has them', () => {
  const body = `  %slot = getelementptr [1 x i32], [1 x i32] addrspace(3)* @count, i64 0, i64 0
  %old = call i32 @air.atomic.local.add.u.i32(i32 addrspace(3)* %slot, i32 2, i32 0, i32 1, i32 0, i1 false)
  call void @air.wg.barrier(i32 2, i32 5, i32 1)
  %sum = load i32, i32 addrspace(3)* %slot
  %all = call i32 @air.atomic.global.max.u.i32(i32 addrspace(1)* %p0, i32 %sum, i32 0, i32 2, i32 0, i1 false)`;
  const text = airModule(
    [buffer],
    body,
    `@count = internal addrspace(3) global [1 x i32] zeroinitializer
declare void @air.wg.barrier(i32, i32, i32)
declare i32 @air.atomic.local.add.u.i32(i32 addrspace(3)*, i32, i32, i32, i32, i1)
declare i32 @air.atomic.global.max.u.i32(i32 addrspace(1)*, i32, i32, i32, i32, i1)`,
  );
  const [after] = launchMetallib(airLibrary(text), { kernel: 'k', blocks: 2, threads: 50, args: [new Uint32Array(1)] });
  assert.is(new Uint32Array(after!.slice().buffer)[0], 100);
});

need(test, ['llvm-as-14'], 'atomics of 64 bits, which give nothing', () => {
  const text = airModule(
    [
      { type: 'i64 addrspace(1)*', kind: 'air.buffer' },
      { type: 'i32', kind: 'air.thread_position_in_grid' },
    ],
    `  %wide = zext i32 %p1 to i64
  %high = shl i64 %wide, 40
  call void @air.atomic.global.max.u.i64(i64 addrspace(1)* %p0, i64 %high, i32 0, i32 2, i1 true)
  %second = getelementptr i64, i64 addrspace(1)* %p0, i64 1
  call void @air.atomic.global.min.u.i64(i64 addrspace(1)* %second, i64 %high, i32 0, i32 2, i1 true)`,
    ['max', 'min'].map((name) => `declare void @air.atomic.global.${name}.u.i64(i64 addrspace(1)*, i64, i32, i32, i1)`).join('\n'),
  );
  const [after] = launchMetallib(airLibrary(text), { kernel: 'k', blocks: 1, threads: 30, args: [BigUint64Array.of(1n, 2n ** 64n - 1n)] });
  assert.equal([...new BigUint64Array(after!.slice().buffer)], [29n << 40n, 0n]);
});

need(test, ['llvm-as-14'], 'whether a value is uniform is for assumptions alone', () => {
  const uniform = (use: string): string =>
    airModule(
      [buffer],
      `  %x = load i32, i32 addrspace(1)* %p0
  %is = call i1 @air.is_uniform.i32(i32 %x)
  ${use}`,
      'declare i1 @air.is_uniform.i32(i32)\ndeclare void @llvm.assume(i1)',
    );
  assert.is(judged(uniform('call void @llvm.assume(i1 %is)')).raised, '');
  assert.match(
    judged(uniform('%w = zext i1 %is to i32\n  store i32 %w, i32 addrspace(1)* %p0')).raised,
    /^CM4053 .*`air\.is_uniform\.i32`/,
  );
});

need(test, ['llvm-as-14'], 'coherent loads and stores, of vectors too', () => {
  const pointer = '<3 x i32> addrspace(1)*';
  const text = airModule(
    [{ type: pointer, kind: 'air.buffer' }],
    `  %x = call <3 x i32> @air.load.device_coherent.v3i32.p1v3i32(${pointer} %p0)
  %y = add <3 x i32> %x, <i32 1, i32 10, i32 100>
  %to = getelementptr <3 x i32>, ${pointer} %p0, i64 1
  call void @air.store.device_coherent.v3i32.p1v3i32(<3 x i32> %y, ${pointer} %to)`,
    `declare <3 x i32> @air.load.device_coherent.v3i32.p1v3i32(${pointer})
declare void @air.store.device_coherent.v3i32.p1v3i32(<3 x i32>, ${pointer})`,
  );
  const [after] = launchMetallib(airLibrary(text), { kernel: 'k', blocks: 1, threads: 1, args: [Uint32Array.of(1, 2, 3, 4, 5, 6, 7, 8)] });
  assert.equal([...new Uint32Array(after!.slice().buffer)], [1, 2, 3, 4, 2, 12, 103, 8]);
});

need(test, ['llvm-as-14'], 'two threadgroup arguments lie side by side, and are refused (CM5026) without sizes', () => {
  const own = 'i32 addrspace(3)*';
  const text = airModule(
    [
      buffer,
      { type: own, kind: 'air.buffer' },
      { type: own, kind: 'air.buffer' },
      { type: 'i32', kind: 'air.thread_position_in_threadgroup' },
    ],
    `  %wide = zext i32 %p3 to i64
  %a = getelementptr i32, ${own} %p1, i64 %wide
  %b = getelementptr i32, ${own} %p2, i64 %wide
  %x = add i32 %p3, 100
  store i32 %x, ${own} %a
  %y = add i32 %p3, 2000
  store i32 %y, ${own} %b
  call void @air.wg.barrier(i32 2, i32 1)
  %back = sub i64 4, %wide
  %c = getelementptr i32, ${own} %p1, i64 %back
  %d = getelementptr i32, ${own} %p2, i64 %back
  %v = load i32, ${own} %c
  %w = load i32, ${own} %d
  %sum = add i32 %v, %w
  %to = getelementptr i32, i32 addrspace(1)* %p0, i64 %wide
  store i32 %sum, i32 addrspace(1)* %to, align 4`,
    'declare void @air.wg.barrier(i32, i32)',
  );
  const metallib = airLibrary(text);
  const launch = (shared: number | number[]): Uint8Array[] =>
    launchMetallib(metallib, { kernel: 'k', blocks: 1, threads: 5, shared, args: [new Uint32Array(5)] });
  assert.equal([...new Uint32Array(launch([20, 20])[0]!.slice().buffer)], [2108, 2106, 2104, 2102, 2100]);
  assert.throws(() => launch(40), /2 threadgroup arguments, but the launch has 1 sizes/);
  assert.throws(() => launch([20_000, 20_000]), /40000 bytes of shared memory/);
});

need(test, ['llvm-as-14'], 'a reference to memory of the device is a buffer, though its size is known', () => {
  const text = airModule([buffer], '  store i32 41, i32 addrspace(1)* %p0, align 4').replace(
    '!"air.buffer", !"air.location_index"',
    '!"air.buffer", !"air.buffer_size", i32 4, !"air.location_index"',
  );
  const [after] = launchMetallib(airLibrary(text), { kernel: 'k', blocks: 1, threads: 1, args: [new Uint32Array(1)] });
  assert.is(new Uint32Array(after!.slice().buffer)[0], 41);
});

test.run();
