/**
 * The fake Metal itself: a fake that forgives is no judge, so each rule that it holds is broken here once. Hosts of Metal learn
 * of most of these as a crash, a wrong number or a hang.
 */

import { dlopen } from 'bun:ffi';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Handle } from '../../src/ffi/index.ts';
import { type Flat, flatTypes } from '../../src/ffi/metal/flat.ts';
import { libraryOf } from '../support/device-contract.ts';
import { openFake } from '../support/metal/open.ts';

const all = suite('ffi/fake');
const { test, fake, binding: metal, built, folder } = openFake(all);
/** The flat functions, for calls that the binding does not allow. */
const flat = (folder ? dlopen(built.shim, flatTypes as never).symbols : {}) as unknown as Flat;
const pools = folder
  ? dlopen(built.fake, {
      objc_autoreleasePoolPop: { args: ['ptr'], returns: 'void' },
      objc_autoreleasePoolPush: { args: [], returns: 'ptr' },
    }).symbols
  : undefined;

const library = libraryOf(`.visible .entry k(.param .u64 out, .param .u32 n)
{ .reg .b32 x; .reg .b64 p; ld.param.u64 p, [out]; ld.param.u32 x, [n]; st.global.u32 [p], x; ret; }
.extern .shared .align 4 .b8 more[];
.visible .entry shared(.param .u64 out)
{ .shared .align 4 .b8 own[64]; .reg .b32 x, a; .reg .b64 p; ld.param.u64 p, [out]; mov.u32 a, more; ld.shared.u32 x, [a]; mov.u32 a, own; st.shared.u32 [a], x; st.global.u32 [p], x; ret; }
.visible .entry follow(.param .u64 out)
{ .reg .b64 p, q; ld.param.u64 p, [out]; ld.global.u64 q, [p+8]; st.global.u32 [q], 5; st.global.u32 [p], 6; ret; }`);

interface Rig {
  readonly device: Handle;
  readonly queue: Handle;
  readonly commands: Handle;
  readonly encoder: Handle;
  readonly buffer: Handle;
  pipeline(name: string): Handle;
}

const four = Uint8Array.of(1, 2, 3, 4);
const one = [1, 1, 1] as const;

/** The fake's report for an operation with an open encoder; the state is restored afterwards. */
function said(body: (rig: Rig) => void): string[] {
  fake.reset();
  const device = metal.device()!;
  const queue = metal.queue(device, 2)!;
  const commands = metal.commands(queue)!;
  const from = metal.library(device, library)!;
  const pipeline = (name: string): Handle => metal.pipeline(device, metal.function(from, name)!)!;
  body({ device, queue, commands, encoder: metal.compute(commands)!, buffer: metal.buffer(device, 64)!, pipeline });
  const found = fake.violations();
  fake.endAll();
  fake.reset();
  return found;
}

/** Tests that exactly one violation is reported. */
const breaks = (what: string, message: RegExp, body: (rig: Rig) => void): void =>
  test(what, () => {
    const found = said(body);
    assert.is(found.length, 1, found.join('\n'));
    assert.match(found[0]!, message);
  });

/** Everything that kernel `k` wants. */
function bind({ encoder, buffer, pipeline }: Rig): void {
  metal.setPipeline(encoder, pipeline('k'));
  metal.setBuffer(encoder, buffer, 0, 0);
  metal.setBytes(encoder, four, 1);
}

/** Ends, hands over and waits. */
function finish({ encoder, commands }: Rig): void {
  metal.end(encoder);
  metal.commit(commands);
  for (let i = 0; i < 5; i++) metal.hasEnded(commands);
}

test('a launch as it should be breaks nothing, and computes', () => {
  const found = said((rig) => {
    bind(rig);
    metal.dispatch(rig.encoder, one, one);
    finish(rig);
    assert.equal([...metal.view(rig.buffer, 0, 4)], [...four]);
  });
  assert.equal(found, []);
});

// ── objects ──

