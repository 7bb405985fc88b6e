/** The parts of the page of whole programs that need no browser: arguments, files in memory, fetched files, archives, places in messages. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { tarOf, untarred } from '../../scripts/browser/tar.ts';
import { shellWords } from '../../src/base/shell-words.ts';
import { pageHost } from '../../src/page/host.ts';
import { contentsOf, type LargeFile } from '../../src/page/manifest.ts';
import { MemoryFiles } from '../../src/page/memory-folder.ts';
import type { RunReport } from '../../src/page/messages.ts';
import { placeOf } from '../../src/page/terminal.ts';
import { untar } from '../../src/page/untar.ts';
import { errno } from '../../src/program/wasi/errno.ts';
import type { OpenFile, OpenFlags } from '../../src/program/wasi/host.ts';

const test = suite('page');
const utf8 = new TextEncoder();
const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

test('arguments are the words of a shell', () => {
  assert.equal(shellWords(''), []);
  assert.equal(shellWords('  5000 --n=2\t-x '), ['5000', '--n=2', '-x']);
  assert.equal(shellWords(`'two words' "and \\"quotes\\" \\n" a\\ b ''`), ['two words', 'and "quotes" \\n', 'a b', '']);
  assert.equal(shellWords(`pre'mid 'post"x y"`), ['premid postx y']);
});

const flags: OpenFlags = {
  create: false,
  exclusive: false,
  truncate: false,
  folder: false,
  append: false,
  read: true,
  write: false,
  follow: true,
};

test('files in memory behave as those of POSIX', () => {
  const files = new MemoryFiles();
  files.put('data/in.txt', utf8.encode('hello'));
  const folder = files.folder('.');
  const open = (path: string, more: Partial<OpenFlags> = {}): OpenFile => {
    const opened = folder.open(path, { ...flags, ...more });
    if (opened === 'folder' || 'errno' in opened) throw new Error(`${path}: ${JSON.stringify(opened)}`);
    return opened;
  };
  const readAll = (path: string): string => {
    const into = new Uint8Array(100);
    return text(into.subarray(0, open(path).read(into, 0) as number));
  };
  const failed = (name: keyof typeof errno): object => ({ errno: errno[name] });

  assert.is(readAll('./data/../data/in.txt'), 'hello');
  assert.equal(files.changed(), [], 'what was only read has not changed');
  assert.equal(folder.open('../secret', flags), failed('notcapable'));
  assert.equal(folder.open('data/none', flags), failed('noent'));
  assert.equal(folder.open('data/in.txt/x', flags), failed('notdir'));
  assert.equal(folder.open('data', { ...flags, write: true }), failed('isdir'));
  assert.is(folder.open('data', { ...flags, folder: true }), 'folder');
  assert.equal(folder.open('data/in.txt', { ...flags, create: true, exclusive: true }), failed('exist'));

  const made = open('out.bin', { create: true, write: true });
  assert.is(made.write(utf8.encode('xyz'), 4), 3);
  assert.is(readAll('out.bin'), '\0\0\0\0xyz', 'a gap is zero');
  made.resize(2);
  made.resize(4);
  assert.is(readAll('out.bin'), '\0\0\0\0', 'what was cut off does not return');
  assert.is(made.write(utf8.encode('!'), undefined), 1, 'at the end');
  assert.is(readAll('out.bin'), '\0\0\0\0!');

  const original = utf8.encode('kept');
  files.put('kept.txt', original);
  open('kept.txt', { write: true }).write(utf8.encode('K'), 0);
  assert.is(text(original), 'kept', 'the bytes of the page stay');
  assert.equal(
    files.changed().map(({ name, bytes }) => [name, text(bytes)]),
    [
      ['out.bin', '\0\0\0\0!'],
      ['kept.txt', 'Kept'],
    ],
  );

  assert.is(folder.makeFolder('sub'), undefined);
  assert.equal(folder.makeFolder('sub'), failed('exist'));
  assert.is(folder.rename('out.bin', folder, 'sub/moved.bin'), undefined);
  assert.equal(folder.rename('sub', folder, 'sub/inner'), failed('inval'));
  assert.equal(folder.removeFolder('sub'), failed('notempty'));
  assert.equal(
    (folder.list('sub') as readonly { readonly name: string }[]).map(({ name }) => name),
    ['moved.bin'],
  );
  assert.is(folder.removeFile('sub/moved.bin'), undefined);
  assert.is(folder.removeFolder('sub'), undefined);
  assert.equal(folder.removeFile('sub'), failed('noent'));
});

test('output is sent up to a limit, and of the rest the end', () => {
  const sent: RunReport[] = [];
  const order = { module: new Uint8Array(), args: [], files: [], input: new Uint8Array(), threads: 1 };
  const { host, finish } = pageHost(order, (report) => sent.push(report));
  const line = 'x'.repeat(99);
  for (let i = 0; i < 50_000; i++) host.writeOutput(i % 2 === 0 ? 1 : 2, utf8.encode(`${line}\n`));
  host.writeOutput(1, utf8.encode('the end\n'));
  finish();
  const pieces = sent.flatMap((each) => (each.kind === 'output' ? [each] : []));
  const shown = pieces.reduce((sum, { bytes }) => sum + bytes.length, 0);
  const dropped = sent.filter((each) => each.kind === 'dropped').at(-1)!;
  assert.is(shown + dropped.bytes, 5_000_008);
  assert.ok(shown > 1_048_576 && shown < 1_048_576 + 70_000, `${shown}`);
  assert.is(text(pieces.at(-1)!.bytes).slice(-8), 'the end\n');
  assert.equal(
    pieces.slice(-3).map(({ stream }) => stream),
    [1, 2, 1],
  );
});

test('a fetched file is unpacked, and refused if it is another one', async () => {
  const bytes = utf8.encode('contents '.repeat(100));
  const hash = new Bun.CryptoHasher('sha256').update(bytes).digest('hex');
  const zipped = Bun.gzipSync(bytes);
  using server = Bun.serve({
    port: 0,
    fetch(request) {
      const { pathname } = new URL(request.url);
      if (pathname === '/plain') return new Response(bytes);
      if (pathname === '/zipped') return new Response(zipped);
      if (pathname === '/encoded') return new Response(zipped, { headers: { 'content-encoding': 'gzip' } });
      if (pathname === '/cut') return new Response(zipped.slice(0, 30));
      return new Response('', { status: 404, statusText: 'Not Found' });
    },
  });
  const get = (url: string, isZipped: boolean, sha256 = hash): Promise<Uint8Array> => {
    const file: LargeFile = { url, isZipped, bytes: bytes.length, sent: zipped.length, sha256 };
    return contentsOf(file, `${server.url}`, () => undefined);
  };
  for (const [url, isZipped] of [
    ['plain', false],
    ['zipped', true],
    ['encoded', true],
  ] as const)
    assert.equal(await get(url, isZipped), bytes, url);
  const why = async (promise: Promise<unknown>): Promise<string> =>
    promise.then(
      () => 'nothing',
      (error: Error) => error.message,
    );
  assert.is(
    await why(get('plain', false, hash.replace(/^./, 'g'))),
    'plain is not the file that this page was built for: its SHA-256 differs',
  );
  assert.match(await why(get('cut', true)), /^cut is damaged/);
  assert.match(await why(get('none', false)), /none cannot be fetched: the server says 404/);
});

test('archives are read as they were written', () => {
  const files = [
    { path: 'a/b/c.h', bytes: utf8.encode('c') },
    { path: 'a/big', bytes: new Uint8Array(1537).fill(7) },
    { path: 'empty', bytes: new Uint8Array() },
  ];
  const archive = tarOf(files);
  assert.equal(untarred(archive), files);
  const tree = untar(archive) as { a: { b: Record<string, Uint8Array>; big: Uint8Array }; empty: Uint8Array };
  assert.equal([text(tree.a.b['c.h']!), tree.a.big.length, tree.empty.length], ['c', 1537, 0]);
});

test('places in messages', () => {
  assert.equal(placeOf("main.cu:3:5: error: expected ';'"), { file: 'main.cu', line: 3, isError: true });
  assert.equal(placeOf('util.h:12:1: warning: x'), { file: 'util.h', line: 12, isError: false });
  assert.equal(placeOf(' --> main.cu:7:9'), { file: 'main.cu', line: 7, isError: true });
  assert.is(placeOf('   3 | int x: 4:5'), undefined);
});

test.run();
