/** The container at exact byte offsets, and violations of its rules. */
import { createHash } from 'node:crypto';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { isMetallib, type Library, readMetallib, validateMetallib, wrapBitcode, writeMetallib } from '../../src/metallib/index.ts';

const test = suite('metallib container');

/** Bytes in place of bitcode; the container does not look inside. */
const stuff = (length: number, seed: number): Uint8Array => Uint8Array.from({ length }, (_, i) => (i * 7 + seed) & 0xff);
const sha256 = (bytes: Uint8Array): Uint8Array => new Uint8Array(createHash('sha256').update(bytes).digest());

const library = (...kernels: readonly [name: string, bitcode: Uint8Array][]): Library => ({
  version: { major: 1, minor: 2, patch: 7 },
  platform: 'macos',
  os: { major: 14, minor: 0, patch: 0 },
  functions: kernels.map(([name, bitcode]) => ({ name, type: 'kernel', airVersion: [2, 6], metalVersion: [3, 1], bitcode })),
});

const foo = (): Uint8Array => writeMetallib(library(['foo', stuff(2712, 1)]));
const two = (): Uint8Array => writeMetallib(library(['first', stuff(100, 1)], ['second one', stuff(16, 2)]));

const u64 = (bytes: Uint8Array, at: number): number => Number(new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(at, true));
const u32 = (bytes: Uint8Array, at: number): number => new DataView(bytes.buffer, bytes.byteOffset).getUint32(at, true);
const u16 = (bytes: Uint8Array, at: number): number => new DataView(bytes.buffer, bytes.byteOffset).getUint16(at, true);
const text = (bytes: Uint8Array, at: number, size: number): string => new TextDecoder('latin1').decode(bytes.subarray(at, at + size));

// ── layout ──
// A kernel `foo` of 2712 bytes of bitcode, as in a real file of macOS 14, whose layout is: header 88, count 4, one group, extension,
// two empty metadata groups of 8, the blob of 20 + 2712 + 4. A group is 4 for its size, then each tag 4 + 2 + its payload, then 4:
// NAME 4, TYPE 1, HASH 32, OFFT 24, VERS 8, MDSZ 8, so 4 + 10 + 7 + 38 + 30 + 14 + 14 + 4 = 121.

const groupSize = 121;
const extensionAt = 88 + 4 + groupSize;
const publicAt = extensionAt + (6 + 16) + 4;
const privateAt = publicAt + 8;
const bitcodeAt = privateAt + 8;
const blobSize = 2736;

test('header: magic, container 1.2.7 with the macOS bit, an executable for 64-bit macOS 14.0.0', () => {
  assert.equal(
    [...foo().subarray(0, 16)],
    [0x4d, 0x54, 0x4c, 0x42, 0x01, 0x80, 0x02, 0x00, 0x07, 0x00, 0x00, 0x81, 0x0e, 0x00, 0x00, 0x00],
  );
});

test('header: sizes and offsets', () => {
  const bytes = foo();
  assert.is(bytes.length, bitcodeAt + blobSize);
  assert.is(u64(bytes, 16), bytes.length);
  assert.equal([u64(bytes, 24), u64(bytes, 32)], [88, groupSize], 'the size of the list leaves out its count');
  assert.equal([u64(bytes, 40), u64(bytes, 48)], [publicAt, 8]);
  assert.equal([u64(bytes, 56), u64(bytes, 64)], [privateAt, 8]);
  assert.equal([u64(bytes, 72), u64(bytes, 80)], [bitcodeAt, blobSize]);
});

test('function list: the tags in Apple’s order, each payload in its place', () => {
  const bytes = foo();
  assert.equal([u32(bytes, 88), u32(bytes, 92)], [1, groupSize]);
  const found: [string, number, number][] = [];
  let at = 96;
  for (; text(bytes, at, 4) !== 'ENDT'; at += 6 + u16(bytes, at + 4)) found.push([text(bytes, at, 4), u16(bytes, at + 4), at + 6]);
  assert.is(at + 4, 92 + groupSize);
  assert.equal(found, [
    ['NAME', 4, 102],
    ['TYPE', 1, 112],
    ['HASH', 32, 119],
    ['OFFT', 24, 157],
    ['VERS', 8, 187],
    ['MDSZ', 8, 201],
  ]);
  assert.is(text(bytes, 102, 4), 'foo\0');
  assert.is(bytes[112], 2);
  assert.equal([u64(bytes, 157), u64(bytes, 165), u64(bytes, 173)], [0, 0, 0]);
  assert.equal([u16(bytes, 187), u16(bytes, 189), u16(bytes, 191), u16(bytes, 193)], [2, 6, 3, 1]);
  assert.is(u64(bytes, 201), blobSize);
});

