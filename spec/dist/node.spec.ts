/** The installed package under plain Node: the library through its exports, and the command line. */
import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { packageEntries } from '../../scripts/entries.ts';
import { compileExample, examplesFolder, root } from '../support/examples.ts';
import { installedApp } from '../support/installed.ts';
import { has, need } from '../support/need.ts';

const test = suite('dist/node');

const folder = mkdtempSync(join(tmpdir(), 'cumetal-spec-'));
test.after(() => rmSync(folder, { recursive: true, force: true }));
const packaged = join(folder, 'node_modules/cumetal');

const nodeMajor = has('node') ? Number(/^v(\d+)/.exec(spawnSync('node', ['--version'], { encoding: 'utf8' }).stdout)?.[1]) : 0;
const node = nodeMajor >= 20 ? 'node' : 'node of version 20 or later';

/** An application that depends on the package. */
test.before(async () => {
  symlinkSync(join(await installedApp(), 'node_modules'), join(folder, 'node_modules'));
  cpSync(examplesFolder, join(folder, 'examples'), { recursive: true });
});

const version: string = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).version;

/** Runs a program under Node and reads the JSON that it prints. */
function underNode(program: string): unknown {
  const path = join(folder, 'app.mjs');
  writeFileSync(path, program);
  return JSON.parse(ran('node', [path]));
}

function ran(program: string, words: readonly string[], env: Record<string, string> = {}): string {
  const { status, stdout, stderr } = spawnSync(program, words, {
    encoding: 'utf8',
    cwd: folder,
    env: { ...process.env, ...env },
    timeout: 60_000,
  });
  assert.is(stderr, '');
  assert.is(status, 0);
  return stdout;
}

test('every entry has built files, types and a source', () => {
  for (const { types, built, browser, source } of packageEntries()) {
    for (const path of [types, built, browser]) assert.ok(existsSync(join(packaged, path)), path);
    assert.ok(existsSync(join(root, source)), source);
  }
});

test('the package installs nothing else, and has the licenses of what it contains', () => {
  assert.equal(
    readdirSync(join(folder, 'node_modules')).filter((name) => !name.startsWith('.')),
    ['cumetal'],
  );
  const licenses = readFileSync(join(packaged, 'dist/licenses.txt'), 'utf8');
  for (const name of ['ohm-js', '@noble/hashes']) assert.match(licenses, new RegExp(`^${name} \\d+\\.\\d+\\.\\d+ \\(MIT\\)$`, 'm'));
});

test('the package has no sources, nothing of a checkout, and at most 12 MB', () => {
  const files = readdirSync(packaged, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = files.map((entry) => join(entry.parentPath, entry.name).slice(packaged.length + 1));
  // The first run makes bytecode.
  const packed = paths.filter((path) => !path.startsWith('dist/bytecode/'));
  assert.equal(
    packed.filter((path) => /^(src|spec|scripts)\/|newer\.sh|\.jsc$|[^d]\.ts$/.test(path)),
    [],
  );
  assert.ok(packed.reduce((sum, path) => sum + statSync(join(packaged, path)).size, 0) < 12e6);
});

for (const resolution of [
  { module: 'nodenext', moduleResolution: 'nodenext' },
  { module: 'esnext', moduleResolution: 'bundler' },
])
  test(`the types are whole where modules resolve as in ${resolution.moduleResolution}`, () => {
    const imports = packageEntries().map(({ name }, i) => `export * as part${i} from 'cumetal${name.slice(1)}';`);
    const use =
      "import { Device } from 'cumetal';\nconst device: Device = Device.open('cpu');\n// @ts-expect-error: a method that there is not\ndevice.opened();\n";
    writeFileSync(join(folder, 'types.ts'), `${imports.join('\n')}\n${use}`);
    const compilerOptions = {
      ...resolution,
      target: 'es2022',
      lib: ['es2022', 'dom'],
      strict: true,
      noEmit: true,
      types: [],
      allowImportingTsExtensions: true,
    };
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['types.ts'] }));
    const { status, stdout } = spawnSync(join(root, 'node_modules/.bin/tsc'), ['-p', folder], { encoding: 'utf8' });
    assert.is(status, 0, stdout);
  });

/** Each thread counts down from `count`, 0 meaning 2^32, and then increments a counter. */
const turns = `.version 7.0
.target sm_70
.address_size 64
.visible .entry turns(.param .u64 out, .param .u32 count)
{
  .reg .pred q; .reg .b32 n, x; .reg .b64 p;
  ld.param.u64 p, [out]; ld.param.u32 n, [count]; mov.u32 x, %tid.x;
again:
  mad.lo.u32 x, x, 1664525, n; sub.u32 n, n, 1; setp.ne.u32 q, n, 0; @q bra again;
  and.b32 x, x, 0; add.u32 x, x, 1;
  red.global.add.u32 [p], x;
  ret;
}
`;

