/**
 * PTX in containers. Expectations for the committed files come from nvcc's command lines (`fixtures/container/make.sh`) and from the PTX in
 * `examples/`; nvcc produces more of them if it is installed.
 */

import { heapSize } from 'bun:jsc';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import { looksLikeContainer } from '../../src/cli/input/index.ts';
import { fitTogether } from '../../src/ptx/container/image.ts';
import { chooseImage, type Image, imageEntries, imageText, imageWords, isContainer, readContainer } from '../../src/ptx/container/index.ts';
import { check, parse } from '../../src/ptx/index.ts';
import { withinCpuSeconds } from '../support/cpu-time.ts';
import { randomFractions } from '../support/lcg.ts';
import { need } from '../support/need.ts';

const test = suite('ptx/container');

const root = join(import.meta.dirname, '../..');
const fixtures = join(root, 'fixtures/container');
const bytesOf = (path: string) => new Uint8Array(readFileSync(path));
const fixture = (name: string) => bytesOf(join(fixtures, name));
const names = readdirSync(fixtures).filter((name) => !name.endsWith('.sh'));

/** fatbinary drops comments and blanks that mean nothing, and nothing else. The architecture is a matter of nvcc's words. */
const plain = (ptx: string): string =>
  ptx
    .replace(/\/\/.*/g, '')
    .replace(/[ \t]+/g, ' ')
    .replace(/^ | $/gm, '')
    .replace(/^\.target .*/m, '')
    .trim()
    .replace(/\n+/g, '\n');
const example = (name: string): string => plain(readFileSync(join(root, 'examples', `${name}.ptx`), 'utf8'));

function read(bytes: Uint8Array) {
  const diagnostics = new Diagnostics();
  return { container: readContainer(bytes, diagnostics), diagnostics };
}

function textOf(image: Image): string {
  const diagnostics = new Diagnostics();
  const text = imageText(image, diagnostics);
  assert.equal(diagnostics.list, []);
  return text!;
}

/** `kind arch compression kernels` of each image. */
const rows: Record<string, readonly string[]> = {
  'several.fatbin': ['ptx sm_75 zstd saxpy', 'sass sm_80 none saxpy', 'sass sm_90 none saxpy', 'ptx sm_90 zstd saxpy'],
  'raw.fatbin': ['ptx sm_80 none scan'],
  'lz4.fatbin': ['ptx sm_80 lz4 scan'],
  'zstd.fatbin': ['sass sm_80 zstd scan', 'ptx sm_80 zstd scan'],
  'suffix.fatbin': ['ptx sm_90a zstd saxpy', 'ptx sm_100f zstd saxpy'],
  'lto.fatbin': ['lto sm_80 zstd ?'],
  'plain.cubin': ['sass sm_80 none saxpy'],
  'debug.cubin': ['sass sm_80 none saxpy', 'ptx sm_80 none saxpy'],
  'object.o': ['sass sm_80 none saxpy', 'ptx sm_80 zstd saxpy'],
  'relocatable.o': ['sass sm_80 zstd saxpy', 'ptx sm_80 zstd saxpy'],
  'linked.so': ['sass sm_80 none saxpy', 'ptx sm_80 zstd saxpy', 'sass sm_80 none scan', 'ptx sm_80 zstd scan'],
  'linked-relocatable.so': ['sass sm_80 zstd saxpy', 'ptx sm_80 zstd saxpy', 'sass sm_80 zstd scan', 'ptx sm_80 zstd scan'],
  'sass.so': ['sass sm_80 none saxpy'],
};

test('every file of the folder is expected', () => assert.equal(names.sort(), Object.keys(rows).sort()));

for (const [name, expected] of Object.entries(rows))
  test(`the images of ${name}`, () => {
    const { container, diagnostics } = read(fixture(name));
    assert.equal(diagnostics.list, []);
    assert.is(container.format, name.endsWith('.cubin') ? 'cubin' : name.endsWith('.fatbin') ? 'fatbinary' : 'elf');
    assert.equal(
      container.images.map((image) => `${image.kind} ${image.arch} ${image.compression} ${imageEntries(image)?.join(' ') ?? '?'}`),
      expected,
    );
    assert.equal(
      container.images.map(({ index }) => index),
      expected.map((_, i) => i),
    );
  });

