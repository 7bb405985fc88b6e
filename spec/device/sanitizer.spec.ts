/** The sanitizer finds planted faults: forty kernels with one fault each, by kind, source line, thread and block. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Diagnostic, Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import { compile } from '../../src/compile/index.ts';
import { fieldOf, maskOf, maxSites, oneOf, type StampField, stampFields } from '../../src/device/cpu/sanitizer/precise/stamp.ts';
import { type SanitizeKind, sanitizeKinds } from '../../src/device/device.ts';
import { openCpuDevice } from '../../src/device/index.ts';
import { launchMetallib } from '../support/launch.ts';
import { markedLines, planted, runPlanted } from '../support/planted.ts';

const test = suite('device/sanitizer');

const named = (kernel: string) => planted.find((each) => each.kernel === kernel)!;

/** Lines of the `.cu` for the labels of a report, by the `.loc` before each label's line in the PTX. */
function sourceLines({ labels, file }: Diagnostic): number[] {
  return labels.map(({ span }) => {
    const before = file!.text.slice(0, span.start);
    const loc = [...before.matchAll(/\.loc\s+(\d+) (\d+) \d+(?:.*inlined_at \d+ (\d+))?/g)].at(-1)!;
    return Number(loc[3] ?? loc[2]);
  });
}

for (const each of planted)
  test(`${each.file}: ${each.kernel}`, () => {
    const [first] = runPlanted(each, [each.file]);
    assert.ok(first, 'there is a report');
    assert.is(first.code, each.expect.code);
    assert.ok(first.message.includes(`\`${each.kernel}\``), first.message);
    const { thread, block } = each.expect;
    assert.ok(first.notes[0]!.startsWith(`by thread (${thread}, 0, 0) of block (${block}, 0, 0): lane ${thread % 32} `), first.notes[0]);
    const marked = markedLines(each);
    assert.ok(marked.length > 0);
    assert.ok(
      sourceLines(first).some((line) => marked.includes(line)),
      `lines ${sourceLines(first)} of ${first.file?.path}, expected ${marked}`,
    );
  });

test('ten faults of each kind are planted', () => {
  for (const kind of sanitizeKinds) assert.is(planted.filter(({ file }) => file === kind).length, 10);
});

test('a fault is found with all kinds enabled, too', () => {
  for (const kernel of ['past_end', 'shared_partial', 'one_word', 'half_the_warp']) {
    const each = named(kernel);
    assert.ok(
      runPlanted(each, sanitizeKinds).some(({ code }) => code === each.expect.code),
      kernel,
    );
  }
});

test('kinds that are not enabled are not reported', () => {
  const others = (kind: SanitizeKind) => sanitizeKinds.filter((each) => each !== kind);
  for (const kernel of ['misaligned_word', 'shared_partial', 'one_word', 'mask_without_self'])
    assert.equal(runPlanted(named(kernel), others(named(kernel).file)), []);
});

test('bytes that the host writes are initialized, and no bytes around them', () => {
  const source = new SourceFile(
    'k.ptx',
    text('  cvt.u64.u32 %rd4, %r1; add.u64 %rd5, %rd1, %rd4; ld.global.u8 %r2, [%rd5]; st.global.u8 [%rd5+64], %r2;'),
  );
  const { metallib } = compile(source, { target: 'cpu', sanitize: true }, new Diagnostics(source))!;
  const device = openCpuDevice();
  const module = device.load(metallib, new Diagnostics())!;
  const unwritten = (from: number, count: number): number => {
    const diagnostics = new Diagnostics();
    const buffer = device.allocate(128, diagnostics)!;
    buffer.write(new Uint8Array(count), from);
    const shape = { grid: [1, 1, 1], block: [64, 1, 1], dynamicSharedBytes: 0 } as const;
    const sanitize = { kinds: new Set(['init'] as const), limit: 100, source };
    const request = { kernel: 'k', ...shape, args: [{ kind: 'buffer', buffer }], timeoutMs: 20_000, sanitize } as const;
    module.launch(request, diagnostics);
    const [first] = diagnostics.list;
    if (!first) return 0;
    assert.is(first.code, 'CM6110');
    return Number(/^(\d+) times in all$/.exec(first.notes.find((note) => note.endsWith('times in all')) ?? '')?.[1] ?? 1);
  };
  for (const from of [0, 3, 8, 15])
    for (const count of [1, 4, 13]) assert.is(unwritten(from, count), 64 - count, `${count} bytes from ${from} on`);
  assert.is(unwritten(0, 63), 1);
  assert.is(unwritten(0, 64), 0);
  device.close();
});

