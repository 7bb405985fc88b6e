/** The helper: what it answers is what a process of its own does, and whatever is unusual is left to that process. */
import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { answerTo } from '../../src/cli/helper/answer.ts';
import { helperUse } from '../../src/cli/helper/automatic.ts';
import { exchange } from '../../src/cli/helper/exchange.ts';
import { type Ended, noteCommand } from '../../src/cli/helper/habit.ts';
import { type PipedOutput, pipedAnswer, unpackedTask } from '../../src/cli/helper/pipe-message.ts';
import { Pipes } from '../../src/cli/helper/pipes.ts';
import { pipesFolder } from '../../src/cli/helper/place.ts';
import { type Answer, divided, packed, type Task, unpacked } from '../../src/cli/helper/wire.ts';
import { cli } from '../support/cli.ts';
import { exampleNames, exampleText, root } from '../support/examples.ts';

const test = suite('cli/helper');
const folder = mkdtempSync(join(tmpdir(), 'cumetal-spec-'));
test.after(() => rmSync(folder, { recursive: true, force: true }));

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);
const taskOf = (words: readonly string[], texts: Readonly<Record<string, string>>): [Task, Uint8Array[]] => {
  const parts = Object.values(texts).map(bytesOf);
  const files = Object.keys(texts).map((path, i) => ({ path, size: parts[i]!.length }));
  return [{ ask: 'run', build: undefined as unknown as string, words, color: { out: false, err: false }, files }, parts];
};

interface Seen {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
  readonly files: Readonly<Record<string, Uint8Array>>;
}

/** What an answer has a process do. */
function seen({ head, parts }: { readonly head: Answer; readonly parts: readonly Uint8Array[] }): Seen | undefined {
  if (!('done' in head)) return undefined;
  const { code, acts } = head.done;
  const text = (to: string): string =>
    Buffer.concat(parts.filter((_, i) => acts[i]!.to === to || (to === 'out' && acts[i]!.to === 'outBytes'))).toString();
  const written = acts.flatMap((act, i) => (act.to === 'file' ? [[act.path, new Uint8Array(parts[i]!)] as const] : []));
  return { code, out: text('out'), err: text('err'), files: Object.fromEntries(written) };
}

const answered = async (words: readonly string[], texts: Readonly<Record<string, string>>): Promise<Seen | undefined> =>
  seen(await answerTo(...taskOf(words, texts)));

const alone = async (words: readonly string[], texts: Readonly<Record<string, string>>): Promise<Seen> => {
  const { code, out, err, files } = await cli(words, texts);
  return { code, out, err, files };
};

const timed = (seen: Seen): Seen => ({ ...seen, out: seen.out.replace(/"compile_ms": ?[\d.]+/, '') });

test('every example, in any order and again: the bytes, the messages and the code of a process of its own', async () => {
  const lines = (name: string): string[][] => [
    ['build', `${name}.ptx`, '-o', 'out.metallib'],
    ['build', `${name}.ptx`, '-o', '-', '--target', 'cpu', '--emit', 'ir'],
    ['check', `${name}.ptx`, '--json'],
  ];
  for (const name of [...exampleNames, ...[...exampleNames].reverse()]) {
    const texts = { [`${name}.ptx`]: exampleText(name) };
    for (const words of lines(name)) assert.equal(await answered(words, texts), await alone(words, texts), words.join(' '));
  }
});

test('faulty texts, several texts, and options', async () => {
  const [a, b] = [exampleText('vector_add'), exampleText('saxpy')];
  const faulty = a.replace(/add\.f32/, 'add.f33');
  const cases: [string[], Record<string, string>][] = [
    [['build', 'k.ptx', '-o', 'o'], { 'k.ptx': faulty }],
    [['check', 'k.ptx', 'l.ptx', '--format', 'sarif'], { 'k.ptx': faulty, 'l.ptx': b }],
    [['check', './a[b]*.ptx', '-W', 'error'], { './a[b]*.ptx': a }],
    [['build', 'k.ptx', 'l.ptx', '-o', 'o', '--json'], { 'k.ptx': a, 'l.ptx': b }],
    [['build', 'k.ptx', '-q', '-o', 'o', '--entry', 'vector_add', '--fp64', 'native', '--no-cache'], { 'k.ptx': a }],
    [['build', 'k.ptx', '-q', '-o', 'o', '--entry', 'nothing'], { 'k.ptx': a }],
    [['build', 'k.ptx', '-o', 'o'], { 'k.ptx': 'not PTX' }],
    [['build', 'k.ptx'], { 'k.ptx': a }],
  ];
  for (const [words, texts] of cases) {
    // A pattern that names a file is that file; in the memory of the spec no path is.
    const expected = await alone(
      words.map((word) => word.replace('./a[b]*.ptx', 'ab.ptx')),
      { ...texts, 'ab.ptx': a },
    );
    const found = await answered(words, texts);
    const renamed = found && {
      ...found,
      out: found.out.replaceAll('./a[b]*.ptx', 'ab.ptx'),
      err: found.err.replaceAll('./a[b]*.ptx', 'ab.ptx'),
    };
    assert.equal(renamed && timed(renamed), timed(expected), words.join(' '));
  }
});