test('the text of every PTX image is that of the example', () => {
  let count = 0;
  for (const name of names.filter((one) => one !== 'debug.cubin'))
    for (const image of read(fixture(name)).container.images.filter(({ kind }) => kind === 'ptx')) {
      const text = textOf(image);
      // For chips that are newer than those of the examples, nvcc orders instructions in another way.
      if (image.arch !== 'sm_100f') assert.is(plain(text), example(imageEntries(image)![0]!), `${name} ${image.index}`);
      // ptxas wants the architecture of the text to be that of the header.
      assert.match(text, new RegExp(`^\\.target ${image.arch}$`, 'm'));
      assert.match(text, new RegExp(`^\\.version ${image.version}$`, 'm'));
      count++;
    }
  assert.is(count, 13);
});

test('the PTX that a debug build leaves in a cubin has its lines again', () => {
  const text = textOf(read(fixture('debug.cubin')).container.images[1]!);
  assert.match(text, /^\.version 9\.0\n\.target sm_80, debug\n\.address_size 64\n/m);
  assert.match(text, /\n\.visible \.entry saxpy\(\n\.param \.f32 saxpy_param_0,\n/);
  assert.not.match(text, /\0/);
});

test('what looks like a container is one', () => {
  for (const name of names) assert.ok(isContainer(fixture(name)) && looksLikeContainer(fixture(name)), name);
  for (const text of ['', '.version 8.0', 'MTLB', '\x7fEL'])
    assert.not(isContainer(new TextEncoder().encode(text)) || looksLikeContainer(new TextEncoder().encode(text)), text);
});

function choose(name: string, words?: string): string | number {
  const { container } = read(fixture(name));
  const diagnostics = new Diagnostics();
  const image = chooseImage(container, words === undefined ? undefined : imageWords(words), diagnostics);
  return image?.index ?? diagnostics.list.map(({ code, message }) => `${code} ${message}`).join();
}

const choices: [name: string, words: string | undefined, index: number][] = [
  ['object.o', undefined, 1],
  ['several.fatbin', undefined, 3],
  ['several.fatbin', 'sm_75', 0],
  ['several.fatbin', 'compute_90', 3],
  ['several.fatbin', '0', 0],
  ['suffix.fatbin', undefined, 1],
  ['suffix.fatbin', 'sm_90a', 0],
  ['linked.so', '3', 3],
];
for (const [name, words, index] of choices) test(`${name}, image ${words ?? 'not chosen'}`, () => assert.is(choose(name, words), index));

const refusals: [name: string, words: string | undefined, code: string, says: RegExp][] = [
  ['plain.cubin', undefined, 'CM4061', /SASS, the machine code of NVIDIA chips, for sm_80/],
  ['lto.fatbin', undefined, 'CM4061', /already compiled/],
  ['linked.so', undefined, 'CM4062', /2 PTX images for sm_80: 1 \(sm_80: saxpy\), 3 \(sm_80: scan\)/],
  ['linked.so', 'sm_80', 'CM4062', /2 PTX images/],
  ['several.fatbin', '1', 'CM4063', /image 1 is SASS, not PTX/],
  ['several.fatbin', '9', 'CM4063', /there is no image 9/],
  ['several.fatbin', 'sm_80', 'CM4063', /no PTX image is for sm_80/],
];
for (const [name, words, code, says] of refusals)
  test(`${name}, image ${words ?? 'not chosen'} is ${code}`, () => {
    const said = String(choose(name, words));
    assert.is(said.slice(0, 6), code);
    assert.match(said, says);
  });

test('words that name no image', () => {
  for (const words of ['', 'sm_', 'sm_8', '-1', '1.5', 'sm_80x', 'image 1']) assert.is(imageWords(words), undefined, words);
});

test('of images of one architecture with the same text the first is taken, and those without kernels are not', () => {
  const { images } = read(fixture('linked.so')).container;
  const [saxpy, scan] = [images[1]!, images[3]!];
  const none: Image = { ...saxpy, compression: 'none', stored: new TextEncoder().encode('.version 9.0\n.target sm_80\n// .entry a(\n') };
  const chosen = (list: readonly Image[]) => chooseImage({ format: 'elf', images: list }, undefined, new Diagnostics())?.stored;
  assert.is(chosen([none, scan]), scan.stored);
  assert.is(chosen([saxpy, { ...saxpy }]), saxpy.stored);
  assert.is(chosen([none]), none.stored);
  assert.is(chosen([saxpy, scan]), undefined);
});

/** A fatbinary of one image of the given bytes. */
function fatbinaryOf(payload: Uint8Array, { flags, size }: { flags: number; size: number }): Uint8Array {
  const padded = (payload.length + 7) & ~7;
  const bytes = new Uint8Array(16 + 64 + padded);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, 0xba55ed50, true);
  view.setUint16(4, 1, true);
  view.setUint16(6, 16, true);
  view.setUint32(8, 64 + padded, true);
  view.setUint16(16, 1, true);
  view.setUint32(20, 64, true);
  view.setUint32(24, padded, true);
  view.setUint32(32, payload.length, true);
  view.setUint32(44, 80, true);
  view.setUint32(56, flags, true);
  view.setUint32(72, size, true);
  bytes.set(payload, 80);
  return bytes;
}

