/** Checks of addresses: those that go, those that stay, and that functions do what they did before. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { endGuardBytes } from '../../../src/engine/codegen/memory-margin.ts';
import { maxDistance, removeChecks } from '../../../src/native/checks/index.ts';
import { newSums } from '../../../src/native/checks/sums.ts';
import { maxMemoryBytes } from '../../../src/native/context.ts';
import type { Block, End, Inst, SsaFunction, SsaType, Value } from '../../../src/native/ssa/types.ts';
import { verifySsa } from '../../../src/native/ssa/verify.ts';
import { randomFractions } from '../../support/lcg.ts';
import { interpret, Trap } from '../support/interpret.ts';

const test = suite('native checks');

/** A function of two i32 and an i64 whose blocks each check an address, trap if its high half is not 0, and access memory there. */
class Writer {
  readonly fn: SsaFunction = { index: 0, params: ['i32', 'i32', 'i64'], results: ['i32'], types: ['i32', 'i32', 'i64'], blocks: [] };
  private block: Block;
  sum: Value;

  constructor() {
    this.block = this.open([0, 1, 2]);
    this.sum = this.number('i32', 0n);
  }

  private open(params: Value[] = []): Block {
    const block: Block = { params, insts: [], end: { op: 'trap' }, loopDepth: 0 };
    this.fn.blocks.push(block);
    return block;
  }

  make(type: SsaType, op: string, args: Value[], rest: Partial<Inst> = {}): Value {
    const result = this.fn.types.push(type) - 1;
    this.block.insts.push({ op, args, result, ...rest });
    return result;
  }

  number = (type: 'i32' | 'i64', bits: bigint): Value =>
    this.make(type, `${type}.const`, [], { bits: BigInt.asUintN(type === 'i32' ? 32 : 64, bits) });

  /** A constant more than a value. */
  plus(value: Value, constant: number): Value {
    const type = this.fn.types[value] as 'i32' | 'i64';
    return constant === 0 ? value : this.make(type, `${type}.add`, [value, this.number(type, BigInt(constant))]);
  }

  /** Adds a random operation on values so far. */
  random(below: Below): void {
    const { types } = this.fn;
    const any = (type: SsaType): Value =>
      pick(
        below,
        types.flatMap((one, value) => (one === type ? [value] : [])),
      );
    const type = pick(below, ['i32', 'i64'] as const);
    const ops = ['add', 'add', 'sub', 'shl', 'xor', 'const', 'convert'] as const;
    const op = pick(below, ops);
    if (op === 'const') this.number(type, BigInt(pick(below, [...near, ...far])));
    else if (op === 'convert' && type === 'i32') this.make('i32', 'i32.wrap_i64', [any('i64')]);
    else if (op === 'convert') this.make('i64', pick(below, ['i64.extend_i32_u', 'i64.extend_i32_s']), [any('i32')]);
    else if (op === 'shl') this.make(type, `${type}.shl`, [any(type), this.number(type, BigInt(pick(below, [0, 2, 31, 32, 35, 63, 66])))]);
    else this.make(type, `${type}.${op}`, [any(type), any(type)]);
  }

  /** Traps unless the high halves of all addresses are 0. */
  check(...addresses: Value[]): void {
    const either = addresses.reduce((a, b) => this.make('i64', 'i64.or', [a, b]));
    const high = this.make('i64', 'i64.shr_u', [either, this.number('i64', 32n)]);
    const cond = this.make('i32', 'i32.wrap_i64', [high]);
    const { block } = this;
    this.block = this.open();
    const next = this.fn.blocks.length - 1;
    block.end = { op: 'branch', cond, then: { block: -1, args: [] }, else: { block: next, args: [] }, isRare: true };
  }

  /** Checks that bits of an address are 0. Where they are not, the code does what kernels do, an atomic access that is not aligned, or only adds to the sum. */
  align(address: Value, mask: number, isTrapping = true): void {
    const cond = this.make('i32', 'i32.and', [address, this.number('i32', BigInt(mask))]);
    const { block } = this;
    const rare = this.open();
    const at = this.fn.blocks.length;
    block.end = { op: 'branch', cond, then: { block: at - 1, args: [] }, else: { block: at, args: [] }, isRare: true };
    this.block = rare;
    this.make('i32', 'i32.atomic.load', [this.number('i32', isTrapping ? 1n : 4n)], { offset: 65536 });
    if (!isTrapping) this.block.insts.push({ op: 'i32.store', args: [this.number('i32', 128n), cond], result: undefined, offset: 0 });
    rare.end = { op: 'jump', to: { block: at, args: [] } };
    this.block = this.open();
  }

