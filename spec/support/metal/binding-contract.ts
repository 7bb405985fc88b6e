/** The contract of every way to Metal, as one list of tests: objects, copies, events, captures, faults. */
import { ptr, toArrayBuffer } from 'bun:ffi';
import * as assert from 'uvu/assert';
import type { Handle, MetalBinding } from '../../../src/ffi/index.ts';
import type { Register } from '../need.ts';
import { checkFake } from './candidates.ts';
import type { Fake } from './harness.ts';

const bytesOf = (...values: number[]): Uint8Array => Uint8Array.from(values);

/** Puts a way through the list. */
export function bindingContract(test: Register, binding: MetalBinding, fake: Fake): void {
  /** A test with a device and a queue, which are released afterwards. */
  const on = (what: string, body: (device: Handle, queue: Handle) => void): void =>
    test(`${binding.way}: ${what}`, () => {
      fake.reset();
      const device = binding.device()!;
      const queue = binding.queue(device, 64)!;
      body(device, queue);
      binding.release(queue);
      binding.release(device);
      checkFake(fake);
    });
  const bufferOf = (device: Handle, bytes: Uint8Array): Handle => {
    const buffer = binding.buffer(device, bytes.length)!;
    binding.view(buffer, 0, bytes.length).set(bytes);
    return buffer;
  };
  /** Hands over commands and waits; whether they ended well. */
  const runs = (commands: Handle): boolean => {
    binding.commit(commands);
    for (let i = 0; i < 100 && !binding.hasEnded(commands); i++) binding.pause(1);
    const isWell = binding.hasEnded(commands) && !binding.outcome(commands).hasFailed;
    binding.release(commands);
    return isWell;
  };

  on('says what the device is', (device) => {
    assert.is(binding.deviceName(device), 'Fake M1');
    assert.equal(binding.deviceFacts(device), {
      maxBufferBytes: 2 ** 32,
      workingSetBytes: 5726623061,
      maxThreadgroupBytes: 32768,
      maxThreads: [1024, 1024, 1024],
      allocatedBytes: 0,
      hasUnifiedMemory: true,
    });
    const families = [1001, 1007, 1008, 5001, 5002].map((family) => binding.supportsFamily(device, family));
    assert.equal(families, [true, true, false, true, false]);
  });

  on('views of a buffer are its memory, in part or whole', (device) => {
    const buffer = bufferOf(device, bytesOf(1, 2, 3, 4, 5, 6, 7, 8));
    const [whole, part] = [binding.view(buffer, 0, 8), binding.view(buffer, 2, 3)];
    whole[3] = 99;
    assert.equal([...part], [3, 99, 5]);
    assert.is(binding.view(buffer, 8, 0).length, 0);
    assert.ok(binding.address(buffer) > 0n);
    binding.release(buffer);
  });

  on('a buffer over memory of the caller is that memory', (device, queue) => {
    // Whole pages of 16 KiB, wherever they start in a piece that is larger.
    const piece = new Uint8Array(new ArrayBuffer(4 * 16384));
    const start = 16384 - (Number(ptr(piece)) % 16384);
    const pages = piece.subarray(start, start + 16384);
    const buffer = binding.bufferOver(device, pages)!;
    const other = bufferOf(device, bytesOf(9, 8, 7, 6));
    const commands = binding.commands(queue)!;
    const encoder = binding.blit(commands)!;
    binding.copy(encoder, other, 0, buffer, 4, 4);
    binding.end(encoder);
    binding.release(encoder);
    assert.ok(runs(commands));
    assert.equal([...pages.subarray(0, 9)], [0, 0, 0, 0, 9, 8, 7, 6, 0]);
    assert.equal([...binding.view(buffer, 4, 2)], [9, 8]);
    binding.release(buffer);
    binding.release(other);
  });

  on('copies and fills run in order', (device, queue) => {
    const [from, to] = [bufferOf(device, bytesOf(1, 2, 3, 4, 5, 6, 7, 8)), bufferOf(device, new Uint8Array(16))];
    const commands = binding.commands(queue)!;
    const encoder = binding.blit(commands)!;
    binding.fill(encoder, to, 4, 12, 0x1ff);
    binding.copy(encoder, from, 4, to, 8, 4);
    binding.copy(encoder, to, 8, to, 0, 4);
    binding.end(encoder);
    binding.release(encoder);
    assert.ok(runs(commands));
    assert.equal([...binding.view(to, 0, 16)], [5, 6, 7, 8, 255, 255, 255, 255, 5, 6, 7, 8, 255, 255, 255, 255]);
    binding.release(from);
    binding.release(to);
  });

  on('an event holds one queue until another has come to it', (device, queue) => {
    const other = binding.queue(device, 64)!;
    const event = binding.event(device)!;
    const buffer = bufferOf(device, bytesOf(1, 1, 1, 1));
    const fill = (on: Handle, value: number, before: (commands: Handle) => void, after: (commands: Handle) => void): Handle => {
      const commands = binding.commands(on)!;
      before(commands);
      const encoder = binding.blit(commands)!;
      binding.fill(encoder, buffer, 0, 4, value);
      binding.end(encoder);
      binding.release(encoder);
      after(commands);
      binding.commit(commands);
      return commands;
    };
    const nothing = (): void => {};
    const second = fill(
      other,
      2,
      (commands) => binding.await(commands, event, 5n),
      (commands) => binding.signal(commands, event, 6n),
    );
    assert.not.ok(binding.waitForEvent(event, 6n, 1), 'nobody has come to 5');
    const first = fill(queue, 1, nothing, (commands) => binding.signal(commands, event, 5n));
    assert.ok(binding.waitForEvent(event, 6n, 1000));
    assert.is(binding.eventValue(event), 6n);
    assert.equal([...binding.view(buffer, 0, 4)], [2, 2, 2, 2]);
    binding.setEvent(event, 100n);
    assert.is(binding.eventValue(event), 100n);
    for (const commands of [first, second]) {
      for (let i = 0; i < 10; i++) binding.hasEnded(commands);
      assert.ok(binding.hasEnded(commands));
    }
    for (const object of [first, second, other, event, buffer]) binding.release(object);
  });

  on('a word tells that commands have ended, wherever there are blocks', (_, queue) => {
    const commands = binding.commands(queue)!;
    const word = binding.watch(commands);
    binding.commit(commands);
    assert.not.ok(word.isDone());
    while (!binding.hasEnded(commands));
    assert.is(word.isDone(), binding.way !== 'Objective-C, without the shim');
    word.free();
    const { gpuMs, hasFailed } = binding.outcome(commands);
    assert.ok(gpuMs >= 0 && !hasFailed);
    binding.release(commands);
  });

  on('a word that is given up is stored all the same, and nobody else has it', (_, queue) => {
    const commands = binding.commands(queue)!;
    fake.set('hang', 1);
    const word = binding.watch(commands);
    binding.commit(commands);
    word.free();
    const later = binding.commands(queue)!;
    const other = binding.watch(later);
    fake.set('hang', 0);
    while (!binding.hasEnded(commands));
    assert.not.ok(other.isDone(), 'the other commands were not even handed over');
    binding.commit(later);
    while (!binding.hasEnded(later));
    other.free();
    binding.release(commands);
    binding.release(later);
  });

  on('faults have domain, number and text', (device, queue) => {
    assert.is(binding.library(device, bytesOf(1, 2, 3)), undefined);
    const { domain, code, text } = binding.lastFault();
    assert.equal([domain, code], ['MTLLibraryErrorDomain', 1]);
    assert.match(text, /^Invalid library file/);
    assert.is(binding.library(device, new Uint8Array(0)), undefined);
    assert.is(binding.buffer(device, 2 ** 40), undefined);
    assert.equal(binding.lastFault().domain, 'cumetal');
    const commands = binding.commands(queue)!;
    fake.set('fail', 14);
    assert.not.ok(runs(commands));
    assert.equal(binding.lastFault(), {
      domain: 'MTLCommandBufferErrorDomain',
      code: 14,
      text: 'Impacting Interactivity (0000000e:kIOGPUCommandBufferCallbackErrorImpactingInteractivity)',
    });
  });

  on('labels are there for tools', (device, queue) => {
    const [commands, buffer, event] = [binding.commands(queue)!, binding.buffer(device, 4)!, binding.event(device)!];
    for (const object of [queue, commands, buffer, event]) binding.setLabel(object, 'grün');
    const called = fake.record().filter((line) => line.endsWith('is called grün'));
    assert.equal(
      called.map((line) => line.split(' ')[0]),
      ['MTLCommandQueue', 'MTLCommandBuffer', 'MTLBuffer', 'MTLSharedEvent'],
    );
    for (const object of [commands, buffer, event]) binding.release(object);
  });

  on('captures go to a file where the environment allows it', (device) => {
    assert.not.ok(binding.startCapture(device, '/tmp/a.gputrace'));
    assert.match(binding.lastFault().text, /METAL_CAPTURE_ENABLED=1/);
    fake.set('captures', 1);
    assert.ok(binding.startCapture(device, '/tmp/a.gputrace'));
    assert.not.ok(binding.startCapture(device, '/tmp/b.gputrace'));
    assert.equal(binding.lastFault(), { domain: 'MTLCaptureError', code: 2, text: 'Already capturing' });
    binding.stopCapture();
  });

  test(`${binding.way}: without a default device the first of all, without any a fault`, () => {
    fake.reset();
    fake.set('no default device', 1);
    const device = binding.device()!;
    assert.is(binding.deviceName(device), 'Fake M1');
    binding.release(device);
    fake.set('no device', 1);
    assert.is(binding.device(), undefined);
    assert.is(binding.lastFault().text, 'the system has no Metal device');
    checkFake(fake);
  });

  test(`${binding.way}: memory of JavaScript stays where it is while Metal reads it`, () => {
    const text = new TextEncoder().encode('stays');
    assert.equal([...new Uint8Array(toArrayBuffer(ptr(text), 0, 5))], [...text]);
  });
}
