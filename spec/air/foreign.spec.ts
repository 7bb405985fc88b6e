/** What others' compilers have kernels say of themselves: inputs that no register holds, and what is refused by name. */
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
    /`t` cannot be run here: a parameter of the kind `air\.texture`/,
  );
});

test.run();
