/** The faults that `npm run mutants` plants: what each kind makes of a line, what has none, their names and order, the probes, the report. */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Mutable, type MutatorName, mutableOf, mutatorNames } from '../../scripts/mutants/mutators.ts';
import { probed } from '../../scripts/mutants/reach.ts';
import { isUnexplained, reasonOf, reportOf, staleOf } from '../../scripts/mutants/report.ts';
import { filesOf, rooms } from '../../scripts/mutants/rooms.ts';
import { runSpec } from '../../scripts/mutants/run-spec.ts';
import { drawn, type Mutant, mutantsOf, mutatedText } from '../../scripts/mutants/sample.ts';
import { openSyntax } from '../../scripts/mutants/syntax.ts';
import { openTrials } from '../../scripts/mutants/trial.ts';
import { readWords } from '../../scripts/mutants/words.ts';
import { root } from '../support/examples.ts';

const test = suite('house/mutants');

const config = '{ "compilerOptions": { "noLib": true, "strict": true, "noUnusedLocals": true }, "files": ["a.ts"] }';

async function mutableIn(text: string): Promise<Mutable> {
  const syntax = await openSyntax('/tsconfig.json', { '/tsconfig.json': config, '/a.ts': text });
  const mutable = mutableOf(await syntax.parse('/a.ts'));
  await syntax.close();
  return mutable;
}

const mutantsIn = async (text: string): Promise<Mutant[]> => mutantsOf('room', 'a.ts', text, await mutableIn(text));

/** By mutator: a line, and what it becomes. */
const cases: Readonly<Record<MutatorName, readonly (readonly [line: string, ...mutated: string[]])[]>> = {
  operator: [
    ['x = a + b;', 'x = a - b;'],
    ['x = a - b;', 'x = a + b;'],
    ['x = a * b;', 'x = a + b;'],
    ['x = a ** b;', 'x = a * b;'],
    ['x = a / b;', 'x = a * b;'],
    ['x = a % b;', 'x = a * b;'],
    ['x = a << b;', 'x = a >> b;'],
    ['x = a >>> b;', 'x = a >> b;'],
    ['x = a & b;', 'x = a | b;'],
    ['x = a ^ b;', 'x = a | b;'],
    ['x = a && b;', 'x = a || b;'],
    ['x = a || b;', 'x = a && b;'],
    ['x += a;', 'x -= a;'],
    ['x = a ?? b;'],
  ],
  comparison: [
    ['x = a < b;', 'x = a <= b;', 'x = a >= b;'],
    ['x = a <= b;', 'x = a < b;', 'x = a > b;'],
    ['x = a > b;', 'x = a >= b;', 'x = a <= b;'],
    ['x = a >= b;', 'x = a > b;', 'x = a < b;'],
    ['x = a === b;', 'x = a !== b;'],
    ['x = a !== b;', 'x = a === b;'],
  ],
  constant: [
    ['x = 0;', 'x = 1;'],
    ['x = 7;', 'x = 8;', 'x = 0;'],
    ['x = 0x10;', 'x = 17;', 'x = 0;'],
    ['x = 1_000;', 'x = 1001;', 'x = 0;'],
    ['x = 5n;', 'x = 6n;', 'x = 0n;'],
    ['x = true;', 'x = false;'],
    ['x = { one: false };', 'x = { one: true };'],
    // How an access of WebAssembly is aligned is a hint.
    ["code.access('i32.load', 4, 8);", "code.access('i32.load', 4, 9);", "code.access('i32.load', 4, 0);"],
  ],
  word: [
    ["f('i32.lt_u');", "f('i32.lt_s');"],
    ["f('i64.add');", "f('i64.sub');"],
    ["f('slt');", "f('sle');"],
    ['f(`$' + '{type}.and`);', 'f(`$' + '{type}.or`);'],
    ['f(`i32.ge_$' + '{sign}`);', 'f(`i32.gt_$' + '{sign}`);'],
    ["f('Shared and local');"],
    ["f('s');"],
    ['x = { add: f };'],
  ],
  condition: [
    ['if (a) f();', 'if (true) f();', 'if (false) f();', 'if (!(a)) f();'],
    ['if (!a) f();', 'if (true) f();', 'if (false) f();'],
    ['x = a < b ? f : g;', 'x = true ? f : g;', 'x = false ? f : g;'],
  ],
  not: [['x = !a;', 'x = a;'], ['x = -a;']],
  dropped: [['f(a);', '{}'], ['if (a) return;', 'if (a) {}'], ['for (;;) if (a) continue;', 'for (;;) if (a) {}'], ['return a;']],
  branches: [['x = a ? f : g;', 'x = a ? g : f;']],
  arguments: [['f(a, b, x);', 'f(b, a, x);'], ['f(a, a);'], ['f.add(a, b);'], ['f(() => a, b);']],
};

