/**
 * Simdgroup and quadgroup functions on the CPU device, with all threads and with some of them in a branch. Expected results are computed
 * here from the active lanes, after the Metal Shading Language Specification, 6.9.
 */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { airLibrary, airModule, buffer } from '../support/air-text.ts';
import { launchMetallib } from '../support/launch.ts';
import { need } from '../support/need.ts';

const test = suite('air simdgroups');

const threads = 72;

interface Function {
  readonly name: string;
  /** LLVM's type of the value. */
  readonly type: string;
  /** Behind the value: constants, or `%fill` for another value of the type. */
  readonly more?: readonly string[];
  /** The expected result of a lane from the active lanes of its group; undefined if it is not specified. */
  readonly expected: (own: Lane, group: readonly Lane[]) => number | undefined;
}

interface Lane {
  /** In its group. */
  readonly place: number;
  readonly value: number;
}

const given = (thread: number): number => ((thread * 37 + 11) % 23) + 1;
const fillOf = (thread: number): number => 100 + thread;

/** Halves and floats hold all the small numbers here exactly, and their sums. */
const asWord: Readonly<Record<string, readonly [to: string, from: string]>> = {
  i32: ['add i32 %word, 0', 'add i32 %r, 0'],
  i16: ['trunc i32 %word to i16', 'sext i16 %r to i32'],
  i8: ['trunc i32 %word to i8', 'sext i8 %r to i32'],
  float: ['uitofp i32 %word to float', 'fptosi float %r to i32'],
  half: ['uitofp i32 %word to half', 'fptosi half %r to i32'],
};

/** A kernel in which threads call the function in a branch on the flags of the second buffer. */
function libraryOf({ name, type, more = [] }: Function): Uint8Array {
  const [to, from] = asWord[type]!;
  const kinds = more.map((each) => (each === '%fill' ? type : 'i16'));
  const args = [`${type} %value`, ...more.map((each, i) => `${kinds[i]} ${each}`)].join(', ');
  const body = `  %wide = zext i32 %p2 to i64
  %at = getelementptr i32, i32 addrspace(1)* %p1, i64 %wide
  %flag = load i32, i32 addrspace(1)* %at, align 4
  %takes = icmp ne i32 %flag, 0
  br i1 %takes, label %inside, label %end
inside:
  %times = mul i32 %p2, 37
  %more = add i32 %times, 11
  %rest = urem i32 %more, 23
  %word = add i32 %rest, 1
  %value = ${to}
  %fillword = add i32 %p2, 100
  %fill = ${to.replace('%word', '%fillword')}
  %r = call ${type} @${name}(${args})
  %out = ${from}
  %to = getelementptr i32, i32 addrspace(1)* %p0, i64 %wide
  store i32 %out, i32 addrspace(1)* %to, align 4
  br label %end
end:`;
  const declared = `declare ${type} @${name}(${[type, ...kinds].join(', ')})`;
  const text = airModule([buffer, buffer, { type: 'i32', kind: 'air.thread_position_in_threadgroup' }], body, declared);
  return airLibrary(text);
}

/** The result of each thread, 9999 for inactive ones; threads for which `taking` holds are active. */
function run(library: Uint8Array, taking: (thread: number) => boolean): Int32Array {
  const flags = Uint32Array.from({ length: threads }, (_, thread) => Number(taking(thread)));
  const before = new Int32Array(threads).fill(9999);
  const [after] = launchMetallib(library, { kernel: 'k', blocks: 1, threads, args: [before, flags] });
  return new Int32Array(after!.slice().buffer);
}

const masks: Readonly<Record<string, (thread: number) => boolean>> = {
  'all threads': () => true,
  'every third': (thread) => thread % 3 === 0,
  'those above 5': (thread) => thread > 5,
  'one of each simdgroup': (thread) => thread % 32 === 7,
};

function check(fn: Function, size: number): void {
  let library: Uint8Array | undefined;
  for (const [label, taking] of Object.entries(masks))
    need(test, ['llvm-as-14'], `air.${fn.name} of ${fn.type}${fn.more ? ` ${fn.more.join(' ')}` : ''}: ${label}`, () => {
      library ??= libraryOf({ ...fn, name: `air.${fn.name}` });
      const found = run(library, taking);
      for (let thread = 0; thread < threads; thread++) {
        if (!taking(thread)) {
          assert.is(found[thread], 9999);
          continue;
        }
        const first = thread - (thread % size);
        const members = Array.from({ length: Math.min(size, threads - first) }, (_, i) => first + i).filter(taking);
        const lane = (t: number): Lane => ({ place: t % size, value: given(t) });
        const wanted = fn.expected(lane(thread), members.map(lane));
        if (wanted !== undefined) assert.is(found[thread], wanted, `thread ${thread}`);
      }
    });
}

