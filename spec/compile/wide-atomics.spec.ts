/** The forms of 64-bit atomics in AIR, and what has none; `spec/device/wide-atomics.spec.ts` runs them. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { reflectModule, validateAir } from '../../src/air/index.ts';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import { readModule } from '../../src/bitcode/index.ts';
import { type CompileOptions, compile, emit } from '../../src/compile/index.ts';
import { readMetallib } from '../../src/metallib/index.ts';

const test = suite('compile/wide-atomics');

const textOf = (body: string, params = '.param .u64 out'): string => `.version 9.0
.target sm_90
.address_size 64
.visible .entry k(${params})
{
  .reg .b64 p, x, y; .reg .b32 t; .reg .f64 d; .shared .align 8 .b64 s[2];
  ld.param.u64 p, [out];
  ${body}
  ret;
}
`;

function airOf(body: string, options: CompileOptions = { target: 'macos15' }): { air: string; said: string[] } {
  const diagnostics = new Diagnostics(new SourceFile('k.ptx', textOf(body)));
  const air = emit(diagnostics.file!, 'air-ll', { verifiesPasses: true, ...options }, diagnostics);
  return { air: String(air), said: diagnostics.list.map(({ code, message, help }) => `${code}: ${message}${help ? ` (${help})` : ''}`) };
}

const calls = (air: string, name: string): number => air.split(`call i32 @air.atomic.${name}(`).length - 1;

for (const [op, name] of [
  ['add.u64', 'add.u.i32'],
  ['and.b64', 'and.u.i32'],
  ['or.b64', 'or.u.i32'],
  ['xor.b64', 'xor.u.i32'],
] as const)
  test(`red.${op} in halves, on every target`, () => {
    for (const target of ['macos13', 'macos14', 'macos15', 'ios17'] as const) {
      const { air, said } = airOf(`red.global.${op} [p], 3; atom.shared.${op} y, [s], 3;`, { target });
      assert.equal(said, [], target);
      assert.is(calls(air, `global.${name}`), 2);
      assert.is(calls(air, `local.${name}`), 2);
      assert.not.match(air, 'cumetal.locks');
      assert.not.match(air, /fence|xchg/);
    }
  });

const needsLock = {
  'an old value': 'atom.global.add.u64 y, [p], 3; st.global.u64 [p+8], y;',
  'two operations on one state space': 'red.global.add.u64 [p], 3; red.global.or.b64 [p+8], 3;',
  'an old value of another atomic': 'red.global.add.u64 [p], 3; atom.global.add.u64 y, [p+64], 3; st.global.u64 [p+8], y;',
  'an exchange': 'atom.global.exch.b64 y, [p], 3;',
  'a compare-and-swap': 'atom.global.cas.b64 y, [p], 3, 4;',
  'a maximum': 'red.global.max.s64 [p], 3;',
  'a sum of doubles': 'red.global.add.f64 [p], 0d3FF0000000000000;',
};

for (const [what, body] of Object.entries(needsLock)) {
  test(`${what} takes a lock from macOS 15 on`, () => {
    for (const target of ['macos15', 'macos26', 'ios18'] as const) {
      const { air, said } = airOf(body, { target });
      assert.equal(said, [], target);
      assert.match(air, /!"cumetal\.locks"/);
      assert.match(air, 'air.atomic.fence(i32 3, i32 5, i32 2)');
      assert.not.match(air, /\bdouble\b|global\.\w+\.[us]\.i64/);
    }
  });

  test(`${what} is refused without fences`, () => {
    for (const target of ['macos13', 'macos14', 'ios17'] as const) {
      const { said } = airOf(body, { target });
      assert.match(
        said[0]!,
        /^CM2090: an atomic `\w+` of \w+ has no exact form for \w+: .* a lock needs fences \(compile with `--target macos15`\)$/,
      );
    }
  });
}

test('state spaces have forms of their own', () => {
  const { air, said } = airOf('red.global.add.u64 [p], 3; atom.shared.exch.b64 y, [s], 3; st.global.u64 [p+8], y;');
  assert.equal(said, []);
  assert.is(calls(air, 'global.add.u.i32'), 2);
  // The lock is taken and freed in device memory; its fences are those of the threadgroup.
  assert.is(calls(air, 'global.xchg.i32'), 2);
  assert.match(air, 'air.atomic.fence(i32 3, i32 5, i32 1)');
});

test('a thread leaves the loop by the value that its lock had when it was freed', () => {
  const { air } = airOf('atom.global.exch.b64 y, [p], 3;');
  const [, freed] = /%(\d+) = tail call i32 @air\.atomic\.global\.xchg\.i32\(i32 addrspace\(1\)\* nocapture %\d+, i32 0, /.exec(air)!;
  const left = new RegExp(`%(\\d+) = phi i32 \\[ %\\d+, %\\d+ \\], \\[ %${freed}, %\\d+ \\]`).exec(air)?.[1];
  assert.match(air, new RegExp(`%(\\d+) = icmp ne i32 %${left}, 0\\n  br i1 %\\1,`));
});

test('a volatile access of 64 bits beside a 64-bit atomic in shared memory could see half of an update', () => {
  const { said } = airOf(
    'atom.shared.add.u64 y, [s], 3; ld.volatile.shared.u64 x, [s]; st.global.u64 [p], x; st.volatile.shared.u64 [s], y;',
  );
  assert.is(said.length, 2);
  assert.match(
    said[0]!,
    /^CM2090: a volatile load of 64 bits has no exact form for macos15: the kernel has 64-bit atomics in shared memory/,
  );
  assert.match(said[1]!, /^CM2090: a volatile store of 64 bits /);
  assert.equal(airOf('red.global.add.u64 [p], 3; ld.volatile.shared.u64 x, [s]; st.global.u64 [p+8], x;').said, []);
});

test('instruments observe the atomics of the source', () => {
  for (const options of [{ sanitize: true }, { marks: true }]) {
    const { air, said } = airOf('atom.global.exch.b64 y, [p], 3; red.shared.add.u64 [s], 3;', { target: 'macos14', ...options });
    assert.equal(said, []);
    assert.match(air, 'call i64 @cumetal.atomic.global.exch.i64(');
    assert.match(air, 'call i64 @cumetal.atomic.local.add.i64(');
  }
});

test('the lock table has the slot behind all others, and its name describes it', () => {
  const body = 'atom.global.exch.b64 y, [p], 3; setp.eq.u64 q, y, 3; @q trap;';
  const diagnostics = new Diagnostics(new SourceFile('k.ptx', textOf(`.reg .pred q; ${body}`)));
  const { metallib, reflection } = compile(diagnostics.file!, { target: 'macos15' }, diagnostics)!;
  const { bitcode } = readMetallib(metallib, diagnostics)!.functions[0]!;
  const module = readModule(bitcode, diagnostics)!;
  assert.ok(validateAir(module, diagnostics));
  for (const kernel of [reflection.kernels[0]!, reflectModule(module, diagnostics)[0]!]) {
    assert.equal(kernel.locks, { slot: 2 });
    assert.is(kernel.faults?.slot, 1);
    assert.equal(
      kernel.params.map(({ name }) => name),
      ['out'],
    );
  }
});

/** A kernel with 31 parameters, of which some are values. */
function withParams(values: number): { said: string[]; slots: number[]; locks: number | undefined } {
  const names = Array.from({ length: 30 }, (_, i) => `p${i}`);
  const params = [
    '.param .u64 out',
    ...names.map((name, i) => (i < values ? `.param .u32 ${name}` : `.param .u64 .ptr .global .align 4 ${name}`)),
  ];
  const loads = names.map((name, i) => (i < values ? `ld.param.u32 t, [${name}]; st.global.u32 [p+${8 + 4 * i}], t;` : '')).join('\n');
  const text = textOf(`${loads} atom.global.exch.b64 y, [p], 3;`, params.join(', '));
  const diagnostics = new Diagnostics(new SourceFile('k.ptx', text));
  const kernel = compile(diagnostics.file!, { target: 'macos15' }, diagnostics)?.reflection.kernels[0];
  const said = diagnostics.list.map(({ code, message, notes }) => [code, message, ...notes].join(' '));
  return { said, slots: [...new Set(kernel?.params.map(({ slot }) => slot))], locks: kernel?.locks?.slot };
}

test('values share a slot if the lock table needs one', () => {
  const { said, slots, locks } = withParams(5);
  assert.equal(said, []);
  assert.is(slots.length, 27);
  assert.is(locks, 27);
});

test('buffers that leave no slot for the lock table are too many', () => {
  assert.equal(withParams(1).said, [
    'CM2092 kernel `k` needs 32 buffers, but a pipeline has 31 slots 1 of them is for global variables, `trap`, `assert`, `printf` or 64-bit atomics',
  ]);
});

test.run();
