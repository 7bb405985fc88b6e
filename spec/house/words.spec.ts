/**
 * The words of the house: names and phrases that the field does not use, each with its replacement. A hit names the line and the word to use
 * instead. The spec also checks that the paths and links in the documentation exist.
 */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Glob } from 'bun';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

const test = suite('house/words');

/** What is scanned so far, as globs: the texts of sources and pages, and the names of specs. */
const rooms = [
  'README.md',
  'src/engine/README.md',
  'docs/{README,abi,api,architecture,cli,cuda-errors,devices,diagnostics,engine,floating-point,mac-checklist,matrix,profiler,sanitizer,testing}.md',
  'scripts/docs/*.ts',
  'src/**/*.ts',
  'CONTRIBUTING.md',
  'CHANGELOG.md',
  'SECURITY.md',
  'src/device/cpu/README.md',
];
const specNames = ['spec/**/*.spec.ts'];

/** `code`: sources without comments. `prose`: comments, strings and pages. `engine`: all of `src/engine` and `src/device/cpu`. */
type Where = 'everywhere' | 'code' | 'prose' | 'engine';

/** A banned word, an example of it that the pattern has to match, its replacement, and where it is banned. */
type Ban = readonly [old: RegExp, example: string, replacement: string, where: Where];

const bans: readonly Ban[] = [
  // The engine.
  [
    /\b[sS]trips?\b|\bStrips?[A-Z]\w*|\b\w*Strips?\b|\bstrip[A-Z]\w*/,
    'compileStrips',
    'lane group, `LaneGroup`, `compileSimd`',
    'everywhere',
  ],
  [/\bone-lane\b|\blane by lane\b|\bone lane at a time\b/i, 'lane by lane', 'scalar path, per lane', 'everywhere'],
  [/\b(load|store|put)Shared\b/, 'loadShared', '`loadUniform`, `storeUniform`, `putUniform`', 'engine'],
  [/\bwhoIsApart\b|\b(go|goes|come|comes) apart\b/, 'whoIsApart', 'barrier divergence', 'everywhere'],
  [
    /\b(lanes|threads|they|warps?|strips) parts?\b|\bparted\b|\bpartOn\b|\bParting\b/,
    'where they part',
    'diverge, divergent',
    'everywhere',
  ],
  [/\bmeet again\b/, 'lanes meet again', 'reconverge', 'everywhere'],
  [/\bMeetings?\b|\bmeeting-/, 'meeting-function.ts', 'warp collective', 'everywhere'],
  [/\bquick(ly)?\b|\bQuick[A-Z]\w*/, 'QuickKernel', 'fast, speculative', 'engine'],
  [/\b[lL]ooks\b|\blooksOf\b/, 'looksOf', '`CheckFunctions`, `checkFunctionsOf`', 'engine'],
  [/\bGuards?\b|\binsertGuards\b/, 'insertGuards', '`AccessCheck`, `insertChecks`', 'engine'],
  [/\bmagnitudesOf\b/, 'magnitudesOf', 'value range', 'everywhere'],
  [/\bmayAgree\b|\bendsAgree\b|\bquickTests\b/, 'mayAgree', 'uniform branch', 'everywhere'],
  [/\bbusyThreads\b|\bisNothing\b/, 'busyThreads', '`activeThreads`, `isNoOp`', 'everywhere'],
  [/\bworkOutAgain\b|\bwork(ed)? out\b/, 'workOutAgain', '`rematerialize`; compute', 'everywhere'],
  [/\bsplitAtStops\b|\bstopsOf\b/, 'splitAtStops', 'sync point', 'everywhere'],
  [/\bpostpone\b|\bkeptOf\b/, 'keptOf', 'defer, snapshot', 'everywhere'],
  [/\bRolled\b|(?<!-)\brolled code\b/, 'rolled code', 're-rolled', 'everywhere'],
  [/\blooksAlike\b/, 'looksAlike', '`aliasStride`', 'everywhere'],
  [/\bdenied\b/, 'denied', '`invertComparison`', 'engine'],
  // Names.
  [/\bmost[A-Z]\w*/, 'mostLines', '`maxX`, with the unit', 'code'],
  [/\bleast[A-Z](?!ectors|avefronts)\w*/, 'leastRoom', '`minX`, with the unit', 'code'],
  [/\bmadeUp\w*|\bmade[- ]up\b/, 'a made-up launch', 'default launch', 'everywhere'],
  [/\bwrongWords\b|\bsortWords\b|\bwrong words\b/i, 'wrongWords', '`usageError`, invalid command-line usage', 'everywhere'],
  [/\bclashing\b/, 'clashing', '`conflictingOption`', 'everywhere'],
  [/\btable\/later\b|\brefusing\b/, 'table/later/', '`table/refused`, unsupported', 'everywhere'],
  [/\.recipe\.ts\b|\b(?!make)\w+Recipe\b/, 'worker.recipe.ts', '`.generated.ts`', 'everywhere'],
  [/\bidleHands\b|\bfarewells?\b|: Hand\b/, 'farewells', '`WorkerHandle`, `idleWorkers`, `onExit`', 'everywhere'],
  [/\bJudges?\b/, 'Judge', '`LaunchValidator`; reference', 'everywhere'],
  [/\baftermath\b/, 'aftermath.ts', '`completion.ts`', 'everywhere'],
  // Prose.
  [/\bwatched\b|\bunwatched\b/i, 'a watched launch', 'instrumented, observed', 'everywhere'],
  [/\bsingles\b/, 'products of singles', 'single-precision, f32', 'engine'],
  [/\b(is|are|was) told\b|\btold (by|of|at|apart)\b|\btells? (of|apart)\b/, 'is told by', 'is determined by, reports', 'prose'],
  [/\bstands? (there|here|beside|behind|below|in|at)\b/, 'which stands below', 'is, is stored', 'prose'],
  [/\b(come|comes|came) to (it|its end|an end|an entry|a barrier)\b/, 'comes to its end', 'reach, finish', 'prose'],
  [/\bgive[ns]? back\b|\bgives? up\b|\bgiven up\b/, 'given back', 'release, return, abort', 'prose'],
  [/\bwho (comes?|goes|runs|asks)\b|\bnobody\b|\bno one\b/i, 'nobody', 'a noun', 'prose'],
  [/\bwhere (nothing|none|there) is\b|\bwhere nobody\b/, 'where nothing is said', 'if …', 'prose'],
  [/\bfor ever\b/, 'waits for ever', 'forever', 'everywhere'],
  [
    /\b\w*(colour|honour|neighbour|behaviour)\w*|\b\w*(optimi|initiali|materiali|legali|vectori|lineari|recogni|minimi|maximi)s(e|es|ed|ing|er|ation)\b/i,
    'optimise',
    'American spelling',
    'everywhere',
  ],
];

