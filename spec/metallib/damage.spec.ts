/** Damaged libraries: for any truncation or flipped bit, every reader returns a result or a diagnostic, and quickly. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { emitKernel, raiseModule, targets } from '../../src/air/index.ts';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { disassemble, readModule, writeModule } from '../../src/bitcode/index.ts';
import { readMetallib, validateMetallib, writeMetallib } from '../../src/metallib/index.ts';
import { withinCpuSeconds } from '../support/cpu-time.ts';
import { vectorAdd } from '../support/kernels.ts';
import { randomFractions } from '../support/lcg.ts';

const test = suite('metallib damage');

const bitcode = (): Uint8Array => writeModule(emitKernel(vectorAdd(), targets.macos14, new Diagnostics()));
const library = (): Uint8Array =>
  writeMetallib({
    version: { major: 1, minor: 2, patch: 7 },
    platform: 'macos',
    os: { major: 14, minor: 0, patch: 0 },
    functions: [{ name: 'vector_add', type: 'kernel', airVersion: [2, 6], metalVersion: [3, 1], bitcode: bitcode() }],
  });

/** Numbers below `n` in an order that is always the same. */
function random(seed: number): (n: number) => number {
  const next = randomFractions(seed);
  return (n) => Math.floor(next() * n);
}

/** Reads as far as possible; returns the stage reached. */
function readsSafely(what: string, read: (diagnostics: Diagnostics) => string): string {
  const diagnostics = new Diagnostics();
  let outcome = '';
  try {
    outcome = withinCpuSeconds(1, () => read(diagnostics));
  } catch (error) {
    assert.unreachable(`${what}: ${error instanceof Error ? error.stack : error}`);
  }
  assert.ok(outcome === 'kernel' || diagnostics.hasErrors || outcome === 'no kernel', `${what}: stopped at ${outcome} without a word`);
  return outcome;
}

function readModuleOf(bytes: Uint8Array, diagnostics: Diagnostics): string {
  const module = readModule(bytes, diagnostics);
  if (!module) return 'bitcode';
  disassemble(module);
  const described = module.namedMetadata.some((n) => n.name === 'air.kernel' && n.nodes.length > 0);
  return raiseModule(module, diagnostics).length > 0 ? 'kernel' : described ? 'air' : 'no kernel';
}

function readLibrary(bytes: Uint8Array, diagnostics: Diagnostics): string {
  validateMetallib(bytes, new Diagnostics());
  const read = readMetallib(bytes, diagnostics);
  if (!read) return 'container';
  return read.functions.map((fn) => readModuleOf(fn.bitcode, diagnostics))[0] ?? 'no kernel';
}

test('without damage', () => {
  assert.is(
    readsSafely('the library', (d) => readLibrary(library(), d)),
    'kernel',
  );
  assert.is(
    readsSafely('the module', (d) => readModuleOf(bitcode(), d)),
    'kernel',
  );
});

test('truncated libraries', () => {
  const whole = library();
  const next = random(1);
  for (let i = 0; i < 50; i++) {
    const size = next(whole.length);
    assert.is(
      readsSafely(`${size} bytes`, (d) => readLibrary(whole.subarray(0, size), d)),
      'container',
    );
  }
});

test('truncated modules', () => {
  const whole = bitcode();
  const next = random(2);
  for (let i = 0; i < 50; i++) {
    const size = next(whole.length - 4);
    assert.is.not(
      readsSafely(`${size} bytes of bitcode`, (d) => readModuleOf(whole.subarray(0, size), d)),
      'kernel',
    );
  }
});

/** Flips one to four bits in each of many copies; gives how often each outcome came. */
function flips(whole: Uint8Array, times: number, seed: number, read: (bytes: Uint8Array, d: Diagnostics) => string): Map<string, number> {
  const next = random(seed);
  const outcomes = new Map<string, number>();
  for (let i = 0; i < times; i++) {
    const bytes = whole.slice();
    const bits = Array.from({ length: 1 + next(4) }, () => next(bytes.length * 8));
    for (const bit of bits) bytes[bit >> 3]! ^= 1 << (bit & 7);
    const outcome = readsSafely(`bits ${bits} flipped (seed ${seed}, ${i})`, (d) => read(bytes, d));
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
  }
  return outcomes;
}

test('bits flipped in a library', () => {
  const outcomes = flips(library(), 100, 3, readLibrary);
  assert.ok(outcomes.has('bitcode') && outcomes.size > 1, String([...outcomes]));
});

test('bits flipped in the header and the function list of a library', () => {
  const whole = library();
  const [head, rest] = [whole.subarray(0, 280), whole.subarray(280)];
  const outcomes = flips(head, 200, 4, (bytes, d) => readLibrary(Uint8Array.of(...bytes, ...rest), d));
  assert.ok(outcomes.has('container') && outcomes.has('kernel'), String([...outcomes]));
});

test('bits flipped in a module: every stage meets some', () => {
  const outcomes = flips(bitcode(), 600, 5, readModuleOf);
  for (const stage of ['bitcode', 'air', 'kernel']) assert.ok(outcomes.has(stage), `${stage} is missing in ${[...outcomes]}`);
});

test('words replaced by ones that lengths and counts dislike', () => {
  const whole = bitcode();
  const next = random(6);
  const words = [0, 1, 0x7fffffff, 0x80000000, 0xffffffff];
  for (let i = 0; i < 200; i++) {
    const bytes = whole.slice();
    const at = next(bytes.length / 4) * 4;
    new DataView(bytes.buffer).setUint32(at, words[next(words.length)]!, true);
    readsSafely(`word ${at} replaced (${i})`, (d) => readModuleOf(bytes, d));
  }
});

test.run();
