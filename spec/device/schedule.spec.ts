/** The order of blocks, warps and threads: results that do not depend on it stay equal, others show it. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import { compile } from '../../src/compile/index.ts';
import { permutationOf } from '../../src/device/cpu/instrument/thread-order/order.ts';
import type { Order } from '../../src/device/device.ts';
import { openCpuDevice } from '../../src/device/index.ts';
import { launch } from '../../src/runtime/index.ts';
import { assertQuiet, compileExample, diskIo, exampleNames, recordedLaunch } from '../support/examples.ts';
import { launchMetallib } from '../support/launch.ts';

const test = suite('device/schedule');

const rand = (seed: number): Order => ({ kind: 'rand', seed });
const orders: readonly Order[] = [{ kind: 'in-order' }, { kind: 'reverse' }, rand(1), rand(7)];

test('an order is a permutation', () => {
  for (const order of orders)
    for (const count of [1, 2, 3, 4, 5, 31, 32, 33, 1000]) {
      const at = permutationOf(order, count, 5);
      const numbers = Array.from({ length: count }, (_, i) => at(i));
      assert.equal(
        [...numbers].sort((a, b) => a - b),
        Array.from({ length: count }, (_, i) => i),
      );
      if (order.kind === 'reverse') assert.is(numbers[0], count - 1);
    }
  const far = permutationOf(rand(3), 2 ** 40, 0);
  assert.is(new Set(Array.from({ length: 1000 }, (_, i) => far(i))).size, 1000);
});

test('seeds give different orders, and a seed always gives the same one', () => {
  const first = (seed: number) => Array.from({ length: 8 }, (_, i) => permutationOf(rand(seed), 1000, 0)(i)).join();
  assert.is(new Set(Array.from({ length: 50 }, (_, seed) => first(seed))).size, 50);
  assert.is(first(2 ** 32 - 1), first(2 ** 32 - 1));
});

/** Stores for each thread how many ran before it: blocks, and threads between two barriers. */
const kernel = (body: string): string => `.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 p, .param .u64 q) {
  .reg .u64 %rd<9>; .reg .u32 %r<19>; .reg .pred %p<9>;
  .shared .align 4 .b8 s[1024];
  ld.param.u64 %rd1, [p]; cvta.to.global.u64 %rd1, %rd1;
  ld.param.u64 %rd4, [q]; cvta.to.global.u64 %rd4, %rd4;
  mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x;
  mad.lo.u32 %r4, %r2, %r3, %r1;
  mul.wide.u32 %rd2, %r4, 4; add.u64 %rd3, %rd1, %rd2;
${body}
  ret;
}
`;

function run(body: string, schedule: Order, blocks = 4, threads = 96): Uint32Array[] {
  const source = new SourceFile('k.ptx', kernel(body));
  const diagnostics = new Diagnostics(source);
  const compiled = compile(source, { target: 'cpu' }, diagnostics);
  if (!compiled) throw new Error(diagnostics.list.map((d) => d.message).join('; '));
  const launched = { kernel: 'k', blocks, threads, args: [new Uint32Array(blocks * threads), new Uint32Array(8)] };
  return launchMetallib(compiled.metallib, launched, { schedule }).map((bytes) => new Uint32Array(bytes.buffer, bytes.byteOffset));
}

const ticket = '  atom.global.add.u32 %r5, [%rd4], 1; st.global.u32 [%rd3], %r5;';

test('tickets of an atomic are drawn in order, in reverse, and by seed', () => {
  const count = 4 * 96;
  const all = Array.from({ length: count }, (_, i) => i);
  assert.equal([...run(ticket, { kind: 'in-order' })[0]!], all);
  assert.equal([...run(ticket, { kind: 'reverse' })[0]!], [...all].reverse());
  const byseed = [...run(ticket, rand(7))[0]!];
  assert.equal(
    [...byseed].sort((a, b) => a - b),
    all,
  );
  assert.equal(byseed, [...run(ticket, rand(7))[0]!]);
  assert.not.equal(byseed, [...run(ticket, rand(8))[0]!]);
  // Blocks run one after the other: each has 96 consecutive tickets.
  for (let block = 0; block < 4; block++) {
    const own = byseed.slice(96 * block, 96 * block + 96);
    assert.is(Math.max(...own) - Math.min(...own), 95);
  }
});

