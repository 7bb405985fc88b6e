/**
 * The order of work: 1 000 random schedules over four streams, on every device, held against an independent model of what CUDA
 * demands (spec/support/schedules.ts). Launches are under way for a random while, so that whatever is not kept waiting overtakes.
 */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Device } from '../../src/api/index.ts';
import { openCpuDevice } from '../../src/device/index.ts';
import { gpu, onGpu } from '../support/cuda/gpu.ts';
import { delayed, queueing, randomFrom, watched, withoutStart } from '../support/delayed-device.ts';
import type { Candidate } from '../support/device-contract.ts';
import { fakeCandidates, macCandidates } from '../support/metal/candidates.ts';
import { openFake } from '../support/metal/open.ts';
import type { Register } from '../support/need.ts';
import { courseOn } from '../support/run-schedule.ts';
import { faultOf, orderOf, type Plan, randomPlan } from '../support/schedules.ts';

const test = suite('api/streams');

const schedules = Number(process.env.CUMETAL_SCHEDULES ?? 1000);

function schedulesOn(register: Register, candidate: Candidate, wait: boolean): void {
  const how = wait ? 'launches that take a while' : 'launches that are waited for';
  register(`${candidate.name}, ${how}: ${schedules} random schedules keep CUDA’s order`, async () => {
    const random = randomFrom(wait ? 1 : 2);
    const { device: low, buffers, mostAtOnce } = delayed(candidate.open(), () => (random(3) === 0 ? random(6) : 0));
    const device = Device.over(wait ? low : withoutStart(low));
    const course = courseOn(device, buffers);
    for (let seed = 0; seed < schedules; seed++) {
      const plan = randomPlan(randomFrom(seed));
      const fault = faultOf(plan, await course.run(plan));
      if (fault) assert.unreachable(`schedule ${seed}: ${fault}\n${tellPlan(plan)}`);
    }
    if (wait) assert.ok(mostAtOnce() >= 3, `streams run beside each other: ${mostAtOnce()} at once`);
    device.close();
    candidate.check?.();
  });
}

const tellPlan = ({ streams, operations }: Plan): string =>
  [streams.join(', '), ...operations.map((op, i) => `#${i} ${JSON.stringify(op)}`)].join('\n');

function ownSchedulesOn(register: Register, { name, open }: Candidate, how: string): void {
  register(`${name}, ${how}: ${schedules / 4} random schedules keep CUDA’s order`, async () => {
    const { low, buffers } = watched(open());
    const device = Device.over(low);
    const course = courseOn(device, buffers);
    for (let seed = 0; seed < schedules / 4; seed++) {
      const plan = randomPlan(randomFrom(seed));
      const fault = faultOf(plan, await course.run(plan));
      if (fault) assert.unreachable(`schedule ${seed}: ${fault}\n${tellPlan(plan)}`);
    }
    device.close();
  });
}

test(`cpu, launches that are queued: ${schedules} random schedules keep CUDA’s order`, async () => {
  const { low, buffers } = watched(openCpuDevice());
  const { device: queue, mostAtOnce } = queueing(low);
  const device = Device.over(queue);
  const course = courseOn(device, buffers);
  for (let seed = 0; seed < schedules; seed++) {
    const plan = randomPlan(randomFrom(seed));
    const fault = faultOf(plan, await course.run(plan));
    if (fault) assert.unreachable(`schedule ${seed}: ${fault}\n${tellPlan(plan)}`);
  }
  assert.ok(mostAtOnce() >= 3, `launches are behind each other: ${mostAtOnce()} at once`);
  device.close();
});

const cpu: Candidate = { name: 'cpu', open: openCpuDevice };
ownSchedulesOn(test, cpu, 'launches by its workers');
for (const wait of [true, false]) schedulesOn(test, cpu, wait);

const { test: onFake, folder } = openFake(test);
for (const candidate of folder ? fakeCandidates(folder) : []) schedulesOn(onFake, candidate, true);
if (process.platform === 'darwin') for (const candidate of macCandidates()) schedulesOn(test, candidate, true);
onGpu(test, import.meta.filename, [], (register) => {
  schedulesOn(register, gpu, true);
  ownSchedulesOn(register, gpu, 'launches that its driver queues');
});

// ── the model itself, by hand ──

const plan = (streams: Plan['streams'], ...operations: Plan['operations']): Plan => ({ streams, operations });
const four: Plan['streams'] = ['legacy', 'per thread', 'blocking', 'non-blocking'];
const kernel = (stream: number): Plan['operations'][number] => ({ kind: 'kernel', stream, cell: 0 });

test('the model: the legacy stream waits for blocking streams and they for it, non-blocking ones go their own way', () => {
  const before = orderOf(plan(four, kernel(1), kernel(3), kernel(0), kernel(2), kernel(3)));
  assert.equal([before(0, 2), before(2, 3), before(0, 3), before(1, 4)], [true, true, true, true]);
  assert.equal([before(1, 2), before(2, 4), before(0, 1), before(3, 4)], [false, false, false, false]);
});

test('the model: a wait is for the mark that was there, and for nothing where there was none', () => {
  const record = { kind: 'record', stream: 2, event: 0 } as const;
  const wait = { kind: 'wait', stream: 3, event: 0 } as const;
  const before = orderOf(plan(four, wait, kernel(2), record, kernel(2), wait, kernel(3), record));
  assert.equal([before(1, 5), before(3, 5), before(1, 4), before(2, 4)], [true, false, true, true]);
  assert.equal([before(6, 4), before(2, 0)], [false, false]);
});

test('the model notices what is out of order, what is lost, and what was overwritten', () => {
  const of = plan(four, kernel(2), kernel(2));
  const trace = { looks: new Map(), reads: new Map(), left: [1, -1, -1], seen: [] };
  const tickets = (...all: number[]): Map<number, number> => new Map(all.map((ticket, i) => [i, ticket]));
  assert.is(faultOf(of, { ...trace, tickets: tickets(0, 1) }), undefined);
  assert.is(faultOf(of, { ...trace, tickets: tickets(1, 0) }), '#1 kernel did not wait for #0 kernel');
  assert.is(faultOf(of, { ...trace, tickets: tickets(0) }), 'not every kernel ran once');
  assert.is(faultOf(of, { ...trace, tickets: tickets(0, 1), left: [0, -1, -1] }), 'cell 0 holds what #0 wrote');
  assert.is(faultOf(of, { ...trace, tickets: tickets(0, 1), left: [1, 1, -1] }), 'cell 1 holds what #1 wrote');
});

test.run();
