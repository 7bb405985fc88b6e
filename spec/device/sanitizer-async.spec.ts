/**
 * The sanitizer and asynchronous copies: a pipeline of bulk copies without a finding, and the same with one fault each, which has to be found
 * at its line.
 */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { runSanitized } from '../support/sanitized-launch.ts';

const test = suite('device/sanitizer-async');

const signal = 'mbarrier::complete_tx::bytes';

/** Thread 0 copies three tiles through a ring of two; warp 1 sums them, and thread 0 copies the sums out. */
const pipeline = `.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 p0, .param .u64 p1) {
.reg .b32 tid, stage, parity, t, x, sum, lane, full, empty, slot, own, ring0, barriers;
.reg .b64 in, out, state;
.reg .pred p;
.shared .align 128 .b8 ring[256];
.shared .align 128 .b8 result[128];
.shared .align 8 .b64 bars[4];
ld.param.u64 in, [p0];
ld.param.u64 out, [p1];
mov.u32 tid, %tid.x;
mov.u32 ring0, ring;
mov.u32 barriers, bars;
and.b32 lane, tid, 31;
mov.u32 own, result;
mad.lo.u32 own, lane, 4, own;
mov.u32 t, 0;
mov.u32 sum, 0;
setp.ne.u32 p, tid, 0;
@p bra READY;
mbarrier.init.shared::cta.b64 [barriers], 1;
mbarrier.init.shared::cta.b64 [barriers+8], 1;
mbarrier.init.shared::cta.b64 [barriers+16], 32;
mbarrier.init.shared::cta.b64 [barriers+24], 32;
fence.mbarrier_init.release.cluster;
READY: bar.sync 0;
LOOP:
and.b32 stage, t, 1;
shr.u32 parity, t, 1;
mad.lo.u32 full, stage, 8, barriers;
add.u32 empty, full, 16;
mad.lo.u32 slot, stage, 128, ring0;
setp.ge.u32 p, tid, 32;
@p bra CONSUME;
setp.ne.u32 p, tid, 0;
@p bra OUT;
xor.b32 parity, parity, 1;
PWAIT: mbarrier.try_wait.parity.shared::cta.b64 p, [empty], parity;
@!p bra PWAIT;
mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], 128;
cp.async.bulk.shared::cluster.global.${signal} [slot], [in], 128, [full];
add.u64 in, in, 128;
bra NEXT;
CONSUME:
CWAIT: mbarrier.try_wait.parity.shared::cta.b64 p, [full], parity;
@!p bra CWAIT;
mad.lo.u32 slot, lane, 4, slot;
ld.shared.u32 x, [slot];
add.u32 sum, sum, x;
mbarrier.arrive.shared::cta.b64 _, [empty];
NEXT:
add.u32 t, t, 1;
setp.lt.u32 p, t, 3;
@p bra LOOP;
setp.lt.u32 p, tid, 32;
@p bra OUT;
st.shared.u32 [own], sum;
fence.proxy.async.shared::cta;
OUT: bar.sync 0;
setp.ne.u32 p, tid, 0;
@p bra LAST;
cp.async.bulk.global.shared::cta.bulk_group [out], [result], 128;
cp.async.bulk.commit_group;
cp.async.bulk.wait_group.read 0;
LAST: bar.sync 0;
setp.lt.u32 p, tid, 32;
@p bra END;
st.shared.u32 [own], 7;
END: ret;
}
`;

const input = new Uint8Array(Uint32Array.from({ length: 96 }, (_, i) => i * i + 1).buffer);
const run = (text: string) =>
  runSanitized(text, { grid: [2, 1, 1], block: [64, 1, 1], args: [input, { bytes: 128, written: new Uint8Array(128) }] }, false);

test('a pipeline without a fault has no finding', () => {
  const { messages, buffers } = run(pipeline);
  assert.equal(messages, []);
  const words = new Uint32Array(input.buffer);
  assert.equal(
    [...new Uint32Array(buffers[1]!.buffer)],
    Array.from({ length: 32 }, (_, i) => words[i]! + words[i + 32]! + words[i + 64]!),
  );
});

interface Fault {
  readonly why: string;
  /** Texts of the pipeline with what they become. */
  readonly edits: readonly (readonly [string, string])[];
  readonly code: string;
  /** A part of the line that must be named, and what must be said. */
  readonly at: string;
  readonly says?: RegExp;
}

const load = `cp.async.bulk.shared::cluster.global.${signal}`;
const noWait = ['CWAIT: mbarrier.try_wait.parity.shared::cta.b64 p, [full], parity;\n@!p bra CWAIT;\n', ''] as const;

