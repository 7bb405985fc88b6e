/** Control flow on the CPU device: small control-flow graphs with results worked out by hand, and random graphs against the interpreter. */
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { planOf } from '../../src/engine/codegen/plan.ts';
import { addBlock, builder, emptyKernel, type Kernel, printKernel, type Value } from '../../src/ir/index.ts';
import { interpret, type Thread } from '../../src/ir/interpret.ts';
import { runOn } from '../support/both-engines.ts';
import { runOnCpu, words, wordsOf } from '../support/cpu.ts';
import { assertSound, kernelOf } from '../support/ir-text.ts';
import { pointerParam } from '../support/kernels.ts';
import { randomFlow } from '../support/random-flow.ts';
import { inputSize, outputSize, randomKernel } from '../support/random-kernel.ts';

const test = suite('engine/predication');

/**
 * A kernel with the parameter `out`. In its entry block, %1 is the address of the thread's word, %2 the thread id in the block as i32, and
 * %10 to %15 are 0 to 5. The first line of `blocks` ends the entry block.
 */
const text = (blocks: string): string => `kernel "k" {
  param "out" pointer global size 4 align 4 slot 0
b0:
  %0 = param ptr.global {index: 0}
  %2 = sreg i32 {name: tid.x}
  %3 = zext i64 %2
  %4 = const i64 4
  %5 = mul i64 %3, %4
  %1 = ptradd ptr.global %0, %5
  %10 = const i32 0
  %11 = const i32 1
  %12 = const i32 2
  %13 = const i32 3
  %14 = const i32 4
  %15 = const i32 5
  ${blocks.trim()}
}
`;

/** The word that each thread stores, which has to be the same with and without lane groups, and in the interpreter. */
function results(kernel: string, threads: number, scalarReason?: string): number[] {
  const { bytes: out } = runOn('lane', kernelOf(kernel), 1, threads, 4 * threads);
  const ofGroups = runOn('simd', kernelOf(kernel), 1, threads, 4 * threads);
  assert.is(ofGroups.scalarReason, scalarReason);
  assert.equal(ofGroups.bytes, out, 'lane groups agree');
  const reference = new Uint8Array(4 * threads);
  for (let tid = 0; tid < threads; tid++) {
    const thread: Thread = { memory: { global: reference }, params: [0n], variables: {}, sregs: { 'tid.x': tid }, limit: 1e5 };
    assert.equal(interpret(kernelOf(kernel), thread), { ended: 'return' });
  }
  assert.equal(out, reference, 'the interpreter agrees');
  return wordsOf(out);
}

const check = (name: string, blocks: string, expected: (tid: number) => number, threads = 8): void =>
  test(name, () => {
    assert.equal(
      results(text(blocks), threads, name.includes('irreducible') ? 'an irreducible loop' : undefined),
      Array.from({ length: threads }, (_, tid) => expected(tid) | 0),
    );
  });

check(
  'an if-else that joins in a block parameter',
  `%20 = icmp i1 %2, %13 {pred: ult}
  condbr %20, b1, b2
b1:
  %21 = mul i32 %2, %12
  br b3(%21)
b2:
  %22 = add i32 %2, %15
  br b3(%22)
b3(%23: i32):
  store %1, %23 {align: 4, volatile: false}
  ret`,
  (t) => (t < 3 ? 2 * t : t + 5),
);

check(
  'a conditional branch with one target and different arguments',
  `%20 = icmp i1 %2, %14 {pred: ult}
  condbr %20, b1(%11, %2), b1(%2, %12)
b1(%21: i32, %22: i32):
  %23 = sub i32 %21, %22
  store %1, %23 {align: 4, volatile: false}
  ret`,
  (t) => (t < 4 ? 1 - t : t - 2),
);

check(
  'threads that exit early store nothing',
  `%20 = and i32 %2, %11
  %21 = icmp i1 %20, %10 {pred: eq}
  condbr %21, b1, b2
b1:
  ret
b2:
  store %1, %2 {align: 4, volatile: false}
  ret`,
  (t) => (t % 2 === 0 ? 0 : t),
);

