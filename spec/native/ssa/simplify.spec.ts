/** Simplification: what it may leave out and what has to stay, by hand; and random modules, which do what WebAssembly does. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { buildSsa } from '../../../src/native/ssa/build.ts';
import { inlineCalls } from '../../../src/native/ssa/inline.ts';
import { printSsa } from '../../../src/native/ssa/print.ts';
import { simplify } from '../../../src/native/ssa/simplify.ts';
import type { SsaFunction } from '../../../src/native/ssa/types.ts';
import { verifySsa } from '../../../src/native/ssa/verify.ts';
import { type Code, newModule, readWasm, type ValueType, type WasmModule } from '../../../src/wasm/index.ts';
import { randomFractions } from '../../support/lcg.ts';
import { interpret } from '../support/interpret.ts';
import { differenceOf, initialMemory, runSsaModule, runWasm } from '../support/outcome.ts';
import { randomModule } from '../support/random-module.ts';
import { opsOf, simplifiedModule } from '../support/simplified.ts';

const test = suite('native/ssa/simplify');

/** A simplified function of parameters of i32, with two globals of i32 and an imported function 0. */
function simplified(params: readonly ValueType[], results: readonly ValueType[], write: (code: Code) => void): SsaFunction {
  const functions = simplifiedModule((module) => {
    module.importFunction('note', { params: [], results: [] });
    module.global('i32');
    module.global('i32');
    write(module.fn({ params, results }, 'run').code);
  });
  return functions.get(1)!;
}

const get = (code: Code, ...locals: number[]): void => {
  for (const local of locals) code.at('local.get', local);
};

test('constants are folded, and what does not change a value vanishes', () => {
  const fn = simplified(['i32'], ['i32'], (code) => {
    code.i32(6);
    code.i32(7);
    code.op('i32.mul');
    get(code, 0);
    code.i32(0);
    code.op('i32.or');
    code.op('i32.add');
    code.i32(2);
    code.op('i32.sub');
  });
  assert.match(printSsa(fn), /const 0x28\n.*i32.add v0, v\d+\n {2}return/);
});

test('addresses at constant distances share their sum', () => {
  const fn = simplified(['i32', 'i32'], [], (code) => {
    for (const distance of [4, 8, 12]) {
      get(code, 0, 1);
      code.i32(distance);
      code.op('i32.add');
      code.op('i32.add');
      code.i32(65536);
      code.op('i32.sub');
      code.i32(0);
      code.access('i32.store', 4, 65536);
    }
  });
  // One sum of both, and one for each distance: the sum wraps round, so that the offset cannot take it.
  assert.equal(opsOf(fn).filter((op) => op === 'i32.add').length, 4);
  assert.equal(
    [...printSsa(fn).matchAll(/const (0xffff\w+)/g)].map(([, bits]) => bits),
    ['0xffff0004', '0xffff0008', '0xffff000c'],
  );
});

test('a constant goes through shifts and products', () => {
  const fn = simplified(['i32', 'i32'], ['i32'], (code) => {
    get(code, 0);
    code.i32(3);
    code.op('i32.sub');
    code.i32(4);
    code.op('i32.shl');
    get(code, 1);
    code.i32(5);
    code.op('i32.add');
    code.i32(12);
    code.op('i32.mul');
    code.op('i32.sub');
  });
  // (x - 3) * 16 - (y + 5) * 12
  assert.equal(opsOf(fn), ['i32.shl', 'i32.mul', 'i32.sub', 'i32.add']);
  assert.match(printSsa(fn), `const 0x${(-(3 * 16 + 5 * 12) >>> 0).toString(16)}`);
});

