/** A folder of bytes by key, as several processes use it that die, and disks that fill. */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { distrust, openStore, type Store } from '../../src/cache/index.ts';
import { isTemporary } from '../../src/files/index.ts';

const test = suite('cache/store');

const folder = mkdtempSync(join(tmpdir(), 'cumetal-spec-'));
test.after(() => rmSync(folder, { recursive: true, force: true }));

const sha256 = (bytes: Uint8Array): Uint8Array => new Uint8Array(createHash('sha256').update(bytes).digest());
const keyOf = (name: string): string => createHash('sha256').update(name).digest('hex');
/** A key in the folder of one digit. */
const keyIn = (digit: string, n: number): string => digit + keyOf(String(n)).slice(1);
const bytesOf = (length: number, start = 1): Uint8Array => Uint8Array.from({ length }, (_, i) => (start + i * 7) & 255);

let made = 0;
const placeOf = (): string => join(folder, String(made++));
const storeIn = (place: string, maxBytes = 1 << 20, now?: () => number): Store =>
  openStore({ folder: place, maxBytes, sha256, ...(now ? { now } : {}) });

test('gives what was written, under its key alone', () => {
  const store = storeIn(placeOf());
  assert.is(store.read(keyOf('a')), undefined);
  store.write(keyOf('a'), bytesOf(1000));
  store.write(keyOf('b'), bytesOf(0));
  assert.equal(store.read(keyOf('a')), bytesOf(1000));
  assert.equal(store.read(keyOf('b')), bytesOf(0));
  assert.is(store.read(keyOf('c')), undefined);
  store.write(keyOf('a'), bytesOf(10, 5));
  assert.equal(store.read(keyOf('a')), bytesOf(10, 5));
  assert.equal(
    store
      .list()
      .map(({ key }) => key)
      .sort(),
    [keyOf('a'), keyOf('b')].sort(),
  );
});

test('a damaged file is not given, and gone afterwards', () => {
  const place = placeOf();
  const store = storeIn(place);
  const key = keyOf('a');
  const path = join(place, key[0]!, key);
  const damages: ((whole: Buffer) => void)[] = [
    ...[0, 31, 32, 131].map((at) => (whole: Buffer) => {
      whole[at]! ^= 1;
      writeFileSync(path, whole);
    }),
    ...[0, 20, 32, 131].map((length) => () => truncateSync(path, length)),
    (whole) => writeFileSync(path, Buffer.concat([whole, Buffer.from([0])])),
  ];
  for (const damage of damages) {
    store.write(key, bytesOf(100));
    assert.equal(store.read(key), bytesOf(100));
    damage(readFileSync(path));
    assert.is(store.read(key), undefined);
    assert.not(existsSync(path));
  }
});

test('what was used longest ago goes, and what was read stays', () => {
  let time = 1_000_000_000_000;
  const place = placeOf();
  // Each sixteenth holds three files of 1032 bytes.
  const store = storeIn(place, 16 * 3200, () => time);
  const keys = [1, 2, 3, 4, 5].map((n) => keyIn('a', n));
  const write = (key: string): void => {
    store.write(key, bytesOf(1000));
    utimesSync(join(place, 'a', key), time / 1000, time / 1000);
    time += 7_200_000;
  };
  for (const key of keys.slice(0, 3)) write(key);
  assert.ok(store.read(keys[0]!));
  time += 7_200_000;
  write(keys[3]!);
  assert.equal(
    keys.map((key) => store.read(key) !== undefined),
    [true, false, true, true, false],
  );
  // Other folders have a limit of their own, and larger entries are not stored.
  store.write(keyIn('b', 1), bytesOf(1000));
  store.write(keyIn('b', 2), bytesOf(3200));
  assert.is(store.read(keyIn('b', 2)), undefined);
  assert.is(store.list().length, 4);
});

test('never grows beyond its bound, whatever is written', () => {
  const maxBytes = 40_000;
  const store = storeIn(placeOf(), maxBytes);
  for (let i = 0; i < 300; i++) {
    store.write(keyOf(String(i)), bytesOf((i * 97) % 900, i));
    assert.ok(store.list().reduce((sum, { bytes }) => sum + bytes, 0) <= maxBytes);
  }
  assert.ok(store.list().length > 20);
});