function unpacked(payload: Uint8Array, flags: number, size: number): string {
  const { container, diagnostics } = read(fatbinaryOf(payload, { flags, size }));
  const text = imageText(container.images[0]!, diagnostics);
  return text ?? diagnostics.list.map(({ code, message }) => `${code} ${message}`).join();
}

const bytes = (...parts: (number | string)[]): Uint8Array =>
  Uint8Array.from(parts.flatMap((part) => (typeof part === 'number' ? [part] : [...new TextEncoder().encode(part)])));
const lz4 = 0x2011;
const zstd = 0x8011;

// Derived by hand from the description of LZ4 blocks.
const blocks: [what: string, block: Uint8Array, text: string][] = [
  ['literals', bytes(0x30, 'abc'), 'abc'],
  ['a match that overlaps itself', bytes(0x11, 'a', 1, 0, 0x10, 'b'), 'aaaaaab'],
  ['a long run of literals', bytes(0xf0, 255, 30, 'x'.repeat(300)), 'x'.repeat(300)],
  ['a long match', bytes(0x2f, 'ab', 2, 0, 255, 6, 0x10, 'c'), `${'ab'.repeat(141)}c`],
];
for (const [what, block, text] of blocks) test(`LZ4: ${what}`, () => assert.is(unpacked(block, lz4, text.length), text));

// A frame whose block repeats matches of at least 65539 bytes 98047 times.
const bomb = bytes(0x28, 0xb5, 0x2f, 0xfd, 0x60, 0x37, 2, 0x55, 0, 0, 9, 65, 255, 255, 255, 0x54, 0, 0, 52, 1);

