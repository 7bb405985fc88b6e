/** Barriers: shared memory across barriers in every kind of control flow, values live across them, block shapes and memory windows. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  bytesOf,
  elementOf,
  type Kernel,
  lanesOf,
  type ScalarType,
  scalarTypes,
  sregs,
  type Type,
  type Value,
  vectorOf,
} from '../../src/ir/index.ts';
import { runOnCpu, words, wordsOf } from '../support/cpu.ts';
import { assertSound } from '../support/ir-text.ts';
import { plain, sharedVariable, type Writer, writeKernel } from '../support/kernel-writer.ts';
import { pointerParam, valueParam } from '../support/kernels.ts';

const test = suite('device/barrier');

const out = pointerParam('out', 0, 'i32', 'read_write');
const range = (count: number): number[] => Array.from({ length: count }, (_, i) => i);

/** The words of the kernel's buffer after a launch. */
function run(kernel: Kernel, threads: number, given: readonly number[] = range(threads).map(() => 0), blocks = 1): number[] {
  assertSound(kernel);
  return wordsOf(runOnCpu(kernel, [words(given)], { block: [threads, 1, 1], grid: [blocks, 1, 1] })[0]!);
}

const overOut = (bytes: number, write: (w: Writer, tid: Value, shared: Value) => void): Kernel =>
  writeKernel('k', [out], [sharedVariable('s', bytes)], (w) => write(w, w.sreg('tid.x'), w.shared('s')));

// ── straight code ──

test('a reversal through shared memory, in every block of the grid', () => {
  const kernel = overOut(4 * 64, (w, tid, s) => {
    const gid = w.sreg('gid.x');
    w.put(s, tid, w.get(w.param(0), gid));
    w.b.barrier();
    w.put(w.param(0), gid, w.get(s, w.b.sub(w.i32(63), tid)));
  });
  const given = range(192).map((i) => 1000 + i * i);
  assert.equal(
    run(kernel, 64, given, 3),
    range(192).map((i) => given[64 * Math.floor(i / 64) + 63 - (i % 64)]!),
  );
});

test('barriers first, last, and side by side', () => {
  const kernel = overOut(4 * 8, (w, tid, s) => {
    w.b.barrier();
    w.put(s, tid, w.b.mul(tid, w.i32(10)));
    w.b.barrier();
    w.b.barrier();
    w.put(w.param(0), tid, w.get(s, w.b.xor(tid, w.i32(1))));
    w.b.barrier();
  });
  assert.equal(run(kernel, 8), [10, 0, 30, 20, 50, 40, 70, 60]);
});

test('1024 threads pass a word on, each across a barrier', () => {
  const kernel = overOut(4 * 1024, (w, tid, s) => {
    w.put(s, tid, tid);
    w.b.barrier();
    const next = w.get(s, w.b.and(w.b.add(tid, w.i32(1)), w.i32(1023)));
    w.b.barrier();
    w.put(s, tid, next);
    w.b.barrier();
    w.put(w.param(0), tid, w.get(s, w.b.and(w.b.add(tid, w.i32(1)), w.i32(1023))));
  });
  assert.equal(
    run(kernel, 1024),
    range(1024).map((i) => (i + 2) % 1024),
  );
});

// ── loops ──

/** A tree reduction with a barrier in each step. Thread 0 stores the sum at the block's index. */
function treeSum(threads: number): Kernel {
  return overOut(4 * threads, (w, tid, s) => {
    w.put(s, tid, w.get(w.param(0), w.sreg('gid.x')));
    w.b.barrier();
    w.repeat(
      [w.i32(threads / 2)],
      (half) => w.is(half!, 'ugt', w.i32(0)),
      (half) => {
        w.when(w.is(tid, 'ult', half!), () => w.put(s, tid, w.b.add(w.get(s, tid), w.get(s, w.b.add(tid, half!)))));
        w.b.barrier();
        return [w.b.lshr(half!, w.i32(1))];
      },
    );
    w.when(w.is(tid, 'eq', w.i32(0)), () => w.put(w.param(0), w.b.mul(w.sreg('ctaid.x'), w.i32(threads)), w.get(s, w.i32(0))));
  });
}

