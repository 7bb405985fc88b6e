/**
 * `printf` as nvcc compiles it: the kernels of `fixtures/printf/printf.cu` on the CPU device, for both kinds of target. Expected text is
 * worked out by hand from the CUDA source.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import { compile } from '../../src/compile/index.ts';
import { type LaunchArgument, openCpuDevice } from '../../src/device/index.ts';

const test = suite('device/printf-nvcc');

const path = join(import.meta.dirname, '../../fixtures/printf/printf.ptx');
const source = new SourceFile('printf.ptx', readFileSync(path, 'utf8'));

/** Bytes by value, or those of a buffer. */
type Given = { readonly value: ArrayBufferView } | { readonly buffer: ArrayBufferView };

interface PrintRun {
  readonly lines: readonly string[];
  /** The content of the last buffer after the launch. */
  readonly after: Uint8Array | undefined;
}

const bytesOf = ({ buffer, byteOffset, byteLength }: ArrayBufferView): Uint8Array => new Uint8Array(buffer, byteOffset, byteLength);

function runFor(target: 'macos14' | 'cpu', kernel: string, threads: number, given: readonly Given[]): PrintRun {
  const diagnostics = new Diagnostics(source);
  const compiled = compile(source, { target, entries: [kernel] }, diagnostics);
  assert.ok(compiled, diagnostics.list.map(({ message }) => message).join('; '));
  const device = openCpuDevice();
  const module = device.load(compiled.metallib, diagnostics)!;
  const args = given.map((one): LaunchArgument => {
    if ('value' in one) return { kind: 'bytes', bytes: bytesOf(one.value) };
    const buffer = device.allocate(one.buffer.byteLength, diagnostics)!;
    buffer.write(bytesOf(one.buffer));
    return { kind: 'buffer', buffer };
  });
  let text = '';
  const print = (piece: Uint8Array): void => {
    text += new TextDecoder('latin1').decode(piece);
  };
  const shape = { grid: [1, 1, 1], block: [threads, 1, 1], dynamicSharedBytes: 0, timeoutMs: 10_000 } as const;
  assert.ok(module.launch({ kernel, ...shape, args, print }, diagnostics));
  assert.equal(diagnostics.list, []);
  const last = args.at(-1);
  return { lines: text.split('\n'), after: last?.kind === 'buffer' ? last.buffer.read() : undefined };
}

function run(kernel: string, threads: number, given: readonly Given[]): PrintRun {
  const apple = runFor('macos14', kernel, threads, given);
  assert.equal(runFor('cpu', kernel, threads, given), apple, 'the targets agree');
  return apple;
}

test('numbers of every size, members of structs, selected strings, calls, and results of calls', () => {
  const body = new DataView(new ArrayBuffer(24));
  body.setInt32(0, 5, true);
  body.setFloat64(8, 1.5, true);
  body.setUint8(16, 255);
  const { lines, after } = run('mixed', 4, [
    { value: body },
    { value: Uint8Array.of(1) },
    { value: Int16Array.of(-3) },
    { value: BigUint64Array.of(2n ** 64n - 1n) },
    { value: Float32Array.of(0.1) },
    { buffer: new Int32Array(4) },
  ]);
  const numbers = (i: number): string => `${5 + i} 1.5 255|1 -3 18446744073709551615|0.100 3.333334e-02`;
  const expected = [0, 1, 2, 3].flatMap((i) => [numbers(i), ['even', 'odd one b', 'even', 'odd three d'][i]!, `speed=${10 * i}`]);
  assert.equal([...lines].sort(), ['', ...expected].sort());
  // 8 arguments, then 2 or none, then 2.
  assert.equal([...new Int32Array(after!.slice().buffer)], [10, 12, 10, 12]);
});

test('formats in arrays, widths as arguments, `__func__`', () => {
  const { lines } = run('formats', 1, [{ value: Int32Array.of(3) }]);
  const expected = [
    'from a table: 3',
    'from constant memory: 3',
    ' 0|0 |00',
    '  1|1  |001',
    '   2|2   |0002',
    'formats of block (0, 0)',
    '',
  ];
  assert.equal(lines, expected);
});

test('a string in a buffer', () => {
  const string = new TextEncoder().encode('abcd\0efgh\0');
  const { lines } = run('text', 1, [{ buffer: string }, { value: Int32Array.of(5) }]);
  assert.equal(lines, ['0 [abcd] []', '1 [bcd] [a]', '2 [cd] [ab]', '3 [d] [abc]', '4 [] [abcd]', '5 [efgh] [abcd]', '']);
});

test('a number that is printed before a string is no pointer', () => {
  const string = new TextEncoder().encode('text\0');
  assert.equal(run('reused', 1, [{ value: BigInt64Array.of(-5n) }, { buffer: string }]).lines, ['-5', 'text', '']);
});

test.run();
