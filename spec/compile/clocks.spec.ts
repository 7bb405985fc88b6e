/** Clocks: refused for Apple GPUs by name, and on the CPU device read in order, each time anew. Source: PTX ISA 9.0, 10.20 to 10.24. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { validateAir } from '../../src/air/index.ts';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import { readModule } from '../../src/bitcode/index.ts';
import { type CompileOptions, compile, emit } from '../../src/compile/index.ts';
import { readMetallib } from '../../src/metallib/index.ts';
import { launchMetallib } from '../support/launch.ts';

const test = suite('compile/clocks');

/** Stores what the code leaves in `w0` to `w3`. */
const kernel = (code: string, functions = ''): string => `.version 8.0
.target sm_90
.address_size 64
${functions}
.visible .entry k(.param .u64 out)
{
  .reg .pred p;
  .reg .b32 t, x, y;
  .reg .b64 at, offset, w<4>;
  mov.u32 t, %tid.x;
  mul.wide.u32 offset, t, 32;
  ld.param.u64 at, [out];
  add.s64 at, at, offset;
  mov.u64 w0, 0; mov.u64 w1, 0; mov.u64 w2, 0; mov.u64 w3, 0;
${code}
  st.global.v2.u64 [at], {w0, w1};
  st.global.v2.u64 [at+16], {w2, w3};
  ret;
}
`;

const forCpu: CompileOptions = { target: 'cpu' };

/** The four words of each thread of a block. */
function run(text: string, threads = 1, options = forCpu): bigint[][] {
  const diagnostics = new Diagnostics();
  const metallib = compile(new SourceFile('k.ptx', text), options, diagnostics)?.metallib;
  assert.ok(metallib, diagnostics.list.map((d) => d.message).join('; '));
  const poison = new BigUint64Array(4 * threads).fill(0xa5a5_a5a5_a5a5_a5a5n);
  const [after] = launchMetallib(metallib, { kernel: 'k', blocks: 1, threads, args: [poison] });
  const words = [...new BigUint64Array(after!.slice().buffer)];
  return Array.from({ length: threads }, (_, t) => words.slice(4 * t, 4 * t + 4));
}

const registers = ['%clock', '%clock_hi', '%clock64', '%globaltimer', '%globaltimer_lo', '%globaltimer_hi'];
const isWide = (register: string): boolean => /64$|timer$/.test(register);

for (const register of registers)
  for (const target of ['macos14', 'macos15'] as const)
    test(`${register} is refused for ${target}, by name and at its place`, () => {
      const line = isWide(register) ? `mov.u64 w0, ${register};` : `mov.u32 x, ${register}; cvt.u64.u32 w0, x;`;
      const file = new SourceFile('k.ptx', kernel(line));
      const diagnostics = new Diagnostics(file);
      assert.is(compile(file, { target }, diagnostics), undefined);
      assert.is(diagnostics.list.length, 1);
      const { code, message, help, labels } = diagnostics.list[0]!;
      assert.is(code, 'CM2090');
      const what = register.startsWith('%clock') ? 'a clock (`%clock`, `%clock64`)' : 'the time (`%globaltimer`)';
      assert.is(message, `${what} has no exact form for ${target}: AIR has no clock`);
      assert.match(help!, /`--target cpu`/);
      assert.is(file.position(labels[0]!.span.start).line, 15);
    });

test('the time is that of the host, in nanoseconds', () => {
  const before = BigInt(Date.now()) * 1_000_000n;
  const [[time, counted]] = run(kernel('mov.u64 w0, %globaltimer; mov.u64 w1, %clock64;')) as [[bigint, bigint]];
  const after = BigInt(Date.now()) * 1_000_000n;
  // What a host may set its clock by while a program runs.
  const second = 1_000_000_000n;
  assert.ok(time > before - second && time < after + second, `${before} ${time} ${after}`);
  assert.ok(counted > 0n && counted < 1n << 62n);
});

test('halves are those of the whole', () => {
  const words = (name: string, low: string, high: string): bigint[] =>
    run(
      kernel(
        `mov.u64 w0, ${name}; mov.u32 x, ${low}; mov.u32 y, ${high}; cvt.u64.u32 w1, x; cvt.u64.u32 w2, y; mov.b64 {x, y}, ${name}; mov.b64 w3, {x, y};`,
      ),
    )[0]!;
  for (const [name, low, high] of [
    ['%clock64', '%clock', '%clock_hi'],
    ['%globaltimer', '%globaltimer_lo', '%globaltimer_hi'],
  ] as const) {
    const [whole, lower, upper, again] = words(name, low, high) as [bigint, bigint, bigint, bigint];
    const later = BigInt.asUintN(32, lower - whole);
    assert.ok(later < 1_000_000_000n, `${name}: ${later} ns later`);
    // A carry may come between the reads.
    assert.ok([0n, 1n].includes(upper - (whole >> 32n)), `${name}: ${upper} of ${whole}`);
    assert.ok(again >= whole && again - whole < 1_000_000_000n);
  }
});

