/** Facts of launches: equal launches share them, and a launch that differs in anything which they depend on has its own. */
import { Buffer } from 'node:buffer';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { launchFacts } from '../../src/device/cpu/launch/launch-facts.ts';
import { loadLibrary } from '../../src/device/cpu/launch/library.ts';
import { newMemory } from '../../src/device/cpu/memory.ts';
import type { DeviceBuffer, LaunchArgument, LaunchRequest } from '../../src/device/index.ts';
import { libraryOf } from '../support/workers.ts';

const test = suite('device/launch-facts');

const text = `
.visible .entry k(.param .u64 out, .param .u32 n)
{
  .reg .b32 a; .reg .b64 p;
  ld.param.u64 p, [out]; ld.param.u32 a, [n];
  st.global.u32 [p], a;
  ret;
}`;

const [kernel] = loadLibrary(libraryOf(text), new Diagnostics())!.kernels;
const memory = newMemory();
/** A buffer of which facts know the address alone. */
const at = (address: number): LaunchArgument => ({ kind: 'buffer', buffer: { owner: memory, address } as unknown as DeviceBuffer });
const bytes = (value: number): Uint8Array => new Uint8Array(Uint32Array.of(value).buffer);

const request = (args: readonly LaunchArgument[], x = 4): { readonly request: LaunchRequest; readonly grid: [number, number, number] } => {
  const grid: [number, number, number] = [x, 1, 1];
  return { grid, request: { kernel: 'k', grid, block: [64, 1, 1], dynamicSharedBytes: 0, timeoutMs: 0, args } };
};
const factsOf = (given: LaunchRequest) => launchFacts({ memory }, kernel!, given);
const value = kernel!.params.findIndex(({ kind }) => kind === 'value');
const pointer = kernel!.params.findIndex(({ kind }) => kind === 'pointer');

// Numbers of their own, since equal launches share facts.
for (const [name, first, second, copy] of [
  ['an array', 7, 9, (given: Uint8Array): Uint8Array => given],
  ['a buffer of Node, whose slices are views', 70, 90, (given: Uint8Array): Uint8Array => Buffer.from(given)],
] as const)
  test(`a number that the caller writes to the same bytes is the new one: ${name}`, () => {
    const own = copy(bytes(first));
    const { request: given, grid } = request([at(65536), { kind: 'bytes', bytes: own }]);
    const before = factsOf(given);
    assert.is(before.valueOf(value, 0, 32), BigInt(first));
    assert.is(factsOf(given), before);
    own.set(bytes(second));
    const after = factsOf(given);
    assert.is(after.valueOf(value, 0, 32), BigInt(second));
    assert.is.not(after.key, before.key);
    grid[0] = 5;
    const wider = factsOf(given);
    assert.equal(wider.sreg('ctaid.x'), { min: 0n, max: 4n });
    // The facts of a launch stay those that it had.
    assert.equal(before.sreg('ctaid.x'), { min: 0n, max: 3n });
    assert.is(before.valueOf(value, 0, 32), BigInt(first));
  });

test('an address with other zeros, and an offset, has other facts', () => {
  const n: LaunchArgument = { kind: 'bytes', bytes: bytes(1) };
  const zeros = (argument: LaunchArgument): number => factsOf(request([argument, n]).request).pointerZeros(pointer);
  for (let round = 0; round < 2; round++) {
    assert.is(zeros(at(65536 + 32)), 5);
    assert.is(zeros(at(65536 + 4)), 2);
    assert.is(zeros({ ...(at(65536) as LaunchArgument & { kind: 'buffer' }), offset: 2 }), 1);
  }
});

test('a memory that has grown has other facts', () => {
  const { request: given } = request([at(65536), { kind: 'bytes', bytes: bytes(1) }]);
  const before = factsOf(given).memoryBytes;
  memory.take(16 * 65536);
  assert.ok(factsOf(given).memoryBytes > before);
});

test.run();
