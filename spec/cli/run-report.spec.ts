import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { parseArguments } from '../../src/cli/command/command.ts';
import { commands } from '../../src/cli/commands.ts';
import { readRequest } from '../../src/cli/run/options.ts';
import { finishLaunch, type Report, reportHuman, reportJson } from '../../src/cli/run/report.ts';
import { type Io, launch, splitWords, writeNpy } from '../../src/runtime/index.ts';
import { fakeDevice, kernel, memoryOf, pointer, scalar } from '../support/fake-device.ts';

const test = suite('cli/run-report');

const increment = kernel('increment', [pointer('data', 'u8'), scalar('n', 4, 'u32')]);

/** Runs a command line on a kernel that adds one to each byte. */
function report(line: string, files: Record<string, Uint8Array> = {}): { report: Report; written: Record<string, Uint8Array> } {
  const diagnostics = new Diagnostics();
  const words = parseArguments(commands[0]!, splitWords(line) as string[]);
  const request = typeof words === 'string' ? words : readRequest(words, diagnostics);
  if (typeof request === 'string') throw new Error(request);
  const { device, module } = fakeDevice([increment], (r) => {
    memoryOf(r, 0).forEach((byte, i, bytes) => {
      bytes[i] = byte + 1;
    });
    return true;
  });
  const written: Record<string, Uint8Array> = {};
  const io: Io = {
    readFile: (path) => files[path] ?? { why: 'no such file' },
    writeFile: (path, bytes) => {
      written[path] = bytes;
      return undefined;
    },
  };
  const outcome = launch(device, module, request.plan, request, { io, diagnostics });
  const launched = outcome && finishLaunch(outcome, request, { device: device.info, compileMs: 12.25, io, diagnostics });
  return {
    report: { diagnostics, notes: [], printed: [], device: device.info, compileMs: 12.25, ...(launched ? { launched } : {}) },
    written,
  };
}

const human = (line: string, files = {}) => {
  const { launched, notes } = report(line, files).report;
  if (!launched) throw new Error('no launch');
  return reportHuman(launched, notes);
};
const json = (line: string, files = {}) => JSON.parse(reportJson(report(line, files).report));

const base = 'k.ptx --grid 1 --block 4 --arg u8:4=iota --arg u32=4';
const want = (bytes: number[]) => ({ 'want.bin': Uint8Array.from(bytes) });

test('what a person sees', () => {
  assert.is(
    human(`${base} --print 0:2 --check 0=want.bin`, want([1, 2, 9, 4])),
    [
      'increment on fake',
      '  grid 1 x 1 x 1, block 4 x 1 x 1',
      '  compiled in 12.3 ms, ran in 1.500 ms',
      '',
      '0 data: u8[4]',
      '  0 | 1 2',
      '  … 2 more',
      '',
      'check 0 data: FAIL, 1 of 4 elements differ, first at 2: got 3, expected 9 (max abs 6, rel 0.6667, ulp 6)',
      '',
    ].join('\n'),
  );
});

test('nothing asked for: the written buffers are shown', () => {
  assert.match(human(base), '0 data: u8[4]\n  0 | 1 2 3 4\n');
});

test('a made-up launch says so', () => {
  const text = human('k.ptx');
  assert.match(text, 'default launch, because');
  assert.match(text, '    data: u8:1024=iota\n    n: u32=1024\n    grid and block: to cover 1024 elements\n');
});

test('the object of the contract', () => {
  const got = json(`${base} --print 0 --out 0=a.npy --check 0=want.bin`, want([1, 2, 3, 4]));
  assert.is(got.kernel, 'increment');
  assert.is(got.device, 'cpu');
  assert.equal([got.grid, got.block, got.status, got.compile_ms, got.duration_ms], [[1, 1, 1], [4, 1, 1], 'ok', 12.25, 1.5]);
  assert.equal(got.outputs, [
    { index: 0, name: 'data', dtype: 'u8', shape: [4], count: 4, truncated: false, data: [1, 2, 3, 4] },
    { index: 0, name: 'data', dtype: 'u8', shape: [4], file: 'a.npy' },
  ]);
  const [check] = got.checks;
  assert.equal([check.index, check.pass, check.max_abs, check.max_rel, check.max_ulp, check.first_mismatch], [0, true, 0, 0, 0, null]);
  assert.equal(got.diagnostics, []);
});

test('a failed check keeps the launch ok and names the first mismatch', () => {
  const got = json(`${base} --check 0=want.bin`, want([1, 0, 3, 4]));
  assert.equal([got.status, got.checks[0].pass, got.checks[0].first_mismatch], ['ok', false, 1]);
});

test('a failed launch is an object too', () => {
  const got = json('k.ptx --arg u8:4');
  assert.equal([got.kernel, got.status, got.outputs, got.checks, got.diagnostics[0].code], [null, 'error', [], [], 'CM5011']);
});

test('files are written, and what cannot be shown is said', () => {
  const { written, report: got } = report(`${base} --out 0=a.npy --out 0=a.bin --print 1 --print 7`);
  assert.equal(written['a.npy'], writeNpy({ descr: '|u1', shape: [4], data: Uint8Array.from([1, 2, 3, 4]) }));
  assert.equal(written['a.bin'], Uint8Array.from([1, 2, 3, 4]));
  assert.equal(
    got.diagnostics.list.map((d) => d.message),
    [
      '`--print 1` does not name a buffer: argument 1 of `increment` is a value',
      '`--print 7` does not name a buffer: `increment` has 2 arguments',
    ],
  );
});

test.run();