test('reads of all spellings', () => {
  const [words] = run(
    kernel(
      'mov.s64 w0, %clock64; mov.b64 w1, %clock64; mov.s64 w2, %globaltimer; mov.b32 x, %clock; mov.s32 y, %clock; sub.u32 x, y, x; cvt.u64.u32 w3, x;',
    ),
  );
  const [first, second, time, between] = words as [bigint, bigint, bigint, bigint];
  assert.ok(first <= second && time > 1n << 60n && between < 1_000_000_000n);
});

test('a counter never runs backwards: 2000 reads in a loop, each compared with the one before', () => {
  const code = `mov.u32 x, 0; mov.u64 w1, %clock64; mov.u64 w2, w1;
turn: mov.u64 w0, %clock64; setp.lt.s64 p, w0, w1; @p add.u64 w3, w3, 1; mov.u64 w1, w0;
  add.u32 x, x, 1; setp.lt.u32 p, x, 2000; @p bra turn;`;
  for (const [last, , first, faults] of run(kernel(code), 3) as [bigint, bigint, bigint, bigint][]) {
    assert.is(faults, 0n);
    assert.ok(last > first);
  }
});

for (const register of ['%clock64', '%globaltimer'])
  test(`a loop that waits for ${register} ends: reads are not taken out of it`, () => {
    const code = `mov.u64 w0, ${register};
turn: mov.u64 w1, ${register}; sub.u64 w2, w1, w0; setp.lt.u64 p, w2, 300000; @p bra turn;`;
    for (const [from, to, passed] of run(kernel(code), 33) as [bigint, bigint, bigint][]) {
      assert.is(to - from, passed);
      assert.ok(passed >= 300_000n);
    }
  });

test('what all threads of a block read before a barrier is not after what any reads behind it', () => {
  const words = run(kernel('mov.u64 w0, %clock64;\nbar.sync 0;\nmov.u64 w1, %clock64;'), 96);
  const [before, behind] = [words.map(([first]) => first!), words.map(([, second]) => second!)];
  for (const read of behind) assert.ok(before.every((other) => other <= read));
});

test('under a guard, in branches of parted threads, and in a function', () => {
  const code = `and.b32 x, t, 1; setp.eq.u32 p, x, 0; @p mov.u64 w0, %clock64;
  setp.gt.u32 p, t, 20; @p bra high; call (w1), now; bra join;
high: mov.u64 w2, %globaltimer;
join: mov.u64 w3, %clock64;`;
  const now = '.func (.reg .b64 r) now () { mov.u64 r, %clock64; ret; }';
  run(kernel(code, now), 40).forEach(([w0, w1, w2, w3], t) => {
    assert.is(w0! > 0n, t % 2 === 0);
    assert.is(w1! > 0n, t <= 20);
    assert.is(w2! > 0n, t > 20);
    assert.ok(w3! >= w0! && w3! >= w1!);
  });
});

test('reads are neither merged nor dropped nor moved across stores', () => {
  const code = `mov.u64 w0, %clock64;\nst.global.u64 [at], w0;\nmov.u64 w0, %clock64;\nst.global.u64 [at+8], w0;\nmov.u64 w1, %globaltimer;\nmov.u64 w1, 5;`;
  const file = new SourceFile('k.ptx', kernel(code));
  const ops = (emit(file, 'ir', forCpu, new Diagnostics(file)) as string).match(/(?<= = )clock i64 \{name: \w+\}|^ +store(?= )/gm);
  assert.equal(
    ops?.map((op) => op.trim()),
    ['clock i64 {name: counter}', 'store', 'clock i64 {name: counter}', 'store', 'clock i64 {name: time}', 'store', 'store'],
  );
  assert.equal(
    (emit(file, 'air-ll', forCpu, new Diagnostics(file)) as string).match(/call i64 @cumetal\.clock\.\w+/g),
    ['counter', 'counter', 'time'].map((name) => `call i64 @cumetal.clock.${name}`),
  );
});