  /** Adds what is in memory to the sum, or stores it there. */
  access(address: Value, offset: number, isStore = false): void {
    if (isStore) this.block.insts.push({ op: 'i32.store', args: [address, this.sum], result: undefined, offset });
    else this.sum = this.make('i32', 'i32.add', [this.sum, this.make('i32', 'i32.load', [address], { offset })]);
  }

  finish(): SsaFunction {
    this.block.end = { op: 'return', values: [this.sum] };
    const checks = this.fn.blocks.flatMap(({ end }) => (end.op === 'branch' && end.then.block < 0 ? [end.then] : []));
    if (checks.length > 0) this.open();
    for (const edge of checks) edge.block = this.fn.blocks.length - 1;
    return this.fn;
  }
}

const checksOf = ({ blocks }: SsaFunction): number => blocks.filter(({ end }) => end.op === 'branch').length;

/** The checks that are left of two accesses: at `p + (q + constants[0]) + constants[1]`, and at the same with two other constants. */
function checksLeft(first: readonly [number, number], second: readonly [number, number], accessAt = 0, offset = 65536): number {
  const w = new Writer();
  for (const [inner, outer] of [first, second]) {
    const q = w.plus(1, inner);
    const sum = w.make('i64', 'i64.add', [w.make('i64', 'i64.extend_i32_u', [0]), w.make('i64', 'i64.extend_i32_u', [q])]);
    w.check(w.plus(sum, outer));
    if (Number.isFinite(accessAt)) w.access(w.plus(w.make('i32', 'i32.add', [0, q]), (outer - offset + accessAt) | 0), offset);
  }
  const fn = w.finish();
  removeChecks(fn);
  assert.equal(verifySsa(fn), []);
  return checksOf(fn);
}

test('a check goes where an access has been done a few bytes below', () => {
  assert.is(checksLeft([0, 0], [4, 0]), 1);
  assert.is(checksLeft([0, 0], [0, 4]), 1);
  assert.is(checksLeft([16, 0], [16 + maxDistance - 1, 0]), 1);
  assert.is(checksLeft([16, 8], [15 + maxDistance, 8]), 1);
  assert.is(checksLeft([-4, 0], [4, 0]), 1);
  assert.is(checksLeft([0, -4], [4, 4]), 1);
  assert.is(checksLeft([8, 8], [8, 8]), 1);
});

test('a check goes where an access with a constant offset has been done above', () => {
  assert.is(checksLeft([0, 4], [0, 0]), 1);
  assert.is(checksLeft([0, 0], [0, -65536]), 1);
  assert.is(checksLeft([0, 0], [4, -65536]), 1);
  assert.is(checksLeft([0, 4], [8, 0]), 1);
  assert.is(checksLeft([0, 4], [0, 0], 0, 4), 1);
  assert.is(checksLeft([0, 4], [0, 0], 0, 3), 2);
});

test('a check stays for lower and far addresses', () => {
  assert.is(checksLeft([4, 0], [0, 0]), 2);
  assert.is(checksLeft([4, 0], [0, 8]), 2);
  assert.is(checksLeft([0, 0], [0, -65537]), 2);
  assert.is(checksLeft([16, 0], [16 + maxDistance, 0]), 2);
  assert.is(checksLeft([0, 0], [0, maxDistance]), 2);
  assert.is(checksLeft([0, 0], [maxDistance - 8, 8]), 2);
});

test('a check stays where the constant inside a number may wrap around', () => {
  // The number itself may be that much above the address.
  assert.is(checksLeft([0, -maxDistance], [4, -maxDistance]), 2);
  assert.is(checksLeft([0, -maxDistance + 8], [4, -maxDistance + 8]), 1);
});

test('a check stays without an access at its very address', () => {
  assert.is(checksLeft([0, 0], [4, 0], Number.NaN), 2);
  assert.is(checksLeft([8, 0], [8, 0], Number.NaN), 1);
  assert.is(checksLeft([0, 0], [4, 0], 64), 2);
  assert.is(checksLeft([0, 0], [4, 0], -64), 2);
});