type Fold = (a: number, b: number) => number;
const folds: Readonly<Record<string, Fold>> = {
  sum: (a, b) => a + b,
  min: (a, b) => Math.min(a, b),
  max: (a, b) => Math.max(a, b),
  and: (a, b) => a & b,
  or: (a, b) => a | b,
  xor: (a, b) => a ^ b,
};

const low = (type: string, value: number): number => (type === 'i8' ? (value << 24) >> 24 : value);

for (const [group, size] of [
  ['simd', 32],
  ['quad', 4],
] as const) {
  for (const [suffix, type] of [
    ['f32', 'float'],
    ['f16', 'half'],
    ['s.i32', 'i32'],
    ['u.i16', 'i16'],
    ['s.i8', 'i8'],
  ] as const) {
    for (const [name, fold] of Object.entries(folds)) {
      if (type.startsWith('i') || ['sum', 'min', 'max'].includes(name))
        check(
          {
            name: `${group}_${name}.${suffix}`,
            type,
            expected: (_, all) =>
              low(
                type,
                all.map((l) => l.value).reduce((a, b) => fold(a, b)),
              ),
          },
          size,
        );
    }
    const upTo = (own: Lane, all: readonly Lane[], isInclusive: boolean): number =>
      all.filter((l) => l.place < own.place || (isInclusive && l.place === own.place)).reduce((sum, l) => sum + l.value, 0);
    for (const isInclusive of [true, false])
      check(
        {
          name: `${group}_prefix_${isInclusive ? 'inclusive' : 'exclusive'}_sum.${suffix}`,
          type,
          expected: (own, all) => low(type, upTo(own, all, isInclusive)),
        },
        size,
      );
  }
  const product = (all: readonly Lane[]): number => all.map((l) => l.value).reduce((a, b) => Math.imul(a, b), 1);
  check({ name: `${group}_product.u.i32`, type: 'i32', expected: (_, all) => product(all) }, size);
  check(
    {
      name: `${group}_prefix_exclusive_product.u.i32`,
      type: 'i32',
      expected: (own, all) => product(all.filter((l) => l.place < own.place)),
    },
    size,
  );
  check(
    {
      name: `${group}_prefix_inclusive_product.s.i32`,
      type: 'i32',
      expected: (own, all) => product(all.filter((l) => l.place <= own.place)),
    },
    size,
  );
  check({ name: `${group}_broadcast_first.f32`, type: 'float', expected: (_, all) => all[0]!.value }, size);
  const from = (all: readonly Lane[], place: number): number | undefined => all.find((l) => l.place === place)?.value;
  const shuffle = (name: string, more: number, place: (own: number) => number): void =>
    check({ name: `${group}_${name}.s.i16`, type: 'i16', more: [String(more)], expected: (own, all) => from(all, place(own.place)) }, size);
  for (const by of [1, 2, 3]) {
    shuffle('shuffle', by, () => by);
    shuffle('broadcast', by, () => by);
    shuffle('shuffle_xor', by, (own) => own ^ by);
    shuffle('shuffle_up', by, (own) => (own - by < 0 ? own : own - by));
    shuffle('shuffle_down', by, (own) => (own + by >= size ? own : own + by));
    shuffle('shuffle_rotate_up', by, (own) => (own - by + size) % size);
    shuffle('shuffle_rotate_down', by, (own) => (own + by) % size);
  }
}

/** Vectors of 8 lanes: lanes shifted in come from the opposite end of the other value. */
for (const [name, by] of [
  ['simd_shuffle_and_fill_up', -3],
  ['simd_shuffle_and_fill_down', 3],
] as const)
  need(test, ['llvm-as-14'], `air.${name}`, () => {
    const library = libraryOf({ name: `air.${name}.f32`, type: 'float', more: ['%fill', '3', '8'], expected: () => 0 });
    const found = run(library, () => true);
    for (let thread = 0; thread < 64; thread++) {
      const start = thread - (thread % 8);
      const to = (thread % 8) + by;
      const at = start + ((to + 8) % 8);
      assert.is(found[thread], to >= 0 && to < 8 ? given(at) : fillOf(at), `thread ${thread}`);
    }
  });