test('HASH is the SHA-256 of the whole blob, padding and wrapper included', () => {
  const bytes = foo();
  assert.equal(bytes.subarray(119, 151), sha256(bytes.subarray(bitcodeAt)));
});

test('extension: a UUID that follows from the content, in the shape of version 4, then the end', () => {
  const bytes = foo();
  assert.is(text(bytes, extensionAt, 4), 'UUID');
  assert.is(u16(bytes, extensionAt + 4), 16);
  const uuid = bytes.subarray(extensionAt + 6, extensionAt + 22);
  assert.is(uuid[6]! >> 4, 4);
  assert.is(uuid[8]! >> 6, 2);
  assert.is(text(bytes, extensionAt + 22, 4), 'ENDT');
  assert.equal(foo(), bytes);
  const other = writeMetallib(library(['foo', stuff(2712, 9)]));
  assert.is.not(String(other.subarray(extensionAt + 6, extensionAt + 22)), String(uuid));
});

test('metadata groups of a kernel are empty: their own size, and the end', () => {
  const bytes = foo();
  for (const at of [publicAt, privateAt]) assert.equal([u32(bytes, at), text(bytes, at + 4, 4)], [8, 'ENDT']);
});

test('blob: the wrapper’s five words, the bitcode, the fewest zeros to a multiple of 16', () => {
  const bytes = foo();
  const words = Array.from({ length: 5 }, (_, i) => u32(bytes, bitcodeAt + 4 * i));
  assert.equal(words, [0x0b17c0de, 0, 20, 2712, 0xffffffff]);
  assert.equal(bytes.subarray(bitcodeAt + 20, bitcodeAt + 20 + 2712), stuff(2712, 1));
  assert.equal([...bytes.subarray(bitcodeAt + 20 + 2712)], [0, 0, 0, 0]);
  assert.equal(
    [12, 16, 28].map((size) => wrapBitcode(stuff(size, 0)).length),
    [32, 48, 48],
  );
});

test('several functions: offsets in each section, in the order of the list', () => {
  const bytes = two();
  // Groups: 117 + the name with its zero. The first blob is 20 + 100 + 8, the second 20 + 16 + 12.
  const [first, second] = [117 + 6, 117 + 11];
  assert.equal([u32(bytes, 88), u32(bytes, 92), u32(bytes, 92 + first)], [2, first, second]);
  assert.is(u64(bytes, 32), first + second);
  assert.equal([u64(bytes, 48), u64(bytes, 64), u64(bytes, 80)], [16, 16, 128 + 48]);
  const offsets = 92 + first + 4 + (6 + 11) + 7 + 38 + 6;
  assert.equal([u64(bytes, offsets), u64(bytes, offsets + 8), u64(bytes, offsets + 16)], [8, 8, 128]);
});

// ── there and back ──

function reread(bytes: Uint8Array): Library {
  const diagnostics = new Diagnostics();
  const read = readMetallib(bytes, diagnostics);
  assert.equal(diagnostics.list, []);
  return read!;
}

test('what is written is read: every part', () => {
  const tag = (code: string, ...payload: number[]) => ({ code, payload: Uint8Array.from(payload) });
  const rich: Library = {
    ...library(['k', stuff(64, 3)]),
    version: { major: 1, minor: 2, patch: 9 },
    os: { major: 26, minor: 1, patch: 2 },
    uuid: stuff(16, 5),
    functions: [
      {
        ...library(['k', stuff(64, 3)]).functions[0]!,
        type: 'visible',
        publicTags: [tag('CNST', 0, 0)],
        privateTags: [tag('DEBI', 1, 2, 3)],
      },
      { ...library(['é', stuff(4, 3)]).functions[0]!, otherTags: [tag('TESS', 7)] },
    ],
  };
  const read = reread(writeMetallib(rich));
  assert.equal([read.version, read.platform, read.os, read.uuid], [rich.version, 'macos', rich.os, rich.uuid]);
  rich.functions.forEach((fn, i) => {
    const { hash, blob, ...rest } = read.functions[i]!;
    assert.equal(blob, wrapBitcode(fn.bitcode));
    assert.equal(rest, { publicTags: [], privateTags: [], otherTags: [], ...fn });
    assert.equal(hash, sha256(wrapBitcode(fn.bitcode)));
  });
  assert.equal(writeMetallib(read), writeMetallib(rich));
});

test('other platforms', () => {
  const bytes = writeMetallib({ ...library(), platform: 'ios' });
  assert.equal([bytes[5], bytes[11]], [0x00, 0x82]);
  assert.is(reread(bytes).platform, 'ios');
});

test('a library without functions', () => {
  const bytes = writeMetallib(library());
  assert.is(bytes.length, 88 + 4 + 26);
  assert.equal(reread(bytes).functions, []);
  assert.ok(validateMetallib(bytes, new Diagnostics()));
});