test('a tree reduction in a uniform loop', () => {
  const given = range(512).map((i) => (i * 7919) % 1009);
  const sums = run(treeSum(128), 128, given, 4);
  for (const block of range(4))
    assert.is(
      sums[128 * block],
      given.slice(128 * block, 128 * block + 128).reduce((a, b) => a + b),
    );
});

test('a scan: every thread adds the value a power of two before it', () => {
  const kernel = overOut(4 * 32, (w, tid, s) => {
    w.put(s, tid, w.get(w.param(0), tid));
    w.b.barrier();
    w.repeat(
      [w.i32(1)],
      (step) => w.is(step!, 'ult', w.i32(32)),
      (step) => {
        const isFar = w.is(tid, 'uge', step!);
        const before = w.get(s, w.b.select(isFar, w.b.sub(tid, step!), tid));
        w.b.barrier();
        w.when(isFar, () => w.put(s, tid, w.b.add(w.get(s, tid), before)));
        w.b.barrier();
        return [w.b.shl(step!, w.i32(1))];
      },
    );
    w.put(w.param(0), tid, w.get(s, tid));
  });
  const given = range(32).map((i) => i * i - 3);
  assert.equal(
    run(kernel, 32, given),
    given.map((_, i) => given.slice(0, i + 1).reduce((a, b) => a + b)),
  );
});

test('nested loops with barriers: each thread visits all others, twice', () => {
  const kernel = overOut(4 * 8, (w, tid, s) => {
    const [sum] = w.repeat(
      [w.i32(0), w.i32(0)],
      (_, round) => w.is(round!, 'ult', w.i32(2)),
      (sum, round) => {
        w.put(s, tid, w.b.add(w.b.mul(round!, w.i32(100)), tid));
        w.b.barrier();
        const [inner] = w.repeat(
          [sum!, w.i32(0)],
          (_, i) => w.is(i!, 'ult', w.i32(8)),
          (acc, i) => {
            const read = w.get(s, w.b.and(w.b.add(tid, i!), w.i32(7)));
            w.b.barrier();
            return [w.b.add(w.b.mul(acc!, w.i32(3)), read), w.b.add(i!, w.i32(1))];
          },
        );
        return [inner!, w.b.add(round!, w.i32(1))];
      },
    );
    w.put(w.param(0), tid, sum!);
  });
  const expected = range(8).map((tid) => {
    let sum = 0;
    for (const round of [0, 1]) for (const i of range(8)) sum = (Math.imul(sum, 3) + 100 * round + ((tid + i) % 8)) | 0;
    return sum;
  });
  assert.equal(run(kernel, 8), expected);
});

test('a loop with a barrier whose trip count is a parameter', () => {
  const kernel = writeKernel('k', [out, valueParam('n', 1, 'i32')], [sharedVariable('s', 4)], (w) => {
    const tid = w.sreg('tid.x');
    const n = w.b.load('i32', w.b.param('ptr.param', { index: 1 }), plain);
    const s = w.shared('s');
    const [sum] = w.repeat(
      [w.i32(0), w.i32(0)],
      (_, i) => w.is(i!, 'ult', n),
      (sum, i) => {
        w.when(w.is(tid, 'eq', w.b.urem(i!, w.i32(4))), () => w.put(s, w.i32(0), w.b.add(tid, w.i32(10))));
        w.b.barrier();
        const read = w.get(s, w.i32(0));
        w.b.barrier();
        return [w.b.add(sum!, read), w.b.add(i!, w.i32(1))];
      },
    );
    w.put(w.param(0), tid, sum!);
  });
  assert.equal(wordsOf(runOnCpu(kernel, [words([0, 0, 0, 0]), words([6])], { block: [4, 1, 1] })[0]!), [67, 67, 67, 67]);
});

