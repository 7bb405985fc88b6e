/** What a loop carries around the calls of the host by which a launch checks its time limit: saved before each, and loaded again. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { f64, globalIndex, kernel, local, loop, ptr, u32, when } from '../../src/build/index.ts';
import { Device } from '../../src/index.ts';

const test = suite('engine/carried');
const device = Device.open('cpu', { print: false });
test.after(() => device.close());

// The fuel between two calls is that of some thousand turns of these loops.
const turns = 30_000;
const threads = 36;

/** Three sums of each thread, of which one is of 64 bits: integers, so that they are exact in any order. */
const sums = (isDivergent: boolean) =>
  kernel(`carried_${isDivergent ? 'divergent' : 'uniform'}`, { out: ptr(u32), wide: ptr(f64), n: u32 }, ({ out, wide, n }) => {
    const own = globalIndex();
    const [low, high, real] = [local(u32, own), local(u32, own.mul(7)), local(f64, 0)];
    // Lanes of a divergent loop leave it at different turns.
    loop(0, isDivergent ? n.sub(own.mul(11)) : n, 1, (i) => {
      low.set(low.add(i.mul(own)));
      high.set(high.xor(low.add(i)));
      real.set(real.add(own.add(1).to(f64)));
    });
    out.at(own.mul(2)).set(low);
    out.at(own.mul(2), 1).set(high);
    when(own.lt(threads), () => wide.at(own).set(real));
  });

for (const isDivergent of [false, true])
  test(`vectors that a ${isDivergent ? 'divergent' : 'uniform'} loop carries over many calls of the host`, async () => {
    const [out, wide] = [device.allocate('u32', 2 * threads), device.allocate('f64', threads)];
    sums(isDivergent).launch(device, { grid: 1, block: threads, args: { out, wide, n: turns } });
    const expected: number[] = [];
    const reals: number[] = [];
    for (let own = 0; own < threads; own++) {
      const count = isDivergent ? turns - 11 * own : turns;
      let [low, high] = [own, 7 * own];
      for (let i = 0; i < count; i++) {
        low = (low + Math.imul(i, own)) >>> 0;
        high = (high ^ (low + i)) >>> 0;
      }
      expected.push(low, high);
      reals.push(count * (own + 1));
    }
    assert.equal([...(await out.read())], expected);
    assert.equal([...(await wide.read())], reals);
  });

test.run();
