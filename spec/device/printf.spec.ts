/**
 * `printf` in kernels, end to end on both kinds of target: the records that kernels write and the text formatted from them. Expected
 * text is worked out by hand; threads of the CPU device run in order unless they synchronize.
 */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import { type CompileOptions, compile } from '../../src/compile/index.ts';
import { type Dim3, openCpuDevice } from '../../src/device/index.ts';
import { readPrinted } from '../../src/device/printed.ts';
import { splitMix64 } from '../../src/runtime/rand.ts';
import { printCall, printingModule } from '../support/printing.ts';

const test = suite('device/printf');

interface Shape {
  readonly threads?: number;
  readonly blocks?: number;
  readonly launches?: number;
  /** The initial content of the buffer. */
  readonly bytes?: Uint8Array;
  readonly target?: CompileOptions['target'];
}

interface PrintRun {
  readonly text: string;
  readonly said: readonly string[];
  readonly words: readonly number[];
}

function run(
  ptx: string,
  { threads = 1, blocks = 1, launches = 1, bytes = new Uint8Array(256), target = 'macos14' }: Shape = {},
): PrintRun {
  const source = new SourceFile('k.ptx', ptx);
  const compiling = new Diagnostics(source);
  const compiled = compile(source, { target }, compiling);
  assert.ok(compiled, compiling.list.map((d) => d.message).join('; '));
  const diagnostics = new Diagnostics();
  const device = openCpuDevice();
  const module = device.load(compiled.metallib, diagnostics)!;
  assert.is(module.kernels[0]!.params.length, 1, 'what is hidden is no parameter for people');
  const buffer = device.allocate(bytes.length, diagnostics)!;
  buffer.write(bytes);
  let text = '';
  const print = (more: Uint8Array): void => {
    text += Array.from(more, (byte) => String.fromCharCode(byte)).join('');
  };
  const [grid, block]: Dim3[] = [
    [blocks, 1, 1],
    [threads, 1, 1],
  ];
  const request = { kernel: 'k', grid: grid!, block: block!, dynamicSharedBytes: 0, timeoutMs: 10_000, print };
  for (let i = 0; i < launches; i++) module.launch({ ...request, args: [{ kind: 'buffer', buffer }] }, diagnostics);
  const said = diagnostics.list.map(({ code, message }) => `${code} ${message}`);
  return { text, said, words: [...new Uint32Array(buffer.read().buffer)] };
}

/** Runs a kernel on both kinds of target, whose results must be equal. */
function both(ptx: string, shape: Shape = {}): PrintRun {
  const apple = run(ptx, shape);
  assert.equal(run(ptx, { ...shape, target: 'cpu' }), apple, 'the targets agree');
  return apple;
}

test('every kind of argument, with width and precision as literals and as arguments', () => {
  // Offsets in the list: t 0, d 8, w 16, the address 24, the letter 32, width and t 36, width, precision and d 44, t 64, 511 68.
  const ptx = printingModule(
    { format: 't%d %5.2f|%lld|%s%%%c|%*d|%-*.*f|%#x|%hhd\n', word: 'w\xc3\xb6rd' },
    `  cvt.rn.f64.u32 d, t;
  fma.rn.f64 d, d, 0d3FF8000000000000, 0dBFD0000000000000;
  mov.b64 w, -5000000000;
  mov.u64 s0, word;
  cvta.global.u64 s1, s0;
  add.u32 r0, t, 65;
  st.local.u32 [depot], t;
  st.local.f64 [depot+8], d;
  st.local.v2.u64 [depot+16], {w, s1};
  st.local.u32 [depot+32], r0;
  st.local.u32 [depot+36], 3;
  st.local.u32 [depot+40], t;
  st.local.u32 [depot+44], 6;
  st.local.u32 [depot+48], 3;
  st.local.f64 [depot+56], d;
  st.local.u32 [depot+64], t;
  st.local.u32 [depot+68], 511;
${printCall('format', 'list')}`,
  );
  const line = (t: number, a: string, b: string, c: string): string =>
    `t${t} ${a}|-5000000000|w\xc3\xb6rd%${'ABC'[t]}|  ${t}|${b}|${c}|-1\n`;
  const expected = [line(0, '-0.25', '-0.250', '0'), line(1, ' 1.25', '1.250 ', '0x1'), line(2, ' 2.75', '2.750 ', '0x2')];
  assert.is(both(ptx, { threads: 3 }).text, expected.join(''));
});