check(
  'a do-while loop with a trip count per thread',
  `br b1(%10, %10)
b1(%20: i32, %21: i32):
  %22 = add i32 %21, %20
  %23 = add i32 %20, %11
  %24 = icmp i1 %23, %2 {pred: ule}
  condbr %24, b1(%23, %22), b2
b2:
  store %1, %22 {align: 4, volatile: false}
  ret`,
  (t) => (t * (t + 1)) / 2,
);

check(
  'three nested loops with different trip counts',
  `br b1(%10, %10)
b1(%20: i32, %21: i32):
  %22 = icmp i1 %20, %2 {pred: ult}
  condbr %22, b2(%10, %21), b9
b2(%30: i32, %31: i32):
  %32 = icmp i1 %30, %13 {pred: ult}
  condbr %32, b3(%10, %31), b8
b3(%40: i32, %41: i32):
  %42 = icmp i1 %40, %20 {pred: ule}
  condbr %42, b4, b7
b4:
  %43 = add i32 %41, %30
  %44 = add i32 %40, %11
  br b3(%44, %43)
b7:
  %45 = add i32 %30, %11
  br b2(%45, %41)
b8:
  %46 = add i32 %20, %11
  br b1(%46, %31)
b9:
  store %1, %21 {align: 4, volatile: false}
  ret`,
  // Sum over i below t, j below 3, k up to i, of j: 3 (i + 1) for each i.
  (t) => (3 * t * (t + 1)) / 2,
);

check(
  'a loop with two exits',
  `br b1(%10)
b1(%20: i32):
  %21 = mul i32 %20, %20
  %22 = icmp i1 %21, %2 {pred: eq}
  condbr %22, b3, b2
b2:
  %23 = icmp i1 %21, %2 {pred: ugt}
  %24 = add i32 %20, %11
  condbr %23, b4, b1(%24)
b3:
  store %1, %20 {align: 4, volatile: false}
  ret
b4:
  %25 = sub i32 %10, %20
  store %1, %25 {align: 4, volatile: false}
  ret`,
  // The root where it is an integer, else minus the root rounded up.
  (t) => (Number.isInteger(Math.sqrt(t)) ? Math.sqrt(t) : -Math.ceil(Math.sqrt(t))),
  20,
);

check(
  'block parameters that are permuted by the back edge',
  `br b1(%10, %11, %12, %13)
b1(%20: i32, %21: i32, %22: i32, %23: i32):
  %24 = add i32 %20, %11
  %25 = icmp i1 %20, %2 {pred: ult}
  condbr %25, b1(%24, %22, %23, %21), b2
b2:
  %26 = mul i32 %21, %15
  %27 = add i32 %26, %22
  %28 = mul i32 %27, %15
  %29 = add i32 %28, %23
  store %1, %29 {align: 4, volatile: false}
  ret`,
  (t) => [25 + 10 + 3, 50 + 15 + 1, 75 + 5 + 2][t % 3]!,
);

check(
  'a loop whose exit uses the parameter of the previous iteration',
  `br b1(%15, %10)
b1(%20: i32, %21: i32):
  %22 = add i32 %21, %11
  %23 = icmp i1 %21, %2 {pred: ult}
  condbr %23, b1(%21, %22), b2
b2:
  store %1, %20 {align: 4, volatile: false}
  ret`,
  (t) => (t === 0 ? 5 : t - 1),
);

check(
  'a critical edge from a branch to a join',
  `%20 = icmp i1 %2, %12 {pred: ult}
  condbr %20, b3(%11), b1
b1:
  %21 = icmp i1 %2, %14 {pred: ult}
  condbr %21, b3(%12), b2
b2:
  br b3(%13)
b3(%22: i32):
  store %1, %22 {align: 4, volatile: false}
  ret`,
  (t) => (t < 2 ? 1 : t < 4 ? 2 : 3),
);

