/** The rules of the house, read off the sources: who imports whom, what is pure, what every room opens with, how long a file is. */
import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { Glob } from 'bun';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

const test = suite('house/layers');

/** The rooms from the bottom up: what each may import, and `~room` where only types may cross. */
const rooms: Record<string, readonly string[]> = {
  base: [],
  ir: ['base'],
  // What a type is made of (its width, its vector), and what descriptors of textures are, is all that the table needs of the IR at run time.
  ptx: [
    'base',
    '~ir',
    'ir/types.ts',
    'ir/texture.ts',
    'ir/services.ts',
    'ir/mbarrier.ts',
    'ir/tensor-map.ts',
    'ir/tensor-memory.ts',
    'ir/mma.ts',
    'ir/subnormals.ts',
  ],
  lower: ['base', 'ptx', 'ir'],
  bitcode: ['base'],
  air: ['base', 'ir', 'bitcode'],
  nvvm: ['base', 'bitcode'],
  toolchain: ['base', 'nvvm'],
  metallib: ['base'],
  wasm: ['base'],
  compile: ['base', 'ir', 'ptx', 'lower', 'bitcode', 'air', 'metallib', 'wasm'],
  // Advice reads what the profiler's model makes of kernels, and knows no device.
  advise: ['base', 'ir', 'ptx', 'compile'],
  editor: ['base', 'ptx', 'compile', 'advise'],
  engine: ['base', 'ir', 'wasm'],
  // Machine code is made of WebAssembly alone: whoever runs it need not know where the module came from.
  native: ['base', 'wasm'],
  // Barriers of some threads are scheduled as in the engine, by its regions.
  text: ['base', 'ir', 'air', 'engine'],
  files: [],
  // What native code has in common with who calls it.
  ffi: ['base', 'files', 'native/context.ts'],
  // The interface names a kernel's reflection by its type, so whoever uses it sees air's types.
  device: ['base', 'ir', 'bitcode', 'air', 'metallib', 'wasm', 'engine', 'native', 'text', 'ffi'],
  runtime: ['base', 'compile', 'device'],
  cache: ['base', 'files', '~compile'],
  // What is thrown there is worded below; CUDA's names are a thin layer over it.
  api: ['base', 'compile', 'device', 'runtime'],
  cudart: ['base', 'api'],
  // A kernel of the builder is launched by the API.
  build: ['base', 'ptx', 'compile', 'text', 'api'],
  // Launches choose by tables that a user has measured.
  kernels: ['base', 'files', 'api', 'build'],
  cublas: ['base', 'api', 'build', 'kernels'],
  curand: ['base', 'api', 'build'],
  cufft: ['base', 'api', 'build'],
  // The host half of a program calls the devices themselves, because its calls are done when they return.
  program: ['base', 'wasm', 'device', 'api'],
  // Programs of the machine have their own containers of PTX.
  exec: ['base', 'ptx', 'device', 'runtime', 'program'],
  cli: ['*'],
  // The page shows diagnostics as the command line does.
  page: ['base', 'device', 'api', 'program', 'toolchain', 'cli/terminal/render.ts'],
  // The page of kernels runs a launch and prints its report as the command line does.
  explore: [
    // The compiler of CUDA C++ is the other page's.
    'page/messages.ts',
    'base',
    'ptx',
    'ir',
    'compile',
    'device',
    'runtime',
    'editor',
    'cli/build-text.ts',
    'cli/build-wat.ts',
    'cli/run/command.ts',
    'cli/run/own-launch.ts',
    'cli/run/report.ts',
  ],
  'index.ts': ['base', 'ir', 'ptx', 'lower', 'bitcode', '~air', 'metallib', 'wasm', 'compile', 'ffi', 'device', 'runtime', 'api'],
};

/**
 * The layers inside a room that has folders, from the bottom up: a file imports from its own layer and from those before it. A folder's own
 * files are its layer; a file that is named alone, most often an `index.ts`, is the face of its folder and lies above all of it.
 */
