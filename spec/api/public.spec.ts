/** What an editor shows of the public entries: every name has a doc comment, errors print without sources, and types are inferred. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { inBoth } from '../support/both-runtimes.ts';
import { root } from '../support/examples.ts';
import { type Exported, exportsOf, sourcesOfEntries } from '../support/public-names.ts';

const test = suite('api/public');

for (const [entry, file] of sourcesOfEntries())
  test(`cumetal${entry.slice(1)}: every exported name has a doc comment`, () => {
    const all = exportsOf(file);
    assert.ok(all.length >= 15, `${all.length} names`);
    const missing = all.filter(({ doc }) => doc === '').map(({ name, file: at, line }) => `${at}:${line} ${name}`);
    assert.equal(missing, []);
  });

/** Members of a class without a doc comment that are neither private nor accessors of the language. */
function undocumented({ file, text }: Exported): string[] {
  const lines = text.split('\n');
  const members = lines.flatMap((line, i) => {
    const name = /^ {2}(?:static |readonly |get |async |override )*(\w+)(?:<[^>(]*>)?[(:?]/.exec(line)?.[1];
    return name && !/^(constructor|private|name)$/.test(name) && !line.startsWith('  private') ? [{ name, i }] : [];
  });
  const isFirst = ({ name }: { name: string }, i: number): boolean => members.findIndex((each) => each.name === name) === i;
  return members.filter(isFirst).flatMap(({ name, i }) => {
    const before = lines
      .slice(0, i)
      .join('\n')
      .trimEnd()
      .replace(/\n *\/\/.*$/, '');
    return before.endsWith('*/') ? [] : [`${file} ${name}`];
  });
}

test('every member of an exported class has a doc comment', () => {
  const classes = [...sourcesOfEntries().values()].flatMap(exportsOf).filter(({ text }) => text.startsWith('export class '));
  assert.ok(classes.length >= 15);
  assert.equal([...new Set(classes.flatMap(undocumented))], [] as string[]);
});

inBoth(
  test,
  'a printed error has the place of each diagnostic and not the text of the module',
  `import { inspect } from 'node:util';
  import { CompileError, Device } from 'cumetal';
  const marker = 'this line is of the source';
  const ptx = '.version 8.0\\n.target sm_80\\n.address_size 64\\n' + ('// ' + marker + '\\n').repeat(100) + '.visible .entry k() { ad.u32 %r1; ret; }\\n';
  const device = Device.open('cpu');
  try {
    device.load(ptx);
  } catch (error) {
    const text = inspect(error, { depth: 10 });
    console.log(error);
    const { diagnostics } = error as CompileError;
    console.log(JSON.stringify([error instanceof CompileError, text.includes(marker), JSON.stringify(error).includes(marker), text.includes('module.ptx'), diagnostics[0]!.file!.text.includes(marker)]));
  }
  device.close();`,
  ({ stdout, stderr }) => {
    assert.is(stderr, '');
    assert.not.match(stdout, /this line is of the source/);
    assert.match(stdout, /module\.ptx:104:23/);
    assert.equal(JSON.parse(stdout.trim().split('\n').at(-1)!), [true, false, false, true, true]);
  },
);

const folder = mkdtempSync(join(tmpdir(), 'cumetal-spec-'));
test.after(() => rmSync(folder, { recursive: true, force: true }));

/** Type-checks a program that imports the sources as `cumetal`; returns what the compiler says. */
function problemsOf(program: string): string {
  const text = program.replaceAll("'cumetal'", JSON.stringify(sourcesOfEntries().get('.')));
  writeFileSync(join(folder, 'program.ts'), text);
  const options = {
    extends: join(root, 'tsconfig.json'),
    compilerOptions: { rewriteRelativeImportExtensions: false, typeRoots: [join(root, 'node_modules')], noUnusedLocals: false },
    include: ['program.ts'],
  };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(options));
  return spawnSync(join(root, 'node_modules/.bin/tsc'), ['--noEmit', '-p', folder], { encoding: 'utf8', cwd: root }).stdout;
}

test('types of arguments, buffers and kinds of devices are inferred without annotations', () => {
  const said = problemsOf(`import { type Buffer, Device, type DeviceKind, type DeviceOptions } from 'cumetal';
  type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
  const same = <A, B>(_: Same<A, B>): void => {};
  const device = Device.open('cpu');
  const plain = device.load('').kernel();
  const typed = device.load('').kernel('k', ['f32', 'f32*', 'u32*']);
  const shape = { grid: 1, block: 1 } as const;
  plain.launch({ ...shape, args: [device.allocate('f32', 1), device.allocate('u32', 1, 'unified'), 1, 2n, new Uint8Array(4)] });
  plain.launch({ ...shape, args: [device.bufferOf('f32', [1, 2]), device.bufferOf('u64', [1n])] });
  typed.launch({ ...shape, args: [2, device.allocate('f32', 1), device.bufferOf('u32', [1], 'unified')] });
  // @ts-expect-error: the element types differ.
  typed.launch({ ...shape, args: [2, device.allocate('u32', 1), device.allocate('u32', 1)] });
  // @ts-expect-error: kernels do not see host memory.
  plain.launch({ ...shape, args: [device.allocate('f32', 1, 'host')] });
  // @ts-expect-error: one argument is missing.
  typed.launch({ ...shape, args: [2, device.allocate('f32', 1)] });
  const buffer = device.allocate('f32', 1);
  same<typeof buffer, Buffer<'f32', 'device'>>(true);
  same<Awaited<ReturnType<typeof buffer.read>>, Float32Array>(true);
  const views = device.allocate('u8', 1, 'staging');
  same<typeof views.view, Uint8Array>(true);
  // @ts-expect-error: the host does not see device memory.
  buffer.view;
  // Editors complete these, and other strings are allowed.
  const kinds: Record<Extract<DeviceKind, 'auto' | 'cpu' | 'metal' | 'cuda'>, true> = { auto: true, cpu: true, metal: true, cuda: true };
  Device.open('a kind of tomorrow', { print: false, onError: ({ code, message }) => console.log(code, message) } satisfies DeviceOptions);
`);
  assert.is(said, '');
});

test.run();