/** Hits that are right: part of a line, and why it may stay. */
const allowed: readonly (readonly [part: string, why: string])[] = [
  ['quick.', 'the prefix of exported globals of a module'],
  ['watched.', 'the prefix of exported globals of a module'],
  ['made_up', 'a key of the JSON of `run`'],
  ['Folders are watched', 'files are watched'],
];

interface Line {
  readonly place: string;
  readonly text: string;
  readonly where: ReadonlySet<Where>;
}

const root = join(import.meta.dirname, '../..');
const scan = (globs: readonly string[]): string[] => globs.flatMap((glob) => [...new Glob(glob).scanSync(root)]).sort();
const read = (file: string): string => readFileSync(join(root, file), 'utf8');

/** A source as code without comments and as comments and strings, of the same number of lines each. */
function split(text: string): { code: string; prose: string } {
  const token = /\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`/gm;
  const blank = (part: string): string => part.replace(/[^\n]/g, ' ');
  let prose = '';
  let last = 0;
  let code = '';
  for (const { 0: found, index } of text.matchAll(token)) {
    const between = text.slice(last, index);
    prose += blank(between) + found;
    code += between + blank(found);
    last = index + found.length;
  }
  return { code: code + text.slice(last), prose: prose + blank(text.slice(last)) };
}

function linesOf(file: string): Line[] {
  const isEngine = /^src\/(engine|device\/cpu)\//.test(file);
  const of = (text: string, ...where: Where[]): Line[] =>
    text.split('\n').map((line, i) => ({
      place: `${file}:${i + 1}`,
      text: line,
      where: new Set<Where>([...where, 'everywhere', ...(isEngine ? (['engine'] as const) : [])]),
    }));
  const name = of(file, 'code', 'prose');
  if (!file.endsWith('.ts')) return [...name, ...of(read(file), 'prose')];
  const { code, prose } = split(read(file));
  return [...name, ...of(code, 'code'), ...of(prose, 'prose')];
}

const isAllowed = ({ text }: Line): boolean => allowed.some(([part]) => text.includes(part));

/** A message for each hit of a ban. */
const hitsIn = (lines: readonly Line[]): string[] =>
  lines.flatMap((line) =>
    bans.flatMap(([old, , replacement, where]) => {
      const found = line.where.has(where) && !isAllowed(line) ? old.exec(line.text)?.[0] : undefined;
      return found === undefined ? [] : [`${line.place}: "${found}" is not a word of the house; use ${replacement}`];
    }),
  );

test('each pattern matches its example', () => {
  const every = new Set<Where>(['everywhere', 'code', 'prose', 'engine']);
  for (const [old, example] of bans) assert.match(example, old);
  assert.equal(hitsIn([{ place: 'here:1', text: 'quickTests are done lane by lane', where: every }]).length, 2);
  assert.equal(hitsIn([{ place: 'here:1', text: 'stripes of a description', where: every }]), []);
});

test('comments and strings are prose, the rest is code', () => {
  const { code, prose } = split("const mostLines = 3; // told of\nconst text = 'leastRoom';");
  assert.equal([code.includes('mostLines'), prose.includes('mostLines')], [true, false]);
  assert.equal([code.includes('told'), prose.includes('told'), code.includes('leastRoom')], [false, true, false]);
});

test('the rooms use the words of the field', () => {
  const files = scan(rooms);
  assert.ok(files.length > 80, 'the sources were found');
  const names = scan(specNames).map((file): Line => ({ place: file, text: file, where: new Set<Where>(['everywhere', 'code', 'prose']) }));
  assert.is(hitsIn([...files.flatMap(linesOf), ...names]).join('\n'), '');
});

const pages = scan(['*.md', 'docs/**/*.md', 'src/**/*.md']);

test('files that the documentation names exist', () => {
  const missing = pages.flatMap((page) =>
    [...read(page).matchAll(/`((?:src|spec|scripts|fixtures|bench|bin|examples|docs)\/[\w./{},*-]+)`/g)]
      .map(([, path]) => path!)
      // A file of JuliaGPU/Metal.jl, and placeholders.
      .filter((path) => path !== 'src/gemm.jl' && !/NAME|…/.test(path))
      .filter((path) => !existsSync(join(root, path)) && scan([path.replace(/\/$/, '/**')]).length === 0)
      .map((path) => `${page}: ${path}`),
  );
  assert.equal(missing, []);
});

test('links between pages lead to files', () => {
  const links = pages.flatMap((page) =>
    [...read(page).matchAll(/\]\((?!https?:|#)([^)#\s]+)(?:#[^)]*)?\)/g)].map(([, path]) => ({ page, path: path! })),
  );
  assert.ok(links.length > 30);
  const broken = links.filter(({ page, path }) => !existsSync(join(root, dirname(page), path)));
  assert.equal(broken, []);
});

test.run();
