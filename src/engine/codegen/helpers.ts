/** Scalar runtime helpers: WebAssembly functions for ops of more than a few instructions. A module contains the helpers that it calls. */
import type { Code, ValueType, WasmModule } from '../../wasm/index.ts';
import { type ApproximateName, hasLargeAngles, largestAngle, writeFunction } from './approximate.ts';
import { writeFma, writeFused } from './fma.ts';
import type { Host } from './host.ts';
import type { FloatOp, IntegerOp } from './mnemonics.ts';

type Body = (code: Code, host: Host) => void;

interface Helper {
  readonly params: readonly ValueType[];
  readonly result: ValueType;
  readonly body: Body;
}

const get = (code: Code, ...locals: number[]): void => locals.forEach((local) => void code.at('local.get', local));

/** `if (condition) return value;` */
function returnIf(code: Code, condition: () => void, value: () => void): void {
  condition();
  code.open('if');
  value();
  code.op('return');
  code.end();
}

const constant = (code: Code, type: 'i32' | 'i64', value: number): void => (type === 'i32' ? code.i32(value) : code.i64(BigInt(value)));

/** Division that never traps: by 0 the quotient is all ones and the remainder the dividend; by -1 there is no overflow. */
function division(type: 'i32' | 'i64', op: 'div_s' | 'div_u' | 'rem_s' | 'rem_u'): Helper {
  const isSigned = op.endsWith('_s');
  const isRemainder = op.startsWith('rem');
  return {
    params: [type, type],
    result: type,
    body(code) {
      returnIf(
        code,
        () => {
          get(code, 1);
          code.op(`${type}.eqz`);
        },
        () => (isRemainder ? get(code, 0) : constant(code, type, -1)),
      );
      if (isSigned)
        returnIf(
          code,
          () => {
            get(code, 1);
            constant(code, type, -1);
            code.op(`${type}.eq`);
          },
          () => {
            constant(code, type, 0);
            if (isRemainder) return;
            get(code, 0);
            code.op(`${type}.sub`);
          },
        );
      get(code, 0, 1);
      code.op(`${type}.${op}`);
    },
  };
}

/** `a OP b ? a : b`. */
const choice = (type: 'i32' | 'i64', op: IntegerOp): Helper => ({
  params: [type, type],
  result: type,
  body(code) {
    get(code, 0, 1, 0, 1);
    code.op(`${type}.${op}`);
    code.op('select');
  },
});

/** min or max that gives the other operand where one is a NaN. WebAssembly's own order -0 below +0 but propagate NaN. */
const floatChoice = (type: 'f32' | 'f64', op: 'min' | 'max'): Helper => ({
  params: [type, type],
  result: type,
  body(code) {
    for (const [nan, other] of [
      [0, 1],
      [1, 0],
    ] as const)
      returnIf(
        code,
        () => {
          get(code, nan, nan);
          code.op(`${type}.ne`);
        },
        () => get(code, other),
      );
    get(code, 0, 1);
    code.op(`${type}.${op}`);
  },
});

/** Flushes a subnormal f32 to the zero of its sign. */
function flushed(code: Code): void {
  const minNormal = 0x0080_0000;
  returnIf(
    code,
    () => {
      get(code, 0);
      code.op('f32.abs');
      code.f32(minNormal);
      code.op('f32.lt');
    },
    () => {
      code.f32(0);
      get(code, 0);
      code.op('f32.copysign');
    },
  );
  get(code, 0);
}

/** Two comparisons joined by and / or. */
const twoComparisons = (
  type: 'f32' | 'f64',
  operands: readonly [number, number, number, number],
  [first, second]: readonly [FloatOp, FloatOp],
  join: 'i32.and' | 'i32.or',
): Helper => ({
  params: [type, type],
  result: 'i32',
  body(code) {
    get(code, operands[0], operands[1]);
    code.op(`${type}.${first}`);
    get(code, operands[2], operands[3]);
    code.op(`${type}.${second}`);
    code.op(join);
  },
});

/** High half of an unsigned 64-bit product, from four products of halves. */
function highProduct(code: Code): void {
  const [low, mid, high] = [code.local('i64'), code.local('i64'), code.local('i64')];
  const half = (operand: number, isHigh: boolean): void => {
    get(code, operand);
    code.i64(isHigh ? 32n : 0xffffffffn);
    code.op(isHigh ? 'i64.shr_u' : 'i64.and');
  };
  const product = (aHigh: boolean, bHigh: boolean): void => {
    half(0, aHigh);
    half(1, bHigh);
    code.op('i64.mul');
  };
  const shifted = (local: number): void => {
    get(code, local);
    code.i64(32n);
    code.op('i64.shr_u');
  };
  // low = aL*bL >> 32; mid = aH*bL + low; high = aL*bH + (mid & mask); result = aH*bH + (mid >> 32) + (high >> 32)
  product(false, false);
  code.i64(32n);
  code.op('i64.shr_u');
  code.at('local.set', low);
  product(true, false);
  get(code, low);
  code.op('i64.add');
  code.at('local.set', mid);
  product(false, true);
  get(code, mid);
  code.i64(0xffffffffn);
  code.op('i64.and');
  code.op('i64.add');
  code.at('local.set', high);
  product(true, true);
  shifted(mid);
  code.op('i64.add');
  shifted(high);
  code.op('i64.add');
}