test('clear removes what is its own and nothing else', () => {
  const place = placeOf();
  const store = storeIn(place);
  store.write(keyIn('a', 1), bytesOf(10));
  store.write(keyIn('b', 1), bytesOf(10));
  writeFileSync(join(place, 'a', 'notes.txt'), 'mine');
  assert.is(store.clear().length, 2);
  assert.equal(store.list(), []);
  assert.is(readFileSync(join(place, 'a', 'notes.txt'), 'utf8'), 'mine');
  assert.equal(readdirSync(join(place, 'b')), []);
});

test('what a writer left that died is swept an hour later', () => {
  const place = placeOf();
  const store = storeIn(place);
  const left = join(place, 'a', 'new-999999-0');
  mkdirSync(join(place, 'a'), { recursive: true });
  writeFileSync(left, bytesOf(100));
  store.write(keyIn('a', 1), bytesOf(10));
  assert.ok(existsSync(left), 'its writer may be at work');
  const old = Date.now() / 1000 - 3700;
  utimesSync(left, old, old);
  store.write(keyIn('a', 2), bytesOf(10));
  assert.not(existsSync(left));
});

test('a folder that cannot be is no fault', () => {
  const file = placeOf();
  writeFileSync(file, '');
  const store = storeIn(join(file, 'below'));
  store.write(keyOf('a'), bytesOf(10));
  assert.is(store.read(keyOf('a')), undefined);
  assert.equal([store.list(), store.clear()], [[], []]);
});

/** Calls something as a user who may not write everywhere: root, as which tests run in containers, may. */
function unprivileged<T>(act: () => T): T {
  if (process.getuid?.() !== 0) return act();
  process.seteuid!(nobody);
  try {
    return act();
  } finally {
    process.seteuid!(0);
  }
}

/** The user without rights on Linux. */
const nobody = 65534;

test('a folder that may not be written is no fault', () => {
  const place = placeOf();
  storeIn(place).write(keyIn('a', 1), bytesOf(10));
  const shard = join(place, 'a');
  // A user without rights comes there, and owns the folder of the cache.
  chmodSync(folder, 0o711);
  if (process.getuid?.() === 0) for (const path of [place, shard, join(shard, keyIn('a', 1))]) chownSync(path, nobody, nobody);
  chmodSync(shard, 0o500);
  unprivileged(() => {
    assert.throws(() => writeFileSync(join(shard, 'mine'), ''), /EACCES/);
    storeIn(place).write(keyIn('a', 2), bytesOf(10));
    assert.is(storeIn(place).read(keyIn('a', 2)), undefined);
    assert.equal(storeIn(place).read(keyIn('a', 1)), bytesOf(10));
  });
  assert.equal(readdirSync(shard), [keyIn('a', 1)]);
  chmodSync(shard, 0o700);
});

// ── folders and entries that are not to be trusted ──

const modeOf = (path: string): number => statSync(path).mode & 0o777;

test('a new folder is private, and one of the user that is not is made so', () => {
  const place = placeOf();
  storeIn(place).write(keyIn('a', 1), bytesOf(10));
  assert.equal([place, join(place, 'a'), join(place, 'a', keyIn('a', 1))].map(modeOf), [0o700, 0o700, 0o600]);
  chmodSync(place, 0o755);
  assert.equal(storeIn(place).read(keyIn('a', 1)), bytesOf(10));
  assert.is(modeOf(place), 0o700);
  const empty = placeOf();
  mkdirSync(empty);
  chmodSync(empty, 0o777);
  assert.is(distrust(empty), undefined);
  assert.is(modeOf(empty), 0o700);
});