need(test, [node], 'cumetal: compiles vector_add and runs it', () => {
  const result = underNode(`
    import { readFileSync } from 'node:fs';
    import { compile, devices, Diagnostics, SourceFile } from 'cumetal';
    import { openDevice } from 'cumetal/device';
    const source = new SourceFile('vector_add.ptx', readFileSync('examples/vector_add.ptx', 'utf8'));
    const diagnostics = new Diagnostics(source);
    const { metallib, reflection } = compile(source, {}, diagnostics);
    const device = openDevice('cpu', diagnostics);
    const module = device.load(metallib, diagnostics);
    const numbers = (make) => Float32Array.from({ length: 300 }, (_, i) => make(i));
    const buffers = [numbers((i) => i), numbers((i) => 0.25 - i / 2), numbers(() => -7)].map((values) => {
      const buffer = device.allocate(values.byteLength, diagnostics);
      buffer.write(new Uint8Array(values.buffer));
      return buffer;
    });
    const args = [...buffers.map((buffer) => ({ kind: 'buffer', buffer })), { kind: 'bytes', bytes: new Uint8Array(Uint32Array.of(299).buffer) }];
    const request = { kernel: 'vector_add', grid: [3, 1, 1], block: [128, 1, 1], dynamicSharedBytes: 0, args, timeoutMs: 10000 };
    const { durationMs } = module.launch(request, diagnostics);
    const sum = [...new Float32Array(buffers[2].read().slice().buffer)];
    const kinds = devices().map((device) => device.kind);
    const kernels = reflection.kernels.map((kernel) => kernel.name);
    console.log(JSON.stringify({ metallib: Buffer.from(metallib).toString('hex'), sum, kinds, kernels, reported: diagnostics.list.length, isTimed: durationMs >= 0 }));
  `) as Record<string, unknown>;
  assert.equal(result, {
    // The same bytes as under Bun.
    metallib: Buffer.from(compileExample('vector_add').metallib).toString('hex'),
    sum: [...Array.from({ length: 299 }, (_, i) => i / 2 + 0.25), -7],
    kinds: result.kinds,
    kernels: ['vector_add'],
    reported: 0,
    isTimed: true,
  });
  assert.ok((result.kinds as string[]).includes('cpu'));
});

need(test, [node], 'workers: a long launch, two asynchronous launches, and a timeout', () => {
  writeFileSync(join(folder, 'turns.ptx'), turns);
  const result = underNode(`
    import { readFileSync } from 'node:fs';
    import { compile, Diagnostics, SourceFile } from 'cumetal';
    import { openDevice } from 'cumetal/device';
    const diagnostics = new Diagnostics(new SourceFile('turns.ptx', readFileSync('turns.ptx', 'utf8')));
    const { metallib } = compile(diagnostics.file, {}, diagnostics);
    const results = [];
    for (const threads of [1, 2, 4]) {
      const device = openDevice('cpu', diagnostics, { threads });
      const module = device.load(metallib, diagnostics);
      const buffer = device.allocate(4, diagnostics);
      const request = (turns, timeoutMs) => ({
        ...{ kernel: 'turns', grid: [500, 1, 1], block: [64, 1, 1], dynamicSharedBytes: 0, timeoutMs },
        args: [{ kind: 'buffer', buffer }, { kind: 'bytes', bytes: new Uint8Array(Uint32Array.of(turns).buffer) }],
      });
      module.launch(request(5000, 0), diagnostics);
      await Promise.all([module.start(request(50, 0), diagnostics).done, module.start(request(50, 0), diagnostics).done]);
      const stopped = await module.start(request(0, 200), diagnostics).done;
      results.push({ threads, count: new Uint32Array(buffer.read().buffer)[0], isStopped: stopped === undefined });
      device.close();
    }
    console.log(JSON.stringify({ results, codes: diagnostics.list.map(({ code }) => code) }));
  `);
  const results = [1, 2, 4].map((threads) => ({ threads, count: 3 * 500 * 64, isStopped: true }));
  assert.equal(result, { results, codes: ['CM6010', 'CM6010', 'CM6010'] });
});

need(test, [node], 'the API, and the CUDA runtime names', () => {
  const result = underNode(`
    import { readFileSync } from 'node:fs';
    import { Device } from 'cumetal';
    import { cudaMalloc, cudaMemcpy, cudaMemcpyKind, cudaMemset, cumetalUseDevice, ref } from 'cumetal/cuda';
    const device = Device.open('cpu');
    const add = device.load(readFileSync('examples/vector_add.ptx', 'utf8')).kernel('vector_add', ['f32*', 'f32*', 'f32*', 'u32']);
    const [a, b, c] = [[1, 2, 3], [10, 20, 30], [0, 0, 0]].map((numbers) => device.bufferOf('f32', numbers));
    add.launch({ grid: 1, block: 32, args: [a, b, c, 3] });
    const sums = [...(await c.read())];
    cumetalUseDevice(device);
    const [pointer, bytes] = [ref(), new Uint8Array(4)];
    const said = [cudaMalloc(pointer, 4), cudaMemset(pointer.value, 7, 4), await cudaMemcpy(bytes, pointer.value, 4, cudaMemcpyKind.cudaMemcpyDeviceToHost)];
    device.close();
    console.log(JSON.stringify({ sums, said, bytes: [...bytes] }));
  `);
  assert.equal(result, { sums: [11, 22, 33], said: [0, 0, 0], bytes: [7, 7, 7, 7] });
});

