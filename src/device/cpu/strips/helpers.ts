/** Functions in WebAssembly on vectors, for what is rare; a module gets those that it calls. */
import type { Code, ValueType, WasmModule } from '../../../wasm/index.ts';
import { type ApproximateName, hasLargeAngles, largestAngle, writeFunctionOfPair } from '../compile/functions.ts';
import type { HelperName } from '../compile/helpers.ts';
import { joinHalves, upperHalf, words } from './vectors.ts';

interface Row {
  readonly params: readonly ValueType[];
  readonly results: readonly ValueType[];
  readonly body: (code: Code, helper: (name: HelperName) => number) => void;
}

/** An approximate function of four singles, two and two as doubles; large angles are for the function of one. */
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

const rows = {
  exp2: approximate('exp2'),
  log2: approximate('log2'),
  sin: approximate('sin'),
  cos: approximate('cos'),
  tanh: approximate('tanh'),
  rsqrt: approximate('rsqrt'),
} satisfies Record<ApproximateName, Row>;

export type StripHelper = keyof typeof rows;

/** Index of a helper by name, written into the module when first asked for; `pooled` makes its constant vectors loads. */
export function stripHelperTable(
  module: WasmModule,
  helper: (name: HelperName) => number,
  pooled: (code: Code) => Code,
): (name: StripHelper) => number {
  const known = new Map<StripHelper, number>();
  return (name) => {
    const found = known.get(name);
    if (found !== undefined) return found;
    const row: Row = rows[name];
    const { index, code } = module.fn({ params: row.params, results: row.results });
    row.body(pooled(code), helper);
    known.set(name, index);
    return index;
  };
}
