/** WebAssembly functions on vectors, for rare cases. A module contains those that it calls. */
import type { Code, ValueType, WasmModule } from '../../../wasm/index.ts';
import { type ApproximateName, hasLargeAngles, largestAngle, writeFunctionOfPair } from '../../codegen/approximate.ts';
import type { HelperName } from '../../codegen/helpers.ts';
import type { Host } from '../../codegen/host.ts';
import { joinHalves, upperHalf, words } from './vectors.ts';

interface Row {
  readonly params: readonly ValueType[];
  readonly results: readonly ValueType[];
  readonly body: (code: Code, helper: (name: HelperName) => number, host: Host['functions']) => void;
}

/** An approximate function of four f32 lanes, computed as two pairs of f64. Large angles take the scalar function. */
const approximate = (name: ApproximateName): Row => ({
  params: ['v128'],
  results: ['v128'],
  body(code, helper) {
    if (hasLargeAngles(name)) {
      code.at('local.get', 0);
      code.op('f32x4.abs');
      code.v128(words(new Uint32Array(Float32Array.of(largestAngle).buffer)[0]!));
      code.op('f32x4.gt');
      code.op('v128.any_true');
      code.open('if');
      for (let lane = 0; lane < 4; lane++) {
        code.at('local.get', 0);
        code.at('local.get', 0);
        code.lane('f32x4.extract_lane', lane);
        code.at('call', helper(name));
        code.lane('f32x4.replace_lane', lane);
        code.at('local.set', 0);
      }
      code.at('local.get', 0);
      code.op('return');
      code.end();
    }
    for (const half of [0, 1]) {
      code.at('local.get', 0);
      if (half === 1) upperHalf({ code });
      code.op('f64x2.promote_low_f32x4');
      writeFunctionOfPair(name, code);
      code.op('f32x4.demote_f64x2_zero');
    }
    joinHalves({ code });
  },
});

/** An FMA of two f64 lanes for those lanes in which the fast path was not certain; the other lanes keep their result. */
const fused: Row = {
  params: ['v128', 'v128', 'v128', 'v128', 'v128'],
  results: ['v128'],
  body(code, _, host) {
    const [, , , result, certain] = [0, 1, 2, 3, 4] as const;
    const [a, b, c] = ['f64', 'f64', 'f64'].map(() => code.local('f64')) as [number, number, number];
    const get = (...locals: number[]): void => locals.forEach((local) => void code.at('local.get', local));
    const isFiniteNumber = (of: number): void => {
      get(of, of);
      code.op('f64.sub');
      code.f64(0n);
      code.op('f64.eq');
    };
    for (const lane of [0, 1]) {
      get(certain);
      code.lane('i64x2.extract_lane', lane);
      code.op('i64.eqz');
      code.open('if');
      for (const [operand, local] of [a, b, c].entries()) {
        get(operand);
        code.lane('f64x2.extract_lane', lane);
        code.at('local.set', local);
      }
      get(result);
      // A product with a zero, a NaN or an infinite factor is exact.
      for (const factor of [a, b]) {
        isFiniteNumber(factor);
        get(factor);
        code.f64(0n);
        code.op('f64.ne');
        code.op('i32.and');
        if (factor === b) code.op('i32.and');
      }
      code.open('if', 'f64');
      isFiniteNumber(c);
      code.open('if', 'f64');
      get(a, b, c);
      code.at('call', host.fmaF64);
      code.else();
      get(c);
      code.end();
      code.else();
      get(a, b);
      code.op('f64.mul');
      get(c);
      code.op('f64.add');
      code.end();
      code.lane('f64x2.replace_lane', lane);
      code.at('local.set', result);
      code.end();
    }
    get(result);
  },
};

/** Pushes base + extended x * by, of locals. */
function pushAddress(code: Code, base: number, { x, by, isSigned }: Record<'x' | 'by' | 'isSigned', number>): void {
  const get = (local: number): void => code.at('local.get', local);
  get(base);
  get(x);
  code.op('i64.extend_i32_s');
  get(x);
  code.op('i64.extend_i32_u');
  get(isSigned);
  code.op('select');
  get(by);
  code.op('i64.mul');
  code.op('i64.add');
}

/** Faults if the address on the stack is not below 4 GiB. */
function faultUnlessAddressable(code: Code): void {
  code.i64(32n);
  code.op('i64.shr_u');
  code.op('i64.eqz');
  code.op('i32.eqz');
  code.open('if');
  code.op('unreachable');
  code.end();
}

/**
 * Faults unless the address of each lane whose bit is set is below 4 GiB: a base plus two terms. A term is the integer of the first lane, its
 * stride, its factor, and whether it is signed.
 */
const addressableLanes: Row = {
  params: ['i64', 'i32', 'i32', 'i64', 'i32', 'i32', 'i32', 'i64', 'i32', 'i32'],
  results: [],
  body(code) {
    const bits = 9;
    const [first, second] = [
      { x: 1, stride: 2, by: 3, isSigned: 4 },
      { x: 5, stride: 6, by: 7, isSigned: 8 },
    ] as const;
    const address = code.local('i64');
    code.open('loop');
    code.at('local.get', bits);
    code.i32(1);
    code.op('i32.and');
    code.open('if');
    pushAddress(code, 0, first);
    code.at('local.set', address);
    pushAddress(code, address, second);
    faultUnlessAddressable(code);
    code.end();
    for (const { x, stride } of [first, second]) {
      code.at('local.get', x);
      code.at('local.get', stride);
      code.op('i32.add');
      code.at('local.set', x);
    }
    code.at('local.get', bits);
    code.i32(1);
    code.op('i32.shr_u');
    code.at('local.tee', bits);
    code.at('br_if', 0);
    code.end();
  },
};

/** Faults unless a base plus a term is below 4 GiB in each lane of a mask: the lanes of the integer, its factor, and whether it is signed. */
const addressablePack: Row = {
  params: ['i64', 'v128', 'i64', 'i32', 'v128'],
  results: [],
  body(code) {
    const x = code.local('i32');
    for (let lane = 0; lane < 4; lane++) {
      code.at('local.get', 4);
      code.lane('i32x4.extract_lane', lane);
      code.open('if');
      code.at('local.get', 1);
      code.lane('i32x4.extract_lane', lane);
      code.at('local.set', x);
      pushAddress(code, 0, { x, by: 2, isSigned: 3 });
      faultUnlessAddressable(code);
      code.end();
    }
  },
};

const rows = {
  addressableLanes,
  addressablePack,
  fma64: fused,
  exp2: approximate('exp2'),
  log2: approximate('log2'),
  sin: approximate('sin'),
  cos: approximate('cos'),
  tanh: approximate('tanh'),
  rsqrt: approximate('rsqrt'),
} satisfies Record<ApproximateName | 'fma64' | 'addressableLanes' | 'addressablePack', Row>;

export type SimdHelper = keyof typeof rows;

/** Index of a helper by name, emitted into the module on first use. `pooled` makes its vector constants loads from the pool. */
export function simdHelperTable(
  module: WasmModule,
  helper: (name: HelperName) => number,
  host: Host['functions'],
  pooled: (code: Code) => Code,
): (name: SimdHelper) => number {
  const known = new Map<SimdHelper, number>();
  return (name) => {
    const found = known.get(name);
    if (found !== undefined) return found;
    const row: Row = rows[name];
    const { index, code } = module.fn({ params: row.params, results: row.results });
    row.body(pooled(code), helper, host);
    known.set(name, index);
    return index;
  };
}