need(test, [node], 'cumetal/ptx, cumetal/bitcode and cumetal/metallib, each through its export', () => {
  const result = underNode(`
    import { readFileSync } from 'node:fs';
    import { compile, Diagnostics, SourceFile } from 'cumetal';
    import { parse, printAst } from 'cumetal/ptx';
    import { disassemble, readModule } from 'cumetal/bitcode';
    import { readMetallib, validateMetallib } from 'cumetal/metallib';
    const source = new SourceFile('saxpy.ptx', readFileSync('examples/saxpy.ptx', 'utf8'));
    const diagnostics = new Diagnostics(source);
    const ast = printAst(parse(source, diagnostics));
    const { metallib } = compile(source, {}, diagnostics);
    const isValid = validateMetallib(metallib, diagnostics);
    const [fn] = readMetallib(metallib, diagnostics).functions;
    const text = disassemble(readModule(fn.bitcode, diagnostics));
    console.log(JSON.stringify({ ast, isValid, name: fn.name, text, reported: diagnostics.list.length }));
  `) as { ast: string; isValid: boolean; name: string; text: string; reported: number };
  assert.match(result.ast, 'saxpy');
  assert.match(result.text, /^define void @saxpy\(/m);
  assert.equal([result.isValid, result.name, result.reported], [true, 'saxpy', 0]);
});

need(test, [node], 'other files of the package cannot be imported', () => {
  const program = `import('cumetal/dist/cli/program.js').then(() => console.log('"it can"'), (error) => console.log(JSON.stringify(error.code)));`;
  assert.is(underNode(program), 'ERR_PACKAGE_PATH_NOT_EXPORTED');
});

/** The launcher finds no Bun on this PATH, and uses Node. */
const withoutBun = (): Record<string, string> => ({ PATH: `${join(folder, 'bin')}:/usr/bin:/bin` });
const launcher = join(packaged, 'bin/cumetal');
test.before(() => {
  mkdirSync(join(folder, 'bin'));
  symlinkSync(Bun.which('node') ?? '/usr/bin/node', join(folder, 'bin/node'));
});

need(test, [node, 'sh'], 'the launcher starts Node where that is asked for, though Bun is there', () => {
  const trace = (runtime: string): string =>
    spawnSync('sh', ['-x', launcher, '--version'], {
      encoding: 'utf8',
      env: { PATH: `${join(root, 'node_modules/.bin')}:${process.env.PATH}`, CUMETAL_RUNTIME: runtime },
    }).stderr;
  assert.match(trace('node'), /exec node .*dist\/cli\/start-built\.js --version/);
  assert.not.match(trace(''), /exec node/);
  const missing = spawnSync('/bin/sh', [launcher, '--version'], { encoding: 'utf8', env: { PATH: '/nowhere', CUMETAL_RUNTIME: 'node' } });
  assert.is(missing.status, 70);
  assert.match(missing.stderr, /no Node on the PATH/);
});

need(test, [node, 'sh'], 'the launcher starts the command line under Node', () => {
  assert.match(ran(launcher, ['--version'], withoutBun()), version);
  assert.match(ran(launcher, ['run', 'examples/vector_add.ptx'], withoutBun()), /0\.5\b.*1\.5\b.*2\.5\b/);
  ran(launcher, ['build', 'examples/scan.ptx', '--target', 'macos15', '-o', 'scan.metallib'], withoutBun());
  assert.ok(Buffer.compare(readFileSync(join(folder, 'scan.metallib')), compileExample('scan').metallib) === 0);
});

need(test, [node, 'sh'], 'under Node, bad input ends with its exit code and no stack trace', () => {
  writeFileSync(
    join(folder, 'bad.ptx'),
    '.version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k()\n{\n  ad.s32 %r1, %r1, 1;\n}\n',
  );
  const { status, stderr } = spawnSync(launcher, ['build', 'bad.ptx', '-o', 'bad.metallib'], {
    encoding: 'utf8',
    cwd: folder,
    env: { ...process.env, ...withoutBun() },
  });
  assert.is(status, 3);
  assert.not.ok(existsSync(join(folder, 'bad.metallib')));
  assert.match(stderr, /bad\.ptx:6/);
  assert.not.match(stderr, /\n\s+at .*:\d+:\d+/);
});

test.run();
