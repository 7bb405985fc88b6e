/** Fuzzing with damaged examples, by seed: their text through the compiler, their metallibs through the CPU device. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { InternalError } from '../../src/base/bug.ts';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import { disassemble, readModule } from '../../src/bitcode/index.ts';
import { compile } from '../../src/compile/index.ts';
import type { DeviceModule, LaunchArgument } from '../../src/device/device.ts';
import { openCpuDevice } from '../../src/device/index.ts';
import { validateMetallib, writeMetallib } from '../../src/metallib/index.ts';
import { splitMix64 } from '../../src/runtime/index.ts';
import { withinCpuSeconds } from '../support/cpu-time.ts';
import { assertQuiet, compileExample, exampleNames, exampleText, libraryOf, messages } from '../support/examples.ts';

const test = suite('examples/damage');

type Pick = (count: number) => number;
const pickOf = (seed: number): Pick => {
  const draw = splitMix64(BigInt(seed));
  return (count) => Number(draw() % BigInt(Math.max(count, 1)));
};

/** Runs one case; an exception is distinguished from a failed assertion by its stack. */
function noException<T>(what: string, run: () => T): T {
  try {
    return run();
  } catch (error) {
    if (error instanceof assert.Assertion) throw error;
    const { name, message, stack } = error as Error;
    throw new Error(`${what}: ${error instanceof InternalError ? 'InternalError' : name}: ${message}\n${stack}`);
  }
}

// ── text ──

const tokensOf = (text: string): string[] => text.match(/[%.$\w]+|\s+|[^\s\w]/g) ?? [];
const isWord = (token: string): boolean => /\w/.test(token);

/** An index of a token with a letter or digit, after the launch lines. */
function word(tokens: readonly string[], pick: Pick, rule: (token: string) => boolean = isWord): number {
  const start = Math.max(tokens.indexOf('.version'), 0);
  const found = tokens.flatMap((token, i) => (i >= start && rule(token) ? [i] : []));
  return found[pick(found.length)] ?? start;
}

/** A copy with `count` items at an index replaced. */
const put = <T>(list: readonly T[], at: number, count: number, ...others: T[]): T[] => [
  ...list.slice(0, at),
  ...others,
  ...list.slice(at + count),
];

function swapped<T>(list: readonly T[], a: number, b: number): T[] {
  const copy = [...list];
  [copy[a], copy[b]] = [copy[b]!, copy[a]!];
  return copy;
}

const opcodes = [
  'add.s32',
  'mul.wide.u32',
  'ld.global.f32',
  'st.shared.b64',
  'setp.lt.f32',
  'cvt.rn.f32.s32',
  'bar.sync',
  'bra',
  'ret',
  'mov.b32',
].concat([
  'selp.b32',
  'fma.rn.f32',
  'shl.b32',
  'ld.param.u64',
  'cvta.to.global.u64',
  'atom.global.add.u32',
  'vote.sync.ballot.b32',
  'ad.s32',
  'add.q7',
]);

const lineKinds: Record<string, (lines: readonly string[], pick: Pick) => string[]> = {
  'a line deleted': (lines, pick) => put(lines, pick(lines.length), 1),
  'a line duplicated': (lines, pick) => {
    const at = pick(lines.length);
    return put(lines, at, 0, lines[at]!);
  },
  'two lines swapped': (lines, pick) => swapped(lines, pick(lines.length), pick(lines.length)),
};

const isRegister = (token: string): boolean => /^%[a-z]+\d+$/.test(token);
const isOpcode = (token: string): boolean => /^[a-z]+\d*\.[a-z.\d]+$/.test(token);
const isNumber = (token: string): boolean => /^\d+$/.test(token);
const isSolid = (token: string): boolean => /\S/.test(token);
const numbers = ['0', '-1', '4294967296', '0xFFFFFFFFFFFFFFFFFF', '0f7FC00000', '1e999', '08', '2147483648'];

const tokenKinds: Record<string, (tokens: readonly string[], pick: Pick) => string[]> = {
  'a token deleted': (tokens, pick) => put(tokens, word(tokens, pick, isSolid), 1),
  'a token duplicated': (tokens, pick) => {
    const at = word(tokens, pick, isSolid);
    return put(tokens, at, 0, tokens[at]!, ' ');
  },
  'two tokens swapped': (tokens, pick) => swapped(tokens, word(tokens, pick), word(tokens, pick)),
  'another opcode': (tokens, pick) => put(tokens, word(tokens, pick, isOpcode), 1, opcodes[pick(opcodes.length)]!),
  'another register': (tokens, pick) => put(tokens, word(tokens, pick, isRegister), 1, tokens[word(tokens, pick, isRegister)]!),
  'a register renumbered': (tokens, pick) => {
    const at = word(tokens, pick, isRegister);
    return put(tokens, at, 1, tokens[at]!.replace(/\d+$/, String(pick(12))));
  },
  'another number': (tokens, pick) => put(tokens, word(tokens, pick, isNumber), 1, numbers[pick(numbers.length)]!),
};

