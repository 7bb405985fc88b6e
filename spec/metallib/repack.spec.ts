/** Libraries of every container version, with every tag and section, are written back byte for byte. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import {
  type Library,
  type LibraryFunction,
  type ReadLibrary,
  readMetallib,
  type Section,
  validateMetallib,
  writeMetallib,
} from '../../src/metallib/index.ts';
import { realFiles } from '../support/real.ts';

const test = suite('metallib repack');

const stuff = (length: number, seed: number): Uint8Array => Uint8Array.from({ length }, (_, i) => (i * 7 + seed) & 0xff);
const tag = (code: string, ...payload: number[]) => ({ code, payload: Uint8Array.from(payload) });
const text = (bytes: Uint8Array, at: number, size: number): string => new TextDecoder('latin1').decode(bytes.subarray(at, at + size));
const view = (bytes: Uint8Array): DataView => new DataView(bytes.buffer, bytes.byteOffset);

const fn = (name: string, more: Partial<LibraryFunction> = {}): LibraryFunction => ({
  name,
  type: 'kernel',
  airVersion: [2, 6],
  metalVersion: [3, 1],
  bitcode: stuff(40, name.length),
  ...more,
});
const library = (patch: number, functions: readonly LibraryFunction[], more: Partial<Library> = {}): Library => ({
  version: { major: 1, minor: 2, patch },
  platform: 'macos',
  os: patch < 6 ? { major: 0, minor: 0, patch: 0 } : { major: 14, minor: 1, patch: 2 },
  functions,
  ...more,
});

const sources: Section = {
  code: 'HSRD',
  kind: 'sources',
  link: 'metallib -o a.metallib a.air',
  directory: '/src',
  archives: [
    { id: '0', data: stuff(100, 1) },
    { id: '1', data: stuff(31, 2) },
  ],
};
const reflection: Section = { code: 'RLST', kind: 'reflection', buffers: [stuff(24, 3), stuff(5, 4), stuff(16, 5)] };
const installName: Section = { code: 'HDYN', kind: 'tags', tags: [tag('NAME', 0x61, 0)] };

function read(bytes: Uint8Array): ReadLibrary {
  const diagnostics = new Diagnostics();
  const found = readMetallib(bytes, diagnostics);
  assert.equal(diagnostics.list, []);
  return found!;
}

/** The fields of a file that follow from others: hashes, blobs and ranges. */
function parts({ ranges, ...rest }: ReadLibrary): Library {
  return { ...rest, functions: rest.functions.map(({ hash, blob, ...plain }) => plain) };
}

const filled = (of: Library): Library => ({
  sections: [],
  ...of,
  functions: of.functions.map((each) => ({ publicTags: [], privateTags: [], otherTags: [], ...each })),
});

const everything = library(
  9,
  [
    fn('a', { source: 1, reflection: 2, publicTags: [tag('CNST', 0, 0)], privateTags: [tag('DEBI', 1, 0, 0, 0, 0x61, 0), tag('DEPF', 0)] }),
    fn('b', { type: 'vertex', source: 1, reflection: 0, publicTags: [tag('VATT', 0, 0), tag('VATY', 0, 0), tag('RETR', 0)] }),
    fn('c', { type: 'none', otherTags: [tag('TESS', 13), tag('LAYR', 1), tag('NEW1', 1, 2, 3)] }),
    fn('d', { type: 'type 77', reflection: 1, order: ['NAME', 'TYPE', 'HASH', 'RFLT', 'VERS', 'OFFT', 'MDSZ'] }),
  ],
  {
    uuid: stuff(16, 6),
    fileType: 'dynamic',
    isStub: true,
    sections: [
      sources,
      installName,
      { code: 'VLST', kind: 'bytes', bytes: stuff(7, 7) },
      { code: 'ILST', kind: 'bytes', bytes: stuff(8, 8) },
      reflection,
      { code: 'SLST', kind: 'bytes', bytes: stuff(3, 9) },
      { code: 'LATE', kind: 'bytes', bytes: stuff(11, 10) },
    ],
    otherTags: [tag('ABCD', 9), tag('WIDE', ...new Array(16).fill(0))],
  },
);

const libraries: [what: string, library: Library][] = [
  ['1.2.2, which has no extension', library(2, [], { platform: 'ios' })],
  ['1.2.4: an end tag alone, the old order of tags, sizes that leave themselves out', library(4, [fn('a'), fn('bc')])],
  ['1.2.7 in the older form, as `metallib` links it', library(7, [fn('a'), fn('bc')], { inclusiveSizes: false, platform: 'ios' })],
  ['1.2.4 in the newer form', library(4, [fn('a')], { inclusiveSizes: true, uuid: stuff(16, 1) })],
  ['1.2.5: a UUID, no platform', library(5, [fn('a')], { uuid: stuff(16, 1) })],
  [
    '1.2.5 with sources without directory',
    library(5, [fn('a', { source: 0 })], {
      uuid: stuff(16, 1),
      sections: [{ code: 'HSRC', kind: 'sources', link: 'l', archives: [{ id: '0', data: stuff(9, 1) }] }],
    }),
  ],
  ['1.2.7 without UUID', library(7, [fn('a')], { extensionOrder: [] })],
  ['another platform', library(7, [fn('a')], { uuid: stuff(16, 1), platform: 'platform 99', is64Bit: false, macosBit: true })],
  ['a file type without name', library(8, [fn('a')], { uuid: stuff(16, 1), fileType: 'file type 9' })],
  [
    'the UUID before other tags',
    library(7, [fn('a')], { uuid: stuff(16, 1), otherTags: [tag('ABCD', 1)], extensionOrder: ['UUID', 'ABCD'] }),
  ],
  ['everything', everything],
];