const damaged: [what: string, payload: Uint8Array, flags: number, size: number, says: RegExp][] = [
  ['LZ4 that ends early', bytes(0x50, 'abc'), lz4, 5, /^CM4060 .*LZ4 literals run past the block/],
  ['LZ4 of another length', bytes(0x30, 'abc'), lz4, 4, /^CM4060 .*holds 3 bytes, but its header has 4/],
  ['an LZ4 match before the start', bytes(0x11, 'a', 2, 0, 0x10, 'b'), lz4, 7, /^CM4060 .*match 2 bytes back/],
  ['an LZ4 match of distance 0', bytes(0x11, 'a', 0, 0, 0x10, 'b'), lz4, 7, /^CM4060 .*match 0 bytes back/],
  [
    'more LZ4 than PTX compresses to',
    bytes(0x30, 'abc'),
    lz4,
    262_144 + 128 * 4 + 1,
    /^CM4065 image 0 has 4 compressed bytes and claims to unpack to 262657, where 262656 are/,
  ],
  ['as much LZ4 as is allowed, which is not there', bytes(0x30, 'abc'), lz4, 262_144 + 128 * 4, /^CM4060 .*holds 3 bytes/],
  ['more Zstandard than PTX compresses to', bytes(0x28), zstd, 262_144 + 129, /^CM4065 image 0 /],
  ['more Zstandard than can be', bytes(0x28), zstd, 0xffffffff, /^CM4065 /],
  ['no Zstandard', bytes('abcdefgh'), zstd, 8, /^CM4060 .*magic/],
  ['a Zstandard bomb', bomb, zstd, 823, /^CM4060 /],
  ['a compression of another kind', bytes('abc'), 0x1011, 3, /^CM4064 image 0 /],
];
for (const [what, payload, flags, size, says] of damaged)
  test(`refused: ${what}`, () => {
    const said = withinCpuSeconds(1, () => unpacked(payload, flags, size));
    assert.match(said, says);
  });

test('a small file of many images that unpack to much: the kernels are not listed', () => {
  const one = (): Image => ({ ...read(fatbinaryOf(bytes(0x30, 'abc'), { flags: lz4, size: 262_144 })).container.images[0]! });
  assert.ok(fitTogether(Array.from({ length: 64 }, one), 2 ** 28));
  assert.not.ok(fitTogether(Array.from({ length: 65 }, one), 2 ** 28));
});

/** Text that compresses to almost nothing, as many bytes as are allowed for the compressed ones. */
function bombOf(piece: string): { readonly payload: Uint8Array; readonly text: string } {
  const header = '.version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k()\n{\n';
  const text = header + piece.repeat(Math.floor((262_144 - header.length) / piece.length));
  return { payload: new Uint8Array(Bun.zstdCompressSync(text, { level: 19 })), text };
}

for (const piece of [';', 'ret;', '.reg .b32 a;', 'a:', '{', '}', 'x ', '@p bra L;', '.global .b32 a;\n'])
  test(`a small fatbinary of many \`${piece.trim()}\` is checked within limits of time and memory`, () => {
    const { payload, text } = bombOf(piece);
    assert.ok(payload.length < 3000, `${payload.length}`);
    const file = new SourceFile('k.ptx', unpacked(payload, zstd, text.length));
    const [diagnostics, before] = [new Diagnostics(file), heapSize()];
    withinCpuSeconds(4, () => check(parse(file, diagnostics), { functions: true }, diagnostics));
    assert.ok(heapSize() - before < 2 ** 28, `${heapSize() - before} bytes`);
  });

test('text of a hostile shape is read at once', () => {
  withinCpuSeconds(5, () => {
    for (const text of ['\0'.repeat(2_000_000), '/*'.repeat(1_000_000), `.entry${' '.repeat(2_000_000)}`, '.entry a '.repeat(200_000)]) {
      const image = read(fatbinaryOf(bytes(`${text}(`), { flags: 0x11, size: 0 })).container.images[0]!;
      imageEntries({ ...image, compression: 'none' });
      textOf({ ...image, compression: 'none' });
    }
  });
});

test('Zstandard: what the library of its makers packs at any level comes back', () => {
  const next = randomFractions(1);
  const makers: ((i: number) => number)[] = [() => 97 + next() * 26, () => 97 + next() * 2, () => 120, (i) => 97 + (((i * i) >> 5) % 16)];
  makers.push(() => 33 + next() * next() * next() * 90);
  for (const length of [1, 5, 64, 255, 256, 1000, 5000, 131072, 140_000])
    for (const maker of makers)
      for (const level of length > 5000 ? [1, 9] : [1, 3, 9, 19, 22]) {
        const text = Array.from({ length }, (_, i) => String.fromCharCode(maker(i))).join('');
        assert.ok(unpacked(new Uint8Array(Bun.zstdCompressSync(text, { level })), zstd, length) === text, `${length} at ${level}`);
      }
});

