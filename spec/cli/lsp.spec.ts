/** `cumetal lsp` with the client of the protocol's own library: what an editor gets for what it sends. */
import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  createProtocolConnection,
  type Diagnostic,
  type ProtocolConnection,
  type PublishDiagnosticsParams,
  StreamMessageReader,
  StreamMessageWriter,
} from 'vscode-languageserver-protocol/node';
import { program } from '../support/cli.ts';

const test = suite('cli/lsp');

const text = `.version 8.0
.target sm_80
.address_size 64
// 𝟙 is two UTF-16 units and one character.
.visible .entry k(.param .u64 out)
{
  .reg .b32 %r<4>;
  .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x;
  /* 𝟙 */ st.global.u32 [%rd1], %r1;
  ret;
}
`;
const uri = 'file:///work/a%20b.ptx';
const textDocument = { uri };
const lines = text.split('\n');

interface Client {
  readonly connection: ProtocolConnection;
  readonly child: ChildProcess;
  /** The next diagnostics that the server sends after an action. */
  readonly said: (act: () => unknown) => Promise<PublishDiagnosticsParams>;
  readonly errors: () => string;
  readonly end: () => Promise<number | null>;
}

async function started(): Promise<Client> {
  const [command, ...words] = [...program, 'lsp', '--stdio'];
  const child = spawn(command!, words, { stdio: ['pipe', 'pipe', 'pipe'] });
  let errors = '';
  child.stderr!.on('data', (part) => {
    errors += String(part);
  });
  const connection = createProtocolConnection(new StreamMessageReader(child.stdout!), new StreamMessageWriter(child.stdin!));
  let next: ((params: PublishDiagnosticsParams) => void) | undefined;
  connection.onNotification('textDocument/publishDiagnostics', (params: PublishDiagnosticsParams) => next?.(params));
  connection.listen();
  const said = async (act: () => unknown): Promise<PublishDiagnosticsParams> => {
    const result = new Promise<PublishDiagnosticsParams>((resolve) => {
      next = resolve;
    });
    await act();
    return result;
  };
  const capabilities = { textDocument: { rename: { prepareSupport: true } } };
  await connection.sendRequest('initialize', { processId: process.pid, rootUri: null, capabilities });
  await connection.sendNotification('initialized', {});
  const end = async (): Promise<number | null> => {
    const exit = new Promise<number | null>((resolve) => child.once('exit', (code) => resolve(code)));
    await connection.sendRequest('shutdown');
    await connection.sendNotification('exit');
    return exit;
  };
  return { connection, child, said, errors: () => errors, end };
}

const client = await started();
test.after(() => {
  client.child.kill();
});
const request = <T>(method: string, params: object): Promise<T> => client.connection.sendRequest(`textDocument/${method}`, params);
const opened = (of: string): Promise<PublishDiagnosticsParams> =>
  client.said(() =>
    client.connection.sendNotification('textDocument/didOpen', { textDocument: { uri, languageId: 'ptx', version: 1, text: of } }),
  );
let version = 1;
const changed = (contentChanges: readonly object[]): Promise<PublishDiagnosticsParams> =>
  client.said(() =>
    client.connection.sendNotification('textDocument/didChange', { textDocument: { uri, version: ++version }, contentChanges }),
  );

/** The quick fixes of diagnostics: titles and edits. */
async function actionsFor(diagnostics: readonly Diagnostic[]): Promise<(readonly [title: string, edit: object])[]> {
  interface Action {
    readonly title: string;
    readonly edit: { readonly changes: Readonly<Record<string, readonly object[]>> };
  }
  const [first] = diagnostics;
  const actions = await request<readonly Action[]>('codeAction', { textDocument, range: first!.range, context: { diagnostics } });
  return actions.map(({ title, edit }) => [title, edit.changes[uri]![0]!]);
}

/** The place of a part of the text; `by` characters behind its start. */
function place(part: string, by = 1): { line: number; character: number } {
  const line = lines.findIndex((each) => each.includes(part));
  return { line, character: lines[line]!.indexOf(part) + by };
}
const rangeOf = (part: string) => ({ start: place(part, 0), end: place(part, part.length) });