test('a report names the buffer of the address, and counts', () => {
  const [first] = runPlanted(named('past_end'), ['memory']);
  // 128 threads write 100 elements: 28 are out of bounds, the first of them at the end.
  assert.match(first!.message, /writes 4 bytes at 0x[0-9a-f]+, at the end of `past_end_param_0` \(argument 0, 400 bytes\)$/);
  assert.ok(first!.notes.includes('28 times in all'), first!.notes.join('; '));
  assert.ok(first!.notes.includes('source: memory.cu:6'));
});

test('an access in an inlined function is reported with the line of the call', () => {
  const [first] = runPlanted(named('atomic_past_end'), ['memory']);
  assert.ok(
    first!.notes.some((note) => /^source: memory\.cu:\d+, by way of device_atomic_functions\.hpp:\d+$/.test(note)),
    first!.notes.join('; '),
  );
});

test('an uninitialized read reports the value', () => {
  const [first] = runPlanted(named('three_bytes'), ['init']);
  assert.match(first!.notes.join('; '), /memory holds 0x[0-9a-f]{8} there/);
});

test('a race names the other access', () => {
  const [first] = runPlanted(named('one_word'), ['race']);
  assert.match(first!.message, /where thread \(0, 0, 0\) of the same block writes it before/);
  assert.is(first!.labels.length, 2);
});

test('findings beyond the limit are counted', () => {
  const all = runPlanted(named('local_overflow'), ['memory']);
  assert.ok(all.length > 3);
  const few = runPlanted(named('local_overflow'), ['memory'], 2);
  assert.equal(
    few.map(({ code }) => code),
    ['CM6101', 'CM6101', 'CM6140'],
  );
  assert.ok(few[2]!.message.startsWith(`${all.length - 2} more findings`));
});

const text = (body: string): string => `.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 p) {
  .reg .u64 %rd<9>; .reg .u32 %r<9>; .reg .pred %p<9>;
  ld.param.u64 %rd1, [p]; cvta.to.global.u64 %rd1, %rd1;
  mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4; add.u64 %rd3, %rd1, %rd2;
${body}
  ret;
}
`;

/** The messages for a kernel with one buffer of 32 words, launched with two blocks of 32 threads. */
function report(body: string, sanitize: boolean): string {
  const source = new SourceFile('k.ptx', text(body));
  const compiled = compile(source, { target: 'cpu', sanitize }, new Diagnostics(source))!;
  const launched = { kernel: 'k', blocks: 2, threads: 32, args: [new Uint32Array(32)] };
  try {
    launchMetallib(compiled.metallib, launched, { sanitize: { kinds: new Set(sanitizeKinds) } });
    return '';
  } catch (error) {
    return (error as Error).message;
  }
}

test('an access must stay within the variable of its address', () => {
  const shared = (offset: number) => `  .shared .align 4 .b8 s[128]; .shared .align 4 .b8 t[128];
  mov.u32 %r2, s; shl.b32 %r3, %r1, 2; add.u32 %r4, %r2, %r3; mov.u32 %r5, t; add.u32 %r6, %r5, %r3;
  st.shared.u32 [%r4], %r1; st.shared.u32 [%r6], %r1; ld.volatile.shared.u32 %r7, [%r4+${offset}]; ld.volatile.shared.u32 %r8, [%r6];`;
  assert.is(report(shared(0), true), '');
  assert.match(report(shared(4), true), /reads 4 bytes at 0x[0-9a-f]+, at the end of `s` \(128 bytes\)/);
});

test('a metallib without lines is sanitized too', () => {
  assert.match(report('  st.global.u32 [%rd3+64], %r1;', false), /writes 4 bytes .* behind the end|at the end of/);
});