check(
  'an irreducible loop whose entry depends on the thread',
  `%20 = and i32 %2, %11
  %21 = icmp i1 %20, %10 {pred: eq}
  condbr %21, b1(%10, %10), b2(%10, %10)
b1(%22: i32, %23: i32):
  %24 = add i32 %23, %11
  %25 = add i32 %22, %11
  %26 = icmp i1 %25, %15 {pred: ult}
  condbr %26, b2(%25, %24), b3(%24)
b2(%27: i32, %28: i32):
  %29 = const i32 100
  %30 = add i32 %28, %29
  %31 = add i32 %27, %11
  %32 = icmp i1 %31, %14 {pred: ult}
  condbr %32, b1(%31, %30), b3(%30)
b3(%33: i32):
  store %1, %33 {align: 4, volatile: false}
  ret`,
  // Even: b1 b2 b1 b2 and out at 4; odd: b2 b1 b2 b1 b2 and out at 5.
  (t) => (t % 2 === 0 ? 2 + 200 : 2 + 300),
);

check(
  'an irreducible loop in a loop, with values live across it',
  `%60 = mul i32 %2, %2
  br b1(%10, %10)
b1(%20: i32, %21: i32):
  %22 = and i32 %20, %11
  %23 = icmp i1 %22, %10 {pred: eq}
  condbr %23, b2(%21), b3(%21)
b2(%24: i32):
  %25 = add i32 %24, %60
  %26 = and i32 %25, %11
  %27 = icmp i1 %26, %10 {pred: eq}
  condbr %27, b4(%25), b3(%25)
b3(%28: i32):
  %29 = add i32 %28, %11
  %30 = and i32 %29, %11
  %31 = icmp i1 %30, %10 {pred: eq}
  condbr %31, b4(%29), b2(%29)
b4(%32: i32):
  %33 = add i32 %20, %11
  %34 = icmp i1 %33, %14 {pred: ult}
  condbr %34, b1(%33, %32), b5
b5:
  store %1, %32 {align: 4, volatile: false}
  ret`,
  (t) => {
    let sum = 0;
    for (let i = 0; i < 4; i++) {
      let at = i % 2 === 0 ? 2 : 3;
      for (;;) {
        sum += at === 2 ? t * t : 1;
        if (sum % 2 === 0) break;
        at = 5 - at;
      }
    }
    return sum;
  },
);

/** What a thread's word becomes as its counter goes from 0 below 8 t + 8, by 1 or 2 at a time; by 2, `more` is added. */
const counted =
  (more: number) =>
  (t: number): number => {
    let word = 0;
    for (let i = 0, by = 1; i < 8 * t + 8; i += by) {
      by = ((i ^ t) & 2) === 0 ? 1 : 2;
      word = (Math.imul(word, 3) + i + (by === 2 ? more : 0)) | 0;
    }
    return word;
  };

/** Loads a thread's word, multiplies it by 3, adds the counter, and asks which way the counter goes on. */
const step = `%21 = load i32 %1 {align: 4, volatile: false}
  %22 = mul i32 %21, %13
  %23 = add i32 %22, %20
  store %1, %23 {align: 4, volatile: false}
  %24 = xor i32 %20, %2
  %25 = and i32 %24, %12
  %26 = icmp i1 %25, %10 {pred: eq}`;

check(
  'two latches of a loop set a parameter that only the loop uses, each in its own lanes',
  `%16 = const i32 8
  br b1(%10)
b1(%20: i32):
  ${step}
  %17 = mul i32 %2, %16
  %19 = add i32 %17, %16
  condbr %26, b2, b3
b2:
  %30 = add i32 %20, %11
  %31 = icmp i1 %30, %19 {pred: slt}
  condbr %31, b1(%30), b4
b3:
  %34 = add i32 %23, %15
  store %1, %34 {align: 4, volatile: false}
  %32 = add i32 %20, %12
  %33 = icmp i1 %32, %19 {pred: slt}
  condbr %33, b1(%32), b4
b4:
  ret`,
  counted(5),
);