test('equal loads are one until memory changes there', () => {
  const load = (code: Code, offset: number): void => {
    get(code, 0);
    code.access('i32.load', 4, offset);
    code.at('global.set', 0);
  };
  const store = (code: Code, address: number, offset: number): void => {
    get(code, address);
    code.i32(1);
    code.access('i32.store', 4, offset);
  };
  const loads = (between: (code: Code) => void): number =>
    opsOf(
      simplified(['i32', 'i32'], [], (code) => {
        load(code, 8);
        between(code);
        load(code, 8);
      }),
    ).filter((op) => op === 'i32.load').length;
  assert.equal(
    loads(() => {}),
    1,
    'nothing between',
  );
  assert.equal(
    loads((code) => store(code, 0, 12)),
    1,
    'a store behind it',
  );
  assert.equal(
    loads((code) => store(code, 0, 4)),
    1,
    'a store before it',
  );
  assert.equal(
    loads((code) => store(code, 0, 11)),
    2,
    'a store of its last byte',
  );
  assert.equal(
    loads((code) => store(code, 0, 5)),
    2,
    'a store of its first byte',
  );
  assert.equal(
    loads((code) => store(code, 1, 12)),
    2,
    'a store at another address',
  );
  assert.equal(
    loads((code) => code.at('call', 0)),
    2,
    'a call',
  );
  assert.equal(
    loads((code) => code.op('atomic.fence')),
    2,
    'a fence',
  );
  assert.equal(
    loads((code) => store(code, 0, 8)),
    1,
    'the second one is what was stored',
  );
});

test('a load in a loop waits for another thread, and is done in each round', () => {
  const fn = simplified(['i32'], [], (code) => {
    get(code, 0);
    code.access('i32.load', 4);
    code.at('global.set', 0);
    code.open('loop');
    get(code, 0);
    code.access('i32.load', 4);
    code.op('i32.eqz');
    code.at('br_if', 0);
    code.end();
  });
  assert.equal(
    fn.blocks.filter(({ loopDepth }) => loopDepth === 1).flatMap(({ insts }) => insts.map(({ op }) => op)),
    ['i32.load'],
  );
});

test('what is invariant is done before a loop, but not what may trap or changes in it', () => {
  const fn = simplified(['i32', 'i32', 'i32'], [], (code) => {
    code.open('loop');
    code.at('global.get', 0);
    get(code, 1);
    code.op('i32.xor');
    get(code, 1, 2);
    code.op('i32.div_u');
    code.op('i32.mul');
    code.at('global.get', 1);
    code.op('i32.rotl');
    code.at('global.set', 1);
    get(code, 0);
    code.i32(1);
    code.op('i32.sub');
    code.at('local.tee', 0);
    code.at('br_if', 0);
    code.end();
  });
  const inLoop = fn.blocks.filter(({ loopDepth }) => loopDepth === 1).flatMap(({ insts }) => insts.map(({ op }) => op));
  assert.equal(
    inLoop.filter((op) => !op.endsWith('const')),
    ['i32.div_u', 'i32.mul', 'global.get', 'i32.rotl', 'global.set', 'i32.add'],
  );
  assert.ok(opsOf(fn).includes('i32.xor'));
});

test('a global that is set between two loops is read before each', () => {
  const fn = simplified(['i32'], [], (code) => {
    for (let i = 0; i < 2; i++) {
      code.open('loop');
      code.at('global.get', 0);
      code.at('global.set', 1);
      get(code, 0);
      code.i32(1);
      code.op('i32.sub');
      code.at('local.tee', 0);
      code.at('br_if', 0);
      code.end();
      if (i === 0) {
        code.i32(8);
        code.at('global.set', 0);
        code.at('call', 0);
      }
    }
  });
  const outside = fn.blocks.filter(({ loopDepth }) => loopDepth === 0).flatMap(({ insts }) => insts.map(({ op }) => op));
  assert.equal(outside.filter((op) => op === 'global.get').length, 2);
});

test('what may trap is done though nobody needs it', () => {
  const fn = simplified(['i32', 'f32'], [], (code) => {
    get(code, 0);
    code.access('v128.load', 4);
    code.op('drop');
    get(code, 0, 0);
    code.op('i32.div_s');
    code.op('drop');
    get(code, 1);
    code.op('i32.trunc_f32_s');
    code.op('drop');
    get(code, 0);
    code.i32(10);
    code.op('i32.div_s');
    code.op('drop');
    code.i32(-0x80000000);
    code.i32(-1);
    code.op('i32.div_s');
    code.op('drop');
  });
  assert.equal(opsOf(fn), ['v128.load', 'i32.div_s', 'i32.trunc_f32_s', 'i32.div_s']);
  assert.match(printSsa(fn), /const 0x80000000/, 'the quotient that overflows stays, the one by 10 does not');
});

