/** What `cumetal run` does with what a kernel prints: standard output before the results, a field of the JSON object. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { cli, type Ran, type Wrote } from '../support/cli.ts';
import { printCall, printingModule } from '../support/printing.ts';

const test = suite('cli/printed');

/** With each byte of standard output as a character. */
async function runOn(ptx: string, argv: readonly string[]): Promise<Ran> {
  const { code, outBytes, err } = await launch(ptx, argv);
  return { code, out: new TextDecoder('latin1').decode(outBytes), err };
}

const launch = (ptx: string, argv: readonly string[]): Promise<Wrote> =>
  cli(['run', 'k.ptx', '--grid', '1', '--block', '2', '--arg', 'u32:2', ...argv], { 'k.ptx': ptx });

const hello = printingModule({ format: 'hello %d \xe9\n' }, `  st.local.u32 [depot], t;\n${printCall('format', 'list')}`);

test('the text comes before the results, byte for byte', async () => {
  const { code, out, err } = await runOn(hello, []);
  assert.equal([code, err], [0, '']);
  assert.match(out, /^hello 0 \xe9\nhello 1 \xe9\nk on CPU /);
  assert.match(out, /\n {2}0 \| 0 1\n$/);
});

test('each of several launches prints', async () => {
  const { out } = await runOn(hello, ['--repeat', '3']);
  assert.is(out.split('hello 1').length - 1, 3);
});

test('the JSON object has the text as a field', async () => {
  const { out } = await launch(hello, ['--json']);
  assert.is(JSON.parse(out).printed, 'hello 0 \ufffd\nhello 1 \ufffd\n');
  const silent = await runOn(printingModule({}, ''), ['--json']);
  assert.is(JSON.parse(silent.out).printed, '');
});

test('a kernel that stops itself has printed all the same', async () => {
  const { code, out, err } = await runOn(hello.replace('  ret;\n', '  trap;\n'), []);
  assert.equal([code, out], [1, 'hello 0 \xe9\nhello 1 \xe9\n']);
  assert.match(err, /^error\[CM6014\]/);
});

test('lost lines are one warning with their number', async () => {
  const flood = hello.replace(
    printCall('format', 'list'),
    `  mov.b32 y, 0;\nLOOP:\n${printCall('format', 'list')}\n  add.u32 y, y, 1; setp.lt.u32 p, y, 100000; @p bra LOOP;`,
  );
  const { code, out, err } = await runOn(flood, []);
  const room = Math.floor((2 ** 18 - 3) / 2);
  assert.is(code, 0);
  assert.is(out.split('hello').length - 1, room);
  assert.match(err, new RegExp(`^warning\\[CM6015\\]: .*: ${200_000 - room} calls of \`printf\` are lost\n`));
  assert.is(err.match(/CM6015/g)?.length, 1);
});

test.run();