const faults: readonly Fault[] = [
  { why: 'reads without a wait', edits: [noWait], code: 'CM6122', at: 'ld.shared.u32 x' },
  {
    why: 'the thread of the copy reads at once',
    edits: [['add.u64 in, in, 128;', 'ld.volatile.shared.u32 x, [slot+8];\nadd.u64 in, in, 128;']],
    code: 'CM6122',
    at: 'ld.volatile.shared.u32 x, [slot+8]',
  },
  {
    why: 'the thread of the copy writes where it copies to',
    edits: [['add.u64 in, in, 128;', 'st.shared.u32 [slot+8], 5;\nadd.u64 in, in, 128;']],
    code: 'CM6122',
    at: 'st.shared.u32 [slot+8]',
  },
  {
    why: 'a stage is filled again before it is empty',
    edits: [['PWAIT: mbarrier.try_wait.parity.shared::cta.b64 p, [empty], parity;\n@!p bra PWAIT;\n', '']],
    code: 'CM6122',
    at: load,
  },
  {
    why: 'no proxy fence between stores and a copy of them',
    edits: [['fence.proxy.async.shared::cta;\nOUT', 'OUT']],
    code: 'CM6123',
    at: 'cp.async.bulk.global',
  },
  { why: 'a source is written again too early', edits: [['cp.async.bulk.wait_group.read 0;\n', '']], code: 'CM6122', at: '[own], 7' },
  {
    why: 'no barrier between stores and a copy of them',
    edits: [['OUT: bar.sync 0;', 'OUT:']],
    code: 'CM6110',
    at: 'cp.async.bulk.global',
  },
  {
    why: 'more bytes expected than come',
    edits: [['_, [full], 128;', '_, [full], 144;']],
    code: 'CM6135',
    at: 'CWAIT',
    says: /parity 0, in which 0 of 1 arrivals are missing, and 16 bytes are missing/,
  },
  {
    why: 'fewer bytes expected than come',
    edits: [['mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], 128;', 'mbarrier.arrive.shared::cta.b64 _, [full];']],
    code: 'CM6135',
    at: 'CWAIT',
    says: /256 bytes more have arrived/,
  },
  {
    why: 'more arrivals expected than come',
    edits: [['[barriers+16], 32;', '[barriers+16], 33;']],
    code: 'CM6135',
    at: 'PWAIT',
    says: /1 of 33 arrivals are missing/,
  },
  { why: 'no arrival', edits: [['mbarrier.arrive.shared::cta.b64 _, [empty];\n', '']], code: 'CM6135', at: 'PWAIT', says: /32 of 32/ },
  { why: 'a wait for the wrong parity', edits: [['CONSUME:\n', 'CONSUME:\nxor.b32 parity, parity, 1;\n']], code: 'CM6135', at: 'PWAIT' },
  {
    why: 'an arrival too many',
    edits: [['mbarrier.arrive.shared::cta.b64 _, [empty];', 'mbarrier.arrive.shared::cta.b64 _, [empty], 33;']],
    code: 'CM6014',
    at: '[empty], 33;',
    says: /does not expect/,
  },
  {
    why: 'a barrier that is not initialized',
    edits: [['mbarrier.init.shared::cta.b64 [barriers+8], 1;\n', '']],
    code: 'CM6110',
    at: 'mbarrier.arrive.expect_tx',
  },
];

for (const { why, edits, code, at, says } of faults)
  test(`${code}: ${why}`, () => {
    const text = edits.reduce((made, [from, to]) => {
      assert.ok(made.includes(from), from);
      return made.replace(from, to);
    }, pipeline);
    const { messages, lines } = run(text);
    const line = text.split('\n').findIndex((each) => each.includes(at)) + 1;
    const found = messages.map((message, i) => `${message.split('\n')[0]} ${lines[i]}`);
    assert.ok(found.includes(`${code} ${line}`), `${line}: ${messages.map((message, i) => `${lines[i]}: ${message}`).join('\n')}`);
    if (says) assert.match(messages[found.indexOf(`${code} ${line}`)]!, says);
  });

test('CM6122: a barrier of the block in place of a wait', () => {
  const text = pipeline
    .replace(/OUT: bar.sync 0;[\s\S]*LAST: bar.sync 0;/, 'OUT: bar.sync 0;\nld.volatile.shared.u32 x, [ring0];')
    .replace('setp.lt.u32 p, t, 3;', 'setp.lt.u32 p, t, 1;')
    .replace(noWait[0], '')
    .replace('ld.shared.u32 x, [slot];', 'mov.u32 x, 0;');
  const { messages, lines } = run(text);
  assert.is(messages[0]?.split('\n')[0], 'CM6122');
  assert.is(lines[0], text.split('\n').indexOf('ld.volatile.shared.u32 x, [ring0];') + 1);
});

test.run();