test('what depends on more than the words and the texts is declined', async () => {
  const texts = { 'k.ptx': exampleText('vector_add') };
  for (const words of [
    ['build', 'other.ptx', '-o', 'o'],
    ['build', 'k.ptx', 'kernels.metallib', '-o', 'o'],
    ['build', 'k.ptx', '-o', 'o', '--jobs', '2'],
    ['build', 'k.ptx', '-o', 'o', '--image', '0'],
    ['build', 'k.ptx', '-o', 'o', '--unknown'],
    ['build', 'k.ptx', '-o', 'o', '--print-after', 'all'],
    ['build', '--help'],
    ['check', '.'],
    ['check', '-'],
    ['check', 'k.ptx', '--watch'],
    ['check', 'k.ptx', '--advise'],
    ['run', 'k.ptx'],
    ['cache', 'clear'],
    ['helper', 'stop'],
    [],
  ])
    assert.is(await answered(words, texts), undefined, words.join(' '));
});

// ── The process ──

const begin = { beginMs: 20_000, answerMs: 20_000 };

/** A helper from the sources. */
async function started(name: string): Promise<{ readonly child: ChildProcess; readonly socket: string }> {
  const place = join(folder, name);
  mkdirSync(place, { mode: 0o700 });
  const socket = join(place, 's');
  const child = spawn(process.execPath, [join(root, 'src/cli/start.ts'), '--helper', place, socket], { stdio: 'ignore' });
  // The socket is there before it listens.
  const answers = async (): Promise<boolean> =>
    typeof (await exchange<Answer>(socket, packed({ ask: 'status' }, []), { answerMs: 20_000 })) !== 'string';
  while (child.exitCode === null && !(await answers())) await new Promise((resolve) => setTimeout(resolve, 20));
  return { child, socket };
}

const ended = (child: ChildProcess): Promise<unknown> =>
  child.exitCode !== null || child.signalCode !== null ? Promise.resolve() : new Promise((resolve) => child.on('exit', resolve));

const words = ['build', 'k.ptx', '-o', 'o'];
const texts = { 'k.ptx': exampleText('vector_add') };
const message = ([task, parts]: [Task, Uint8Array[]]): Uint8Array => packed(task, parts);

test('a process answers several at once, says how it is, and stops', async () => {
  const { child, socket } = await started('several');
  const expected = await alone(words, texts);
  const answers = await Promise.all([1, 2, 3].map(() => exchange<Answer>(socket, message(taskOf(words, texts)), begin)));
  for (const answer of answers) {
    assert.type(answer, 'object');
    if (typeof answer === 'string' || !('done' in answer.head)) throw new Error('no answer');
    assert.equal(seen({ head: answer.head, parts: divided(answer.rest, answer.head.done.acts)! }), expected);
  }
  assert.is(statSync(socket).mode & 0o777, 0o600);
  const state = await exchange<Answer>(socket, packed({ ask: 'status' }, []), { answerMs: 20_000 });
  assert.is(typeof state !== 'string' && 'state' in state.head && state.head.state.served, 3);
  assert.is(typeof state !== 'string' && 'state' in state.head && state.head.state.pid, child.pid);
  await exchange<Answer>(socket, packed({ ask: 'stop' }, []), { answerMs: 20_000 });
  await ended(child);
  assert.is(child.exitCode, 0);
  assert.is(existsSync(socket), false);
  assert.is(await exchange<Answer>(socket, message(taskOf(words, texts)), begin), 'absent');
});

test('a build that is not its own is declined, and what is no message closes the connection', async () => {
  const { child, socket } = await started('other');
  const [task, parts] = taskOf(words, texts);
  const answer = await exchange<Answer>(socket, packed({ ...task, build: 'other' }, parts), { answerMs: 20_000 });
  assert.equal(typeof answer !== 'string' && answer.head, { declined: true });
  assert.is(await exchange<Answer>(socket, Uint8Array.of(255, 255, 255, 255, 0), begin), 'failed');
  assert.is(await exchange<Answer>(socket, Uint8Array.of(2, 0, 0, 0, 1, 2), begin), 'failed');
  // Sizes that are not those of the bytes.
  const short = packed({ ...task, files: [{ path: 'k.ptx', size: 5 }] }, parts);
  const refused = await exchange<Answer>(socket, short, { answerMs: 20_000 });
  assert.equal(typeof refused !== 'string' && refused.head, { declined: true });
  child.kill('SIGKILL');
  await ended(child);
  // A socket that nobody listens to.
  assert.is(existsSync(socket), true);
  assert.is(await exchange<Answer>(socket, message([task, parts]), begin), 'absent');
});

