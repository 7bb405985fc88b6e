/**
 * Barriers in shared memory. One thread carries out operations that are chosen at random, against the rules of the manual's "Phase of the
 * mbarrier object" in plain code; several warps hand data on through a ring of barriers.
 */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { faultOf, ptx, run } from '../support/async.ts';
import { ring, ringExpected } from '../support/barrier-kernels.ts';

const test = suite('device/mbarrier');

let seed = 20260101;
const random = (below: number): number => {
  seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
  return Math.floor((seed / 2 ** 32) * below);
};

/** The rules of the manual. */
class Barrier {
  phase = 0;
  bytes = 0;
  pending: number;
  expected: number;
  constructor(count: number) {
    this.pending = count;
    this.expected = count;
  }
  settle(): void {
    if (this.pending !== 0 || this.bytes !== 0) return;
    this.phase++;
    this.pending = this.expected;
  }
}

interface Step {
  readonly code: string;
  readonly hasState: boolean;
  apply(barrier: Barrier): void;
}

const arriving = (code: string, hasState: boolean, count: number, more: (barrier: Barrier) => void = () => {}): Step => ({
  code,
  hasState,
  apply(barrier) {
    more(barrier);
    barrier.pending -= count;
    barrier.settle();
  },
});

function arrivalOf(barrier: Barrier): Step {
  const count = 1 + random(barrier.pending);
  const kind = random(8);
  if (kind === 0) return arriving('mbarrier.arrive.shared.b64 state, [bar];', true, 1);
  if (kind === 1) return arriving('mbarrier.arrive.release.cta.shared::cta.b64 _, [bar];', false, 1);
  if (kind === 2) return arriving(`mbarrier.arrive.relaxed.cluster.shared::cta.b64 state, [bar], ${count};`, true, count);
  if (kind === 3) return arriving(`mbarrier.arrive.release.cluster.shared::cluster.b64 _, [bar], ${count};`, false, count);
  if (kind === 4 && barrier.pending > 1)
    return arriving(`mbarrier.arrive.noComplete.shared.b64 state, [bar], ${barrier.pending - 1};`, true, barrier.pending - 1);
  if (kind === 5 && barrier.expected > count)
    return arriving(`mbarrier.arrive_drop.shared.b64 state, [bar], ${count};`, true, count, (own) => {
      own.expected -= count;
    });
  const size = random(5000);
  if (kind === 6 && barrier.expected > 1)
    return arriving(`mbarrier.arrive_drop.expect_tx.shared::cta.b64 state, [bar], ${size};`, true, 1, (own) => {
      own.expected--;
      own.bytes += size;
    });
  return arriving(`mbarrier.arrive.expect_tx.shared::cta.b64 state, [bar], ${size};`, true, 1, (own) => {
    own.bytes += size;
  });
}

function stepOf(barrier: Barrier): Step {
  if (barrier.pending > 0 && random(4) > 0) return arrivalOf(barrier);
  // A phase that has all of its arrivals takes no more.
  const size = barrier.pending === 0 ? Math.abs(barrier.bytes) : random(9000);
  const isCompletion = barrier.pending === 0 ? barrier.bytes > 0 : random(2) === 0;
  const name = isCompletion ? 'complete_tx' : 'expect_tx';
  return {
    code: `mbarrier.${name}.relaxed.cta.shared::cta.b64 [bar], ${size};`,
    hasState: false,
    apply(own) {
      own.bytes += isCompletion ? -size : size;
      own.settle();
    },
  };
}

/** Keeps what tests of both parities and of the last state say. */
const observe = (at: number, hasState: boolean): string => `
mbarrier.test_wait.parity.shared.b64 p, [bar], 0;
selp.u32 x, 1, 0, p;
mbarrier.try_wait.parity.shared::cta.b64 p, [bar], 1, 20;
selp.u32 y, 2, 0, p;
or.b32 x, x, y;
mbarrier.test_wait.shared.b64 p, [bar], state;
selp.u32 y, 4, 0, p;
or.b32 x, x, y;
${hasState ? 'mbarrier.pending_count.b64 y, state;\nshl.b32 y, y, 8;\nor.b32 x, x, y;' : ''}
st.global.u32 [out+${at * 4}], x;`;