for (const [what, of] of libraries)
  test(`${what}: the parts that are read are those that were written, and give the same bytes`, () => {
    const bytes = writeMetallib(of);
    const found = read(bytes);
    assert.equal(parts(found), filled(of));
    assert.equal(writeMetallib(found), bytes);
    const diagnostics = new Diagnostics();
    assert.ok(validateMetallib(bytes, diagnostics), diagnostics.list.map((d) => d.message).join());
  });

for (const of of [library(4, [fn('a')]), library(7, [fn('a')], { inclusiveSizes: false })])
  test(`1.2.${of.version.patch}: the old order of function tags, and an end tag alone for an extension`, () => {
    const bytes = writeMetallib(of);
    const codes: string[] = [];
    let at = 96;
    for (; text(bytes, at, 4) !== 'ENDT'; at += 6 + view(bytes).getUint16(at + 4, true)) codes.push(text(bytes, at, 4));
    assert.equal(codes, ['NAME', 'TYPE', 'HASH', 'MDSZ', 'OFFT', 'VERS']);
    assert.is(text(bytes, at + 4, 4), 'ENDT');
    // An empty group: its size without itself, then the end.
    assert.equal([view(bytes).getUint32(at + 8, true), text(bytes, at + 12, 4)], [4, 'ENDT']);
  });

test('places: RFLT from the start of its section, SOFF behind the size of its archive, flatbuffers at multiples of 16', () => {
  const bytes = writeMetallib(everything);
  const found = read(bytes);
  const range = (name: string) => found.ranges.find((each) => each.name === name)!;
  const value = (name: string, code: string): number => {
    const group = range('function list').parts!.find((each) => each.name === `tags of ${name}`)!;
    const inside = text(bytes, group.offset, group.size);
    return Number(view(bytes).getBigUint64(group.offset + inside.indexOf(code) + 6, true));
  };
  const list = range('RLST');
  assert.is(view(bytes).getUint32(list.offset, true), 3);
  // The third of three groups.
  const third = list.offset + value('a', 'RFLT');
  assert.is(text(bytes, third + 4, 4), 'RBUF');
  assert.is(third + view(bytes).getUint32(third, true), list.offset + list.size);
  assert.is(value('b', 'RFLT'), 4);
  for (const { offset } of list.parts!) {
    const content = [0, 1, 2].map((i) => (reflection as Extract<Section, { kind: 'reflection' }>).buffers[i]!);
    const start = Math.ceil((offset + 12) / 16) * 16;
    assert.ok(content.some((buffer) => String(bytes.subarray(start, start + buffer.length)) === String(buffer)));
  }
  const archives = range('HSRD');
  assert.is(text(bytes, archives.offset + value('a', 'SOFF'), 4), 'SARC');
  assert.is(text(bytes, archives.offset + value('a', 'SOFF') + 8, 2), '1\0');
});

test('every byte of a file is in a named range', () => {
  const bytes = writeMetallib(everything);
  let end = 0;
  for (const { offset, size } of read(bytes).ranges) {
    assert.is(offset, end);
    end += size;
  }
  assert.is(end, bytes.length);
});

test('a section that is not of the known layout is kept as bytes', () => {
  const bytes = writeMetallib(everything);
  const list = read(bytes).ranges.find(({ name }) => name === 'RLST')!;
  // The code of the first group's tag.
  bytes[list.offset + 8] = 0x58;
  const found = read(bytes);
  assert.is(found.sections!.find(({ code }) => code === 'RLST')!.kind, 'bytes');
  assert.equal(
    found.functions[0]!.otherTags!.map(({ code }) => code),
    ['RFLT'],
  );
  assert.equal(writeMetallib(found), bytes);
});

test('what the parts do not say is reported with its place', () => {
  const bytes = writeMetallib(everything);
  // Behind the NUL of a name nothing is read: `a\0` becomes `\0a`.
  const at = read(bytes).ranges.find(({ name }) => name === 'function list')!.offset + 4 + 4 + 6;
  assert.equal([...bytes.subarray(at, at + 2)], [0x61, 0]);
  bytes.set([0, 0x61], at);
  const diagnostics = new Diagnostics();
  assert.not.ok(validateMetallib(bytes, diagnostics));
  assert.match(diagnostics.list[0]!.message, /usual-form/);
});

for (const { name, bytes } of realFiles())
  test(`${name}: repacked byte for byte, no rule broken, no section unknown`, () => {
    const found = read(bytes);
    assert.ok(String(writeMetallib(found)) === String(bytes));
    const diagnostics = new Diagnostics();
    assert.ok(validateMetallib(bytes, diagnostics), diagnostics.list.map((d) => d.message).join());
    assert.equal(
      found.sections!.filter(({ kind }) => kind === 'bytes'),
      [],
    );
    assert.equal([found.extensionOrder, found.statesPlatform, found.is64Bit, found.macosBit], [undefined, undefined, undefined, undefined]);
    for (const each of found.functions) assert.equal([each.order, each.otherTags], [undefined, []]);
  });

test.run();