test('300 consecutive barriers, each with a word passed on', () => {
  for (const isDivergent of [false, true]) {
    const kernel = overOut(4 * 8, (w, tid, s) => {
      let word = tid;
      if (isDivergent) w.when(w.is(tid, 'eq', w.i32(9)), () => w.leave());
      for (let i = 0; i < 150; i++) {
        w.put(s, tid, word);
        w.b.barrier();
        word = w.b.add(w.get(s, w.b.and(w.b.add(tid, w.i32(1)), w.i32(7))), w.i32(i));
        w.b.barrier();
      }
      w.put(w.param(0), tid, word);
    });
    // 150 steps to the right are 6 of 8; 0 + 1 + ... + 149 were added.
    assert.equal(
      run(kernel, 8),
      range(8).map((t) => ((t + 6) % 8) + (150 * 149) / 2),
    );
  }
});

// ── divergent code ──

test('threads wait for each other at different barriers', () => {
  const kernel = overOut(4 * 8, (w, tid, s) => {
    const isEven = w.is(w.b.and(tid, w.i32(1)), 'eq', w.i32(0));
    const partner = w.b.xor(tid, w.i32(1));
    w.when(
      isEven,
      () => {
        w.put(s, tid, w.b.add(tid, w.i32(100)));
        w.b.barrier();
        w.put(w.param(0), tid, w.get(s, partner));
      },
      () => {
        w.put(s, tid, w.b.add(tid, w.i32(200)));
        w.b.barrier();
        w.put(w.param(0), tid, w.b.mul(w.get(s, partner), w.i32(2)));
      },
    );
  });
  assert.equal(run(kernel, 8), [201, 200, 203, 204, 205, 208, 207, 212]);
});

test('a barrier does not wait for threads that have exited', () => {
  const kernel = overOut(4 * 16, (w, tid, s) => {
    w.put(s, tid, w.b.add(tid, w.i32(1)));
    w.when(w.is(tid, 'uge', w.i32(10)), () => w.leave());
    w.b.barrier();
    w.when(w.is(w.b.and(tid, w.i32(1)), 'eq', w.i32(1)), () => w.leave());
    w.put(s, tid, w.b.add(w.get(s, tid), w.get(s, w.b.add(tid, w.i32(5)))));
    w.b.barrier();
    w.put(w.param(0), tid, w.b.add(w.get(s, tid), w.i32(1000)));
  });
  // Even threads below 10: (t + 1) + (t + 6); threads from 10 on wrote before they exited.
  assert.equal(
    run(kernel, 16),
    range(16).map((t) => (t < 10 && t % 2 === 0 ? 1000 + 2 * t + 7 : 0)),
  );
});

test('early exits do not affect the next block', () => {
  const kernel = overOut(4 * 8, (w, tid, s) => {
    const gid = w.sreg('gid.x');
    w.put(s, tid, gid);
    w.when(w.is(tid, 'uge', w.b.add(w.sreg('ctaid.x'), w.i32(2))), () => w.leave());
    w.b.barrier();
    w.put(w.param(0), gid, w.b.add(w.get(s, w.b.xor(tid, w.i32(1))), w.i32(1)));
  });
  assert.equal(
    run(kernel, 8, Array(40).fill(0), 5),
    range(40).map((g) => (g % 8 < Math.floor(g / 8) + 2 ? (g ^ 1) + 1 : 0)),
  );
});

test('all threads but one exit, and it passes the barriers alone', () => {
  const kernel = overOut(4, (w, tid, s) => {
    w.when(w.is(tid, 'ne', w.i32(3)), () => w.leave());
    const [n] = w.repeat(
      [w.i32(0)],
      (i) => w.is(i!, 'ult', w.i32(20)),
      (i) => {
        w.put(s, w.i32(0), i!);
        w.b.barrier();
        return [w.b.add(w.get(s, w.i32(0)), w.i32(1))];
      },
    );
    w.put(w.param(0), tid, n!);
  });
  assert.equal(run(kernel, 5), [0, 0, 0, 20, 0]);
});