test('one that dies while it works, or does not begin, has failed', async () => {
  const { child, socket } = await started('dying');
  const asked = exchange<Answer>(socket, message(taskOf(words, texts)), begin);
  child.kill('SIGKILL');
  assert.match(String(await asked), /failed|absent/);
  const stopped = await started('stopped');
  stopped.child.kill('SIGSTOP');
  assert.is(await exchange<Answer>(stopped.socket, message(taskOf(words, texts)), { beginMs: 50, answerMs: 20_000 }), 'failed');
  stopped.child.kill('SIGKILL');
});

test('it does not listen in a folder that others may enter', async () => {
  const place = join(folder, 'open');
  mkdirSync(join(place, 'others'), { recursive: true });
  chmodSync(place, 0o755);
  const child = spawn(process.execPath, [join(root, 'src/cli/start.ts'), '--helper', place, join(place, 's')], { stdio: 'ignore' });
  await ended(child);
  assert.is(child.exitCode, 1);
  assert.is(existsSync(join(place, 's')), false);
});

// ── When one is used and started ──

test('the user decides, then services of continuous integration have none', () => {
  const cases: [Record<string, string>, ReturnType<typeof helperUse>][] = [
    [{}, 'automatic'],
    [{ CUMETAL_HELPER: '' }, 'automatic'],
    [{ CUMETAL_HELPER: '1' }, 'asked'],
    [{ CUMETAL_HELPER: '1', CI: 'true' }, 'asked'],
    [{ CUMETAL_HELPER: '0' }, 'never'],
    [{ CUMETAL_HELPER: 'off' }, 'never'],
    [{ CI: 'true' }, 'never'],
    [{ CI: '' }, 'automatic'],
    [{ BUILD_NUMBER: '17' }, 'never'],
    [{ TF_BUILD: 'True' }, 'never'],
  ];
  for (const [env, use] of cases) assert.is(helperUse(env), use, JSON.stringify(env));
});

/** How many helpers were started behind a command, in a folder for these specs. */
function noted(name: string, changes: Partial<Ended>): number {
  const place = { folder: join(folder, name), socket: join(folder, name, 's') };
  let starts = 0;
  const ended: Ended = { words: ['build', 'k.ptx', '-o', 'o'], env: {}, ms: 100, hasTerminal: () => true, ...changes };
  noteCommand(ended, { place: () => place, start: () => void starts++ });
  return starts;
}

test('the fourth of some commands in a short time starts one, and then the next four', () => {
  assert.equal(
    Array.from({ length: 8 }, () => noted('fourth', {})),
    [0, 0, 0, 1, 0, 0, 0, 1],
  );
  assert.is(statSync(join(folder, 'fourth')).mode & 0o777, 0o700);
});

test('commands of long ago do not count', () => {
  for (let i = 0; i < 3; i++) assert.is(noted('long-ago', {}), 0);
  const before = new Date(Date.now() - 130_000);
  utimesSync(join(folder, 'long-ago/s.recent'), before, before);
  assert.equal(
    Array.from({ length: 4 }, () => noted('long-ago', {})),
    [0, 0, 0, 1],
  );
});

test('short commands, others, services and processes without a terminal start none', () => {
  const others: Partial<Ended>[] = [
    { ms: 30 },
    { words: ['run', 'k.ptx'] },
    { words: ['build', 'k.cu', '-o', 'o'] },
    { words: [] },
    { env: { CI: '1' } },
    { env: { CUMETAL_HELPER: '0' } },
    { hasTerminal: () => false },
  ];
  for (const other of others) for (let i = 0; i < 6; i++) assert.is(noted('others', other), 0, JSON.stringify(other));
  assert.is(existsSync(join(folder, 'others')), false);
});

test('a folder that cannot be made is no error', () => {
  assert.is(noted('fourth/s.recent/below', {}), 0);
});

test('a message in any pieces is one message', () => {
  const whole = message(taskOf(words, texts));
  for (const cut of [0, 3, 4, 7, whole.length - 1]) assert.is(unpacked(whole.subarray(0, cut)), 'more');
  const found = unpacked<Task>(whole);
  assert.equal(typeof found !== 'string' && found.head.words, words);
  assert.equal(
    typeof found !== 'string' && Buffer.from(found.rest).toString(),
    readFileSync(join(root, 'examples/vector_add.ptx'), 'utf8'),
  );
});

