/** Checks of bounds that accesses share: sums that wrap around, low and high addresses, and blocks that others dominate. As WebAssembly does it. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { newModule } from '../../../src/wasm/index.ts';
import { randomFractions } from '../../support/lcg.ts';
import { nativeExports, outcome, runnableFeatures, wasmExports } from '../support/run.ts';

const test = suite('native/select/bounds');
const targets = runnableFeatures();
const bytes = 2 * 65536;

/** What is taken from an address and added by the offset of accesses; and what is added or taken besides. */
const bases = [0, 0, 1024, 65536, 100_000, 2 ** 22, 2 ** 31];
const shifts = [0, 0, 0, 0, 4, 4, 8, 8, 64, 1024, -4, -8, -1024, 65536, -65536];
const addresses = [
  0,
  4,
  8,
  1020,
  65528,
  65532,
  65536,
  65540,
  66000,
  131060,
  131064,
  131068,
  131072,
  131076,
  196608,
  200_000,
  2 ** 22,
  2 ** 31,
  -4,
  -8,
  -64,
  -1024,
  -65536,
  -65532,
  -131072,
  -(2 ** 22),
];

/** A function of an address and a condition that loads and stores at sums of it, in a row and behind branches; the result is a mix of what it loads. */
function moduleOf(seed: number): Uint8Array {
  const random = randomFractions(seed);
  random();
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!;
  // Few constants, so that many accesses are near each other.
  const base = pick(bases);
  const near = Array.from({ length: 3 }, () => pick(shifts) - base);
  const far = [base, base + 16];
  const module = newModule();
  module.importMemory('memory', 1, 4);
  const seen = module.global('i32', 'seen');
  const { code } = module.fn({ params: ['i32', 'i32'], results: ['i32'] }, 'run');
  const sum = code.local('i32');
  const access = (): void => {
    const isStore = random() < 0.3;
    if (!isStore) code.at('local.get', sum);
    code.at('local.get', 0);
    const shift = pick(near);
    code.i32(Math.abs(shift));
    code.op(shift < 0 ? 'i32.sub' : 'i32.add');
    if (random() < 0.3) {
      code.i32(pick([4, -4, 32]));
      code.op('i32.add');
    }
    if (isStore) {
      code.at('local.get', sum);
      code.access(pick(['i32.store', 'i32.store8'] as const), 1, pick(far));
    } else {
      code.access(pick(['i32.load', 'i32.load8_s', 'i32.load16_u'] as const), 1, pick(far));
      code.op('i32.add');
      code.i32(5);
      code.op('i32.rotl');
      code.at('local.set', sum);
    }
  };
  const statements = (count: number, depth: number): void => {
    for (let i = 0; i < count; i++) {
      const kind = random();
      if (kind < 0.7 || depth > 2) access();
      else if (kind < 0.8) {
        code.at('local.get', sum);
        code.at('global.set', seen);
      } else {
        code.at('local.get', 1);
        code.i32(1 << Math.floor(random() * 4));
        code.op('i32.and');
        code.open('if');
        statements(2, depth + 1);
        code.else();
        statements(2, depth + 1);
        code.end();
      }
    }
  };
  statements(6, 0);
  code.at('local.get', sum);
  return module.finish();
}

const first = Uint8Array.from({ length: bytes }, (_, i) => i * 41 + (i >> 9));

for (const [target, features] of targets)
  test(`accesses around the ends of memory, by ${target}`, () => {
    let [traps, runs] = [0, 0];
    for (let seed = 1; seed <= 60; seed++) {
      const module = moduleOf(seed);
      const memories = [0, 1].map(() => new WebAssembly.Memory({ initial: 2, maximum: 4 }));
      const both = [nativeExports(module, memories[0]!, {}, features), wasmExports(module, memories[1]!, {})];
      for (const address of addresses)
        for (const condition of [0, 5, 15]) {
          const [native, wasm] = both.map((exports, i) => {
            new Uint8Array(memories[i]!.buffer).set(first);
            return outcome(() => exports.run!(address, condition));
          });
          assert.is(native, wasm, `seed ${seed}, address ${address}, condition ${condition}`);
          const isTrap = typeof wasm === 'string';
          if (isTrap) traps++;
          runs++;
          assert.is(both[0]!.seen!.value, both[1]!.seen!.value, 'checks do not move across what others see');
          const [own, other] = memories.map(({ buffer }) => new Uint8Array(buffer));
          if (!isTrap) assert.ok(Buffer.compare(own!, other!) === 0, `memory of seed ${seed}, address ${address}`);
        }
    }
    assert.ok(traps > runs / 4 && traps < (runs * 19) / 20, `${traps} of ${runs} trap`);
  });

if (targets.length === 0) test.skip('checks of bounds: this machine runs no native code', () => {});

test.run();