test('a loop with two barriers and a trip count per thread', () => {
  const kernel = overOut(4 * 8, (w, tid, s) => {
    w.put(s, tid, w.i32(0));
    w.b.barrier();
    const [sum] = w.repeat(
      [w.i32(0), w.i32(0)],
      (_, i) => w.is(i!, 'ule', tid),
      (sum, i) => {
        w.put(s, tid, w.b.add(w.get(s, tid), w.i32(1)));
        w.b.barrier();
        const read = w.get(s, w.b.and(w.b.add(tid, w.i32(1)), w.i32(7)));
        w.b.barrier();
        return [w.b.add(sum!, read), w.b.add(i!, w.i32(1))];
      },
    );
    w.put(w.param(0), tid, sum!);
  });
  // In iteration r of t + 1, the neighbor u has counted to r or to its end, u + 1.
  const expected = range(8).map((t) => range(t + 1).reduce((sum, r) => sum + Math.min(r + 1, ((t + 1) % 8) + 1), 0));
  assert.equal(run(kernel, 8), expected);
});

test('some threads wait in a loop for others behind the loop', () => {
  // Threads below 4 pass one barrier and write; the others pass one, read what was written before it, then pass two more.
  const kernel = overOut(4 * 8, (w, tid, s) => {
    w.when(
      w.is(tid, 'ult', w.i32(4)),
      () => {
        w.put(s, tid, w.b.add(tid, w.i32(50)));
        w.b.barrier();
        w.b.barrier();
        w.put(w.param(0), tid, w.get(s, w.b.add(tid, w.i32(4))));
      },
      () => {
        const [sum] = w.repeat(
          [w.i32(0), w.i32(0)],
          (_, i) => w.is(i!, 'ult', w.i32(1)),
          (_, i) => {
            w.b.barrier();
            return [w.get(s, w.b.sub(tid, w.i32(4))), w.b.add(i!, w.i32(1))];
          },
        );
        w.put(s, tid, w.b.mul(sum!, w.i32(2)));
        w.b.barrier();
        w.put(w.param(0), tid, sum!);
      },
    );
  });
  assert.equal(run(kernel, 8), [100, 102, 104, 106, 50, 51, 52, 53]);
});

test('a block of one thread passes barriers', () => {
  assert.equal(run(treeSum(2), 1, [5, 6, 7], 3).slice(0, 1), [5]);
});

// ── values live across barriers ──

const stored = scalarTypes.filter((type) => type !== 'i1');
const liveTypes: Type[] = [...stored, ...stored.flatMap((type) => [vectorOf(type, 2), vectorOf(type, 4)])];

/** Loads one value of each type per thread, passes a barrier, and stores them. */
function liveAcrossBarrier(types: readonly Type[], isDivergent: boolean): Kernel {
  const params = types.flatMap((_, i) => [
    pointerParam(`in${i}`, 2 * i, undefined, 'read'),
    pointerParam(`out${i}`, 2 * i + 1, undefined, 'write'),
  ]);
  return writeKernel('k', params, [], (w) => {
    const tid = w.sreg('tid.x');
    const place = (index: number, type: Type): Value =>
      w.b.ptradd(w.param(index), w.b.mul(w.b.zext('i64', tid), w.b.const('i64', bytesOf(type))));
    const align = (type: Type) => ({ align: bytesOf(elementOf(type)), volatile: false });
    const loaded = types.map((type, i) => w.b.load(type, place(2 * i, type), align(type)));
    const flag = w.is(w.b.and(tid, w.i32(1)), 'eq', w.i32(1));
    const addresses = types.map((type, i) => place(2 * i + 1, type));
    if (isDivergent) w.when(flag, () => void w.b.barrier());
    w.b.barrier();
    types.forEach((type, i) => void w.b.store(addresses[i]!, loaded[i]!, align(type)));
    w.b.barrier();
    w.when(flag, () => void w.b.store(addresses[0]!, loaded[0]!, align(types[0]!)));
  });
}