const plantings: readonly (readonly [what: string, plant: (place: string) => void, why: RegExp])[] = [
  ['others could write to', (place) => chmodSync(place, 0o777), /other users can write to it \(mode 0777\)/],
  [
    'holds other files and is open',
    (place) => {
      writeFileSync(join(place, 'notes'), '');
      chmodSync(place, 0o755);
    },
    /it holds other files/,
  ],
  [
    'is a link',
    (place) => {
      renameSync(place, `${place}-real`);
      symlinkSync(`${place}-real`, place);
    },
    /it is a symbolic link/,
  ],
  [
    'is a file',
    (place) => {
      rmSync(place, { recursive: true });
      writeFileSync(place, '');
    },
    /it is not a folder/,
  ],
];
for (const [what, plant, why] of plantings)
  test(`a folder that ${what} is neither read nor written, and its mode stays`, () => {
    const place = placeOf();
    storeIn(place).write(keyIn('a', 1), bytesOf(10));
    plant(place);
    const mode = modeOf(place);
    assert.match(distrust(place)!, why);
    storeIn(place).write(keyIn('a', 2), bytesOf(10));
    assert.equal([storeIn(place).read(keyIn('a', 1)), storeIn(place).list(), storeIn(place).clear()], [undefined, [], []]);
    assert.is(modeOf(place), mode);
  });

if (process.getuid?.() === 0)
  test('a folder of another user is not trusted', () => {
    const place = placeOf();
    mkdirSync(place, { mode: 0o700 });
    chownSync(place, nobody, nobody);
    assert.match(distrust(place)!, /it belongs to another user/);
    storeIn(place).write(keyIn('a', 1), bytesOf(10));
    assert.equal(readdirSync(place), []);
  });

const foreign: readonly (readonly [what: string, plant: (path: string) => void])[] = [
  ['its group may write', (path) => chmodSync(path, 0o660)],
  ['everybody may write', (path) => chmodSync(path, 0o602)],
  ...(process.getuid?.() === 0 ? [['belongs to another user', (path: string) => chownSync(path, nobody, nobody)] as const] : []),
];
for (const [what, plant] of foreign) {
  test(`an entry that ${what} is not given, and written anew as a private one`, () => {
    const place = placeOf();
    const path = join(place, 'a', keyIn('a', 1));
    for (const isRead of [true, false]) {
      storeIn(place).write(keyIn('a', 1), bytesOf(10));
      plant(path);
      if (isRead) assert.equal([storeIn(place).read(keyIn('a', 1)), existsSync(path)], [undefined, false]);
      storeIn(place).write(keyIn('a', 1), bytesOf(20));
      assert.equal([storeIn(place).read(keyIn('a', 1)), modeOf(path)], [bytesOf(20), 0o600]);
    }
  });

  test(`nothing is read from or written to an inner folder that ${what}`, () => {
    const place = placeOf();
    storeIn(place).write(keyIn('a', 1), bytesOf(10));
    plant(join(place, 'a'));
    storeIn(place).write(keyIn('a', 2), bytesOf(10));
    assert.equal([keyIn('a', 1), keyIn('a', 2)].map(storeIn(place).read), [undefined, undefined]);
    assert.equal(readdirSync(join(place, 'a')), [keyIn('a', 1)]);
  });
}

test('an inner folder that is a link is not read', () => {
  const place = placeOf();
  storeIn(place).write(keyIn('a', 1), bytesOf(10));
  renameSync(join(place, 'a'), `${place}-other`);
  symlinkSync(`${place}-other`, join(place, 'a'));
  assert.is(storeIn(place).read(keyIn('a', 1)), undefined);
});

test('a link in place of an entry is replaced, and the file at its end stays', () => {
  const place = placeOf();
  const mine = `${place}-mine`;
  writeFileSync(mine, 'mine');
  storeIn(place).write(keyIn('a', 2), bytesOf(10));
  symlinkSync(mine, join(place, 'a', keyIn('a', 1)));
  storeIn(place).write(keyIn('a', 1), bytesOf(10));
  assert.equal(storeIn(place).read(keyIn('a', 1)), bytesOf(10));
  assert.is(readFileSync(mine, 'utf8'), 'mine');
});

test('an entry that is a link, a pipe or a folder is not read', () => {
  const place = placeOf();
  const store = storeIn(place);
  const [key, other] = [keyIn('a', 1), keyIn('a', 2)];
  store.write(key, bytesOf(10));
  store.write(other, bytesOf(20));
  const path = join(place, 'a', key);
  for (const plant of [() => symlinkSync(join(place, 'a', other), path), () => execFileSync('mkfifo', [path]), () => mkdirSync(path)]) {
    rmSync(path, { recursive: true });
    plant();
    assert.is(store.read(key), undefined);
  }
  assert.equal(store.read(other), bytesOf(20));
});