test('a branch that is seldom taken stays the one that is seldom taken', () => {
  const fn = simplified(['i32'], [], (code) => {
    get(code, 0);
    code.op('i32.eqz');
    code.openRare();
    code.at('call', 0);
    code.end();
    get(code, 0);
    code.op('i32.eqz');
    code.op('i32.eqz');
    code.op('i32.eqz');
    code.open('if');
    code.i32(1);
    code.at('global.set', 0);
    code.end();
  });
  const [first, second] = fn.blocks.map(({ end }) => end).filter(({ op }) => op === 'branch');
  assert.ok(first?.op === 'branch' && first.isRare && fn.blocks[first.then.block]!.insts.some(({ op }) => op === 'call'));
  assert.ok(second?.op === 'branch' && second.cond === 0 && fn.blocks[second.else.block]!.insts.some(({ op }) => op === 'global.set'));
});

test('nothing is reached behind an atomic access that is never aligned', () => {
  const loads = (address: number): number => {
    const fn = simplified(['i32'], ['i32'], (code) => {
      get(code, 0);
      code.access('i32.load', 4, 8);
      get(code, 0);
      code.openRare();
      code.i32(address);
      code.access('i32.atomic.load', 4, 4);
      code.op('drop');
      code.end();
      get(code, 0);
      code.access('i32.load', 4, 8);
      code.op('i32.add');
    });
    return opsOf(fn).filter((op) => op === 'i32.load').length;
  };
  assert.equal(loads(1), 1);
  assert.equal(loads(2), 1);
  assert.equal(loads(4), 2, 'an atomic access is done, and memory is read anew');
});

test('branches by constants leave one way, and blocks on it are one', () => {
  const fn = simplified(['i32'], ['i32'], (code) => {
    code.i32(3);
    code.i32(3);
    code.op('i32.eq');
    code.open('if', 'i32');
    code.open('block');
    code.i32(9);
    code.table([0, 0], 0);
    code.end();
    get(code, 0);
    code.else();
    code.op('unreachable');
    code.end();
  });
  assert.equal(fn.blocks.length, 1);
  assert.equal(fn.blocks[0]!.end, { op: 'return', values: [0] });
});

test('values of locals that nobody reads go round no loop', () => {
  const fn = simplified(['i32'], [], (code) => {
    const sum = code.local('i32');
    code.open('loop');
    get(code, sum, 0);
    code.op('i32.add');
    code.at('local.set', sum);
    get(code, 0);
    code.i32(1);
    code.op('i32.sub');
    code.at('local.tee', 0);
    code.at('br_if', 0);
    code.end();
  });
  const header = fn.blocks.find(({ loopDepth }) => loopDepth === 1)!;
  assert.equal(header.params.length, 1);
});

const helper = (
  module: WasmModule,
  params: readonly ValueType[],
  results: readonly ValueType[],
  write: (code: Code, index: number) => void,
): number => {
  const { index, code } = module.fn({ params, results });
  write(code, index);
  return index;
};

test('a function on vectors takes the place of its calls, other than in rare blocks', () => {
  const functions = simplifiedModule((module) => {
    const twice = helper(module, ['v128'], ['v128'], (code) => {
      get(code, 0);
      code.op('v128.any_true');
      code.open('if');
      get(code, 0, 0);
      code.op('f32x4.add');
      code.op('return');
      code.end();
      get(code, 0);
      code.op('f32x4.neg');
    });
    const { code } = module.fn({ params: ['v128', 'i32'], results: ['v128'] }, 'run');
    get(code, 0);
    code.at('call', twice);
    code.at('call', twice);
    code.at('local.set', 0);
    get(code, 1);
    code.openRare();
    get(code, 0);
    code.at('call', twice);
    code.at('local.set', 0);
    code.end();
    get(code, 0);
  });
  const ops = opsOf(functions.get(1)!);
  assert.equal(ops.filter((op) => op === 'call').length, 1);
  assert.equal(ops.filter((op) => op === 'f32x4.neg').length, 2);
});