for (const isDivergent of [false, true])
  test(`values of every type, vectors and pointers included, are live across barriers${isDivergent ? ' in divergent code' : ''}`, () => {
    const kernel = liveAcrossBarrier(liveTypes, isDivergent);
    assertSound(kernel);
    const inputs = liveTypes.map((type, i) => Uint8Array.from({ length: 6 * bytesOf(type) }, (_, j) => (j * 37 + i * 11 + 5) & 0x7f));
    const buffers = runOnCpu(
      kernel,
      inputs.flatMap((bytes) => [bytes, new Uint8Array(bytes.length)]),
      { block: [6, 1, 1] },
    );
    liveTypes.forEach((type, i) => void assert.equal(buffers[2 * i + 1], inputs[i], type));
  });

test('i1 values are live across barriers', () => {
  const kernel = overOut(4, (w, tid) => {
    const bits = range(5).map((bit) => w.is(w.b.and(w.b.lshr(tid, w.i32(bit)), w.i32(1)), 'ne', w.i32(0)));
    w.b.barrier();
    const sum = bits.map((bit, i) => w.b.shl(w.b.zext('i32', bit), w.i32(i))).reduce((a, b) => w.b.add(a, b));
    w.put(w.param(0), tid, sum);
  });
  assert.equal(run(kernel, 32), range(32));
});

test('a sum of floats and 64-bit integers is live across 10 barriers', () => {
  const scalars: ScalarType[] = ['i64', 'f64', 'f32'];
  const kernel = writeKernel('k', [pointerParam('out', 0, undefined, 'write')], [], (w) => {
    const tid = w.sreg('tid.x');
    const step = (type: ScalarType): Value => (type === 'i64' ? w.b.zext('i64', tid) : w.b.uitofp(type, tid));
    const carried = w.repeat(
      [w.i32(0), ...scalars.map((type) => w.b.const(type, 0))],
      (i) => w.is(i!, 'ult', w.i32(10)),
      (i, long, double, single) => {
        w.b.barrier();
        return [w.b.add(i!, w.i32(1)), w.b.add(long!, step('i64')), w.b.fadd(double!, step('f64')), w.b.fadd(single!, step('f32'))];
      },
    );
    const base = w.b.ptradd(w.param(0), w.b.mul(w.b.zext('i64', tid), w.b.const('i64', 24)));
    scalars.forEach((_, i) => void w.b.store(w.b.ptradd(base, w.b.const('i64', 8 * i)), carried[i + 1]!, plain));
  });
  const [bytes] = runOnCpu(kernel, [new Uint8Array(24 * 7)], { block: [7, 1, 1] });
  const view = new DataView(bytes!.buffer, bytes!.byteOffset);
  for (const t of range(7)) {
    assert.is(view.getBigInt64(24 * t, true), BigInt(10 * t));
    assert.is(view.getFloat64(24 * t + 8, true), 10 * t);
    assert.is(view.getFloat32(24 * t + 16, true), 10 * t);
  }
});

// ── shapes ──

const blockShapes = [
  [5, 4, 3],
  [64, 1, 1],
  [16, 4, 1],
  [8, 1, 4],
  [1, 33, 2],
  [32, 1, 2],
  [1, 1, 64],
] as const;