test('a part of the cache that is a link is not followed: nothing elsewhere is written or removed', () => {
  const [place, elsewhere] = [placeOf(), placeOf()];
  storeIn(place).write(keyIn('b', 1), bytesOf(10));
  mkdirSync(elsewhere);
  writeFileSync(join(elsewhere, keyIn('a', 1)), 'mine');
  symlinkSync(elsewhere, join(place, 'a'));
  storeIn(place).write(keyIn('a', 2), bytesOf(10));
  assert.is(storeIn(place).clear().length, 1);
  assert.equal(readdirSync(elsewhere), [keyIn('a', 1)]);
});

/** A process that writes keys, each with as many bytes of its number as `sizes` has. */
const writer = (place: string, sizes: readonly number[]): string => `
  import { createHash } from 'node:crypto';
  import { openStore } from ${JSON.stringify(join(import.meta.dirname, '../../src/cache/index.ts'))};
  const sha256 = (bytes) => new Uint8Array(createHash('sha256').update(bytes).digest());
  const store = openStore({ folder: ${JSON.stringify(place)}, maxBytes: 1 << 26, sha256 });
  for (const [i, size] of ${JSON.stringify(sizes)}.entries())
    store.write(createHash('sha256').update(String(i)).digest('hex'), new Uint8Array(size).fill(i));
`;

/** Numbers of the keys that are there; each that is has its bytes. */
function soundEntries(place: string, sizes: readonly number[]): number[] {
  const store = storeIn(place, 1 << 26);
  return sizes.flatMap((size, i) => {
    const bytes = store.read(keyOf(String(i)));
    if (bytes) assert.equal(bytes, new Uint8Array(size).fill(i));
    return bytes ? [i] : [];
  });
}

const finished = (place: string): number => (existsSync(place) ? filesIn(place).filter((name) => !isTemporary(name)).length : 0);

const filesIn = (place: string): string[] => readdirSync(place).flatMap((shard) => readdirSync(join(place, shard)));

test('eight processes that write the same keys leave each of them whole', async () => {
  const place = placeOf();
  const sizes = Array<number>(20).fill(5000);
  const program = writer(place, sizes);
  const children = Array.from({ length: 8 }, () => spawn(process.execPath, ['-e', program], { stdio: 'inherit' }));
  const codes = await Promise.all(children.map((child) => new Promise((done) => child.on('exit', done))));
  assert.equal(codes, Array(8).fill(0));
  assert.is(soundEntries(place, sizes).length, 20);
  assert.is(filesIn(place).length, 20);
});

test('a process that is killed while it writes leaves nothing half done', async () => {
  const place = placeOf();
  const sizes = Array<number>(200).fill(1 << 20);
  for (let turn = 0; turn < 4; turn++) {
    const child = spawn(process.execPath, ['-e', writer(place, sizes)], { stdio: 'inherit' });
    const ended = new Promise((done) => child.on('exit', done));
    // At work: one more is there than before, and the next is being written.
    const before = finished(place);
    while (finished(place) <= before) await new Promise((go) => setTimeout(go, 1));
    await new Promise((go) => setTimeout(go, 3 * turn));
    child.kill('SIGKILL');
    await ended;
    soundEntries(place, sizes);
  }
  assert.ok(soundEntries(place, sizes).length >= 4);
});

test('a disk that is full is no fault, and leaves nothing half written', () => {
  const place = placeOf();
  const sizes = [100_000, 1000, 200_000, 2000];
  // Files of at most 8 KiB, by ulimit: a longer write fails after a part was written.
  const limited = `trap '' XFSZ; ulimit -f 8; exec "$0" -e "$1"`;
  const { status, stderr } = spawnSync('bash', ['-c', limited, process.execPath, writer(place, sizes)], { encoding: 'utf8' });
  assert.is(stderr, '');
  assert.is(status, 0);
  assert.equal(soundEntries(place, sizes), [1, 3]);
  assert.is(filesIn(place).length, 2);
});

test.run();
