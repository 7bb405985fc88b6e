/** Functions in WebAssembly on vectors, for what is rare; a module gets those that it calls. */
import type { Code, ValueType, WasmModule } from '../../../wasm/index.ts';
import type { HelperName } from '../compile/helpers.ts';

interface Row {
  readonly params: readonly ValueType[];
  readonly results: readonly ValueType[];
  readonly body: (code: Code, helper: (name: HelperName) => number) => void;
}

/** Lane by lane, by the function of three singles; a lane of the first operand is not wanted any more when its result stands there. */
function oddFma(code: Code, helper: (name: HelperName) => number): void {
  for (let lane = 0; lane < 4; lane++) {
    code.at('local.get', 0);
    for (const param of [0, 1, 2]) {
      code.at('local.get', param);
      code.lane('f32x4.extract_lane', lane);
    }
    code.at('call', helper('fma32'));
    code.lane('f32x4.replace_lane', lane);
    code.at('local.set', 0);
  }
  code.at('local.get', 0);
}

const rows = {
  oddFma: { params: ['v128', 'v128', 'v128'], results: ['v128'], body: oddFma },
} satisfies Record<string, Row>;

export type StripHelper = keyof typeof rows;

/** Index of a helper by name, written into the module when first asked for. */
export function stripHelperTable(module: WasmModule, helper: (name: HelperName) => number): (name: StripHelper) => number {
  const known = new Map<StripHelper, number>();
  return (name) => {
    const found = known.get(name);
    if (found !== undefined) return found;
    const row: Row = rows[name];
    const { index, code } = module.fn({ params: row.params, results: row.results });
    row.body(code, helper);
    known.set(name, index);
    return index;
  };
}