for (const [[nx, ny, nz], hasBarrier] of blockShapes.flatMap((shape) => [false, true].map((each) => [shape, each] as const)))
  test(`all special registers in blocks of ${nx}, ${ny}, ${nz}${hasBarrier ? ', after a barrier' : ''}`, () => {
    const kernel = writeKernel('k', [out], [], (w) => {
      if (hasBarrier) w.b.barrier();
      const values = sregs.map((name) => w.sreg(name));
      const blockNumber = w.b.add(
        w.sreg('ctaid.x'),
        w.b.mul(w.sreg('nctaid.x'), w.b.add(w.sreg('ctaid.y'), w.b.mul(w.sreg('nctaid.y'), w.sreg('ctaid.z')))),
      );
      const first = w.b.mul(w.b.add(w.b.mul(blockNumber, w.i32(nx * ny * nz)), w.sreg('tid.linear')), w.i32(sregs.length));
      for (const [i, value] of values.entries()) w.put(w.param(0), w.b.add(first, w.i32(i)), value);
    });
    assertSound(kernel);
    const [gx, gy, gz] = [2, 3, 2];
    const expected: number[] = [];
    for (const cz of range(gz))
      for (const cy of range(gy))
        for (const cx of range(gx))
          for (const z of range(nz))
            for (const y of range(ny))
              for (const x of range(nx)) {
                const linear = x + nx * (y + ny * z);
                const at: Record<string, number> = {
                  'tid.x': x,
                  'tid.y': y,
                  'tid.z': z,
                  'ntid.x': nx,
                  'ntid.y': ny,
                  'ntid.z': nz,
                  'ctaid.x': cx,
                  'ctaid.y': cy,
                  'ctaid.z': cz,
                  'nctaid.x': gx,
                  'nctaid.y': gy,
                  'nctaid.z': gz,
                  laneid: linear % 32,
                  warpid: linear >> 5,
                  nwarpid: Math.ceil((nx * ny * nz) / 32),
                  'tid.linear': linear,
                  'gid.x': cx * nx + x,
                  'gid.y': cy * ny + y,
                  'gid.z': cz * nz + z,
                };
                expected.push(...sregs.map((name) => at[name]!));
              }
    const [bytes] = runOnCpu(kernel, [new Uint8Array(4 * expected.length)], { grid: [gx, gy, gz], block: [nx, ny, nz] });
    assert.equal(wordsOf(bytes!), expected);
  });

// ── windows ──

test('static variables do not overlap, and dynamic shared memory follows them wherever it is declared', () => {
  const variables = [
    sharedVariable('dynamic', 0, { isDynamic: true, align: 16 }),
    sharedVariable('a', 5, { align: 1 }),
    sharedVariable('b', 12),
    sharedVariable('c', 16, { align: 16 }),
  ];
  const kernel = writeKernel('k', [out], variables, (w) => {
    const tid = w.sreg('tid.x');
    // Thread t writes word t of the first, the second, the third, ...; thread 0 writes all bytes of `a`.
    w.when(w.is(tid, 'eq', w.i32(0)), () => {
      for (const i of range(5))
        w.b.store(w.b.ptradd(w.shared('a'), w.b.const('i64', i)), w.b.const('i8', 0xee), { align: 1, volatile: false });
    });
    w.when(w.is(tid, 'ult', w.i32(3)), () => w.put(w.shared('b'), tid, w.b.add(tid, w.i32(200))));
    w.put(w.shared('c'), tid, w.b.add(tid, w.i32(300)));
    w.put(w.shared('dynamic'), tid, w.b.add(tid, w.i32(400)));
    w.b.barrier();
    const other = w.b.xor(tid, w.i32(3));
    w.put(w.param(0), tid, w.get(w.shared('c'), other));
    w.put(w.param(0), w.b.add(tid, w.i32(4)), w.get(w.shared('dynamic'), other));
    w.when(w.is(tid, 'ult', w.i32(3)), () => w.put(w.param(0), w.b.add(tid, w.i32(8)), w.get(w.shared('b'), w.b.sub(w.i32(2), tid))));
    w.when(w.is(tid, 'eq', w.i32(0)), () =>
      w.put(
        w.param(0),
        w.i32(11),
        w.b.zext('i32', w.b.load('i8', w.b.ptradd(w.shared('a'), w.b.const('i64', 4)), { align: 1, volatile: false })),
      ),
    );
  });
  assertSound(kernel);
  const [bytes] = runOnCpu(kernel, [new Uint8Array(48)], { block: [4, 1, 1], dynamicSharedBytes: 16 });
  assert.equal(wordsOf(bytes!), [303, 302, 301, 300, 403, 402, 401, 400, 202, 201, 200, 0xee]);
});