test('functions that call themselves, and large ones of numbers, stay calls', () => {
  const functions = simplifiedModule((module) => {
    const self = helper(module, ['i32'], [], (code, index) => {
      get(code, 0);
      code.open('if');
      get(code, 0);
      code.i32(1);
      code.op('i32.sub');
      code.at('call', index);
      code.end();
    });
    const large = helper(module, ['i32'], ['i32'], (code) => {
      for (let i = 0; i < 100; i++) {
        get(code, 0);
        code.i32(i + 3);
        code.op('i32.rotl');
        get(code, 0);
        code.op('i32.mul');
        code.at('local.set', 0);
      }
      get(code, 0);
    });
    const { code } = module.fn({ params: ['i32'], results: ['i32'] }, 'run');
    get(code, 0);
    code.at('call', self);
    get(code, 0);
    code.at('call', large);
    code.at('call', large);
  });
  assert.equal(opsOf(functions.get(2)!), ['call', 'call', 'call']);
});

/** Instructions that have rules, whose operands are often constants. */
const numberOps = 'add sub mul shl shr_u shr_s and or xor rotl rotr div_u rem_u'.split(' ');
const comparisons = 'eq ne lt_s lt_u gt_s gt_u le_s le_u ge_s ge_u'.split(' ');
const constants = [0, 1, 2, 3, 4, 31, 32, 33, 64, 255, 65536, -1, -4, 0x7fffffff, -0x80000000];

function writeNumber(code: Code, random: () => number, type: 'i32' | 'i64', depth: number): void {
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!;
  if (depth === 0 || random() < 0.15) {
    if (random() < 0.5) return get(code, type === 'i32' ? pick([0, 1]) : pick([2, 3]));
    return type === 'i32' ? code.i32(pick(constants)) : code.i64(BigInt(pick(constants)));
  }
  const operand = (of: 'i32' | 'i64' = type): void => writeNumber(code, random, of, depth - 1);
  const kind = random();
  if (kind < 0.7) {
    const op = pick(numberOps);
    operand();
    // A divisor is no zero.
    if (/div|rem/.test(op) && type === 'i32') code.i32(pick([1, 2, 3, 8, -1, -0x80000000]));
    else if (/div|rem/.test(op)) code.i64(BigInt(pick([1, 2, 3, 8, -1, -0x80000000])));
    else operand();
    code.op(`${type}.${op}` as 'i32.add');
  } else if (kind < 0.8) {
    operand(type);
    operand(type);
    operand('i32');
    code.op('select');
  } else if (type === 'i64') {
    operand('i32');
    code.op(random() < 0.5 ? 'i64.extend_i32_u' : 'i64.extend_i32_s');
  } else if (kind < 0.85) {
    operand('i64');
    code.op('i32.wrap_i64');
  } else if (kind < 0.9) {
    operand();
    code.op('i32.eqz');
  } else {
    const of = random() < 0.5 ? 'i32' : 'i64';
    operand(of);
    operand(of);
    code.op(`${of}.${pick(comparisons)}` as 'i32.eq');
  }
}

test('random expressions with constants are what they were', () => {
  const random = randomFractions(7);
  let shorter = 0;
  for (let i = 0; i < 250; i++) {
    const type = i % 2 === 0 ? 'i32' : 'i64';
    const module = newModule();
    writeNumber(module.fn({ params: ['i32', 'i32', 'i64', 'i64'], results: [type] }).code, random, type, 5);
    const [plain, simple] = [0, 1].map(() => buildSsa(readWasm(module.finish()), 0) as SsaFunction) as [SsaFunction, SsaFunction];
    simplify(simple);
    assert.equal(verifySsa(simple), [], `expression ${i}`);
    if (opsOf(simple).length < opsOf(plain).length) shorter++;
    const world = { memory: new Uint8Array(0), globals: [] };
    for (let run = 0; run < 6; run++) {
      const word = (): bigint =>
        BigInt.asUintN(32, BigInt(run < 3 ? constants[Math.floor(random() * constants.length)]! : Math.floor(random() * 2 ** 32)));
      const args = [word(), word(), (word() << 32n) | word(), BigInt.asUintN(64, BigInt.asIntN(32, word()))];
      assert.equal(
        interpret(simple, args, world),
        interpret(plain, args, world),
        `expression ${i} of ${args}: ${printSsa(plain)} ${printSsa(simple)}`,
      );
    }
  }
  assert.ok(shorter > 150, `${shorter} expressions are shorter`);
});