for (const mutator of mutatorNames)
  test(`what \`${mutator}\` makes of a line`, async () => {
    for (const [line, ...expected] of cases[mutator]) {
      const found = (await mutantsIn(`function of(): unknown {\n  ${line}\n}\n`)).filter(({ mutation }) => mutation.mutator === mutator);
      assert.equal(
        found.map(({ mutated }) => mutated),
        expected,
        line,
      );
      assert.ok(found.every((mutant) => mutant.line === line && mutant.lineNumber === 2));
    }
  });

test('types, imports, names, tags, and what speaks of our own mistakes have no mutants', async () => {
  const text = [
    "import { add } from 'i32.add';",
    "export { sub } from 'i32.sub';",
    'type Size = 1 | 2;',
    'interface Sized { readonly size: 4; }',
    'const one: 1 | undefined = undefined;',
    "const record: Record<'add', 8 | 16> | undefined = undefined;",
    "throw new Error('x' + 1);",
    "bug('i32.add' + 1);",
    'String.raw`add`;',
  ].join('\n');
  const found = (await mutantsIn(text)).filter(({ mutation }) => mutation.mutator !== 'dropped');
  assert.equal(found, []);
});

test('what takes more than one line has no mutant', async () => {
  assert.equal(await mutantsIn('f(\n  a,\n  b,\n);'), []);
});

test('a mutant is a text with one line changed, and is known by that line', async () => {
  const line = 'const f = (a: number) => a < 3;';
  const [first, second] = [`${line}\n`, `// Somewhere else.\n\n  ${line}\n`];
  const [here, there] = [await mutantsIn(first), await mutantsIn(second)];
  assert.equal(
    here.map(({ id }) => id),
    there.map(({ id }) => id),
  );
  assert.is(new Set(here.map(({ id }) => id)).size, 4);
  assert.equal(
    here.map(({ mutation }) => mutatedText(first, mutation)),
    ['<= 3', '>= 3', '< 4', '< 0'].map((end) => `const f = (a: number) => a ${end};\n`),
  );
  // The same line twice in a file is two mutants of each kind.
  const twice = await mutantsIn(`${line}\n${line.replace('f', 'g')}\n`);
  assert.is(new Set(twice.map(({ id }) => id)).size, 8);
});

test('a seed always draws the same mutants, another one others, and a changed line leaves the order of the rest', async () => {
  const lines = Array.from({ length: 20 }, (_, i) => `export const f${i} = (a: number) => a + ${i};`);
  const all = await mutantsIn(lines.join('\n'));
  const ids = (mutants: readonly Mutant[]): string[] => mutants.map(({ id }) => id);
  assert.equal(ids(drawn(all, 1)), ids(drawn([...all].reverse(), 1)));
  assert.equal([...ids(drawn(all, 1))].sort(), [...ids(drawn(all, 2))].sort());
  assert.not.equal(ids(drawn(all, 1)), ids(drawn(all, 2)));
  const fewer = await mutantsIn(lines.slice(0, 19).join('\n'));
  const kept = new Set(ids(fewer));
  assert.equal(
    ids(drawn(all, 1)).filter((id) => kept.has(id)),
    ids(drawn(fewer, 1)),
  );
});