const layers: Record<string, readonly string[]> = {
  base: ['catalogue', 'catalogue/index.ts', 'demangle', '.', 'printf'],
  ir: ['.', 'analysis', 'analysis/index.ts', 'verify', 'verify/index.ts', 'passes', 'passes/index.ts', 'index.ts'],
  ptx: [
    'syntax',
    'model',
    'table',
    'table/matrix',
    'table/texture',
    'table/async',
    'table/tensor-memory',
    'table/index.ts',
    'check',
    'check/index.ts',
    'link',
    'link/index.ts',
    'container',
    'index.ts',
  ],
  lower: ['passes', 'ssa', '.', 'index.ts'],
  nvvm: ['.', 'select', 'intrinsics', 'intrinsics/index.ts', 'function.ts', 'index.ts'],
  bitcode: ['.', 'write', 'write/index.ts', 'text', 'read', 'read/index.ts', 'parse', 'parse/index.ts', 'index.ts'],
  air: [
    '.',
    'functions',
    'functions/index.ts',
    'raise',
    'raise/index.ts',
    'legalize/f64',
    'legalize/pairs',
    'legalize',
    'emit',
    'emit/index.ts',
    'validate',
    'validate/index.ts',
    'index.ts',
  ],
  engine: [
    '.',
    'codegen',
    'scalar',
    'simd/analysis',
    'simd/transform',
    'simd/lanes',
    'simd/rules',
    'simd/rules/index.ts',
    'simd/emit',
    'index.ts',
  ],
  wasm: ['.', 'read', 'read/index.ts', 'text-instruction.ts', 'text.ts', 'index.ts'],
  native: ['context.ts', 'x64', 'machine', 'ssa', 'checks', 'pack', 'select/types.ts', 'select/vector', 'select', '.', 'index.ts'],
  program: [
    'lower',
    'lower/index.ts',
    'device-code.ts',
    'frames.ts',
    'memory.ts',
    'wasi',
    'wasi/index.ts',
    'cudart',
    'cudart/index.ts',
    'host',
    'run.ts',
    'index.ts',
  ],
  exec: ['record', 'shim', '.', 'index.ts'],
  text: [
    '.',
    'opencl',
    'opencl/index.ts',
    'msl',
    'msl/index.ts',
    'ptx',
    'ptx/index.ts',
    'wgsl/helpers',
    'wgsl/helpers/index.ts',
    'wgsl',
    'wgsl/index.ts',
    'targets.ts',
    'index.ts',
  ],
  ffi: ['.', 'metal', 'cuda', 'opencl', 'native', 'index.ts'],
  device: [
    '.',
    'pool',
    'pool/index.ts',
    'cuda',
    'cuda/index.ts',
    'metal',
    'metal/index.ts',
    'opencl',
    'opencl/index.ts',
    'webgpu/worker',
    'webgpu',
    'webgpu/index.ts',
    'cpu',
    'cpu/observe',
    'cpu/sanitizer/precise',
    'cpu/sanitizer/fast',
    'cpu/instrument/thread-order',
    'cpu/instrument/trace',
    'cpu/instrument/profile',
    'cpu/native',
    'cpu/workers',
    'cpu/launch',
    'cpu/index.ts',
    'gpus.ts',
    'gpus.page.ts',
    'index.ts',
  ],
  cli: [
    'terminal',
    'command',
    'startup',
    'input',
    'cuda',
    'run',
    'run/index.ts',
    'run/command.ts',
    'toolkit',
    'cc/options.ts',
    'cc/command.ts',
    'exec/command.ts',
    'exec',
    'jobs',
    'helper',
    '.',
    'cc',
    'bench',
    'check',
    'analyze',
    'diff',
    'explain',
    'lsp',
    'inspect',
    'commands.ts',
    'help.ts',
    'main.ts',
    'helper/answer.ts',
    'helper/serve.ts',
    'index.ts',
    'program.ts',
    'start.ts',
    'start-built.ts',
    'start-fast.ts',
    'start-helped.ts',
  ],
};

/** Where the outside world may be touched. */
const mayTouchTheWorld = (file: string): boolean =>
  /^(cli|device|exec|ffi|cache|files|toolchain|program\/host)\//.test(file) || file === 'runtime/io.ts';

/** Lines a file may have. Tables are long because they say everything once. */
const budget = 400;
const isTable = (file: string): boolean => /\/(table|catalogue)\/|\.generated\.ts$/.test(file);

interface Import {
  readonly file: string;
  /** Path of the imported file below `src`, or the package. */
  readonly target: string;
  readonly typeOnly: boolean;
}

const root = join(import.meta.dirname, '../../src');
const files = [...new Glob('**/*.ts').scanSync(root)].sort();
const texts = new Map(files.map((file) => [file, readFileSync(join(root, file), 'utf8')]));
const roomOf = (file: string): string => file.split('/')[0]!;