test('the result is the number of arguments, and a call with a false guard changes nothing', () => {
  const ptx = printingModule(
    { none: 'none\n', two: '%d %d\n' },
    `  mov.b32 r0, 77; mov.b32 r1, 77;
  setp.eq.u32 p, t, 1;
  add.u32 x, t, 10;
  st.local.v2.u32 [depot], {t, x};
${printCall('none', '0', { result: 'r0' })}
${printCall('two', 'list', { guard: '@p ', result: 'r1' })}
  mul.lo.u32 r1, r1, 100;
  add.u32 r1, r1, r0;
  st.global.u32 [base], r1;`,
  );
  const { text, words } = both(ptx, { threads: 3 });
  assert.equal([...text.split('\n')].sort(), ['', '1 11', 'none', 'none', 'none']);
  assert.equal(words.slice(0, 3), [7700, 200, 7700]);
});

test('divergent threads, and a loop', () => {
  const ptx = printingModule(
    { odd: 'odd %d\n', even: 'even %d of %d\n' },
    `  and.b32 x, t, 1;
  setp.eq.u32 p, x, 1;
  st.local.u32 [depot], t;
  @p bra ODD;
  mov.b32 y, 0;
LOOP:
  st.local.u32 [depot+4], y;
${printCall('even', 'list')}
  add.u32 y, y, 1;
  setp.lt.u32 q, y, t;
  @q bra LOOP;
  bra DONE;
ODD:
${printCall('odd', 'list')}
DONE:`,
  );
  const lines = both(ptx, { threads: 5 }).text.split('\n');
  assert.equal([...lines].sort(), [
    '',
    'even 0 of 0',
    'even 2 of 0',
    'even 2 of 1',
    'even 4 of 0',
    'even 4 of 1',
    'even 4 of 2',
    'even 4 of 3',
    'odd 1',
    'odd 3',
  ]);
});

test('printf in a called function', () => {
  const more = `.func (.param .b32 r) say(.param .b32 a)
{
  .local .align 8 .b8 own[8];
  .reg .b64 mine, generic0;
  .reg .b32 value, count;
  mov.u64 mine, own;
  cvta.local.u64 generic0, mine;
  ld.param.u32 value, [a];
  st.local.u32 [own], value;
${printCall('format', 'generic0', { result: 'count' })}
  st.param.b32 [r], count;
  ret;
}`;
  const call = (value: string): string => `  { .param .b32 a; .param .b32 r;
    st.param.b32 [a], ${value}; call.uni (r), say, (a); ld.param.b32 x, [r]; }`;
  const ptx = printingModule({ format: 'say %d\n' }, `${call('t')}\n${call('7')}\n  st.global.u32 [base], x;`, more);
  const { text, words } = both(ptx, { threads: 2 });
  assert.equal(text.split('\n').sort(), ['', 'say 0', 'say 1', 'say 7', 'say 7']);
  assert.equal(words.slice(0, 2), [1, 1]);
});

/** Prints `string` as `%s`, `%.3s`, `%.*s` with the thread id, and `%-6s`. */
const stringsOf = (string: string): string =>
  printingModule(
    { format: '%s|%.3s|%.*s|%-6s|\n', one: 'one', longer: 'longer' },
    `${string}
  st.local.u64 [depot], s0;
  st.local.u64 [depot+8], s0;
  st.local.u32 [depot+16], t;
  st.local.u64 [depot+24], s0;
  st.local.u64 [depot+32], s0;
${printCall('format', 'list')}`,
  );

test('strings of the module that are selected at run time', () => {
  const chosen = `  mov.u64 s1, one; cvta.global.u64 s2, s1; mov.u64 s3, longer; cvta.global.u64 s4, s3;
  setp.eq.u32 p, t, 1; selp.b64 s0, s2, s4, p;`;
  assert.is(both(stringsOf(chosen), { threads: 3 }).text, 'longer|lon||longer|\none|one|o|one   |\nlonger|lon|lo|longer|\n');
});

test('strings in a buffer, and null pointers', () => {
  const bytes = new Uint8Array(256);
  bytes.set([...'hey'].map((char) => char.charCodeAt(0)));
  // The kernel stores the thread id, 0, to the first word before it prints: `out` is written, so the text follows it.
  bytes.copyWithin(4, 0, 3);
  const buffer = '  ld.param.u64 s1, [out]; add.s64 s0, s1, 4;';
  assert.is(both(stringsOf(buffer), { bytes }).text, 'hey|hey||hey   |\n');
  assert.is(both(stringsOf('  mov.b64 s0, 0;')).text, '(null)|||(null)|\n');
});