breaks('a selector that the class does not have', /unrecognized selector: MTLBuffer commit/, ({ buffer }) => metal.commit(buffer));
test('over-release, which is a message to the dead as well', () => {
  const found = said(({ buffer }) => {
    metal.release(buffer);
    metal.release(buffer);
  });
  assert.equal(found, ['release was sent to a freed MTLBuffer', 'over-release of a MTLBuffer']);
});
breaks('a message to the dead', /setLabel: was sent to a freed MTLBuffer/, ({ buffer }) => {
  metal.release(buffer);
  metal.setLabel(buffer, 'late');
});
test('pools out of order, which both of them are', () => {
  const found = said(() => {
    const [outer, inner] = [pools!.objc_autoreleasePoolPush(), pools!.objc_autoreleasePoolPush()];
    pools!.objc_autoreleasePoolPop(outer);
    pools!.objc_autoreleasePoolPop(inner);
  });
  assert.equal(found, new Array(2).fill('an autorelease pool was popped out of order'));
});
test('what is still held is counted', () => {
  said(({ queue, commands, encoder, buffer }) => {
    const before = fake.live();
    metal.release(buffer);
    assert.is(fake.live(), before - 1);
    metal.end(encoder);
    for (const object of [encoder, commands, queue]) metal.release(object);
    assert.is(fake.live(), before - 4);
  });
});

// ── states ──

breaks('an encoder that is let go before it is ended', /freed before endEncoding/, ({ encoder }) => metal.release(encoder));
breaks('an encoder that is ended twice', /endEncoding after endEncoding/, ({ encoder }) => {
  metal.end(encoder);
  metal.end(encoder);
});
breaks('binding after the end', /setBuffer: after endEncoding/, ({ encoder, buffer }) => {
  metal.end(encoder);
  metal.setBuffer(encoder, buffer, 0, 0);
});
breaks('a second encoder while one is open', /blitCommandEncoder while an encoder is open/, ({ commands }) => void metal.blit(commands));
breaks('commands that are handed over with an open encoder', /commit while an encoder is open/, ({ commands }) => metal.commit(commands));
breaks('commands that are handed over twice', /commit after commit/, ({ encoder, commands }) => {
  metal.end(encoder);
  metal.commit(commands);
  metal.commit(commands);
});
breaks('a handler after the commands were handed over', /addCompletedHandler: after commit/, ({ encoder, commands }) => {
  metal.end(encoder);
  metal.commit(commands);
  metal.watch(commands);
});
breaks('waiting for what was never handed over', /never come back/, ({ commands }) => flat.cm_wait(commands));
breaks('more commands than the queue takes', /would block/, ({ queue }) => {
  metal.commands(queue);
  metal.commands(queue);
});
test('times of commands that have not ended, of which there are four', () => {
  const found = said(({ encoder, commands }) => {
    fake.set('hang', 1);
    metal.end(encoder);
    metal.commit(commands);
    metal.outcome(commands);
  });
  assert.equal(found, new Array(4).fill('a time of commands that have not ended'));
});

// ── bound resources ──

breaks('a slot beyond the last', /slot 31, and there are 31/, ({ encoder, buffer }) => metal.setBuffer(encoder, buffer, 0, 31));
breaks('an offset beyond the end', /offset 64 of a buffer of 64/, ({ encoder, buffer }) => metal.setBuffer(encoder, buffer, 64, 0));
breaks('too many bytes by value', /4097 bytes, and 4096/, ({ encoder }) => metal.setBytes(encoder, new Uint8Array(4097), 0));
breaks('threadgroup memory of an odd length', /40 is no multiple of 16/, ({ encoder }) => metal.setThreadgroupMemory(encoder, 40, 0));
breaks('something that is no buffer', /a MTLCommandQueue where a MTLBuffer belongs/, ({ encoder, queue }) =>
  metal.setBuffer(encoder, queue, 0, 0),
);
breaks('a dispatch without a pipeline', /without a pipeline/, ({ encoder }) => metal.dispatch(encoder, one, one));
breaks('a slot that is left empty', /nothing is bound to slot 1/, (rig) => {
  metal.setPipeline(rig.encoder, rig.pipeline('k'));
  metal.setBuffer(rig.encoder, rig.buffer, 0, 0);
  metal.dispatch(rig.encoder, one, one);
});
breaks('a slot that the kernel has not', /slot 7 is bound/, (rig) => {
  bind(rig);
  metal.setBuffer(rig.encoder, rig.buffer, 0, 7);
  metal.dispatch(rig.encoder, one, one);
});
breaks('a value that is too short', /slot 1 has 2 bytes, and the kernel reads 4/, (rig) => {
  bind(rig);
  metal.setBytes(rig.encoder, four.subarray(0, 2), 1);
  metal.dispatch(rig.encoder, one, one);
});
breaks('bytes where a buffer belongs', /slot 0 wants a buffer/, (rig) => {
  bind(rig);
  metal.setBytes(rig.encoder, four, 0);
  metal.dispatch(rig.encoder, one, one);
});
breaks('threadgroup memory that is not set', /no threadgroup memory is set/, (rig) => {
  metal.setPipeline(rig.encoder, rig.pipeline('shared'));
  metal.setBuffer(rig.encoder, rig.buffer, 0, 0);
  metal.dispatch(rig.encoder, one, one);
});
breaks('more threadgroup memory than there is', /32832 bytes of threadgroup memory/, (rig) => {
  metal.setPipeline(rig.encoder, rig.pipeline('shared'));
  metal.setBuffer(rig.encoder, rig.buffer, 0, 0);
  metal.setThreadgroupMemory(rig.encoder, 32768, 0);
  metal.dispatch(rig.encoder, one, one);
});