test('fences with strong accesses order blocks, and a fence alone does not', () => {
  // Block 0 writes, then releases by an atomic; block 1 acquires by one, then reads.
  const pattern = (acquire: string) => `
  mov.u32 %r2, %ctaid.x; setp.ne.u32 %p1, %r2, 0; @%p1 bra other;
  setp.eq.u32 %p2, %r1, 0; @%p2 bra done;
  st.global.u32 [%rd3], 7; membar.gl; red.global.add.u32 [%rd1], 1; bra done;
other: setp.eq.u32 %p2, %r1, 0; @%p2 bra done; ${acquire}
  ld.global.u32 %r4, [%rd3]; add.u32 %r4, %r4, 1; st.global.u32 [%rd3], %r4;
done:`;
  assert.is(report(pattern('ld.volatile.global.u32 %r3, [%rd1]; membar.gl;'), true), '');
  assert.match(report(pattern(''), true), /where a thread of another block writes it before/);
});

test('a write of the value that is there already is no race', () => {
  assert.is(report('  st.global.u32 [%rd1], 5;', true), '');
  assert.match(report('  st.global.u32 [%rd1], %r1;', true), /writes 4 bytes/);
});

test('the fields of a stamp are its 64 bits, and each has its own', () => {
  const names = Object.keys(stampFields) as StampField[];
  assert.is(
    names.reduce((bits, name) => bits + maskOf(name), 0n),
    2n ** 64n - 1n,
  );
  for (const name of names) {
    assert.is(fieldOf(oneOf(name), name), 1);
    for (const other of names)
      assert.is(fieldOf(maskOf(name), other), other === name ? 2 ** stampFields[name].bits - 1 : 0, `${name} ${other}`);
  }
  // A negative number is how WebAssembly hands a stamp over.
  assert.is(fieldOf(-1n, 'time'), 2 ** 25 - 1);
});

/** The code of the first finding in two blocks of 32 threads, with the numbers of its lines; block and thread are in `%r2` and `%r1`. */
function firstFound(lines: readonly string[]): readonly [string, ...number[]] | undefined {
  const source = new SourceFile('k.ptx', text(`mov.u32 %r2, %ctaid.x;\n${lines.join('\n')}`));
  const { metallib } = compile(source, { target: 'cpu', sanitize: true }, new Diagnostics(source))!;
  const [device, diagnostics] = [openCpuDevice(), new Diagnostics()];
  const buffer = device.allocate(128 * 200, diagnostics)!;
  const shape = { grid: [2, 1, 1], block: [32, 1, 1], dynamicSharedBytes: 0 } as const;
  const sanitize = { kinds: new Set(['memory', 'race'] as const), limit: 1, source };
  const args = [{ kind: 'buffer', buffer }] as const;
  device.load(metallib, diagnostics)!.launch({ kernel: 'k', ...shape, args, timeoutMs: 20_000, sanitize }, diagnostics);
  device.close();
  const [first] = diagnostics.list;
  const before = source.position(source.text.indexOf(lines[0]!)).line;
  return first && [first.code, ...first.labels.map(({ span }) => source.position(span.start).line - before)];
}

test('a read of a word leaves what is known of the words around it', () => {
  const sum = 'add.u32 %r3, %r3, %r4; mul.wide.u32 %rd4, %r2, 128; add.u64 %rd4, %rd4, %rd3; st.global.u32 [%rd4+256], %r3;';
  const reads = ['ld.global.u32 %r3, [%rd1];', 'ld.global.u32 %r4, [%rd1+8];', sum];
  assert.equal(firstFound(['st.global.u32 [%rd1+4], %r2;', ...reads]), ['CM6121', 0, 0]);
});

test('every instruction has a number of its own, up to the last that a stamp holds', () => {
  assert.is(fieldOf(BigInt(maxSites), 'site'), maxSites);
  assert.is(fieldOf(BigInt(maxSites + 1), 'site'), 0);
  // 200 stores to places of their own: one leaves the buffer, or writes another value in each block.
  const stores = Array.from({ length: 200 }, (_, i) => ({ offset: 128 * i, value: `${i}` }));
  const found = (at: number, wrong: Partial<(typeof stores)[number]>): readonly [string, ...number[]] | undefined => {
    const lines = stores.map((store, i) => (i === at ? { ...store, ...wrong } : store));
    return firstFound(lines.map(({ offset, value }) => `st.global.u32 [%rd3+${offset}], ${value};`));
  };
  for (const at of [0, 30, 31, 64, 199]) {
    assert.equal(found(at, { offset: 128 * 200 }), ['CM6101', at]);
    assert.equal(found(at, { value: '%r2' }), ['CM6121', at, at]);
  }
});

test.run();