for (const [line, own] of [
  ['mov.u64 w0, %clock64;', 'clock.counter'],
  ['atom.global.add.u64 w0, [at], 1;', 'atomic.global.add.i64'],
] as const)
  test(`no Apple GPU would load what is compiled of \`${line}\`, and the AIR rules say so`, () => {
    const file = new SourceFile('k.ptx', kernel(line));
    const { functions } = readMetallib(compile(file, forCpu, new Diagnostics())!.metallib, new Diagnostics())!;
    const diagnostics = new Diagnostics();
    assert.is(validateAir(readModule(functions[0]!.bitcode, diagnostics)!, diagnostics), false);
    assert.equal(
      diagnostics.list.map(({ code, message }) => [code, /`.*$/.exec(message)?.[0]]),
      [['CM4050', `\`cumetal.${own}\` runs only on the CPU device`]],
    );
  });

test('a lint says that a barrier behind a branch on a clock may not see all threads', () => {
  const file = new SourceFile('k.ptx', kernel('mov.u32 x, %clock; setp.gt.u32 p, x, 5;\n@p bra over;\nbar.sync 0;\nover:'));
  const diagnostics = new Diagnostics(file);
  assert.ok(compile(file, { ...forCpu, lints: true }, diagnostics));
  assert.equal(
    diagnostics.list
      .map(({ code, labels }) => `${code} ${file.position(labels[0]!.span.start).line}`)
      .filter((said) => /^CM2210/.test(said)),
    ['CM2210 17'],
  );
});

const counting: CompileOptions = { target: 'macos15', allowFallback: ['clock'] };

test('a clock that counts gives 1, 2, … to each thread, through branches, loops and functions', () => {
  const code = `mov.u64 w0, %clock64; mov.u32 x, 0;
turn: setp.ge.u32 p, x, t; @p bra done;
  mov.u64 w1, %globaltimer; add.u32 x, x, 1; bra turn;
done: setp.ne.u32 p, t, 1; @p bra over; mov.u32 y, %clock;
over: call (w2), now;
  mov.u32 x, %clock_hi; cvt.u64.u32 w3, x;
  mov.u64 w1, %clock64; add.u64 w3, w3, w1;`;
  const now = '.func (.reg .b64 r) now () { mov.u64 r, %clock64; ret; }';
  run(kernel(code, now), 70, counting).forEach(([w0, , w2, w3], t) => {
    // One reading at first, t in the loop, one more in the branch of thread 1, one in the function, then the upper half, which is 0.
    const readings = 2 + t + (t === 1 ? 1 : 0);
    assert.equal([w0, w2, w3], [1n, BigInt(readings), BigInt(readings + 2)]);
  });
});

test('a loop that waits for a clock that counts ends', () => {
  const code = 'mov.u64 w0, %clock64;\nturn: mov.u64 w1, %clock64; sub.u64 w2, w1, w0; setp.lt.u64 p, w2, 1000; @p bra turn;';
  for (const words of run(kernel(code), 3, counting)) assert.equal(words, [1n, 1001n, 1000n, 0n]);
});

test('the first reading that counts is noted, and the CPU device keeps its clock', () => {
  const file = new SourceFile('k.ptx', kernel('mov.u32 x, %clock;\nmov.u64 w0, %clock64;'));
  const diagnostics = new Diagnostics(file);
  assert.ok(compile(file, counting, diagnostics));
  assert.equal(
    diagnostics.list.map(({ code, labels }) => [code, file.position(labels[0]!.span.start).line]),
    [['CM2061', 15]],
  );
  const [[time]] = run(kernel('mov.u64 w0, %globaltimer;'), 1, { ...counting, target: 'cpu' }) as [[bigint]];
  assert.ok(time > 1n << 60n);
});

test('the refusal of a clock names what compiles it', () => {
  const diagnostics = new Diagnostics();
  compile(new SourceFile('k.ptx', kernel('mov.u64 w0, %clock64;')), { target: 'macos15' }, diagnostics);
  assert.match(diagnostics.list[0]!.help!, /`--allow-fallback clock`/);
});

test('widths are checked', () => {
  for (const line of ['mov.u32 x, %clock64;', 'mov.u32 x, %globaltimer;', 'mov.u64 w0, %clock;', 'mov.u64 w0, %globaltimer_lo;']) {
    const diagnostics = new Diagnostics();
    assert.is(compile(new SourceFile('k.ptx', kernel(line)), forCpu, diagnostics), undefined);
    assert.equal(
      diagnostics.list.map((d) => d.code),
      ['CM1107'],
      line,
    );
  }
});

test.run();