// ── shapes ──

breaks('no groups', /dimension 1 is empty/, (rig) => {
  bind(rig);
  metal.dispatch(rig.encoder, [1, 0, 1], one);
});
breaks('more threads than the pipeline takes', /1025 threads, and the pipeline takes 1024|1025 threads in dimension/, (rig) => {
  bind(rig);
  metal.dispatch(rig.encoder, one, [205, 5, 1]);
});
breaks('more threads in a row than 32 bits count', /dimension 0 has more than 2\^32 - 1/, (rig) => {
  bind(rig);
  metal.dispatch(rig.encoder, [2 ** 23, 1, 1], [512, 1, 1]);
  fake.set('hang', 1);
});

// ── memory ──

breaks('a buffer of nothing', /newBufferWithLength: of 0/, ({ device }) => void metal.buffer(device, 0));
breaks('memory of the caller that is no whole pages', /whole pages/, ({ device }) => void metal.bufferOver(device, new Uint8Array(100)));
breaks('memory that only the GPU sees', /contents of a private buffer/, ({ device }) => {
  // MTLResourceStorageModePrivate
  flat.cm_buffer_contents(flat.cm_buffer(device, 64, 32));
});
test('a buffer that is reached by its address alone: not declared, its bytes are lost and that is said', () => {
  const follow = (declare: boolean): { said: string[]; bytes: number[] } => {
    let bytes: number[] = [];
    const found = said((rig) => {
      const target = metal.buffer(rig.device, 16)!;
      metal.view(target, 0, 16).fill(1);
      metal.setPipeline(rig.encoder, rig.pipeline('follow'));
      metal.setBuffer(rig.encoder, rig.buffer, 0, 0);
      metal.view(rig.buffer, 8, 8).set(new Uint8Array(BigUint64Array.of(metal.address(target)).buffer));
      if (declare) metal.use(rig.encoder, target);
      metal.dispatch(rig.encoder, one, one);
      finish(rig);
      bytes = [...metal.view(target, 0, 5)];
    });
    return { said: found, bytes };
  };
  assert.equal(follow(true), { said: [], bytes: [5, 0, 0, 0, 1] });
  assert.equal(follow(false), { said: ['follow wrote to a buffer that was not made resident'], bytes: [1, 1, 1, 1, 1] });
});
breaks('a buffer that is only used and was freed', /freed before the GPU was done/, (rig) => {
  const target = metal.buffer(rig.device, 16)!;
  bind(rig);
  metal.use(rig.encoder, target);
  metal.dispatch(rig.encoder, one, one);
  metal.release(target);
  finish(rig);
});

// ── copies and events ──

const blit =
  (body: (encoder: Handle, rig: Rig) => void) =>
  (rig: Rig): void => {
    metal.end(rig.encoder);
    body(metal.blit(rig.commands)!, rig);
  };
breaks(
  'a copy beyond the end',
  /toBuffer:: 8 bytes at 60 of a buffer of 64/,
  blit((encoder, { device, buffer }) => metal.copy(encoder, metal.buffer(device, 64)!, 0, buffer, 60, 8)),
);
breaks(
  'a copy onto itself',
  /onto itself/,
  blit((encoder, { buffer }) => metal.copy(encoder, buffer, 0, buffer, 4, 8)),
);
breaks(
  'a fill of an odd length',
  /multiples of 4/,
  blit((encoder, { buffer }) => metal.fill(encoder, buffer, 0, 6, 1)),
);
breaks('an event that goes back', /goes back from 7 to 3/, ({ device }) => {
  const event = metal.event(device)!;
  metal.setEvent(event, 7n);
  metal.setEvent(event, 3n);
});
breaks('a capture that ends without having begun', /stopCapture without a capture/, () => metal.stopCapture());

all.run();