test('every operation does what the manual says', () => {
  for (const count of [1, 4, 300]) {
    const barrier = new Barrier(count);
    // A state is of the phase in which it was taken.
    let phase = 0;
    const steps = 20;
    const [code, wanted]: [string[], number[]] = [[], []];
    for (let i = 0; i < steps; i++) {
      const step = i === 0 ? arriving('mbarrier.arrive.shared.b64 state, [bar];', true, 1) : stepOf(barrier);
      const pending = barrier.pending;
      if (step.hasState) phase = barrier.phase;
      step.apply(barrier);
      code.push(step.code, observe(i, step.hasState));
      const parity = barrier.phase & 1;
      // Of a state that is two phases old nothing is said.
      const state = (phase & 1) === parity ? 0 : 4;
      wanted.push((parity === 1 ? 1 : 2) | state | (step.hasState ? pending << 8 : 0));
    }
    const body = `mbarrier.init.shared::cta.b64 [bar], ${count};\n${code.join('\n')}`;
    const [out] = run(ptx(body), { args: [new Uint32Array(steps)] });
    assert.equal([...new Uint32Array(out!.slice().buffer)], wanted, `${count} arrivals`);
  }
});

test('warps that wait for each other by turns', () => {
  const [out] = run(ptx(ring), { threads: 96, blocks: 3, args: [new Int32Array(96)] });
  assert.equal([...new Int32Array(out!.slice().buffer)], ringExpected);
});

test('a generic address of a barrier', () => {
  const body = `mbarrier.init.b64 [generic], 3;\nmbarrier.arrive.b64 state, [generic], 2;\nmbarrier.arrive.b64 state, [generic];
mbarrier.pending_count.b64 x, state;\nmbarrier.test_wait.b64 p, [generic], state;\nselp.u32 y, 16, 0, p;\nadd.u32 x, x, y;\nst.global.u32 [out], x;
mbarrier.inval.b64 [generic];`;
  assert.equal([...new Uint32Array(run(ptx(body), { args: [new Uint32Array(1)] })[0]!.slice().buffer)], [17]);
});

test('copies of a thread that arrive at a barrier', () => {
  const body = `mbarrier.init.shared.b64 [bar], 1;\ncp.async.ca.shared.global [data], [out], 16;\ncp.async.mbarrier.arrive.shared.b64 [bar];
mbarrier.test_wait.parity.shared.b64 p, [bar], 0;\nselp.u32 x, 1, 0, p;\ncp.async.mbarrier.arrive.noinc.shared.b64 [bar];
mbarrier.test_wait.parity.shared.b64 p, [bar], 0;\nselp.u32 y, 2, 0, p;\nld.shared.u32 turn, [data+4];\nor.b32 x, x, y;\nadd.u32 x, x, turn;\nst.global.u32 [out], x;`;
  const [out] = run(ptx(body), { args: [Uint32Array.of(0, 70, 0, 0)] });
  assert.is(new Uint32Array(out!.slice().buffer)[0], 72);
});

test('what no barrier can do stops the kernel at its line', () => {
  const faults: readonly (readonly [string, RegExp])[] = [
    ['mbarrier.init.shared.b64 [bar], 0;', /arrivals that is not from 1/],
    ['mbarrier.arrive.shared.b64 state, [bar];', /not initialized/],
    ['mbarrier.init.shared.b64 [bar], 2;\nmbarrier.arrive.shared.b64 state, [bar], 3;', /does not expect/],
    ['mbarrier.init.shared.b64 [bar], 2;\nmbarrier.arrive.noComplete.shared.b64 state, [bar], 2;', /completes the phase/],
    ['mbarrier.init.shared.b64 [bar], 2;\nmbarrier.expect_tx.relaxed.cta.shared.b64 [bar], 1048576;', /transaction count/],
    ['mbarrier.init.shared.b64 [bar], 2;\nmbarrier.inval.shared.b64 [bar];\nmbarrier.arrive.shared.b64 state, [bar];', /not initialized/],
  ];
  for (const [body, why] of faults) {
    const { message, line, last } = faultOf(body);
    assert.match(message, why, body);
    assert.is(line, last, body);
  }
});

test.run();