check(
  'a latch with two back edges sets a parameter that only the loop uses, each edge in its own lanes',
  `%16 = const i32 8
  br b1(%10)
b1(%20: i32):
  %17 = mul i32 %2, %16
  %19 = add i32 %17, %16
  %18 = icmp i1 %20, %19 {pred: slt}
  condbr %18, b2, b4
b2:
  ${step}
  %30 = add i32 %20, %11
  %32 = add i32 %20, %12
  condbr %26, b1(%30), b1(%32)
b4:
  ret`,
  counted(0),
);

check(
  'the latch of a loop is in the middle of an inner loop, where other lanes stay with the counter of both',
  `br b1(%10)
b1(%20: i32):
  %21 = add i32 %2, %14
  %22 = icmp i1 %20, %21 {pred: slt}
  condbr %22, b2(%10), b5
b2(%30: i32):
  %31 = load i32 %1 {align: 4, volatile: false}
  %32 = mul i32 %31, %13
  %33 = add i32 %32, %20
  %34 = add i32 %33, %30
  store %1, %34 {align: 4, volatile: false}
  %35 = xor i32 %20, %2
  %36 = and i32 %35, %13
  %37 = add i32 %20, %11
  %38 = icmp i1 %30, %36 {pred: sge}
  condbr %38, b1(%37), b4
b4:
  %40 = add i32 %30, %11
  br b2(%40)
b5:
  ret`,
  (t) => {
    let word = 0;
    for (let i = 0; i < t + 4; i++) for (let j = 0; j <= ((i ^ t) & 3); j++) word = (Math.imul(word, 3) + i + j) | 0;
    return word;
  },
);

check(
  'a loop of one block beside an unreachable block',
  `br b2(%10)
b1:
  br b1
b2(%20: i32):
  %21 = add i32 %20, %12
  %22 = icmp i1 %21, %2 {pred: ult}
  condbr %22, b2(%21), b3
b3:
  store %1, %21 {align: 4, volatile: false}
  ret`,
  (t) => Math.max(2, Math.ceil(t / 2) * 2),
);

// ── large graphs ──

/** out = tid, then for each i: `if (bit of x) x = 3x + i else x = x ^ i`, in a chain of diamonds. */
function diamonds(count: number): Kernel {
  const kernel = emptyKernel('diamonds');
  kernel.params.push(pointerParam('out', 0, 'i32', 'write'));
  const b = builder(kernel, addBlock(kernel));
  const tid = b.sreg('i32', { name: 'tid.x' });
  const one = b.const('i32', 1);
  let x: Value = tid;
  for (let i = 0; i < count; i++) {
    const [left, right, join] = [addBlock(kernel), addBlock(kernel), addBlock(kernel)];
    const cond = b.icmp(b.and(x, one), one, { pred: 'eq' });
    b.block.end = { op: 'condbr', cond, then: { block: left, args: [] }, else: { block: right, args: [] } };
    b.block = left;
    left.end = { op: 'br', to: { block: join, args: [b.add(b.mul(x, b.const('i32', 3)), b.const('i32', i))] } };
    b.block = right;
    right.end = { op: 'br', to: { block: join, args: [b.xor(x, b.const('i32', i))] } };
    kernel.insts.push({ op: 'arg', type: 'i32' });
    kernel.locs.push(undefined);
    x = (kernel.insts.length - 1) as Value;
    join.params.push(x);
    b.block = join;
  }
  b.store(b.ptradd(b.param('ptr.global', { index: 0 }), b.mul(b.zext('i64', tid), b.const('i64', 4))), x, { align: 4, volatile: false });
  return kernel;
}

test('3000 diamonds in a chain', () => {
  const expected = Array.from({ length: 4 }, (_, tid) => {
    let x = tid;
    for (let i = 0; i < 3000; i++) x = x & 1 ? (Math.imul(x, 3) + i) | 0 : x ^ i;
    return x;
  });
  const [out] = runOnCpu(diamonds(3000), [new Uint8Array(16)], { block: [4, 1, 1] });
  assert.equal(wordsOf(out!), expected);
});