test('advice comes later, as hints', async () => {
  const wide = text.replace('st.global.u32 [%rd1], %r1', 'mad.wide.u32 %rd1, %r1, 64, %rd1; st.global.u32 [%rd1], %r1');
  const { diagnostics: first } = await opened(wide);
  assert.equal(first, []);
  const { diagnostics } = await client.said(() => undefined);
  assert.equal(
    diagnostics.map(({ code, severity }) => [code, severity]),
    [['CM2301', 4]],
  );
});

test('a text without faults has no diagnostics, one with faults has them at UTF-16 columns', async () => {
  assert.equal((await opened(text)).diagnostics, []);
  const part = '[%rd1], %r1;';
  const { diagnostics, version: of } = await changed([{ range: { start: place(part, 8), end: place(part, 11) }, text: '%r9' }]);
  assert.is(of, 2);
  assert.is(diagnostics.length, 1);
  const [found] = diagnostics as [Diagnostic];
  assert.is(found.code, 'CM1101');
  assert.is(found.severity, 1);
  assert.equal(found.range, { start: place(part, 8), end: place(part, 11) });
  // The digit is two units long, so that the column is one more than the number of characters.
  assert.is(place(part, 0).character, [...lines[10]!.slice(0, lines[10]!.indexOf(part))].length + 1);
  assert.equal(await actionsFor(diagnostics), [], 'no register is meant for sure');
  const back = await changed([{ range: { start: place(part, 8), end: place(part, 11) }, text: '%r1' }]);
  assert.equal(back.diagnostics, []);
});

test('a suggested word and a comment for a lint are quick fixes', async () => {
  const wrong = await changed([{ range: { start: place('mov.u32', 0), end: place('mov.u32', 3) }, text: 'movv' }]);
  const at = { start: place('mov.u32', 0), end: place('mov.u32', 4) };
  assert.equal(await actionsFor(wrong.diagnostics), [['Replace with `mov`', { range: at, newText: 'mov' }]]);
  const unused = await changed([{ text: text.replace('.param .u64 out)', '.param .u64 out, .param .u32 other)') }]);
  const line = place('.visible', 0);
  assert.equal(await actionsFor(unused.diagnostics), [
    ['Allow CM2204 on this line', { range: { start: line, end: line }, newText: '// cumetal: allow CM2204\n' }],
  ]);
  const allowed = await changed([{ range: { start: line, end: line }, text: '// cumetal: allow CM2204\n' }]);
  assert.equal(allowed.diagnostics, []);
  assert.equal((await changed([{ text }])).diagnostics, []);
});

test('several changes of one message are applied in order', async () => {
  const at = place('mov.u32', 0);
  const { diagnostics } = await changed([
    { range: { start: at, end: at }, text: 'xyz' },
    { range: { start: at, end: { ...at, character: at.character + 3 } }, text: '' },
  ]);
  assert.equal(diagnostics, []);
  const whole = await changed([{ text: text.replace('ret;', 'rett;') }]);
  assert.match(String(whole.diagnostics[0]?.message), /`rett`/);
  assert.is(whole.diagnostics.length, 1);
  assert.equal((await changed([{ text }])).diagnostics, []);
});

test('hover, definition, references, highlights', async () => {
  const hover = await request<{ contents: { value: string } }>('hover', { textDocument, position: place('mov.u32') });
  assert.match(hover.contents.value, /PTX ISA/);
  const declared = { start: place('%r<4>', 0), end: place('%r<4>', 2) };
  assert.equal(await request('definition', { textDocument, position: place('%r1, %tid') }), { uri, range: declared });
  const references = await request<{ range: object }[]>('references', {
    textDocument,
    position: place('%r1, %tid'),
    context: { includeDeclaration: false },
  });
  assert.equal(
    references.map(({ range }) => range),
    [
      { start: place('%r1, %tid', 0), end: place('%r1, %tid', 3) },
      { start: place('[%rd1], %r1;', 8), end: place('[%rd1], %r1;', 11) },
    ],
  );
  assert.is((await request<object[]>('documentHighlight', { textDocument, position: place('%r1, %tid') })).length, 3);
});