test('a parameter that is printed only as a string is a pointer, one that is printed as a number is not', () => {
  const code = `  ld.param.u64 s0, [text];
  st.local.v2.u64 [depot], {base, s0};
${printCall('format', 'list')}`;
  const kinds = (format: string): string[] => {
    const text = printingModule({ format }, code).replace('.param .u64 out)', '.param .u64 out, .param .u64 text)');
    const diagnostics = new Diagnostics(new SourceFile('k.ptx', text));
    return compile(diagnostics.file!, {}, diagnostics)!.reflection.kernels[0]!.params.map(({ kind }) => kind);
  };
  assert.equal(kinds('%llx %s'), ['buffer', 'buffer']);
  assert.equal(kinds('%s %llx'), ['buffer', 'bytes']);
});

test('an unterminated string is read up to its precision', () => {
  // All memory of the buffer is filled with letters.
  const code = `  ld.param.u64 s0, [out]; add.s64 s0, s0, 4;
  st.local.u64 [depot], s0;
${printCall('format', 'list')}`;
  const { text, said } = both(printingModule({ format: '%.5s\n' }, code), { bytes: new Uint8Array(256).fill(122) });
  assert.equal([text, said], ['zzzzz\n', []]);
});

test('formats with arbitrary bytes survive the metallib', () => {
  const all = Array.from({ length: 255 }, (_, i) => String.fromCharCode(i + 1))
    .join('')
    .replace('%', '%%');
  assert.is(both(printingModule({ format: all }, printCall('format'))).text, all.replace('%%', '%'));
});

test('records that exceed the capacity are counted, per launch', () => {
  const flood = printingModule(
    { format: '%d %d\n' },
    `  st.local.u32 [depot], t;
  mov.b32 y, 0;
LOOP:
  st.local.u32 [depot+4], y;
${printCall('format', 'list')}
  add.u32 y, y, 1;
  setp.lt.u32 p, y, 1000;
  @p bra LOOP;`,
  );
  // 1 MiB without the 3 words of the header; 3 words per record.
  const room = Math.floor((2 ** 18 - 3) / 3);
  const { text, said } = both(flood, { threads: 32, blocks: 3 });
  assert.is(text.split('\n').length - 1, room);
  assert.equal(said, [`CM6015 kernel \`k\` filled the printf buffer: ${96_000 - room} calls of \`printf\` are lost`]);
  const lines = new Set(text.split('\n'));
  assert.ok(lines.has('31 999') && lines.has('0 0'));
  assert.is(both(printingModule({ format: 'once\n' }, printCall('format')), { launches: 3 }).text, 'once\nonce\nonce\n');
});

test('every thread of all blocks prints once', () => {
  const code = `  mov.u32 x, %ctaid.x;
  st.local.v2.u32 [depot], {x, t};
${printCall('format', 'list')}`;
  const { text } = both(printingModule({ format: '%d/%d\n' }, code), { blocks: 20, threads: 37 });
  const expected = Array.from({ length: 20 }, (_, b) => Array.from({ length: 37 }, (__, t) => `${b}/${t}`)).flat();
  assert.equal(text.trimEnd().split('\n').sort(), expected.sort());
});

test('text that was printed before a trap is kept', () => {
  const code = `${printCall('before')}
  setp.eq.u32 p, t, 1;
  @p trap;
${printCall('after')}`;
  const { text, said } = both(printingModule({ before: 'before\n', after: 'after\n' }, code), { threads: 2 });
  assert.equal(text.split('\n').sort(), ['', 'after', 'before', 'before']);
  assert.is(said.length, 1);
  assert.match(said[0]!, /^CM6014 /);
});

/** Code, message and line of the diagnostics of a refused kernel. */
function refused(ptx: string): string[] {
  const source = new SourceFile('k.ptx', ptx);
  const diagnostics = new Diagnostics(source);
  assert.is(compile(source, {}, diagnostics), undefined);
  return diagnostics.sorted().map(({ code, labels, message }) => {
    const line = ptx.split('\n')[source.position(labels[0]!.span.start).line - 1]!;
    return `${code} ${message} | ${line.trim()}`;
  });
}

const callLine = 'call.uni (retval0), vprintf, (param0, param1);';

test('unsupported formats are refused at the call', () => {
  const why = (format: string): string[] => refused(printingModule({ format }, printCall('format', 'list')));
  const words = 'CM2051 this call of `printf` is not supported:';
  assert.equal(why('%d %n'), [`${words} the conversion \`%n\` is not supported | ${callLine}`]);
  assert.equal(why('%d%'), [`${words} the conversion \`%\` at the end is incomplete | ${callLine}`]);
  assert.equal(why('%ls'), [`${words} the length modifier of the conversion \`%ls\` is not supported | ${callLine}`]);
});