test('isMetallib looks at the magic alone', () => {
  assert.equal([foo(), new Uint8Array(), stuff(100, 0), foo().subarray(0, 4)].map(isMetallib), [true, false, false, true]);
});

// ── violations ──

function problems(bytes: Uint8Array): string[] {
  const diagnostics = new Diagnostics();
  const isValid = validateMetallib(bytes, diagnostics);
  assert.is(isValid, diagnostics.list.length === 0);
  return diagnostics.list.map((d) => `${d.code} ${d.message}`);
}

function changed(bytes: Uint8Array, at: number, ...values: number[]): Uint8Array {
  bytes.set(values, at);
  return bytes;
}

test('nothing to report of what is written', () => {
  assert.equal(problems(foo()), []);
  assert.equal(problems(two()), []);
});

const setU64 = (bytes: Uint8Array, at: number, value: number): void => new DataView(bytes.buffer).setBigUint64(at, BigInt(value), true);

function withGap(): Uint8Array {
  const bytes = Uint8Array.of(...foo().subarray(0, bitcodeAt), ...new Uint8Array(8), ...foo().subarray(bitcodeAt));
  setU64(bytes, 16, bytes.length);
  setU64(bytes, 72, bitcodeAt + 8);
  return bytes;
}

function withTail(): Uint8Array {
  const bytes = Uint8Array.of(...foo(), 1, 2, 3);
  setU64(bytes, 16, bytes.length);
  return bytes;
}

const planted: [what: string, bytes: () => Uint8Array, expected: RegExp][] = [
  ['too short', () => foo().subarray(0, 87), /^CM4001 .*too few/],
  ['another magic', () => changed(foo(), 0, 0x4e), /^CM4001 .*magic/],
  ['the file is longer than it says', () => Uint8Array.of(...foo(), 0), /^CM4001 .*header gives a size/],
  ['the file is shorter than it says', () => foo().subarray(0, -1), /^CM4001 .*header gives a size/],
  ['a section outside the file', () => changed(foo(), 72, 0xff, 0xff), /^CM4001 .*bitcode is outside/],
  ['a section inside the header', () => changed(foo(), 24, 80), /^CM4001 .*function list is outside/],
  ['a section offset of 2^63', () => changed(foo(), 47, 0x80), /^CM4001 .*public metadata is outside/],
  ['more functions than fit', () => changed(foo(), 88, 0xff, 0xff), /^CM4001 .*65535 functions/],
  ['a group that is too long', () => changed(foo(), 92, 0xff), /^CM4001 .*group has a size of 255 bytes/],
  ['a group without end', () => changed(foo(), 92 + groupSize - 4, 0x58), /^CM4001 /],
  ['a function without hash', () => changed(foo(), 113, 0x58), /^CM4001 .*has no `HASH` tag/],
  ['a hash of another size', () => changed(foo(), 117, 31), /^CM4001 /],
  ['a blob outside its section', () => changed(foo(), 173, 16), /^CM4001 .*does not fit its section/],
  ['a metadata group outside its section', () => changed(foo(), 157, 8), /^CM4001 /],
  ['a wrapper of another magic', () => changed(foo(), bitcodeAt, 0), /^CM4001 .*wrapper/],
  ['bitcode longer than its blob', () => changed(foo(), bitcodeAt + 13, 0x0b), /^CM4001 .*does not fit its blob/],
  ['one bit of bitcode flipped', () => changed(foo(), bitcodeAt + 1000, 0), /^CM4010 .*SHA-256/],
  ['one bit of the hash flipped', () => changed(foo(), 119, foo()[119]! ^ 1), /^CM4010 .*SHA-256/],
  ['padding that is not zero', () => changed(foo(), foo().length - 1, 1), /^CM4010 .*fewest zeros/],
  ['a wrapper of another version', () => changed(foo(), bitcodeAt + 4, 1), /^CM4010 .*wrapped in 20 bytes/],
  ['a gap between sections', withGap, /^CM4010 .*bitcode starts at byte 263, but the previous range ends at 255/],
  ['bytes behind the last section', withTail, /^CM4010 .*3 bytes follow/],
  ['bitcode of no whole words', () => changed(foo(), bitcodeAt + 12, 0x99), /^CM4010 .*not a multiple of 4/],
  [
    'two functions of one name',
    () => writeMetallib(library(['k', stuff(4, 1)], ['k', stuff(4, 2)])),
    /^CM4010 .*two functions are named `k`/,
  ],
];

for (const [what, bytes, expected] of planted)
  test(`reported: ${what}`, () => {
    const found = problems(bytes());
    assert.ok(
      found.some((each) => expected.test(each)),
      found.join('\n') || 'nothing',
    );
  });

test.run();