/** `if (x < 1) out = 1; else if (x < 2) out = 2; ...`: nested branches without a join. */
function ladder(steps: number): Kernel {
  const kernel = emptyKernel('ladder');
  kernel.params.push(pointerParam('in', 0, 'i32', 'read'), pointerParam('out', 1, 'i32', 'write'));
  const b = builder(kernel, addBlock(kernel));
  const plain = { align: 4, volatile: false };
  const x = b.load('i32', b.param('ptr.global', { index: 0 }), plain);
  const out = b.param('ptr.global', { index: 1 });
  for (let i = 1; i <= steps; i++) {
    const [found, deeper] = [addBlock(kernel), addBlock(kernel)];
    const cond = b.icmp(x, b.const('i32', i), { pred: 'slt' });
    b.block.end = { op: 'condbr', cond, then: { block: found, args: [] }, else: { block: deeper, args: [] } };
    b.block = found;
    b.store(out, b.const('i32', i), plain);
    b.block = deeper;
  }
  return kernel;
}

test('3000 nested branches', () => {
  for (const x of [-7, 0, 1499, 2999, 3000]) {
    const out = runOnCpu(ladder(3000), [words([x]), words([0])])[1]!;
    assert.equal(wordsOf(out), [x < 0 ? 1 : x < 3000 ? x + 1 : 0], String(x));
  }
});

test('an expression of 20 000 additions', () => {
  const kernel = emptyKernel('sum');
  kernel.params.push(pointerParam('io', 0, 'i32', 'read_write'));
  const b = builder(kernel, addBlock(kernel));
  const io = b.param('ptr.global', { index: 0 });
  let x = b.load('i32', io, { align: 4, volatile: false });
  for (let i = 1; i <= 20_000; i++) x = i % 3 === 0 ? b.sub(b.const('i32', i), x) : b.add(x, b.const('i32', i));
  b.store(io, x, { align: 4, volatile: false });
  let expected = 5;
  for (let i = 1; i <= 20_000; i++) expected = (i % 3 === 0 ? i - expected : expected + i) | 0;
  assert.equal(wordsOf(runOnCpu(kernel, [words([5])])[0]!), [expected]);
});

// ── random kernels ──

/** Memory after a run of the interpreter: the input followed by the output. */
function interpreted(kernel: Kernel, input: Uint8Array): Uint8Array {
  const global = new Uint8Array(inputSize + outputSize + 8);
  global.set(input);
  const thread: Thread = { memory: { global }, params: [0n, BigInt(inputSize)], variables: {}, sregs: {}, limit: 1e5 };
  assert.equal(interpret(kernel, thread), { ended: 'return' });
  return global.subarray(inputSize);
}

/** Replaces every NaN result by the canonical NaN, because the bits of a NaN result are unspecified. */
function canonicalizeNans(kernel: Kernel): void {
  const nans = { f16: 0x7e00n, bf16: 0x7fc0n, f32: 0x7fc00000n, f64: 0x7ff8000000000000n } as const;
  for (const block of kernel.blocks) {
    const old = block.body;
    block.body = [];
    const b = builder(kernel, block);
    for (const value of old) {
      const inst = kernel.insts[value]!;
      if (!/^(f(add|sub|mul|div|ma|sqrt|min|max|rint|trunc|floor|ceil)|fpext|fptrunc)$/.test(inst.op)) {
        block.body.push(value);
        continue;
      }
      kernel.insts.push(inst);
      kernel.locs.push(undefined);
      const raw = (kernel.insts.length - 1) as Value;
      block.body.push(raw);
      const nan = b.const(inst.type, nans[inst.type as keyof typeof nans]);
      const isNan = b.fcmp(raw, raw, { pred: 'uno' });
      kernel.insts[value] = { op: 'select', type: inst.type, cond: isNan, a: nan, b: raw };
      block.body.push(value);
    }
  }
}