test('the order applies to warps, where threads of a warp synchronize', () => {
  const body = `  and.b32 %r6, %r1, 1; setp.eq.u32 %p1, %r6, 0; @%p1 bra even;
  vote.sync.ballot.b32 %r7, %p1, 0xaaaaaaaa; bra done;
even: vote.sync.ballot.b32 %r7, %p1, 0x55555555;
done: bar.sync 0; ${ticket}`;
  const reversed = [...run(body, { kind: 'reverse' }, 2, 96)[0]!];
  assert.equal(
    reversed,
    Array.from({ length: 192 }, (_, i) => 191 - i),
  );
  const warps = new Set(Array.from({ length: 8 }, (_, seed) => [...run(body, rand(seed), 1, 96)[0]!].map((n) => n >> 5).join('')));
  // Whole warps run one after the other, in several orders.
  for (const order of warps) assert.is(new Set([0, 32, 64].map((at) => order.slice(at, at + 32))).size, 3);
  assert.ok(warps.size > 1);
});

test('a race depends on the order, and does not with a barrier', () => {
  const neighbour = (barrier: string) => `
  mov.u32 %r5, s; shl.b32 %r6, %r1, 2; add.u32 %r7, %r5, %r6; st.shared.u32 [%r7], %r1; ${barrier}
  sub.u32 %r8, 95, %r1; shl.b32 %r8, %r8, 2; add.u32 %r8, %r5, %r8; ld.shared.u32 %r9, [%r8]; st.global.u32 [%rd3], %r9;`;
  const results = (barrier: string) => new Set(orders.map((order) => run(neighbour(barrier), order, 2)[0]!.join()));
  assert.ok(results('').size > 1);
  assert.equal([...results('bar.sync 0;')], [Array.from({ length: 192 }, (_, i) => 95 - (i % 96)).join()]);
});

test('every block of a three-dimensional grid runs once', () => {
  const source = new SourceFile(
    'k.ptx',
    kernel(
      '  mov.u32 %r5, %ctaid.y; mov.u32 %r6, %ctaid.z; mov.u32 %r7, %nctaid.x; mov.u32 %r8, %nctaid.y; mad.lo.u32 %r6, %r6, %r8, %r5; mad.lo.u32 %r6, %r6, %r7, %r2; mul.wide.u32 %rd2, %r6, 4; add.u64 %rd3, %rd1, %rd2; red.global.add.u32 [%rd3], 1;',
    ),
  );
  const { metallib } = compile(source, { target: 'cpu' }, new Diagnostics(source))!;
  for (const schedule of orders) {
    const device = openCpuDevice();
    const diagnostics = new Diagnostics();
    const [counts, other] = [device.allocate(120, diagnostics)!, device.allocate(32, diagnostics)!];
    const args = [counts, other].map((buffer) => ({ kind: 'buffer', buffer }) as const);
    const module = device.load(metallib, diagnostics)!;
    module.launch({ kernel: 'k', grid: [5, 3, 2], block: [1, 1, 1], dynamicSharedBytes: 0, args, timeoutMs: 0, schedule }, diagnostics);
    assertQuiet(diagnostics);
    assert.equal([...new Uint32Array(counts.read().buffer)], Array(30).fill(1));
    device.close();
  }
});

/** Sums of floats by atomics, and positions drawn by an atomic, depend on the order by their nature. */
const inAnyOrder = new Set(['compact']);

for (const name of exampleNames)
  test(`${name} has the same results in any order`, () => {
    const { metallib } = compileExample(name);
    const file = recordedLaunch(name);
    const results = orders.map((schedule) => {
      const device = openCpuDevice();
      const diagnostics = new Diagnostics();
      const module = device.load(metallib, diagnostics)!;
      const outcome = launch(device, module, file, { repeat: 1, timeoutMs: 60_000, schedule }, { io: diskIo, diagnostics });
      assertQuiet(diagnostics);
      device.close();
      return outcome!.outputs.map(({ bytes }) => (inAnyOrder.has(name) ? bytes.slice().sort() : bytes));
    });
    for (const each of results) assert.equal(each, results[0]);
  });

test.run();
