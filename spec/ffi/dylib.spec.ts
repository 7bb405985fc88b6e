/** The shim for macOS in the program: built from shim.c only, complete, and safely unpacked. */
import { createHash } from 'node:crypto';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { buildDylib, dylibTools, sourcePath } from '../../scripts/metal/dylib.ts';
import { flatTypes } from '../../src/ffi/metal/flat.ts';
import { dylib, source } from '../../src/ffi/metal/shim.generated.ts';
import { unpackShim } from '../../src/ffi/metal/shim.ts';
import { need } from '../support/need.ts';

const test = suite('ffi/dylib');

const unpacked = (text: string): Buffer => gunzipSync(Buffer.from(text, 'base64'));
const hashOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
const bytes = unpacked(dylib.packed);

test('the packed source is shim.c, and the library has its hash', () => {
  assert.ok(unpacked(source.packed).equals(readFileSync(sourcePath)), 'run `bun scripts/metal/build.ts`');
  assert.is(hashOf(bytes), dylib.sha256);
});

need(test, dylibTools, 'building it again gives the same bytes', () => {
  assert.is(hashOf(buildDylib()), dylib.sha256, 'run `bun scripts/metal/build.ts`');
});

/** Fields of a Mach-O file of 64 bits. Source: Apple's mach-o/loader.h. */
interface Command {
  readonly code: number;
  readonly at: number;
  readonly size: number;
}

function commands(): Command[] {
  const found: Command[] = [];
  for (let n = bytes.readUInt32LE(16), at = 32; n > 0; n--) {
    const size = bytes.readUInt32LE(at + 4);
    found.push({ code: bytes.readUInt32LE(at), at, size });
    at += size;
  }
  return found;
}

const textAt = (at: number): string => bytes.toString('latin1', at, bytes.indexOf(0, at));
const all = commands();
const only = (code: number): Command => all.filter((command) => command.code === code)[0]!;

test('it is a library for arm64 and macOS 13, of the system libraries it names', () => {
  // MH_MAGIC_64, CPU_TYPE_ARM64, MH_DYLIB
  assert.equal([bytes.readUInt32LE(0), bytes.readUInt32LE(4), bytes.readUInt32LE(12)], [0xfeedfacf, 0x0100000c, 6]);
  const build = only(0x32);
  assert.equal([bytes.readUInt32LE(build.at + 8), bytes.readUInt32LE(build.at + 12)], [1, 13 << 16], 'LC_BUILD_VERSION');
  const libraries = all.filter(({ code }) => code === 0xc).map(({ at }) => textAt(at + bytes.readUInt32LE(at + 8)));
  assert.equal(libraries, [
    '/System/Library/Frameworks/Metal.framework/Versions/A/Metal',
    '/System/Library/Frameworks/Foundation.framework/Versions/C/Foundation',
    '/System/Library/Frameworks/CoreGraphics.framework/Versions/A/CoreGraphics',
    '/usr/lib/libobjc.A.dylib',
    '/usr/lib/libSystem.B.dylib',
  ]);
});

test('it gives the flat functions and nothing else', () => {
  const { at } = only(2);
  const [symbols, count, strings] = [8, 12, 16].map((offset) => bytes.readUInt32LE(at + offset)) as [number, number, number];
  const names = Array.from({ length: count }, (_, i) => {
    const entry = symbols + 16 * i;
    const type = bytes[entry + 4]!;
    // N_EXT and of a section: defined here and seen outside.
    const isGiven = (type & 1) === 1 && (type & 0xe) === 0xe && (type & 0x10) === 0;
    return isGiven ? [textAt(strings + bytes.readUInt32LE(entry))] : [];
  }).flat();
  assert.equal(
    names.sort(),
    Object.keys(flatTypes)
      .map((name) => `_${name}`)
      .sort(),
  );
});

test('its signature holds the hash of each of its pages', () => {
  const { at } = only(0x1d);
  const start = bytes.readUInt32LE(at + 8);
  // A SuperBlob with one CodeDirectory. Source: Apple's cs_blobs.h; numbers are big-endian.
  const directory = start + bytes.readUInt32BE(start + 16);
  assert.is(bytes.readUInt32BE(directory), 0xfade0c02);
  const [hashes, slots, limit] = [16, 28, 32].map((offset) => bytes.readUInt32BE(directory + offset)) as [number, number, number];
  assert.is(limit, start);
  assert.is(slots, Math.ceil(limit / 4096));
  for (let i = 0; i < slots; i++) {
    const page = bytes.subarray(4096 * i, Math.min(limit, 4096 * (i + 1)));
    assert.is(bytes.toString('hex', directory + hashes + 32 * i, directory + hashes + 32 * (i + 1)), hashOf(page), `page ${i}`);
  }
});

test('unpacking leaves one file, which is made whole where it is damaged', () => {
  const folder = mkdtempSync(join(tmpdir(), 'cumetal-spec-'));
  const path = unpackShim(folder);
  assert.is(path, join(folder, `libcumetal-${dylib.sha256.slice(0, 16)}.dylib`));
  assert.ok(readFileSync(path).equals(bytes));
  const before = statSync(path);
  assert.is(before.mode & 0o077, 0, 'others cannot write it');
  unpackShim(folder);
  assert.is(statSync(path).ino, before.ino, 'what is whole stays');
  writeFileSync(path, bytes.subarray(0, 100));
  unpackShim(folder);
  assert.ok(readFileSync(path).equals(bytes));
  assert.is(readdirSync(folder).length, 1);
  rmSync(folder, { recursive: true });
});

test('the usual folder is the user’s alone', () => {
  const temporary = mkdtempSync(join(tmpdir(), 'cumetal-spec-'));
  const before = process.env.TMPDIR;
  process.env.TMPDIR = temporary;
  try {
    const path = unpackShim();
    const folder = join(path, '..');
    assert.is(statSync(folder).mode & 0o777, 0o700);
    chmodSync(folder, 0o777);
    unpackShim();
    assert.is(statSync(folder).mode & 0o777, 0o700);
    // A file has the same name: another folder is created.
    rmSync(folder, { recursive: true });
    writeFileSync(folder, '');
    const other = unpackShim();
    assert.not.equal(join(other, '..'), folder);
    assert.ok(readFileSync(other).equals(bytes));
  } finally {
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
    rmSync(temporary, { recursive: true });
  }
});

test.run();