/** Without comments and strings, so that words in them are not code. */
const codeOf = (text: string): string =>
  text.replace(/\/\*[\s\S]*?\*\/|\/\/.*|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"/g, (found) => (found.startsWith('/') ? '' : "''"));

function importsOf(file: string): Import[] {
  const text = texts.get(file)!.replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*/gm, '');
  const statements = [...text.matchAll(/^\s*(?:import|export(?=[^'";]*\sfrom\s))\s+(type\s+)?([^'";]*?)\s*(?:from\s+)?'([^']+)'/gm)];
  const dynamic = [...text.matchAll(/\bimport\('([^']+)'\)/g)];
  return [
    ...statements.map((match) => toImport(file, match[3]!, match[1] !== undefined || isAllTypes(match[2]!))),
    ...dynamic.map((match) => toImport(file, match[1]!, false)),
  ];
}

const isAllTypes = (clause: string): boolean => {
  const names = /^\{([\s\S]*)\}$/.exec(clause.trim());
  return names !== null && names[1]!.split(',').every((name) => name.trim() === '' || name.trim().startsWith('type '));
};

const toImport = (file: string, path: string, typeOnly: boolean): Import => ({
  file,
  target: path.startsWith('.') ? relative(root, join(root, dirname(file), path)) : path,
  typeOnly,
});

const imports = files.flatMap(importsOf);
const inside = imports.filter(({ target }) => texts.has(target) || /^(\.\.|[a-z]+\/)/.test(target));
const isFile = (target: string): boolean => texts.has(target) || existsSync(join(root, target));

function mayImport({ file, target, typeOnly }: Import): boolean {
  const [from, to] = [roomOf(file), roomOf(target)];
  const allowed = rooms[from] ?? [];
  return (
    from === to || allowed.includes('*') || allowed.includes(to) || allowed.includes(target) || (typeOnly && allowed.includes(`~${to}`))
  );
}

test('every file is in a room of the table', () => {
  assert.ok(files.length > 20, 'the sources were found');
  const strangers = files.filter((file) => !(roomOf(file) in rooms));
  assert.equal(strangers, []);
});

test('imports are relative, of files that exist, with their ending', () => {
  const wrong = imports
    .filter(({ target }) => (target.includes('/') && !/^[@a-z-]+[:/]/.test(target)) || target.startsWith('..'))
    .filter(({ target }) => target !== '../package.json');
  assert.equal(wrong, []);
  const missing = inside.filter(({ target }) => roomOf(target) in rooms && !isFile(target));
  assert.equal(missing, []);
});

test('a room imports only what the table says', () => {
  const wrong = inside.filter((one) => roomOf(one.target) in rooms && !mayImport(one));
  assert.equal(
    wrong.map(({ file, target, typeOnly }) => `${file} imports ${target}${typeOnly ? ' (types)' : ''}`),
    [],
  );
});

test('the table itself has no cycle', () => {
  const reaches = (from: string, goal: string, seen = new Set<string>()): boolean =>
    (rooms[from] ?? []).some((word) => {
      const to = roomOf(word.replace('~', ''));
      if (to === goal) return true;
      return !seen.has(to) && reaches(to, goal, seen.add(to));
    });
  assert.equal(
    Object.keys(rooms).filter((room) => reaches(room, room)),
    [],
  );
});

/** The layer of a file: the file itself where it is named, else its folder. */
const layerOf = (file: string): string => {
  const inRoom = file.slice(roomOf(file).length + 1);
  return layers[roomOf(file)]!.includes(inRoom) ? inRoom : dirname(inRoom);
};

test('rooms with folders list their layers, each of which has a file', () => {
  const layered = [...new Set(files.filter((file) => file.split('/').length > 2).map(roomOf))];
  assert.equal(layered.sort(), Object.keys(layers).sort());
  const known = new Set(files.filter((file) => roomOf(file) in layers).map((file) => `${roomOf(file)} ${layerOf(file)}`));
  const listed = Object.entries(layers).flatMap(([room, list]) => list.map((layer) => `${room} ${layer}`));
  assert.equal([...known].sort(), listed.sort());
});

test('inside a room imports go downwards', () => {
  const wrong = inside.filter(({ file, target }) => {
    const order = layers[roomOf(file)];
    return order && roomOf(file) === roomOf(target) && order.indexOf(layerOf(target)) > order.indexOf(layerOf(file));
  });
  // A command loads its own work when it runs.
  const isLazy = ({ file, target }: Import): boolean =>
    dirname(file) === dirname(target) && texts.get(file)!.includes(`import('./${basename(target)}')`);
  assert.equal(
    wrong.filter((one) => !isLazy(one)).map(({ file, target }) => `${file} imports ${target}`),
    [],
  );
});

test('no layer has more than 8 % of the lines', () => {
  const lines = (file: string): number => texts.get(file)!.split('\n').length - 1;
  const counted = new Map<string, number>();
  for (const file of files.filter((each) => !each.endsWith('.generated.ts'))) {
    const room = roomOf(file) in layers ? `${roomOf(file)}/${layerOf(file)}` : roomOf(file);
    counted.set(room, (counted.get(room) ?? 0) + lines(file));
  }
  const all = [...counted.values()].reduce((sum, n) => sum + n, 0);
  assert.equal(
    [...counted].filter(([, n]) => n > 0.08 * all).map(([room, n]) => `${room}: ${n} of ${all}`),
    [],
  );
});

test('no two files import each other in a circle', () => {
  const next = new Map(files.map((file) => [file, inside.filter((i) => i.file === file).map((i) => i.target)]));
  const state = new Map<string, 'open' | 'done'>();
  const circles: string[] = [];
  const visit = (file: string, path: readonly string[]): void => {
    if (state.get(file) === 'open') circles.push([...path.slice(path.indexOf(file)), file].join(' > '));
    if (state.has(file)) return;
    state.set(file, 'open');
    for (const target of next.get(file) ?? []) visit(target, [...path, file]);
    state.set(file, 'done');
  };
  for (const file of files) visit(file, []);
  assert.equal(circles, []);
});

test('a device knows no other device', () => {
  const deviceOf = (file: string): string | undefined => /^device\/([a-z]+)\//.exec(file)?.[1];
  const wrong = inside.filter(({ file, target }) => deviceOf(file) && deviceOf(target) && deviceOf(file) !== deviceOf(target));
  assert.equal(wrong, []);
});

test('the core is pure: no node:, bun:, Bun, process or console', () => {
  const pure = files.filter((file) => !mayTouchTheWorld(file));
  const modules = imports.filter(({ file, target }) => pure.includes(file) && /^(node|bun):|^bun$/.test(target));
  assert.equal(modules, []);
  const words = pure.flatMap((file) =>
    [...codeOf(texts.get(file)!).matchAll(/(?<![\w.$])(Bun|process|console|Buffer|require)\s*[.(]/g)].map(
      (match) => `${file}: ${match[1]}`,
    ),
  );
  assert.equal(words, []);
});

test('every room opens with an index.ts that says what the room is', () => {
  const wrong = [...new Set(files.filter((file) => file.includes('/')).map(roomOf))].filter(
    (room) => room !== 'base' && !/^(#!.*\n)?\/\*\*[\s\S]{80,}?\*\//.test(texts.get(`${room}/index.ts`) ?? ''),
  );
  assert.equal(wrong, []);
});

test('every file says in its first lines what it is', () => {
  assert.equal(
    files.filter((file) => !/^(#!.*\n)?\/[*/]/.test(texts.get(file)!)),
    [],
  );
});

test('files keep to their budget of lines', () => {
  const lines = (file: string): number => texts.get(file)!.split('\n').length - 1;
  const over = files.filter((file) => !file.endsWith('.generated.ts') && lines(file) > (isTable(file) ? 700 : budget));
  assert.equal(
    over.map((file) => `${file}: ${lines(file)}`),
    [],
  );
});

test('the command line tells values by their fields, not by classes of other rooms, of which a process may have two', () => {
  const uses = files
    .filter((file) => file.startsWith('cli/'))
    .flatMap((file) => {
      const text = readFileSync(join(root, file), 'utf8');
      const imported = new Set(
        [...text.matchAll(/^import (?:type )?\{([^}]*)\} from '\.\.?\//gm)].flatMap(([, names]) => names!.match(/\w+/g) ?? []),
      );
      return [...text.matchAll(/\binstanceof (\w+)/g)].filter(([, name]) => imported.has(name!)).map(([use]) => `${file}: ${use}`);
    });
  assert.equal(uses, []);
});

test.run();