test('unknown formats are refused at the call', () => {
  const words = 'CM2051 this call of `printf` is not supported: its format';
  const chosen = printCall('format').replace('mov.u64 at, format;', 'mov.u64 s1, format; mov.u64 s2, other; selp.b64 at, s1, s2, p;');
  const unknown = `${words} is not the address of one string of the module | ${callLine}`;
  assert.equal(refused(printingModule({ format: 'a', other: 'b' }, chosen)), [unknown]);
  const twice = printCall('format').replace('mov.u64 at, format;', 'mov.u64 at, format; add.s64 at, at, 1;');
  assert.equal(refused(printingModule({ format: 'a' }, twice)), [unknown]);
  const visible = printingModule({ format: 'a' }, printCall('format')).replace(
    '.global .align 1 .b8 format',
    '.visible .global .align 1 .b8 format',
  );
  assert.equal(refused(visible), [`${words}, \`format\`, is a variable that the host may write | ${callLine}`]);
  const none = `${words} has conversions, and there are no arguments | ${callLine}`;
  assert.equal(refused(printingModule({ format: '%d' }, printCall('format'))), [none]);
});

test('the buffer takes the slot after the parameters, and strings that are constant take none', () => {
  const of = (count: number, code: string): string => {
    const params = Array.from({ length: count }, (_, i) => `, .param .u32 p${i}`).join('');
    return printingModule({ format: '%s\n', word: 'word' }, code).replace('.param .u64 out)', `.param .u64 out${params})`);
  };
  const slots = (text: string): unknown => {
    const diagnostics = new Diagnostics(new SourceFile('k.ptx', text));
    const kernel = compile(diagnostics.file!, {}, diagnostics)?.reflection.kernels[0];
    return kernel
      ? [kernel.memory?.slot, kernel.printf?.slot]
      : diagnostics.list.map(({ code, message, notes }) => [code, message, ...notes]);
  };
  const unknown = `  ld.param.u64 s0, [out]; st.local.u64 [depot], s0;\n${printCall('format', 'list')}`;
  const known = `  mov.u64 s0, word; cvta.global.u64 s1, s0; st.local.u64 [depot], s1;\n${printCall('format', 'list')}`;
  assert.equal(slots(of(2, unknown)), [undefined, 3]);
  assert.equal(slots(of(2, known)), [3, 4]);
  assert.equal(slots(of(29, unknown)), [undefined, 30]);
  // One slot too few: the values share one, after the one buffer of the source.
  assert.equal(slots(of(29, known)), [2, 3]);
});

test('the hidden buffer is described with its formats', () => {
  const source = new SourceFile(
    'k.ptx',
    printingModule({ a: 'a %d\n', b: 'b\n' }, `${printCall('b')}\n${printCall('a', 'list')}\n${printCall('b')}`),
  );
  const diagnostics = new Diagnostics(source);
  const compiled = compile(source, {}, diagnostics)!;
  const kernel = openCpuDevice().load(compiled.metallib, diagnostics)!.kernels[0]!;
  assert.equal(kernel.printf?.formats, ['b\n', 'a %d\n']);
  assert.equal(compiled.reflection.kernels[0]!.printf, kernel.printf);
});

test('a library with malformed formats is refused', () => {
  const diagnostics = new Diagnostics(new SourceFile('k.ptx', printingModule({ a: 'here %d it is' }, printCall('a', 'list'))));
  const { metallib } = compile(diagnostics.file!, {}, diagnostics)!;
  const at = Buffer.from(metallib).indexOf('here %d it is');
  assert.ok(at > 0, 'the format stands in the file');
  metallib[at + 6] = 'n'.charCodeAt(0);
  const found = new Diagnostics();
  assert.is(openCpuDevice().load(metallib, found), undefined);
  assert.match(
    found.list.map(({ code, message }) => `${code} ${message}`).join(),
    /CM40.*`cumetal\.printf` with a format that cannot be printed/,
  );
});

test('for arbitrary buffer contents, records are read within the buffer', () => {
  const draw = splitMix64(5n);
  const formats = ['%d %s\n', '%lld', '', 'text', '%s%s%s'];
  for (let round = 0; round < 500; round++) {
    const words = Uint32Array.from({ length: 24 }, () => Number(draw() & (draw() % 4n === 0n ? 0xffffffffn : 7n)));
    words[1] = round % 3 === 0 ? Number(draw() & 0xffffffffn) : 21;
    let length = 0;
    readPrinted(new Uint8Array(words.buffer), formats, (text) => {
      length += text.length;
    });
    assert.ok(length < 2000);
  }
});

test.run();