/** Votes: one result bit per question, from the active lanes of the group and those for which a condition holds. */
const asked: readonly (readonly [call: string, declared: string, result: string])[] = [
  ['i1 @air.simd_all(i1 %odd)', 'i1 @air.simd_all(i1)', 'i1'],
  ['i1 @air.simd_any(i1 %odd)', 'i1 @air.simd_any(i1)', 'i1'],
  ['i1 @air.simd_is_first()', 'i1 @air.simd_is_first()', 'i1'],
  ['i64 @air.simd_ballot.i64(i1 %odd)', 'i64 @air.simd_ballot.i64(i1)', 'i64'],
  ['i64 @air.simd_active_threads_mask.i64()', 'i64 @air.simd_active_threads_mask.i64()', 'i64'],
  ['i1 @air.simd_vote_all.i64(i64 255)', 'i1 @air.simd_vote_all.i64(i64)', 'i1'],
  ['i1 @air.simd_vote_any.i64(i64 4294967296)', 'i1 @air.simd_vote_any.i64(i64)', 'i1'],
  ['i1 @air.quad_all(i1 %odd)', 'i1 @air.quad_all(i1)', 'i1'],
  ['i1 @air.quad_any(i1 %odd)', 'i1 @air.quad_any(i1)', 'i1'],
  ['i1 @air.quad_is_first()', 'i1 @air.quad_is_first()', 'i1'],
  ['i16 @air.quad_ballot(i1 %odd)', 'i16 @air.quad_ballot(i1)', 'i16'],
  ['i16 @air.quad_active_threads_mask()', 'i16 @air.quad_active_threads_mask()', 'i16'],
  ['i1 @air.quad_vote_all(i16 15)', 'i1 @air.quad_vote_all(i16)', 'i1'],
  ['i1 @air.quad_vote_any(i16 16)', 'i1 @air.quad_vote_any(i16)', 'i1'],
];

/** The inputs of a thread in a block of 72: the last simdgroup has 8 threads. */
function told(thread: number, taking: (thread: number) => boolean): number[] {
  const group = (size: number): { lane: number; members: number[]; odd: number[]; present: number } => {
    const first = thread - (thread % size);
    const present = Math.min(size, threads - first);
    const members = Array.from({ length: present }, (_, i) => i).filter((lane) => taking(first + lane));
    return { lane: thread % size, members, odd: members.filter((lane) => given(first + lane) % 2 === 1), present };
  };
  const mask = (lanes: readonly number[]): number => lanes.reduce((bits, lane) => bits + 2 ** lane, 0);
  const [simd, quad] = [group(32), group(4)];
  const common = (g: typeof simd): number[] => [
    Number(g.odd.length === g.members.length),
    Number(g.odd.length > 0),
    Number(g.lane === g.members[0]),
    mask(g.odd),
    mask(g.members),
  ];
  return [...common(simd), Number(simd.present <= 8), 0, ...common(quad), 1, 0];
}

need(test, ['llvm-as-14'], 'votes of simdgroups and quadgroups', () => {
  const calls = asked.map(([call, , result], i) => {
    const word = result === 'i64' ? `trunc i64 %r${i} to i32` : `zext ${result} %r${i} to i32`;
    return `  %r${i} = call ${call}
  %w${i} = ${word}
  %i${i} = add i64 %start, ${i}
  %a${i} = getelementptr i32, i32 addrspace(1)* %p0, i64 %i${i}
  store i32 %w${i}, i32 addrspace(1)* %a${i}, align 4`;
  });
  const body = `  %wide = zext i32 %p2 to i64
  %at = getelementptr i32, i32 addrspace(1)* %p1, i64 %wide
  %flag = load i32, i32 addrspace(1)* %at, align 4
  %takes = icmp ne i32 %flag, 0
  %start = mul i64 %wide, ${asked.length}
  br i1 %takes, label %inside, label %end
inside:
  %times = mul i32 %p2, 37
  %more = add i32 %times, 11
  %rest = urem i32 %more, 23
  %low = and i32 %rest, 1
  %odd = icmp eq i32 %low, 0
${calls.join('\n')}
  br label %end
end:`;
  const declared = asked.map(([, each]) => `declare ${each}`).join('\n');
  const metallib = airLibrary(airModule([buffer, buffer, { type: 'i32', kind: 'air.thread_position_in_threadgroup' }], body, declared));
  for (const [label, taking] of Object.entries(masks)) {
    const flags = Uint32Array.from({ length: threads }, (_, thread) => Number(taking(thread)));
    const args = [new Uint32Array(threads * asked.length), flags];
    const [after] = launchMetallib(metallib, { kernel: 'k', blocks: 1, threads, args });
    const words = new Uint32Array(after!.slice().buffer);
    for (let thread = 0; thread < threads; thread++) {
      const found = [...words.subarray(thread * asked.length, (thread + 1) * asked.length)];
      assert.equal(found, taking(thread) ? told(thread, taking) : asked.map(() => 0), `${label}, thread ${thread}`);
    }
  }
});

test.run();