/** The checks that are left of two that addresses with these constants are aligned. */
function alignmentsLeft(first: readonly [number, number], second: readonly [number, number], isTrapping = true): number {
  const w = new Writer();
  for (const [constant, mask] of [first, second]) w.align(w.plus(0, constant), mask, isTrapping);
  const fn = w.finish();
  removeChecks(fn);
  assert.equal(verifySsa(fn), []);
  return checksOf(fn);
}

test('a check of alignment goes where one has been passed that differs by a multiple', () => {
  assert.is(alignmentsLeft([0, 3], [4, 3]), 1);
  assert.is(alignmentsLeft([2, 3], [-2, 3]), 1);
  assert.is(alignmentsLeft([0, 15], [8, 7]), 1);
  assert.is(alignmentsLeft([0, 3], [2, 3]), 2);
  assert.is(alignmentsLeft([0, 7], [8, 15]), 2);
  assert.is(alignmentsLeft([0, 3], [0, 7]), 2);
  assert.is(alignmentsLeft([0, 6], [0, 6]), 2);
  assert.is(alignmentsLeft([0, 3], [4, 3], false), 2);
});

test('nothing is known where a condition is not 0', () => {
  const w = new Writer();
  w.align(0, 3);
  w.align(0, 3);
  const fn = w.finish();
  const first = fn.blocks[0]!.end as Extract<End, { op: 'branch' }>;
  fn.blocks[0]!.end = { ...first, then: first.else, else: first.then };
  removeChecks(fn);
  assert.is(checksOf(fn), 2);
});

test('the distance is less than what no memory of native code has', () => {
  assert.ok(maxMemoryBytes + maxDistance <= 2 ** 32);
  // The device allocates nothing there.
  assert.ok(2 ** 32 - endGuardBytes <= maxMemoryBytes);
});

test('a constant inside a number may wrap around beside another term', () => {
  // The number is not one of several that are not negative: the other term may be.
  const w = new Writer();
  for (const constant of [0, 64]) {
    const q = w.plus(1, constant);
    w.check(w.make('i64', 'i64.add', [2, w.make('i64', 'i64.extend_i32_u', [q])]));
    w.access(w.make('i32', 'i32.add', [w.make('i32', 'i32.wrap_i64', [2]), q]), 0);
  }
  const fn = w.finish();
  removeChecks(fn);
  assert.is(checksOf(fn), 2);
});

type Below = (limit: number) => number;
const pick = <T>(below: Below, list: readonly T[]): T => list[below(list.length)]!;
const near = [0, 4, 8, 12, 16, 64, 128];
const far = [4096, -4, -64, 65536, -65536, maxDistance - 4, maxDistance, 2 ** 31 - 8, -(2 ** 31)];
const constantOf = (below: Below): number => pick(below, below(8) > 0 ? near : far);

/** A random address: its exact sum, and the same modulo 2^32. */
function randomAddress(w: Writer, form: number, below: Below): readonly [Value, Value] {
  const constant = constantOf(below);
  const outer = below(2) === 0 ? constantOf(below) : 0;
  const p = w.make('i64', 'i64.extend_i32_u', [0]);
  const plain = w.make('i32', 'i32.wrap_i64', [2]);
  const plus = (wide: Value, low: Value) => [w.plus(wide, outer), w.plus(low, outer)] as const;
  const q = w.plus(1, constant);
  const unsigned = w.make('i64', 'i64.extend_i32_u', [q]);
  const two = w.number('i64', 2n);
  switch (form) {
    case 0:
      return plus(w.make('i64', 'i64.add', [p, unsigned]), w.make('i32', 'i32.add', [0, q]));
    case 1:
      return [w.plus(2, constant), w.plus(plain, constant)];
    case 2: {
      const scaled = w.make('i64', 'i64.shl', [w.make('i64', 'i64.extend_i32_s', [q]), two]);
      return plus(w.make('i64', 'i64.add', [scaled, p]), w.make('i32', 'i32.add', [0, w.make('i32', 'i32.shl', [q, w.number('i32', 2n)])]));
    }
    case 3:
      return plus(unsigned, q);
    default:
      return plus(w.make('i64', 'i64.add', [2, unsigned]), w.make('i32', 'i32.add', [q, plain]));
  }
}