/** The signed high product: the unsigned one, minus b where a is negative, minus a where b is negative. */
function signedHighProduct(code: Code): void {
  highProduct(code);
  for (const [sign, other] of [
    [0, 1],
    [1, 0],
  ] as const) {
    get(code, sign);
    code.i64(63n);
    code.op('i64.shr_s');
    get(code, other);
    code.op('i64.and');
    code.op('i64.sub');
  }
}

/** Reverses bits: swaps adjacent bits, then pairs, nibbles, bytes and so on. */
const reversal = (type: 'i32' | 'i64'): Helper => ({
  params: [type],
  result: type,
  body(code) {
    const width = type === 'i64' ? 64 : 32;
    const push = (value: bigint): void => (type === 'i64' ? code.i64(value) : code.i32(Number(BigInt.asIntN(32, value))));
    for (let step = 1; step < width; step *= 2) {
      // Ones in every second group of `step` bits.
      const low = ((1n << BigInt(width)) - 1n) / ((1n << BigInt(step)) + 1n);
      get(code, 0);
      push(BigInt(step));
      code.op(`${type}.shr_u`);
      push(low);
      code.op(`${type}.and`);
      get(code, 0);
      push(low);
      code.op(`${type}.and`);
      push(BigInt(step));
      code.op(`${type}.shl`);
      code.op(`${type}.or`);
      code.at('local.set', 0);
    }
    get(code, 0);
  },
});

/** An approximate f32 function. */
const approximate = (name: ApproximateName): Helper => ({
  params: ['f32'],
  result: 'f32',
  body(code, host) {
    const x = (): void => {
      code.at('local.get', 0);
      code.op('f64.promote_f32');
    };
    if (hasLargeAngles(name))
      returnIf(
        code,
        () => {
          x();
          code.op('f64.abs');
          code.f64(new BigUint64Array(Float64Array.of(largestAngle).buffer)[0]!);
          code.op('f64.gt');
        },
        () => {
          x();
          code.at('call', host.functions[name]);
          code.op('f32.demote_f64');
        },
      );
    x();
    writeFunction(name, code);
    code.op('f32.demote_f64');
  },
});

const rows = {
  sdiv32: division('i32', 'div_s'),
  udiv32: division('i32', 'div_u'),
  srem32: division('i32', 'rem_s'),
  urem32: division('i32', 'rem_u'),
  sdiv64: division('i64', 'div_s'),
  udiv64: division('i64', 'div_u'),
  srem64: division('i64', 'rem_s'),
  urem64: division('i64', 'rem_u'),
  smin32: choice('i32', 'lt_s'),
  smax32: choice('i32', 'gt_s'),
  umin32: choice('i32', 'lt_u'),
  umax32: choice('i32', 'gt_u'),
  smin64: choice('i64', 'lt_s'),
  smax64: choice('i64', 'gt_s'),
  umin64: choice('i64', 'lt_u'),
  umax64: choice('i64', 'gt_u'),
  fmin32: floatChoice('f32', 'min'),
  fmax32: floatChoice('f32', 'max'),
  fmin64: floatChoice('f64', 'min'),
  fmax64: floatChoice('f64', 'max'),
  one32: twoComparisons('f32', [0, 1, 0, 1], ['lt', 'gt'], 'i32.or'),
  one64: twoComparisons('f64', [0, 1, 0, 1], ['lt', 'gt'], 'i32.or'),
  ord32: twoComparisons('f32', [0, 0, 1, 1], ['eq', 'eq'], 'i32.and'),
  ord64: twoComparisons('f64', [0, 0, 1, 1], ['eq', 'eq'], 'i32.and'),
  umulhi64: { params: ['i64', 'i64'], result: 'i64', body: highProduct },
  smulhi64: { params: ['i64', 'i64'], result: 'i64', body: signedHighProduct },
  bitrev32: reversal('i32'),
  bitrev64: reversal('i64'),
  flush32: { params: ['f32'], result: 'f32', body: flushed },
  exp2: approximate('exp2'),
  log2: approximate('log2'),
  sin: approximate('sin'),
  cos: approximate('cos'),
  tanh: approximate('tanh'),
  rsqrt: approximate('rsqrt'),
  fma32: { params: ['f32', 'f32', 'f32'], result: 'f32', body: (code, { target }) => (target ? writeFused(code, 'f32') : writeFma(code)) },
  /** Of native code only. */
  fma64: { params: ['f64', 'f64', 'f64'], result: 'f64', body: (code) => writeFused(code, 'f64') },
} satisfies Record<string, Helper>;

export type HelperName = keyof typeof rows;

/** The function index of a helper by name; the first call for a name writes the helper into the module. */
export function helperTable(module: WasmModule, host: Host): (name: HelperName) => number {
  const known = new Map<HelperName, number>();
  return (name) => {
    const found = known.get(name);
    if (found !== undefined) return found;
    const row: Helper = rows[name];
    const { index, code } = module.fn({ params: row.params, results: [row.result] });
    row.body(code, host);
    known.set(name, index);
    return index;
  };
}