const kinds = [
  ...Object.entries(lineKinds).map(
    ([name, make]) => [name, (text: string, pick: Pick) => make(text.split('\n'), pick).join('\n')] as const,
  ),
  ...Object.entries(tokenKinds).map(([name, make]) => [name, (text: string, pick: Pick) => make(tokensOf(text), pick).join('')] as const),
  ['cut off', (text: string, pick: Pick) => text.slice(0, pick(text.length))] as const,
];

/** Compiles a text: either diagnostics with valid spans, or a sound metallib. */
function compileText(text: string): 'refused' | 'compiled' {
  const source = new SourceFile('damaged.ptx', text);
  const diagnostics = new Diagnostics(source);
  const compiled = withinCpuSeconds(2, () => compile(source, {}, diagnostics));
  assert.is(compiled === undefined, diagnostics.hasErrors, messages(diagnostics).join());
  for (const { message, severity, labels } of diagnostics.list) {
    assert.ok(message.length > 0 && !/undefined|\[object|NaN\b/.test(message), message);
    if (severity === 'error') assert.ok(labels.length > 0, `no place: ${message}`);
    for (const { span } of labels)
      assert.ok(span.start >= 0 && span.start <= span.end && span.end <= text.length, `a span outside of the text: ${message}`);
  }
  if (!compiled) return 'refused';
  checkMetallib(compiled.metallib);
  return 'compiled';
}

function checkMetallib(metallib: Uint8Array): void {
  const diagnostics = new Diagnostics();
  assert.ok(validateMetallib(metallib, diagnostics));
  for (const { name, bitcode } of libraryOf(metallib).functions) assert.match(disassemble(readModule(bitcode, diagnostics)!), `@${name}(`);
  assertQuiet(diagnostics);
  assert.is.not(loadAndLaunch(metallib), 'refused');
}

const seedsByKind = 20;

test('undamaged texts compile', () => {
  for (const name of exampleNames) assert.is(compileText(exampleText(name)), 'compiled');
});

/** Found with more seeds than are run here; each is refused with the code. */
const found: [what: string, name: string, damage: (text: string) => string, code: string][] = [
  [
    'no shared variable is referenced',
    'scan',
    (text) => text.replace(/(, )_Z\w+|\[_Z\w+(\+\d+)?\]/g, (_, comma) => (comma ? ', 64' : '[%r1]')),
    'CM2095',
  ],
  ['shared memory of 4 GiB', 'reduce', (text) => text.replace(/(\.shared .*)\[\d+\]/, '$1[4294967296]'), 'CM2093'],
  ['shared memory of no bytes', 'reduce', (text) => text.replace(/(\.shared .*)\[\d+\]/, '$1[0]'), 'CM1115'],
  ['local memory of no bytes', 'median', (text) => text.replace(/(\.local .*)\[\d+\]/, '$1[0]'), 'CM1115'],
  ['local memory of 2 GiB', 'median', (text) => text.replace(/(\.local .*)\[\d+\]/, '$1[2147483648]'), 'CM2050'],
  ['a parameter of 4 GiB', 'affine', (text) => text.replace('[32]', '[4294967296]'), 'CM2050'],
  ['a parameter of no bytes', 'affine', (text) => text.replace('[32]', '[0]'), 'CM1115'],
  ['an alignment of 3', 'reduce', (text) => text.replace('.shared .align 4', '.shared .align 3'), 'CM1114'],
  ['an alignment of 0', 'reduce', (text) => text.replace('.shared .align 4', '.shared .align 0'), 'CM1114'],
  ['an alignment of 4 GiB', 'affine', (text) => text.replace('.param .align 8', '.param .align 4294967296'), 'CM1114'],
  ['32-bit addresses', 'reduce', (text) => text.replace('.address_size 64', '.address_size 32'), 'CM2047'],
];

for (const [what, name, damage, code] of found)
  test(`text: ${what}`, () => {
    const text = damage(exampleText(name));
    assert.is(compileText(text), 'refused');
    const source = new SourceFile('damaged.ptx', text);
    const diagnostics = new Diagnostics(source);
    compile(source, {}, diagnostics);
    assert.ok(diagnostics.list.length > 0 && diagnostics.list.every((d) => d.code === code), messages(diagnostics).join());
  });

const outcomes = { refused: 0, compiled: 0 };
for (const [k, [kind, damage]] of kinds.entries())
  test(`text: ${kind}`, () => {
    for (let i = 0; i < seedsByKind; i++) {
      const seed = 1000 * k + i;
      const name = exampleNames[seed % exampleNames.length]!;
      const text = damage(exampleText(name), pickOf(seed));
      outcomes[noException(`${kind}, seed ${seed}, ${name}`, () => compileText(text))]++;
    }
  });

test('some damaged texts compile and some do not', () => {
  assert.ok(outcomes.compiled > 20 && outcomes.refused > 60, JSON.stringify(outcomes));
});

// ── metallibs ──

function flipped(bytes: Uint8Array, pick: Pick, count: number): Uint8Array {
  const copy = bytes.slice();
  for (let i = 0; i < count; i++) copy[pick(copy.length)]! ^= 1 << pick(8);
  return copy;
}

const damages: Record<string, (bytes: Uint8Array, pick: Pick) => Uint8Array> = {
  'cut off': (bytes, pick) => bytes.slice(0, pick(bytes.length)),
  'one bit': (bytes, pick) => flipped(bytes, pick, 1),
  'eight bits': (bytes, pick) => flipped(bytes, pick, 8),
  'one bit of the bitcode, with hash and sizes updated': (bytes, pick) => repacked(bytes, (bitcode) => flipped(bitcode, pick, 1)),
  'words of the bitcode changed, with hash and sizes updated': (bytes, pick) =>
    repacked(bytes, (bitcode) => {
      const copy = bitcode.slice();
      copy.copyWithin(4 * pick(copy.length / 4), 4 * pick(copy.length / 4), 4 * pick(copy.length / 4) + 4);
      return copy;
    }),
};

function repacked(bytes: Uint8Array, change: (bitcode: Uint8Array) => Uint8Array): Uint8Array {
  const library = libraryOf(bytes);
  const functions = library.functions.map(({ blob: _blob, hash: _hash, ...fn }) => ({ ...fn, bitcode: change(fn.bitcode) }));
  return writeMetallib({ ...library, functions });
}

/** Loads a damaged metallib, and launches its kernels on buffers of 64 bytes. */
function loadAndLaunch(metallib: Uint8Array): 'refused' | 'ran' | 'failed' {
  const device = openCpuDevice();
  const diagnostics = new Diagnostics();
  const module = device.load(metallib, diagnostics);
  assert.is(module === undefined, diagnostics.hasErrors, messages(diagnostics).join());
  const results = module?.kernels.map((_, i) => launchTiny(device, module, i)) ?? [];
  device.close();
  return module === undefined ? 'refused' : results.includes(false) ? 'failed' : 'ran';
}

function launchTiny(device: ReturnType<typeof openCpuDevice>, module: DeviceModule, index: number): boolean {
  const kernel = module.kernels[index]!;
  const diagnostics = new Diagnostics();
  const args = kernel.params.map(
    (param): LaunchArgument =>
      param.kind === 'buffer'
        ? { kind: 'buffer', buffer: device.allocate(64, diagnostics)! }
        : { kind: 'bytes', bytes: new Uint8Array(Math.min(param.size, 4096)).fill(1) },
  );
  const request = { kernel: kernel.name, grid: [1, 1, 1], block: [8, 1, 1], dynamicSharedBytes: 64, args, timeoutMs: 200 } as const;
  const result = withinCpuSeconds(2, () => module.launch(request, diagnostics));
  assert.is(result === undefined, diagnostics.hasErrors, messages(diagnostics).join());
  return result !== undefined;
}

const metallibs = new Map<string, Uint8Array>();
const metallibOf = (name: string): Uint8Array => {
  if (!metallibs.has(name)) metallibs.set(name, compileExample(name).metallib);
  return metallibs.get(name)!;
};

const seedsByDamage = 40;
const loadOutcomes = { refused: 0, ran: 0, failed: 0 };
for (const [k, [damageKind, damage]] of Object.entries(damages).entries())
  test(`metallib: ${damageKind}`, () => {
    for (let i = 0; i < seedsByDamage; i++) {
      const seed = 100_000 + 1000 * k + i;
      const name = exampleNames[seed % exampleNames.length]!;
      const bytes = damage(metallibOf(name), pickOf(seed));
      loadOutcomes[noException(`${damageKind}, seed ${seed}, ${name}`, () => loadAndLaunch(bytes))]++;
    }
  });

test('some damaged metallibs are refused and some run', () => {
  assert.ok(loadOutcomes.refused > 40 && loadOutcomes.ran > 10, JSON.stringify(loadOutcomes));
});

test.run();