test('probes note what runs, and change nothing', async () => {
  const text = [
    'const least = 2;',
    'function f(a: number): number {',
    '  if (a < least) return a;',
    '  let sum = 0;',
    '  for (let i = 0; i < a; i++) {',
    '    if (i === 3) continue;',
    '    sum += i * 2;',
    '  }',
    '  return a > 100 ? g(sum) : sum;',
    '}',
    'const g = (a: number): number => a - 1;',
    'result = [f(1), f(6), f(3)];',
  ].join('\n');
  const mutable = await mutableIn(text);
  const inner = mutantsOf('room', 'a.ts', text, mutable).filter(({ mutation }) => !mutation.isOuter);
  const planted = inner.map(({ mutation }, i) => ({ mutation, probe: i + 1 }));
  const code = new Bun.Transpiler({ loader: 'ts' }).transformSync(probed(text, mutable, planted, 0));
  const reached = (calls: string): { result: unknown; lines: Set<number>; isEntered: boolean } => {
    const list: number[] = [];
    const run = new Function('globalThis', `let result; ${code.replace(/result = \[.*\]/, `result = [${calls}]`)}; return result;`);
    const result = run({ mutantsReached: list });
    return {
      result,
      lines: new Set(planted.filter(({ probe }) => list[probe]).map(({ probe }) => inner[probe - 1]!.lineNumber)),
      isEntered: list[0] === 1,
    };
  };
  const lines = (...numbers: number[]): Set<number> => new Set(numbers);
  assert.equal(reached(''), { result: [], lines: lines(), isEntered: false });
  assert.equal(reached('f(1)'), { result: [1], lines: lines(3), isEntered: true });
  // 0 + 2 + 4, and 3 is left out where it comes.
  assert.equal(reached('f(3)'), { result: [6], lines: lines(3, 4, 5, 6, 7, 9), isEntered: true });
  assert.equal(reached('f(5)').result, [14]);
  assert.equal(reached('f(101)'), { result: [10093], lines: lines(3, 4, 5, 6, 7, 9, 11), isEntered: true });
});

test('a file without functions is reached by whoever imports it', async () => {
  const probesOf = async (text: string): Promise<number[]> => {
    const list: number[] = [];
    new Function('globalThis', new Bun.Transpiler({ loader: 'ts' }).transformSync(probed(text, await mutableIn(text), [], 0)))({
      mutantsReached: list,
    });
    return list;
  };
  assert.equal(await probesOf('const a = 1;\n'), [1]);
  assert.equal(await probesOf('const a = () => 1;\n'), []);
});

test('a mutant that does not compile is no mutant, and one that leaves a name unused is', async () => {
  const text = 'export function f(a: number): number {\n  const b = a < 1;\n  return b ? 1 : 2;\n}\n';
  const syntax = await openSyntax('/tsconfig.json', { '/tsconfig.json': config, '/a.ts': text });
  const complaint = (from: string, to: string): Promise<string | undefined> => syntax.complaint('/a.ts', text.replace(from, to));
  assert.is(await complaint('a < 1', 'a <= 1'), undefined);
  assert.match((await complaint('a < 1', 'a < ""'))!, "types 'number' and 'string'");
  assert.is(await complaint('b ? 1 : 2', '1'), undefined);
  assert.match((await complaint('return b', 'return return b'))!, 'expected');
  assert.is(await complaint('', ''), undefined);
  await syntax.close();
});

test('a survivor is explained by its lines, and an explanation without a mutant is told', async () => {
  const all = await mutantsIn('export const f = (a: number) => a + 1;');
  const [mutant, other] = [all.find(({ mutated }) => mutated.includes('a - 1'))!, all.find(({ mutated }) => mutated.includes('a + 2'))!];
  const { file, line, mutated } = mutant;
  const list = [{ file, line, mutated, why: 'a reason' }];
  assert.is(reasonOf(mutant, list), 'a reason');
  assert.is(reasonOf(other, list), undefined);
  assert.equal(staleOf(all, list), []);
  assert.equal(staleOf([other], list), list);
  assert.equal(staleOf([{ ...other, file: 'b.ts' }], list), []);
  const survived = { mutant, state: 'survived', passed: ['x.spec.ts'], left: [] } as const;
  assert.ok(isUnexplained(survived));
  assert.not.ok(isUnexplained({ ...survived, state: 'killed' }));
  const text = reportOf([survived, { mutant: other, state: 'killed', passed: [], left: [] }], 3, []);
  assert.match(text, 'a.ts:1');
  assert.match(text, '  + export const f = (a: number) => a - 1;\n  1 spec passed');
  assert.match(text, 'room: 2 mutants, 1 killed, 0 explained, 1 survived');
});

