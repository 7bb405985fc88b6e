/** Each operation of the builder against JavaScript, over a number of elements that is no multiple of a block. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Device } from '../../src/index.ts';
import type { elements } from '../../src/runtime/index.ts';
import { grouped, kernelOf, type Operation, operations } from './operations.ts';

const test = suite('build/operations');
const device = Device.open('cpu');
test.after(() => device.close());

const count = 77;
const edges = [0, 1, 2, 3, 31, 127, 255];

let seed = 1;
/** A linear congruence, with all its 32 bits. */
const random = (): number => {
  seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
  return seed;
};

const elementOf = (type: string): keyof typeof elements => type.replace(/^s/, 'i') as keyof typeof elements;

/** Operands of a type: edges, and numbers of many sizes. */
function operandsOf(type: string): (number | bigint)[] {
  const bits = Number(/\d+$/.exec(type)![0]);
  return Array.from({ length: count }, (_, i) => {
    if (type.startsWith('f')) {
      const special = [0, -0, 1, -1, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 0.5, 1.5, 2.5, -2.5][i % 29];
      const value = special ?? (random() / 2 ** 31 - 1) * 2 ** (Number(random() % 60) - 20);
      return type === 'f32' ? Math.fround(value) : value;
    }
    const whole = i % 11 === 0 ? BigInt(edges[i % 7]!) : (BigInt(random()) << 32n) | BigInt(random());
    const sized = i % 3 === 0 ? whole >> BigInt(random() % 64) : whole;
    const value = type.startsWith('s') ? BigInt.asIntN(bits, sized) : BigInt.asUintN(bits, sized);
    return bits === 64 ? value : Number(value);
  });
}

const computed = operations.filter((each): each is Operation & Required<Pick<Operation, 'compute'>> => each.compute !== undefined);

/** Operations on the same type. */
const groups = [...grouped(computed, ({ from }) => from.name).values()];

/** The first result of each operation that differs from JavaScript's. */
async function wrongIn(group: typeof computed, index: number): Promise<string[]> {
  const { from } = group[0]!;
  const lists = [operandsOf(from.name), operandsOf(from.name), operandsOf(from.name)];
  const [a, b, c] = lists as [number[], number[], number[]];
  const [x, y, z] = lists.map((list) => device.bufferOf(elementOf(from.name), list as number[]));
  const byType = [...grouped(group, ({ to }) => to.name)];
  const results = byType.map(([type, list]) => device.allocate(elementOf(type), count * list.length));
  const buffers = Object.fromEntries(byType.map(([type], i) => [`to_${type}`, results[i]]));
  const args = { a: x!, b: y!, c: z!, n: count, ...buffers } as never;
  kernelOf(group, `operations${index}`).launch(device, { grid: 2, block: 64, args });
  const wrong: string[] = [];
  for (const [at, [, list]] of byType.entries()) {
    const all = [...(await results[at]!.read())] as (number | bigint)[];
    for (const [row, { name, compute }] of list.entries()) {
      const got = all.slice(row * count, (row + 1) * count);
      const expected = a.map((_, i) => compute(a[i] as never, b[i] as never, c[i] as never));
      const i = got.findIndex((value, k) => !isSame(value, expected[k]!));
      if (i >= 0) wrong.push(`${name}(${a[i]}, ${b[i]}, ${c[i]}) is ${got[i]} and not ${expected[i]}`);
    }
  }
  return wrong;
}

test('operations have the results of JavaScript', async () => {
  assert.ok(computed.length > 200, String(computed.length));
  const wrong: string[] = [];
  for (const [index, group] of groups.entries()) wrong.push(...(await wrongIn(group, index)));
  assert.equal(wrong, []);
});

const isSame = (got: number | bigint, expected: number | bigint): boolean =>
  typeof expected === 'number' && typeof got === 'number' ? Object.is(got, expected) : BigInt(got) === BigInt(expected);

test.run();