function randomFunction(seed: number): () => SsaFunction {
  return () => {
    const fractions = randomFractions(seed);
    const below: Below = (limit) => Math.floor(fractions() * limit);
    const w = new Writer();
    const forms = [below(5), below(5)];
    for (let i = 0; i < 12; i++) {
      const [wide, low] = randomAddress(w, pick(below, forms), below);
      if (below(8) > 0) w.check(wide, ...(below(4) === 0 ? [randomAddress(w, pick(below, forms), below)[0]] : []));
      if (below(5) === 0) w.align(below(8) === 0 ? w.plus(low, 2) : low, pick(below, [1, 3, 3, 7]), below(4) > 0);
      const back = pick(below, [0, 16, 16, 65536]);
      if (below(6) > 0) w.access(w.plus(low, -back), back, below(3) === 0);
    }
    return w.finish();
  };
}

const words = [0n, 4n, 64n, 1024n, 8192n, 16384n, 65532n, 65536n, 2n ** 32n - 4n, 2n ** 32n - 64n, 2n ** 31n, 2n ** 30n, 131072n];
const longs = [...words, 2n ** 32n, -4n, -64n, -65536n, 2n ** 63n, 2n ** 40n];

const initial = Uint8Array.from({ length: 1 << 17 }, (_, i) => i * 7);

/** What a function returns or why it traps, and the memory that it leaves. */
function outcome(fn: SsaFunction, args: readonly bigint[]): string {
  const memory = initial.slice();
  let result: string;
  try {
    result = String(interpret(fn, args, { memory, globals: [] }));
  } catch (error) {
    if (!(error instanceof Trap)) throw error;
    result = `trap ${error.code}`;
  }
  return `${result} ${Bun.hash(memory)}`;
}

test('random functions do what they did before', () => {
  let removed = 0;
  const results = new Set<string>();
  for (let seed = 0; seed < 150; seed++) {
    const make = randomFunction(seed);
    const [given, changed] = [make(), make()];
    removeChecks(changed);
    assert.equal(verifySsa(changed), [], `seed ${seed}`);
    removed += checksOf(given) - checksOf(changed);
    const fractions = randomFractions(seed + 1000);
    const below: Below = (limit) => Math.floor(fractions() * limit);
    for (let i = 0; i < 8; i++) {
      const args = [pick(below, words), pick(below, words), BigInt.asUintN(64, pick(below, longs))];
      const expected = outcome(given, args);
      results.add(expected.split(' ').slice(0, -1).join(' '));
      assert.is(outcome(changed, args), expected, `seed ${seed} of ${args}`);
    }
  }
  assert.ok(removed > 300, `${removed} removed`);
  assert.ok(results.has('trap 1') && results.has('trap 2') && results.has('trap 6') && results.size > 15, `${results.size} results`);
});

test('sums are what values are', () => {
  const fractions = randomFractions(7);
  const below: Below = (limit) => Math.floor(fractions() * limit);
  for (let round = 0; round < 40; round++) {
    const w = new Writer();
    for (let i = 0; i < 30; i++) w.random(below);
    const { insts } = w.fn.blocks[0]!;
    const definition = (value: Value) => insts.find(({ result }) => result === value);
    const sums = newSums(definition);
    const args = [pick(below, words), pick(below, words), BigInt.asUintN(64, pick(below, longs))];
    const values = w.fn.types.map((type, value) => {
      const fn: SsaFunction = {
        ...w.fn,
        results: [type as 'i32'],
        blocks: [{ ...w.fn.blocks[0]!, end: { op: 'return', values: [value] } }],
      };
      return interpret(fn, args, { memory: initial, globals: [] }) as bigint;
    });
    for (const [value, bits] of values.entries()) {
      const { key, constant } = sums.low(value);
      const terms = key === '' ? [] : key.split(',').map((term) => term.split('*').map(BigInt) as [bigint, bigint]);
      const low = terms.reduce((sum, [term, factor]) => sum + values[Number(term)]! * factor, BigInt(constant));
      assert.is(BigInt.asUintN(32, low), BigInt.asUintN(32, bits), 'low');
      if (w.fn.types[value] !== 'i64') continue;
      const wide = sums.wide(value);
      const words = wide.key === '' ? [] : wide.key.split(',');
      const sum = words.reduce((sum, word, i) => {
        const term = values[Number(word.slice(1))]!;
        return sum + (word[0] === 'u' ? BigInt.asUintN(32, term + BigInt(wide.inner[i]!)) : term);
      }, wide.constant);
      assert.is(BigInt.asUintN(64, sum), bits, 'wide');
    }
  }
});

test.run();
