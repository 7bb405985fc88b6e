/** What only the road as a whole refuses: what a target cannot say, and what a file cannot hold. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import { emit } from '../../src/compile/index.ts';
import type { CompileOptions, Emit } from '../../src/compile/options.ts';

const test = suite('compile/refusals');

const head = '.version 8.0\n.target sm_90\n.address_size 64\n';

/** `CODE line:column`, in the order of the text; `made` where there is a result. */
function said(text: string, what: Emit = 'metallib', options: CompileOptions = {}): string[] {
  const file = new SourceFile('a.ptx', head + text);
  const diagnostics = new Diagnostics(file);
  const made = emit(file, what, options, diagnostics);
  const codes = diagnostics.sorted().map(({ code, labels }) => {
    const place = labels[0] && file.position(labels[0].span.start);
    return place ? `${code} ${place.line}:${place.column}` : code;
  });
  return made === undefined ? codes : [...codes, 'made'];
}

const double = (instruction: string): string =>
  `.entry k (.param .u64 a) {\n.reg .b64 %rd; .reg .f64 %d; ld.param.u64 %rd, [a]; ld.global.f64 %d, [%rd];\n${instruction};\nst.global.f64 [%rd], %d; ret; }\n`;

test('CM5092: a module without entries makes a library without kernels, which is said', () => {
  const text = '.global .align 4 .b32 g;\n.func f () { ret; }\n';
  assert.equal(said(text), ['CM5092', 'made']);
  assert.equal(said(`${text}.entry k () { ret; }\n`), ['made']);
});

test('CM2091: an atomic on doubles for the instruments of the CPU device; with locks, it is compiled for an Apple GPU', () => {
  const atomic = double('atom.global.add.f64 %d, [%rd], %d');
  assert.equal(said(atomic, 'metallib', { target: 'macos15', sanitize: true }), ['CM2091 6:1']);
  assert.equal(said(atomic, 'metallib', { target: 'macos15' }), ['made']);
  assert.equal(said(atomic, 'metallib', { target: 'macos14' }), ['CM2090 6:1']);
  assert.equal(said(atomic, 'metallib', { fp64: 'warn' }), ['CM2097 6:1', 'made']);
  assert.equal(said(atomic, 'metallib', { fp64: 'native' }), ['made']);
  assert.equal(said(atomic, 'metallib', { target: 'cpu' }), ['made']);
});

test('CM2097: what computes with doubles, where a warning is asked for: each form once', () => {
  const sum = double(
    'add.f64 %d, %d, 1.0;\nmul.rn.f64 %d, %d, %d;\nsetp.ne.u64 %p, %rd, 0; @%p add.f64 %d, %d, %d;\nneg.f64 %d, %d',
  ).replace('.reg', '.reg .pred %p; .reg');
  assert.equal(said(sum), ['made']);
  assert.equal(said(sum, 'metallib', { fp64: 'warn' }), ['CM2097 6:1', 'CM2097 7:1', 'made']);
  assert.equal(said(sum, 'metallib', { fp64: 'warn', target: 'cpu' }), ['made']);
  const file = new SourceFile('a.ptx', head + sum);
  const diagnostics = new Diagnostics(file);
  emit(file, 'metallib', { fp64: 'warn' }, diagnostics);
  assert.equal(
    diagnostics.sorted().map((d) => d.message),
    [
      '`add.f64` is compiled to integer arithmetic for macos15: 2 places in kernel `k`',
      '`mul.rn.f64` is compiled to integer arithmetic for macos15: 1 place in kernel `k`',
    ],
  );
});

test('CM2098: doubles that are emulated are told of once, where they are computed with', () => {
  const sum = double('add.f64 %d, %d, 1.0;\nadd.rz.f64 %d, %d, 1.0;\nmul.rn.f64 %d, %d, %d;\nadd.f64 %d, %d, 0d4330000000000000');
  assert.equal(said(sum, 'metallib', { fp64: 'emulate' }), ['CM2098 6:1', 'made']);
  assert.equal(said(sum, 'metallib', { fp64: 'emulate', target: 'cpu' }), ['made']);
  assert.equal(said(double('neg.f64 %d, %d'), 'metallib', { fp64: 'emulate' }), ['made']);
  assert.equal(said(double('add.rm.f64 %d, %d, 1.0'), 'metallib', { fp64: 'emulate' }), ['made']);
  assert.equal(said(double('atom.global.add.f64 %d, [%rd], %d'), 'metallib', { fp64: 'emulate' }), ['CM2098 6:1', 'made']);
  const file = new SourceFile('a.ptx', head + sum);
  const diagnostics = new Diagnostics(file);
  emit(file, 'metallib', { fp64: 'emulate' }, diagnostics);
  assert.match(diagnostics.list[0]!.message, /^doubles are computed with pairs of floats for macos15, .*: 2 places$/);
  assert.is(diagnostics.list[0]!.severity, 'note');
});

const shared = (bytes: number): string =>
  `.shared .align 4 .b8 s[${bytes}];\n.entry k () {\n.reg .b32 %r; ld.shared.u32 %r, [s]; st.shared.u32 [s+4], %r; ret; }\n`;

test('CM2093: more shared memory than there is', () => {
  assert.equal(said(shared(32768)), ['made']);
  assert.equal(said(shared(32772)), ['CM2093 5:8']);
  // `native` adds doubles to what Apple GPUs take, and no memory.
  assert.equal(said(shared(32772), 'metallib', { fp64: 'native' }), ['CM2093 5:8']);
});

test('CM2093: for the CPU device as much may be declared as on NVIDIA GPUs', () => {
  assert.equal(said(shared(49152), 'metallib', { target: 'cpu' }), ['made']);
  assert.equal(said(shared(49156), 'metallib', { target: 'cpu' }), ['CM2093 5:8']);
  const words = (bytes: number, options: CompileOptions): (string | undefined)[] => {
    const diagnostics = new Diagnostics();
    emit(new SourceFile('a.ptx', head + shared(bytes)), 'metallib', options, diagnostics);
    return diagnostics.list.flatMap(({ message, help }) => [message, help]);
  };
  assert.equal(words(40000, {}), [
    'kernel `k` declares 40000 bytes of shared memory, and Apple GPUs take 32768',
    '`--target cpu` compiles it for the CPU device alone',
  ]);
  assert.equal(words(50000, {}), ['kernel `k` declares 50000 bytes of shared memory, and NVIDIA GPUs take 49152', undefined]);
  const forCpu = words(50000, { target: 'cpu' });
  assert.equal(forCpu, ['kernel `k` declares 50000 bytes of shared memory, and NVIDIA GPUs take 49152', undefined]);
});

test('CM5090: several entries in one bitcode module', () => {
  const two = '.entry k () { ret; }\n.entry l () { ret; }\n';
  assert.equal(said(two, 'air'), ['CM5090']);
  assert.equal(said(two, 'air', { entries: ['l'] }), ['made']);
  assert.equal(said(two), ['made']);
});

test.run();