test('dynamic shared memory as a parameter', () => {
  const params = [out, { ...pointerParam('d', 0, undefined, 'read_write'), kind: 'threadgroup' as const, space: 'shared' as const }];
  const kernel = writeKernel('k', params, [sharedVariable('s', 20)], (w) => {
    const tid = w.sreg('tid.x');
    const d = w.b.param('ptr.shared', { index: 1 });
    w.put(w.shared('s'), tid, w.i32(-1));
    w.put(d, tid, w.b.mul(tid, tid));
    w.b.barrier();
    w.put(w.param(0), tid, w.get(d, w.b.sub(w.i32(4), tid)));
  });
  assert.equal(wordsOf(runOnCpu(kernel, [new Uint8Array(20)], { block: [5, 1, 1], dynamicSharedBytes: 20 })[0]!), [16, 9, 4, 1, 0]);
});

test('local memory is per thread, across barriers too', () => {
  const variables = [
    { ...sharedVariable('one', 12), space: 'local' as const },
    { ...sharedVariable('two', 8, { align: 8 }), space: 'local' as const },
  ];
  const kernel = writeKernel('k', [out], variables, (w) => {
    const tid = w.sreg('tid.x');
    const local = (name: string): Value => w.b.variable('ptr.local', { name });
    for (const i of range(3)) w.put(local('one'), w.i32(i), w.b.add(w.b.mul(tid, w.i32(10)), w.i32(i)));
    for (const i of range(2)) w.put(local('two'), w.i32(i), w.b.sub(w.i32(-1), tid));
    w.b.barrier();
    w.put(local('one'), w.i32(1), w.b.add(w.get(local('one'), w.i32(1)), w.get(local('two'), w.i32(1))));
    w.b.barrier();
    const sum = w.b.add(w.get(local('one'), w.i32(0)), w.b.add(w.get(local('one'), w.i32(1)), w.get(local('one'), w.i32(2))));
    w.put(w.param(0), tid, sum);
  });
  // 10t + (10t + 1) + (-1 - t) + (10t + 2)
  assert.equal(
    run(kernel, 40),
    range(40).map((t) => 29 * t + 2),
  );
});

test('local memory, values live across barriers and thread states do not overlap', () => {
  const variables = [{ ...sharedVariable('l', 64), space: 'local' as const }];
  const kernel = writeKernel('k', [out], variables, (w) => {
    const tid = w.sreg('tid.x');
    const local = w.b.variable('ptr.local', { name: 'l' });
    const given = w.get(w.param(0), tid);
    for (const i of range(16)) w.put(local, w.i32(i), w.b.mul(given, w.i32(i + 1)));
    w.when(w.is(w.b.and(tid, w.i32(1)), 'eq', w.i32(0)), () => void w.b.barrier());
    w.b.barrier();
    for (const i of range(16)) w.put(local, w.i32(i), w.b.add(w.get(local, w.i32(i)), given));
    w.b.barrier();
    const sum = range(16).map((i) => w.get(local, w.i32(i)));
    w.put(
      w.param(0),
      tid,
      sum.reduce((a, b) => w.b.add(a, b)),
    );
  });
  // Each of 16 words is (i + 2) times its input.
  assert.equal(
    run(
      kernel,
      24,
      range(24).map((t) => 100 - t),
    ),
    range(24).map((t) => (136 + 16) * (100 - t)),
  );
});

