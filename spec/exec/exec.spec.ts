/**
 * Programs of the machine under `cumetal exec`: compiled here by the machine's C compiler, with the calls that NVIDIA's compiler writes and PTX in
 * a fatbinary. Each prints what it computes; the expectations are arithmetic and CUDA's manual.
 */
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { openDevice } from '../../src/device/index.ts';
import { NativeMemory } from '../../src/exec/native-memory.ts';
import { kind } from '../../src/exec/protocol.ts';
import { serveProgram } from '../../src/exec/session.ts';
import { shimSource } from '../../src/exec/shim/source.ts';
import { removeAbandoned } from '../../src/exec/supervise.ts';
import { commandLine } from '../support/command-line.ts';
import { cumetal, makeRuntimeNames, sessionsIn, workshop } from '../support/native-program.ts';
import { needing } from '../support/need.ts';

const test = suite('exec/exec');
const native = needing(test, ['linux-cc']);
const shop = workshop('cuda.h', 'program.c');
const { folder, env, cc } = shop;
test.after(() => shop.remove());

native('a program of the shared runtime computes on the CPU device, and its launches run again', async () => {
  makeRuntimeNames(shop);
  cc('-O1', '-pthread', '-o', 'program', 'program.c', 'lib/libcudart.so.12');
  const { status, stdout, stderr } = shop.run(['record', '-o', 'launches', '--kernel=scale', '--threads=1', './program']);
  assert.equal(stdout.split('\n'), [
    'count 1',
    'scale cudaSuccess 3 2997',
    'managed 6 5994',
    'together 0 17982',
    // (5 + 1) * 2 + 1
    'variable 13',
    'threads 0',
    'callback 0 1',
    'pointers 1 1',
    'properties 0 32 85',
    // cudaErrorNotSupported
    'missing 801',
    // cudaErrorInitializationError: a context does not go over a fork.
    'child none',
    'child 3',
    'parent 5 0',
    '',
  ]);
  const launches = join(folder, 'launches');
  assert.is(stderr, `cumetal exec: cudaNoSuchFunction is not supported\nnote: 3 launches recorded in ${launches}\n`);
  assert.is(status, 7);
  const [first = '', ...others] = readdirSync(launches)
    .filter((name) => name.endsWith('.json'))
    .sort();
  assert.equal([first, ...others], ['000000-scale.launch.json', '000001-scale.launch.json', '000002-scale.launch.json']);
  const { code, out } = await commandLine(['run', '--launch', join(launches, first)]);
  assert.is(code, 0, out);
  assert.match(out, /check 0 p: pass, 1000 elements/);
  assert.equal(sessionsIn(shop), []);
});

/** Processes whose environment names this folder. */
const processesHere = (): string[] =>
  readdirSync('/proc').filter((name) => {
    if (!/^\d+$/.test(name) || name === String(process.pid)) return false;
    try {
      return readFileSync(`/proc/${name}/environ`, 'utf8').includes(`CUMETAL_CACHE_PATH=${folder}/`);
    } catch {
      return false;
    }
  });

