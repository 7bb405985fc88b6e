/** The scope of a launch's resources, and its arguments by slot. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { KernelReflection } from '../../src/air/abi.ts';
import { newScope, withScope } from '../../src/device/cpu/launch/scope.ts';
import type { DeviceBuffer, LaunchArgument } from '../../src/device/device.ts';
import { bufferOfSlot, writeValuesOfSlot } from '../../src/device/launch-arguments.ts';

const test = suite('device/launch-scope');

test('a scope releases once, the latest resource first, and says whether the launch ended well', () => {
  const events: string[] = [];
  const scope = newScope();
  for (const name of ['memory', 'observer']) scope.defer((isWell) => events.push(`${name} ${isWell}`));
  scope.release(true);
  scope.release(false);
  assert.equal(events, ['observer true', 'memory true']);
});

test('a release that throws does not keep the others', () => {
  const events: string[] = [];
  const scope = newScope();
  scope.defer(() => events.push('memory'));
  scope.defer(() => {
    throw new Error('callback');
  });
  assert.throws(() => scope.release(true), /callback/);
  assert.equal(events, ['memory']);
});

test('what cannot be prepared is released at once, what is prepared is not', () => {
  const events: string[] = [];
  const acquire = (result: string | undefined) =>
    withScope((scope) => {
      scope.defer((isWell) => events.push(`released ${isWell}`));
      return result;
    });
  assert.is(acquire('launch'), 'launch');
  assert.equal(events, []);
  assert.is(acquire(undefined), undefined);
  assert.equal(events, ['released false']);
  assert.throws(() =>
    withScope((scope) => {
      scope.defer(() => events.push('released'));
      throw new Error('no');
    }),
  );
  assert.equal(events, ['released false', 'released']);
});

/** Two values in slot 4, the second one first in the source, and a buffer in slot 0. */
const kernel = {
  params: [
    { name: 'b', slot: 4, offset: 8, kind: 'bytes', size: 2 },
    { name: 'p', slot: 0, kind: 'buffer', size: 4 },
    { name: 'a', slot: 4, offset: 0, kind: 'bytes', size: 4 },
  ],
} as unknown as KernelReflection;
const buffer = { size: 16 } as DeviceBuffer;
const args: LaunchArgument[] = [
  { kind: 'bytes', bytes: Uint8Array.of(1, 2) },
  { kind: 'buffer', buffer, offset: 4 },
  { kind: 'bytes', bytes: Uint8Array.of(3, 4, 5, 6) },
];

test('values of one slot are written at their offsets', () => {
  const bytes = new Uint8Array(12);
  writeValuesOfSlot(kernel, args, 4, bytes);
  assert.equal([...bytes], [3, 4, 5, 6, 0, 0, 0, 0, 1, 2, 0, 0]);
});

test('a slot has the buffer of its parameter, or none', () => {
  assert.is(bufferOfSlot(kernel, args, 0), args[1]);
  assert.is(bufferOfSlot(kernel, args, 4), undefined);
  assert.is(bufferOfSlot(kernel, args, 7), undefined);
});

test.run();