const inOut: PipedOutput = { word: 'out', path: '/folder/out', partial: '/folder/.cumetal-1-0.new' };

test('a command of a shell is read whole or not at all', () => {
  const text = '.version 8.0\n\0end\n// ü\n';
  const lines = ['out,err', inOut.path, inOut.partial, 'a b.ptx', inOut.word, '4', 'build', 'a b.ptx', '-o', 'out'];
  const bytes = bytesOf(`${lines.join('\n')}\n${text}\0end\n`);
  const color = { out: true, err: true };
  const task = { ask: 'run', words: lines.slice(6), color, files: [{ path: 'a b.ptx', size: bytesOf(text).length }] };
  assert.equal(unpackedTask(bytes), { task, bytes: bytesOf(text), output: inOut });
  const complete = bytes.map((_, i) => i).filter((i) => unpackedTask(bytes.subarray(0, i)));
  // A text may look like an end.
  assert.equal(
    [...complete].filter((i) => i > 0),
    [bytes.length - bytesOf('// ü\n\0end\n').length],
  );
  const check = bytesOf(`\n\n\na.ptx\n\n2\ncheck\na.ptx\n\0end\n`);
  assert.equal(unpackedTask(check), {
    task: { ask: 'run', words: ['check', 'a.ptx'], color: { out: false, err: false }, files: [{ path: 'a.ptx', size: 0 }] },
    bytes: new Uint8Array(),
    output: undefined,
  });
});

test('a shell prints lines, standard error first, and writes the output that it was made for', () => {
  const answer = (acts: readonly [to: string, what: string][], writable: readonly string[] = []) =>
    pipedAnswer(
      {
        head: {
          done: { code: 3, acts: acts.map(([to, what]) => ({ to, path: 'out', size: what.length })), writable },
        } as unknown as Answer,
        parts: acts.map(([, what]) => bytesOf(what)),
      },
      inOut,
    );
  assert.equal(
    answer(
      [
        ['file', 'bytes'],
        ['err', 'a\n\nb\u001b\n'],
        ['errStyled', '\u001b[1m\n'],
        ['out', ''],
        ['out', 'xo\n'],
      ],
      ['out'],
    ),
    {
      file: bytesOf('bytes'),
      lines: 'ea\ne\neb\ufffd\ne\u001b[1m\noxo\nx3\n',
    },
  );
  assert.equal(answer([]), { file: undefined, lines: 'x3\n' });
  for (const acts of [
    [
      ['out', 'a\n'],
      ['err', 'b\n'],
    ],
    [['out', 'no end']],
    [['out', 'a\0\n']],
    [['outBytes', 'a\n']],
    [
      ['file', 'a'],
      ['file', 'b'],
    ],
    [['err', `${'a'.repeat(20_000)}\n`]],
  ] as [string, string][][])
    assert.is(answer(acts), undefined, JSON.stringify(acts).slice(0, 80));
  assert.is(answer([], ['other']), undefined);
  assert.is(pipedAnswer({ head: { declined: true }, parts: [] }, inOut), undefined);
});

test('a shell that takes a pair and does not open it loses it', async () => {
  const socket = join(folder, 'piped');
  const asked: unknown[] = [];
  const pipes = new Pipes(socket, async ({ task }) => void asked.push(task.words));
  const serving = pipes.serve();
  const next = (): string | undefined => {
    const path = join(pipesFolder(socket), 'next');
    return existsSync(path) ? readFileSync(path, 'utf8').trim() : undefined;
  };
  const until = async (number: string): Promise<void> => {
    for (let i = 0; i < 100 && next() !== number; i++) await Bun.sleep(20);
    assert.is(next(), number);
  };
  await until('0');
  const taken = join(pipesFolder(socket), '0.taken');
  writeFileSync(taken, '');
  pipes.look();
  await Bun.sleep(100);
  assert.is(next(), '0', 'it has some seconds');
  utimesSync(taken, 0, 0);
  pipes.look();
  await until('1');
  assert.not.ok(existsSync(taken));
  // Longer than anything that is sent, and then a command.
  for (const text of ['a'.repeat(700_000), '\n\n\na.ptx\n\n2\ncheck\na.ptx\n.version 8.0\n\0end\n']) {
    const pipe = join(pipesFolder(socket), `${next()}.ask`);
    const following = `${Number(next()) + 1}`;
    await Bun.write(join(folder, 'text'), text);
    await Bun.spawn(['sh', '-c', 'cat "$0" >"$1"', join(folder, 'text'), pipe], { stderr: 'ignore' }).exited;
    await until(following);
  }
  assert.equal(asked, [['check', 'a.ptx']]);
  pipes.end();
  assert.not.ok(existsSync(pipesFolder(socket)));
  await serving;
});

test.run();