const choices = fc.array(fc.nat(0xffff), { minLength: 100, maxLength: 500 });

test('random kernels over all scalar types have the results of the interpreter', () => {
  fc.assert(
    fc.property(choices, fc.uint8Array({ minLength: inputSize, maxLength: inputSize }), (seeds, input) => {
      const makeKernel = (): Kernel => {
        const kernel = randomKernel(seeds, 12);
        canonicalizeNans(kernel);
        return kernel;
      };
      assertSound(makeKernel());
      const out = runOnCpu(makeKernel(), [input, new Uint8Array(outputSize + 8)])[1]!;
      assert.equal(out, interpreted(makeKernel(), input));
    }),
    { numRuns: 150, seed: 7 },
  );
});

/** Results of the threads, run by the interpreter one after the other. */
function flowReference(kernel: Kernel, threads: number): Uint8Array {
  const global = new Uint8Array(32 * threads);
  for (let tid = 0; tid < threads; tid++) {
    const thread: Thread = { memory: { global }, params: [0n], variables: {}, sregs: { 'tid.x': tid, laneid: tid % 32 }, limit: 1e5 };
    assert.equal(interpret(kernel, thread), { ended: 'return' });
  }
  return global;
}

for (const barriers of ['none', 'anywhere', 'together', 'warps'] as const) {
  // Warp collectives need more than one warp.
  const threads = barriers === 'warps' ? 37 : 5;
  test(`random control-flow graphs with barriers: ${barriers}; ${threads} threads have the results of the interpreter`, () => {
    let [irreducible, uniform] = [0, 0];
    fc.assert(
      fc.property(fc.array(fc.nat(0xffff), { minLength: 40, maxLength: 200 }), fc.integer({ min: 1, max: 12 }), (seeds, blocks) => {
        const kernel = randomFlow(seeds, blocks, barriers);
        assertSound(kernel);
        if (isIrreducible(kernel)) irreducible++;
        const { regions } = planOf(randomFlow(seeds, blocks, barriers));
        if (regions.schedule === 'block') uniform++;
        const expected = flowReference(kernel, threads);
        const printed = printKernel(kernel);
        const [out] = runOnCpu(kernel, [new Uint8Array(32 * threads)], { block: [threads, 1, 1] });
        assert.equal(out, expected, printed);
      }),
      { numRuns: 250, seed: 11 },
    );
    assert.ok(irreducible > 25, `${irreducible} of 250 are irreducible`);
    assert.ok(barriers === 'together' ? uniform > 150 : uniform < 100, `${uniform} of 250 have block-uniform control flow`);
  });
}

/** Whether the graph is irreducible: it has a cycle after removal of the edges to dominators. */
function isIrreducible(kernel: Kernel): boolean {
  const targets = kernel.blocks.map(({ end }) =>
    end.op === 'ret' ? [] : end.op === 'br' ? [end.to.block.id] : [end.then.block.id, end.else.block.id],
  );
  const reach = (avoid: number): Set<number> => {
    const visited = new Set<number>();
    const work = avoid === 0 ? [] : [0];
    for (let at = work.pop(); at !== undefined; at = work.pop()) {
      if (visited.has(at)) continue;
      visited.add(at);
      work.push(...targets[at]!.filter((to) => to !== avoid));
    }
    return visited;
  };
  const all = reach(-1);
  const dominates = kernel.blocks.map(({ id }) => {
    const without = reach(id);
    return new Set([...all].filter((other) => !without.has(other)));
  });
  const forward = targets.map((tos, from) => (all.has(from) ? tos.filter((to) => !dominates[to]!.has(from)) : []));
  const left = new Set(all);
  for (;;) {
    const free = [...left].filter((id) => ![...left].some((from) => forward[from]!.includes(id)));
    if (free.length === 0) return left.size > 0;
    for (const id of free) left.delete(id);
  }
}

test.run();
