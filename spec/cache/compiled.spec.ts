/** Hits and misses of the compilation cache. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { sha256 } from '../../src/base/sha256.ts';
import { SourceFile } from '../../src/base/source.ts';
import { cachePlace, compileCache, type Store } from '../../src/cache/index.ts';
import { type CompileOptions, compile } from '../../src/compile/index.ts';

const test = suite('cache/compiled');

const memory = (): Store & { readonly kept: Map<string, Uint8Array> } => {
  const kept = new Map<string, Uint8Array>();
  return {
    kept,
    read: (key) => kept.get(key),
    write: (key, bytes) => void kept.set(key, bytes),
    list: () => [],
    clear: () => [],
  };
};

const kernel = (body: string): string =>
  `.version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n.reg .b64 %rd<3>;\nld.param.u64 %rd1, [p];\n${body}\nret;\n}\n`;
const plain = kernel('st.global.u32 [%rd1], 7;');

interface Asked {
  readonly text?: string;
  readonly path?: string;
  readonly options?: CompileOptions;
  readonly build?: string;
}

/** Compiles through the cache: the result, whether the compiler ran, and the diagnostics. */
async function ask(store: Store, { text = plain, path = 'k.ptx', options = {}, build = '1' }: Asked = {}) {
  const source = new SourceFile(path, text);
  const diagnostics = new Diagnostics(source);
  let wasAsked = false;
  const result = await compileCache({ store, build, sha256 }).compiled(source, options, diagnostics, async () => {
    wasAsked = true;
    return compile;
  });
  return { result, wasAsked, codes: diagnostics.list.map(({ code }) => code) };
}

test('the second time the compiler is not even loaded, and the bytes are those of the first', async () => {
  const store = memory();
  const first = await ask(store);
  const second = await ask(store);
  assert.equal([first.wasAsked, second.wasAsked], [true, false]);
  assert.equal(second.result?.metallib, first.result?.metallib);
  assert.equal(JSON.stringify(second.result?.reflection), JSON.stringify(first.result?.reflection));
});

/** A value of each option that is not the default; undefined for functions, which do not change the result. */
const changed: { readonly [Name in keyof Required<CompileOptions>]: CompileOptions[Name] | undefined } = {
  target: 'macos15',
  hostTarget: 'macos14',
  fp64: 'warn',
  mma: 'fast',
  allowFallback: ['clock'],
  isForText: true,
  entries: ['k'],
  ptxStrict: true,
  lints: true,
  sanitize: true,
  marks: true,
  verifiesPasses: true,
  afterPass: undefined,
  sha256: undefined,
};

// The type of `changed` names every option, so a new one cannot be left out.
test('each compile option is part of the key', async () => {
  const store = memory();
  await ask(store);
  const names = Object.keys(changed) as (keyof CompileOptions)[];
  const keys = names.filter((name) => changed[name] !== undefined);
  for (const name of keys) assert.ok((await ask(store, { options: { [name]: changed[name] } })).wasAsked, name);
  assert.is(store.kept.size, 1 + keys.length);
  assert.equal(
    names.filter((name) => changed[name] === undefined),
    ['afterPass', 'sha256'],
  );
});

test('an observer of passes sees them run, although the result is cached', async () => {
  const store = memory();
  await ask(store);
  const seen: string[] = [];
  const { wasAsked } = await ask(store, { options: { afterPass: (pass) => void seen.push(pass) } });
  assert.ok(wasAsked && seen.length > 0);
});

test('everything that the result follows from is part of the key', async () => {
  const others: readonly Asked[] = [
    { text: kernel('st.global.u32 [%rd1], 8;') },
    { path: 'other.ptx' },
    { build: '2' },
    { options: { target: 'macos15' } },
    { options: { target: 'cpu' } },
    { options: { fp64: 'warn' } },
    { options: { mma: 'fast' } },
    { options: { entries: ['k'] } },
    { options: { sanitize: true } },
    { options: { ptxStrict: true } },
    { options: { lints: true } },
  ];
  const store = memory();
  await ask(store);
  for (const other of others) assert.ok((await ask(store, other)).wasAsked, JSON.stringify(other.options ?? other.build ?? other.path));
  for (const other of others) assert.not((await ask(store, other)).wasAsked, JSON.stringify(other));
  assert.is(store.kept.size, others.length + 1);
});

test('the order of options and a faster hash are no difference', async () => {
  const store = memory();
  await ask(store, { options: { target: 'macos15', fp64: 'soft' } });
  assert.not((await ask(store, { options: { fp64: 'soft', target: 'macos15', sha256 } })).wasAsked);
});

test('what comes with a warning or does not compile is compiled again, and says the same again', async () => {
  const store = memory();
  // `activemask` came with version 6.2.
  const warned = kernel('.reg .b32 %r; activemask.b32 %r; st.global.u32 [%rd1], %r;').replace('.version 8.0', '.version 6.0');
  const refused = kernel('st.global.u32 [%rd1], nothing;');
  for (const text of [warned, refused]) {
    const first = await ask(store, { text });
    const second = await ask(store, { text });
    assert.ok(first.codes.length > 0);
    assert.equal(second.codes, first.codes);
    assert.ok(second.wasAsked);
  }
  assert.ok((await ask(store, { text: warned })).result);
  assert.is(store.kept.size, 0);
});

test('an entry that is none of ours is compiled again', async () => {
  const store = memory();
  const { result } = await ask(store);
  const [key] = [...store.kept.keys()];
  const text = new TextEncoder().encode('....{"abi":');
  for (const bytes of [
    new Uint8Array(0),
    new Uint8Array(3),
    new Uint8Array([255, 255, 255, 255, 0]),
    text,
    new Uint8Array([4, 0, 0, 0, 1, 2, 3, 4]),
  ]) {
    store.kept.set(key!, bytes);
    const again = await ask(store);
    assert.ok(again.wasAsked);
    assert.equal(again.result?.metallib, result?.metallib);
  }
});

test('the place is the platform’s, and the environment’s where it says one', () => {
  const mib = 1024 * 1024;
  const of = (platform: string, env: Record<string, string>, home = '/home/a') => cachePlace({ platform, env, home });
  assert.equal(of('linux', {}), { folder: '/home/a/.cache/cumetal/compiled', maxBytes: 256 * mib });
  assert.equal(of('linux', { XDG_CACHE_HOME: '/x' }), { folder: '/x/cumetal/compiled', maxBytes: 256 * mib });
  assert.equal(of('linux', { XDG_CACHE_HOME: 'relative' }), { folder: '/home/a/.cache/cumetal/compiled', maxBytes: 256 * mib });
  assert.equal(of('darwin', {}, '/Users/a'), { folder: '/Users/a/Library/Caches/cumetal/compiled', maxBytes: 256 * mib });
  assert.equal(of('win32', { LOCALAPPDATA: 'C:\\l' }), { folder: 'C:\\l\\cumetal\\compiled', maxBytes: 256 * mib });
  assert.equal(of('linux', { CUMETAL_CACHE_PATH: '/p', CUMETAL_CACHE_MAXSIZE: '1000' }), { folder: '/p', maxBytes: 1000 });
  assert.equal(of('linux', { CUMETAL_CACHE_DISABLE: '0' }), { folder: '/home/a/.cache/cumetal/compiled', maxBytes: 256 * mib });
  const none = [of('linux', { CUMETAL_CACHE_DISABLE: '1' }), of('linux', { CUMETAL_CACHE_MAXSIZE: 'much' }), of('linux', {}, '')];
  assert.equal(
    none.map((place) => 'why' in place),
    [true, true, true],
  );
});

test.run();