native('a signal ends a program that waits for a kernel that never ends, and nothing is left', async () => {
  const child = spawn(cumetal[0], [cumetal[1], 'exec', '--threads=1', './program', 'forever'], {
    cwd: folder,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
  const said = await new Promise((resolve) => child.stdout.once('data', resolve));
  assert.is(String(said), 'waiting\n');
  await new Promise((resolve) => setTimeout(resolve, 100));
  child.kill('SIGTERM');
  assert.is(await ended, 128 + 15);
  assert.equal(sessionsIn(shop), []);
  await allEnd();
});

/** What was killed is gone a moment later; what it has just started shows no environment at first. */
async function allEnd(): Promise<void> {
  let none = 0;
  for (let tries = 0; tries < 2000 && none < 5; tries++) {
    none = processesHere().length > 0 ? 0 : none + 1;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  assert.is(none, 5, processesHere().join(', '));
}

native('a killed command takes its program with it, and what it left is removed by the next', async () => {
  const child = spawn(cumetal[0], [cumetal[1], 'exec', './program', 'wait'], { cwd: folder, env, stdio: ['ignore', 'pipe', 'inherit'] });
  await new Promise((resolve) => child.stdout.once('data', resolve));
  assert.ok(processesHere().length >= 2);
  child.kill('SIGKILL');
  await new Promise((resolve) => child.once('exit', resolve));
  await allEnd();
  assert.is(sessionsIn(shop).length, 1);
  removeAbandoned(folder);
  assert.equal(sessionsIn(shop), []);
});

native('what cannot be served is refused before it runs', async () => {
  const sectioned = 'const char device_code[16] __attribute__((section(".nv_fatbin"))) = "x"; int main(void) { return device_code[1]; }\n';
  writeFileSync(join(folder, 'stripped.c'), sectioned);
  cc('-O1', '-s', '-o', 'stripped', 'stripped.c');
  cc('-O1', '-static', '-nostdlib', '-Wl,-e,main', '-o', 'static', 'stripped.c');
  writeFileSync(join(folder, 'text'), 'no program', { mode: 0o755 });
  const tried = async (...words: string[]) => {
    const { code, err } = await commandLine(['exec', ...words], {}, { PATH: '/usr/bin' });
    return [code, /error\[(\w+)\]|: (not found|permission denied)/.exec(err)?.slice(1).join('')];
  };
  assert.equal(await tried(join(folder, 'stripped')), [126, 'CM4093']);
  assert.equal(await tried(join(folder, 'static')), [126, 'CM4093']);
  assert.equal(await tried(join(folder, 'text')), [126, 'CM4093']);
  assert.equal(await tried(join(folder, 'nothing')), [127, 'not found']);
  assert.equal(await tried(join(folder, 'stripped.c')), [126, 'permission denied']);
  assert.equal(await tried('--threads', '0', 'x'), [2, undefined]);
  const { code, err } = await commandLine(['exec', join(folder, 'program')], {}, { CC: 'no-such-compiler', CUMETAL_CACHE_PATH: folder });
  assert.equal([code, err.includes('CM4094') && err.includes('no-such-compiler')], [126, true]);
});

test('options end at the program: what follows is its own', async () => {
  const { code, err } = await commandLine(['exec', 'no-such-program-here', '--help', '--threads', 'x'], {}, { PATH: '' });
  assert.equal([code, err], [127, 'cumetal exec: no-such-program-here: not found\n']);
});

test('every function of the table is in the shim once, by C’s own conventions', () => {
  const { included } = shimSource(['cudaWanted', 'cudaMalloc', 'cudaWanted']);
  const stubs = included['stubs.h']!;
  assert.match(stubs, 'CM_EXPORT int cudaMalloc(void * a0, size_t a1) {');
  const defined = [...stubs.matchAll(/^CM_EXPORT [\w ]+?\**\s?(\w+)\(/gm)].map(([, name]) => name);
  assert.is(new Set(defined).size, defined.length);
  assert.is(defined.filter((name) => name === 'cudaWanted').length, 1);
});

test('a process whose memory is out of reach is refused', () => {
  // No process has this number; files stand for its pipes.
  const pid = 2 ** 30;
  const words = new DataView(new ArrayBuffer(24));
  words.setUint32(0, kind.hello, true);
  words.setUint32(4, 16, true);
  writeFileSync(join(folder, `${pid}.requests`), new Uint8Array(words.buffer));
  writeFileSync(join(folder, `${pid}.replies`), '');
  const diagnostics = new Diagnostics();
  const device = openDevice('cpu', diagnostics)!;
  serveProgram({ folder, pid, device, load: () => undefined, report: ({ list }) => diagnostics.addAll(list), now: () => 0 });
  device.close();
  assert.equal(
    diagnostics.list.map(({ code }) => code),
    ['CM6080'],
  );
});

native('the memory of a process is read and written, and what is not there is refused', () => {
  // This process is a program too; its own memory needs an address that is known.
  const memory = new NativeMemory(process.pid, (pointer) => pointer === 0x5000_0000n);
  assert.equal([memory.isOwn(0n), memory.isOwn(0x5000_0000n), memory.isOwn(0x7000_0000_0000n)], [false, false, true]);
  const end = BigInt(`0x${/-([0-9a-f]+) rw-p .*\[stack\]$/m.exec(readFileSync('/proc/self/maps', 'utf8'))![1]}`);
  // The first thread's stack ends with eight zeros. Source: Linux, fs/exec.c.
  assert.is(memory.u64(end - 8n), 0n);
  assert.is(memory.u64(end), undefined);
  assert.is(memory.slice(end - 4n, 8), undefined);
  assert.is(memory.putU32(0n, 1), false);
  assert.is(memory.put(end - 8n, new Uint8Array(8)), true);
  assert.is(memory.cString(end - 8n), '');
});

test.run();