test('constant memory has its initial bytes in every launch', () => {
  const variables = [
    { ...sharedVariable('bytes', 3, { align: 1, init: Uint8Array.of(1, 2, 3) }), space: 'constant' as const },
    { ...sharedVariable('table', 16, { init: words([10, 20, -30, 40]) }), space: 'constant' as const },
    { ...sharedVariable('zero', 4), space: 'constant' as const },
  ];
  const kernel = writeKernel('k', [out], variables, (w) => {
    const tid = w.sreg('tid.x');
    const constant = (name: string): Value => w.b.variable('ptr.constant', { name });
    const byte = w.b.load('i8', w.b.ptradd(constant('bytes'), w.b.const('i64', 2)), { align: 1, volatile: false });
    const sum = w.b.add(w.get(constant('table'), tid), w.b.zext('i32', byte));
    w.put(w.param(0), tid, w.b.add(sum, w.get(constant('zero'), w.i32(0))));
  });
  assert.equal(run(kernel, 4), [13, 23, -27, 43]);
});

test('ptrtoint of a shared, constant or local address is its offset in the window', () => {
  const variables = [sharedVariable('s0', 12), sharedVariable('s1', 12), { ...sharedVariable('l0', 8), space: 'local' as const }];
  const kernel = writeKernel('k', [out], [...variables, { ...sharedVariable('l1', 8), space: 'local' as const }], (w) => {
    const tid = w.sreg('tid.x');
    const s = w.b.ptrtoint('i64', w.shared('s1'));
    const l = w.b.ptrtoint('i64', w.b.variable('ptr.local', { name: 'l1' }));
    w.b.barrier();
    // Through the integers, and without any address: s1 starts at offset 12.
    w.put(w.b.inttoptr('ptr.shared', s), tid, w.b.add(tid, w.i32(7)));
    w.put(w.b.inttoptr('ptr.local', l), w.i32(1), tid);
    w.b.barrier();
    const read = w.get(w.b.inttoptr('ptr.shared', w.b.const('i64', 12)), w.b.sub(w.i32(2), tid));
    const own = w.get(w.b.inttoptr('ptr.local', w.b.const('i64', 8)), w.i32(1));
    const offsets = w.b.add(w.b.mul(w.b.trunc('i32', s), w.i32(100)), w.b.trunc('i32', l));
    w.put(w.param(0), tid, w.b.add(w.b.mul(offsets, w.i32(1000)), w.b.add(w.b.mul(read, w.i32(10)), own)));
  });
  assert.equal(run(kernel, 3), [1208090, 1208081, 1208072]);
});

test('vector elements are passed through shared memory', () => {
  const kernel = writeKernel('k', [out], [sharedVariable('s', 64, { align: 16 })], (w) => {
    const tid = w.sreg('tid.x');
    const wide = { align: 16, volatile: false };
    const lanes = range(4).map((i) => w.b.add(w.b.mul(tid, w.i32(4)), w.i32(i)));
    const at = (index: Value): Value => w.b.ptradd(w.shared('s'), w.b.mul(w.b.zext('i64', index), w.b.const('i64', 16)));
    w.b.store(at(tid), w.b.vec4('v4.i32', ...(lanes as [Value, Value, Value, Value])), wide);
    w.b.barrier();
    const read = w.b.load('v4.i32', at(w.b.sub(w.i32(3), tid)), wide);
    assert.is(lanesOf('v4.i32'), 4);
    w.put(w.param(0), tid, w.b.sub(w.b.extract('i32', read, { lane: 3 }), w.b.extract('i32', read, { lane: 1 })));
    w.put(w.param(0), w.b.add(tid, w.i32(4)), w.b.extract('i32', read, { lane: 2 }));
  });
  assert.equal(run(kernel, 4, range(8)), [2, 2, 2, 2, 14, 10, 6, 2]);
});

test.run();