test('rename asks for the part that changes, and refuses what is no name', async () => {
  const position = place('%r1, %tid');
  const prepared = await request<{ range: object; placeholder: string }>('prepareRename', { textDocument, position });
  assert.is(prepared.placeholder, '%r');
  const { changes } = await request<{ changes: Record<string, { range: object; newText: string }[]> }>('rename', {
    textDocument,
    position,
    newName: '%value',
  });
  assert.equal(
    changes[uri]!.map(({ newText }) => newText),
    ['%value', '%value', '%value'],
  );
  try {
    await request('rename', { textDocument, position, newName: 'no name' });
    assert.unreachable();
  } catch (error) {
    assert.match(String(error), /`no name` is not an identifier of PTX/);
  }
});

test('outline, completion, colours and hints', async () => {
  const [entry] = await request<{ name: string; selectionRange: object }[]>('documentSymbol', { textDocument });
  assert.is(entry!.name, 'k');
  assert.equal(entry!.selectionRange, { start: place('.entry k', 7), end: place('.entry k', 8) });
  const { items } = await request<{ items: { label: string }[] }>('completion', { textDocument, position: place('mov.u32', 4) });
  assert.ok(items.some(({ label }) => label === 'u32'));
  const { data } = await request<{ data: number[] }>('semanticTokens/range', { textDocument, range: rangeOf('mov.u32 %r1, %tid.x;') });
  assert.is(data.length % 5, 0);
  assert.equal(data.slice(0, 3), [place('mov.u32', 0).line, place('mov.u32', 0).character, 3]);
  assert.equal(
    await request('inlayHint', { textDocument, range: { start: { line: 0, character: 0 }, end: { line: 12, character: 0 } } }),
    [],
  );
});

test('a request about a document that is not open is an error, and the server goes on', async () => {
  try {
    await request('hover', { textDocument: { uri: 'file:///none.ptx' }, position: { line: 0, character: 0 } });
    assert.unreachable();
  } catch (error) {
    assert.match(String(error), /`file:\/\/\/none.ptx` is not open/);
  }
  assert.ok(await request('hover', { textDocument, position: place('mov.u32') }));
  const beyond = await request('hover', { textDocument, position: { line: 999, character: 999 } });
  assert.is(beyond, null);
});

/** Milliseconds of processor time that a process has taken; Linux counts hundredths of a second. */
function processorMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ');
  return 10 * (Number(fields[11]) + Number(fields[12]));
}

if (process.platform === 'linux')
  test('the answer to a key in a function of half a megabyte takes less than 50 ms of processor time, and the whole follows', async () => {
    const large = 'file:///work/large.ptx';
    const body = Array.from({ length: 16_000 }, (_, i) => `  mad.lo.s32 %r${1 + (i % 3)}, %r${1 + ((i + 1) % 3)}, %r2, ${i};`);
    const whole = text.replace('  /* 𝟙 */', `${body.join('\n')}\n  /* 𝟙 */`);
    const open = { uri: large, languageId: 'ptx', version: 1, text: whole };
    await client.said(() => client.connection.sendNotification('textDocument/didOpen', { textDocument: open }));
    const line = whole.split('\n').indexOf(body[9000]!);
    const taken: number[] = [];
    for (let key = 0; key < 10; key++) {
      // The advice on the text as it was before is not counted.
      await new Promise((resolve) => setTimeout(resolve, key === 0 ? 1500 : 30));
      const before = processorMs(client.child.pid!);
      const at = { line, character: 12 };
      const change = { textDocument: { uri: large, version: 2 + key }, contentChanges: [{ range: { start: at, end: at }, text: 'x' }] };
      const { diagnostics, version } = await client.said(() => client.connection.sendNotification('textDocument/didChange', change));
      taken.push(processorMs(client.child.pid!) - before);
      assert.is(version, 2 + key);
      assert.match(diagnostics.map(({ message }) => message).join(), /s32/);
    }
    taken.sort((a, b) => a - b);
    assert.ok(taken[5]! <= 50, taken.join(' '));
    const later = await client.said(() => {});
    assert.is(later.version, 11);
    await client.said(() => client.connection.sendNotification('textDocument/didClose', { textDocument: { uri: large } }));
  });

test('a closed document has no diagnostics, and the server ends with 0', async () => {
  await changed([{ text: 'nonsense' }]);
  const { diagnostics } = await client.said(() => client.connection.sendNotification('textDocument/didClose', { textDocument }));
  assert.equal(diagnostics, []);
  assert.is(await client.end(), 0);
  assert.is(client.errors(), '');
});

test.run();