test('every truncation of a fatbinary is reported, and shows the images before it', () => {
  const whole = fixture('several.fatbin');
  for (let size = 8; size < whole.length; size += 13) {
    const { container, diagnostics } = read(whole.subarray(0, size));
    assert.equal(
      diagnostics.list.map(({ code }) => code),
      ['CM4060'],
    );
    // The first image ends at 16 + 80 + 384 bytes.
    assert.is(container.images.length > 0, size >= 480);
  }
});

function readAll(damagedBytes: Uint8Array): void {
  const { container, diagnostics } = read(damagedBytes);
  chooseImage(container, undefined, diagnostics);
  for (const image of container.images) {
    imageEntries(image);
    imageText(image, diagnostics);
  }
  for (const { code } of diagnostics.list) assert.match(code, /^CM406[0-5]$/);
}

test('2000 damaged files: no exception, no hang', () => {
  const next = randomFractions(7);
  const files = names.map(fixture);
  for (let i = 0; i < 2000; i++) {
    const file = files[i % files.length]!.slice();
    const flips = 1 + Math.floor(next() * 8);
    // Headers are a small part of a file and the most sensitive one.
    for (let k = 0; k < flips; k++) file[Math.floor((next() < 0.5 ? next() ** 4 : next()) * file.length)]! ^= 1 << Math.floor(next() * 8);
    readAll(next() < 0.3 ? file.subarray(0, Math.floor(next() * file.length)) : file);
  }
});

test('damage inside compressed text: no exception, no hang', () => {
  const next = randomFractions(11);
  for (const name of ['lz4.fatbin', 'zstd.fatbin'])
    for (let i = 0; i < 500; i++) {
      const file = fixture(name);
      const { offset, stored } = read(file).container.images.at(-1)!;
      file[offset + Math.floor(next() * stored.length)] = next() * 256;
      readAll(file);
    }
});

const folder = mkdtempSync(join(tmpdir(), 'cumetal-spec-'));
test.after(() => rmSync(folder, { recursive: true, force: true }));

function nvcc(...words: string[]): void {
  const { exitCode, stderr } = Bun.spawnSync(['nvcc', ...words], { cwd: join(root, 'examples') });
  assert.is(exitCode, 0, String(stderr));
}

/** The PTX of every image in nvcc's output. */
function made(...words: string[]): string[] {
  const path = join(folder, 'made');
  nvcc(...words, '-o', path);
  const { container, diagnostics } = read(bytesOf(path));
  assert.equal(diagnostics.list, []);
  return container.images.filter(({ kind }) => kind === 'ptx').map((image) => plain(textOf(image)));
}

const both = ['-gencode', 'arch=compute_80,code=[sm_80,compute_80]'];

need(test, ['nvcc'], 'every way to compress gives the PTX that nvcc prints', () => {
  nvcc('-ptx', '-arch=compute_80', 'matmul_tiled.cu', '-o', join(folder, 'text.ptx'));
  const text = plain(readFileSync(join(folder, 'text.ptx'), 'utf8'));
  for (const mode of ['none', 'speed', 'balance', 'size']) {
    assert.equal(made('-fatbin', `-compress-mode=${mode}`, ...both, 'matmul_tiled.cu'), [text], mode);
  }
});

need(test, ['nvcc'], 'the PTX in objects and in a program of several files', () => {
  const sources = ['hash', 'affine'];
  const expected = sources.map((name) => {
    nvcc('-ptx', '-arch=compute_80', `${name}.cu`, '-o', join(folder, 'text.ptx'));
    return plain(readFileSync(join(folder, 'text.ptx'), 'utf8'));
  });
  assert.equal(made('-c', ...both, 'hash.cu'), [expected[0]]);
  assert.equal(made('-c', '-rdc=true', ...both, 'hash.cu'), [expected[0]]);
  const files = sources.map((name) => `${name}.cu`);
  const main = join(folder, 'main.cpp');
  Bun.write(main, 'int main() { return 0; }\n');
  assert.equal(made(...both, ...files, main), expected);
  assert.equal(made('-rdc=true', ...both, ...files, main), expected);
});

test.run();
