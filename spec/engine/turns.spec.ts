/**
 * Threads of a block take turns at collectives on the scalar path: no warp is ahead of another by more than the code up to the next barrier or
 * collective. Programs whose warps race, which run right on GPUs because these take turns too, count on it.
 */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import { compile } from '../../src/compile/index.ts';
import { type EngineOptions, openCpuDevice } from '../../src/device/index.ts';

const test = suite('engine/turns');

const [turns, warps, threads] = [5, 8, 256];

/** Adds the registers of a warp up. */
const sumOfWarp = [16, 8, 4, 2, 1].map((by) => `shfl.sync.bfly.b32 %other, %sum, ${by}, 31, -1;\n add.u32 %sum, %sum, %other;`).join('\n ');

/**
 * Each thread has (turn + 1) * (thread + 1), and a block adds these up in each turn: warps by shuffles, then their sums by way of shared memory. A
 * barrier at the end of a turn keeps the next one from overwriting what another warp has not read.
 */
const kernel = (barrier: string): string => `.version 7.0
.target sm_80
.address_size 64
.visible .entry sums(.param .u64 out)
{
 .reg .pred %more, %isSum;
 .reg .b32 %t, %lane, %warp, %turn, %sum, %other, %at;
 .reg .b64 %to, %by;
 .shared .align 4 .b32 parts[32];
 ld.param.u64 %to, [out];
 mov.u32 %t, %tid.x;
 and.b32 %lane, %t, 31;
 shr.u32 %warp, %t, 5;
 mul.wide.u32 %by, %t, 4;
 add.u64 %to, %to, %by;
 setp.lt.u32 %isSum, %lane, ${warps};
 mov.u32 %turn, 0;
loop:
 add.u32 %turn, %turn, 1;
 add.u32 %sum, %t, 1;
 mul.lo.u32 %sum, %sum, %turn;
 ${sumOfWarp}
 mov.u32 %at, parts;
 mad.lo.u32 %at, %warp, 4, %at;
 st.shared.u32 [%at], %sum;
 bar.sync 0;
 mov.u32 %at, parts;
 mad.lo.u32 %at, %lane, 4, %at;
 mov.u32 %sum, 0;
 @%isSum ld.shared.u32 %sum, [%at];
 ${sumOfWarp}
 st.global.u32 [%to], %sum;
 add.u64 %to, %to, ${4 * threads};
 ${barrier}
 setp.lt.u32 %more, %turn, ${turns};
 @%more bra loop;
 ret;
}
`;

/** What the kernel writes, by turn and thread. */
function run(ptx: string, options: EngineOptions): number[] {
  const source = new SourceFile('sums.ptx', ptx);
  const diagnostics = new Diagnostics(source);
  const compiled = compile(source, { target: 'cpu' }, diagnostics);
  assert.ok(compiled, diagnostics.list.map(({ message }) => message).join());
  const device = openCpuDevice(options);
  const buffer = device.allocate(4 * turns * threads, diagnostics)!;
  const module = device.load(compiled.metallib, diagnostics)!;
  const shape = { grid: [1, 1, 1], block: [threads, 1, 1], dynamicSharedBytes: 0 } as const;
  assert.ok(module.launch({ kernel: 'sums', ...shape, args: [{ kind: 'buffer', buffer }], timeoutMs: 10_000 }, diagnostics));
  const words = [...new Uint32Array(buffer.read().buffer)];
  device.close();
  return words;
}

const expected = Array.from({ length: turns * threads }, (_, i) => (Math.floor(i / threads) + 1) * ((threads * (threads + 1)) / 2));

test('with a barrier, every engine has the sums', () => {
  for (const options of [{ engine: 'lane' }, { engine: 'simd' }, { engine: 'auto' }] as const)
    assert.equal(run(kernel('bar.sync 0;'), options), expected);
});

test('without it, the scalar path has them, as a GPU', () => {
  assert.equal(run(kernel(''), { engine: 'lane' }), expected);
});

test.run();
