/** fma in the mode `fast`: two roundings of single and double precision, for values that vary in a lane group and for those that do not. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Device } from '../../src/api/index.ts';
import { fmaMode } from '../../src/device/cpu/fma-support.ts';
import { splitMix64 } from '../../src/runtime/rand.ts';

const test = suite('engine/fma-fast');
const threads = 64;
const draw = splitMix64(11n);

/** Each thread's a * b + c, and the same of thread 0's operands, behind each other. */
const kernelOf = (type: 'f32' | 'f64'): string => {
  const [r, size] = type === 'f32' ? ['f', 4] : ['fd', 8];
  const bytes = threads * size;
  return `.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 p) {
  .reg .u64 %a<3>; .reg .u32 %i; .reg .${type} %${r}<9>;
  ld.param.u64 %a0, [p];
  mov.u32 %i, %tid.x;
  mad.wide.u32 %a1, %i, ${size}, %a0;
  ld.global.${type} %${r}1, [%a1]; ld.global.${type} %${r}2, [%a1+${bytes}]; ld.global.${type} %${r}3, [%a1+${2 * bytes}];
  fma.rn.${type} %${r}4, %${r}1, %${r}2, %${r}3;
  st.global.${type} [%a1+${3 * bytes}], %${r}4;
  ld.global.${type} %${r}5, [%a0]; ld.global.${type} %${r}6, [%a0+${bytes}]; ld.global.${type} %${r}7, [%a0+${2 * bytes}];
  fma.rn.${type} %${r}8, %${r}5, %${r}6, %${r}7;
  st.global.${type} [%a1+${4 * bytes}], %${r}8;
  ret;
}`;
};

for (const type of ['f32', 'f64'] as const)
  test(`${type}: a product that is rounded before the sum`, async () => {
    if (fmaMode('fast') === 'relaxed') return;
    const round = type === 'f32' ? Math.fround : (value: number): number => value;
    const given = Array.from({ length: 2 * threads }, () => round(Number(draw() >> 11n) / 2 ** 52 - 1));
    // Sums that cancel most of the product, whose bits show how often it was rounded.
    const operands = [...given, ...given.slice(0, threads).map((a, i) => -round(a * given[threads + i]!) * round(1 + 2 ** -20))].map(round);
    const at = (column: number, i: number): number => operands[column * threads + i]!;
    const twice = (i: number): number => round(round(at(0, i) * at(1, i)) + at(2, i));
    using device = Device.open('cpu', { threads: 1, engine: 'simd', fma: 'fast' });
    const buffer = device.bufferOf(type, [...operands, ...new Array<number>(2 * threads).fill(0)]);
    device
      .load(kernelOf(type), { compile: { target: 'cpu' } })
      .kernel('k', [`${type}*`])
      .launch({ grid: 1, block: threads, args: [buffer as never] });
    const results = [...(await buffer.read())].slice(3 * threads);
    const wanted = [...Array.from({ length: threads }, (_, i) => twice(i)), ...new Array<number>(threads).fill(twice(0))];
    assert.equal(results, wanted);
  });

test.run();