const vectorOps = 'v128.and v128.or v128.xor v128.andnot i32x4.add f32x4.abs'.split(' ');

function writeVector(code: Code, random: () => number, depth: number): void {
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!;
  if (depth === 0 || random() < 0.15)
    return random() < 0.4
      ? get(code, pick([0, 1]))
      : code.v128(
          pick([
            [0, 0, 0, 0],
            [-1, -1, -1, -1],
            [0, -1, 0, -1],
            [1, 2, 3, 4],
          ]),
        );
  const operand = (): void => writeVector(code, random, depth - 1);
  const kind = random();
  if (kind < 0.5) {
    const op = pick(vectorOps);
    operand();
    if (!op.startsWith('f')) operand();
    code.op(op as 'v128.and');
  } else if (kind < 0.6) {
    operand();
    code.op('v128.not');
  } else if (kind < 0.75) {
    for (let i = 0; i < 3; i++) operand();
    code.op('v128.bitselect');
  } else if (kind < 0.85) {
    operand();
    code.i32(pick([0, 5, 32, 33]));
    code.op(pick(['i32x4.shl', 'i16x8.shr_u', 'i8x16.shr_s']));
  } else if (kind < 0.95) {
    operand();
    const [extract, replace] = pick([
      ['i32x4.extract_lane', 'i32x4.replace_lane'],
      ['i16x8.extract_lane_s', 'i16x8.replace_lane'],
      ['i8x16.extract_lane_u', 'i8x16.replace_lane'],
    ] as const);
    operand();
    code.lane(extract, pick([0, 1]));
    code.lane(replace, pick([0, 1]));
  } else {
    operand();
    code.op(pick(['v128.any_true', 'i32x4.all_true', 'i8x16.bitmask', 'i64x2.bitmask']));
    code.op(pick(['i32x4.splat', 'i8x16.splat']));
  }
}

test('random expressions on vectors with constants are what they were', () => {
  const random = randomFractions(8);
  for (let i = 0; i < 120; i++) {
    const module = newModule();
    writeVector(module.fn({ params: ['v128', 'v128'], results: ['v128'] }).code, random, 5);
    const [plain, simple] = [0, 1].map(() => buildSsa(readWasm(module.finish()), 0) as SsaFunction) as [SsaFunction, SsaFunction];
    simplify(simple);
    assert.equal(verifySsa(simple), [], `expression ${i}`);
    const world = { memory: new Uint8Array(0), globals: [] };
    for (let run = 0; run < 3; run++) {
      const args = [0, 1].map(() => Uint8Array.from({ length: 16 }, () => (random() < 0.3 ? 0 : Math.floor(random() * 256))));
      assert.equal(
        interpret(simple, args, world),
        interpret(plain, args, world),
        `expression ${i}: ${printSsa(plain)} ${printSsa(simple)}`,
      );
    }
  }
});

test('random modules do what WebAssembly does after inlining and simplification', () => {
  for (let seed = 101; seed <= 190; seed++) {
    const bytes = randomModule({ seed, mayTrap: seed % 3 === 0, hasVectors: seed % 2 === 0, statements: seed % 10 === 0 ? 150 : 40 });
    const start = initialMemory(seed);
    const found = runSsaModule(bytes, [seed, -seed], start, (functions, module) => {
      inlineCalls(functions, module);
      for (const fn of functions.values()) assert.equal(verifySsa(fn, module), [], `seed ${seed}`);
    });
    assert.equal(differenceOf(found, runWasm(bytes, [seed, -seed], start)), undefined, `seed ${seed}`);
  }
});

test.run();
