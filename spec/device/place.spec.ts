/** Bytes of a buffer that the host writes where they are: a kernel reads them, and the sanitizer knows which ones were written. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import { compile } from '../../src/compile/index.ts';
import { openCpuDevice } from '../../src/device/index.ts';

const test = suite('device/place');

/** Copies a word of 4 bytes for each thread. */
const source = new SourceFile(
  'copy.ptx',
  `.version 8.0
.target sm_80
.address_size 64
.visible .entry copy(.param .u64 from, .param .u64 to) {
  .reg .u64 %a<4>; .reg .u32 %r<3>;
  ld.param.u64 %a1, [from]; ld.param.u64 %a2, [to];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %a3, %r1, 4;
  add.u64 %a1, %a1, %a3; add.u64 %a2, %a2, %a3;
  ld.global.u32 %r2, [%a1];
  st.global.u32 [%a2], %r2;
  ret;
}`,
);

test('what is written in place is read, and what is not counts as uninitialized', () => {
  const diagnostics = new Diagnostics(source);
  const device = openCpuDevice({ threads: 1 });
  const module = device.load(compile(source, { target: 'cpu', marks: true, sanitize: true }, diagnostics)!.metallib, diagnostics)!;
  const [from, to] = [device.allocate(256, diagnostics)!, device.allocate(256, diagnostics)!];
  from.place!(0, 64).fill(7);
  const codes = (threads: number): string[] => {
    const own = new Diagnostics(source);
    const args = [from, to].map((buffer) => ({ kind: 'buffer', buffer }) as const);
    const sanitize = { kinds: new Set(['init'] as const), source };
    const shape = { grid: [1, 1, 1], block: [threads, 1, 1], dynamicSharedBytes: 0, timeoutMs: 10_000 } as const;
    module.launch({ kernel: 'copy', ...shape, args, sanitize }, own);
    return [...new Set(own.list.map(({ code }) => code))];
  };
  assert.equal(codes(16), []);
  assert.equal([...to.read().subarray(0, 64)], new Array(64).fill(7));
  assert.equal(codes(17), ['CM6110'], 'one word behind them');
  device.close();
});

test.run();