test('every room of the table has sources and specs', () => {
  for (const [name, { sources, specs }] of Object.entries(rooms)) {
    assert.ok(filesOf(root, sources).length > 10, name);
    for (const pattern of specs) assert.ok(filesOf(root, [pattern]).length > 0, `${name}: ${pattern}`);
  }
});

test('a spec that passes, fails, goes on for ever, or takes all memory', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'cumetal-mutants-spec-'));
  const judged = async (code: string, limits = { seconds: 10, bytes: 2 ** 32 }): Promise<string> => {
    writeFileSync(join(folder, 'a.spec.ts'), code);
    return (await runSpec(folder, 'a.spec.ts', limits)).verdict;
  };
  assert.is(await judged("console.log('• •');"), 'passed');
  assert.is(await judged('process.exit(1);'), 'failed');
  // As soon as one test fails: what comes after it is not waited for.
  assert.is(await judged("console.log('• ✘'); for (;;) {}"), 'failed');
  assert.is(await judged('for (;;) {}', { seconds: 1, bytes: 2 ** 32 }), 'out of time');
  // Where the system does not say what a process holds, there is no such limit.
  if (existsSync('/proc/self/statm'))
    assert.is(
      await judged('const all = []; for (;;) all.push(new Uint8Array(1e6).fill(1));', { seconds: 20, bytes: 2 ** 29 }),
      'out of memory',
    );
  rmSync(folder, { recursive: true });
});

test('what a thread or a process that is killed has run counts as reached, what nobody has run does not', async () => {
  const [copy, home] = [mkdtempSync(join(tmpdir(), 'cumetal-mutants-copy-')), mkdtempSync(join(tmpdir(), 'cumetal-mutants-home-'))];
  const names = ['inSpec', 'inThread', 'inProcess', 'nowhere'];
  const text = names.map((name) => `export const ${name} = (a: number) => a + 1;\n`).join('');
  writeFileSync(join(copy, 'thread.ts'), "import { inThread } from './a.ts';\npostMessage(inThread(1));\n");
  writeFileSync(join(copy, 'process.ts'), "import { inProcess } from './a.ts';\ninProcess(1);\nprocess.kill(process.pid, 'SIGKILL');\n");
  const spec = [
    "import { inSpec } from './a.ts';",
    "Bun.spawnSync([process.execPath, 'process.ts']);",
    "const worker = new Worker('./thread.ts');",
    'await new Promise((done) => { worker.onmessage = done; });',
    'worker.terminate();',
    'process.exit(inSpec(1) - 2);',
  ];
  writeFileSync(join(copy, 'a.spec.ts'), spec.join('\n'));
  const mutable = await mutableIn(text);
  const mutants = mutantsOf('room', 'a.ts', text, mutable).filter(({ mutation }) => mutation.mutator === 'operator');
  const limits = { seconds: 30, bytes: 2 ** 32 };
  const { passes, reaches } = await openTrials({ copy, home, limits }, [{ room: 'room', file: 'a.ts', text, mutable }], mutants).run(
    'a.spec.ts',
  );
  assert.ok(passes);
  assert.equal(mutants.map(reaches), [true, true, true, false]);
  for (const folder of [copy, home]) rmSync(folder, { recursive: true });
});

test('words', () => {
  const words = readWords(['--seed', '7', '--rooms', 'air', '--specs', 'spec/a.spec.ts', '--file', 'src/x.ts']);
  if (typeof words === 'string') throw new Error(words);
  assert.equal([words.seed, words.count, words.files, Object.keys(words.rooms)], [7, 300, ['src/x.ts'], ['air']]);
  assert.equal(words.rooms.air!.specs, ['spec/a.spec.ts']);
  assert.is(readWords(['--rooms', 'kitchen']), 'no room is called kitchen');
  assert.is(readWords(['--count', 'many']), '--count takes a whole number');
  assert.is(readWords(['--count', '0']), '--count takes a whole number');
  assert.match(readWords(['--unheard']) as string, '--unheard');
});

test.run();
