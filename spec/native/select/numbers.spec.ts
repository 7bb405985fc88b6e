/** Instructions of numbers as machine code: with operands at the edges of their types, each gives what WebAssembly gives. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type OpSignature, signatureOf } from '../../../src/native/ssa/signature.ts';
import { type Code, hasImmediate, instructions, type NumberType, newModule } from '../../../src/wasm/index.ts';
import { operands } from '../support/operands.ts';
import { type Exports, nativeExports, outcome, runnableFeatures, wasmExports } from '../support/run.ts';

const test = suite('native/select/numbers');
const targets = runnableFeatures();

const isNumber = (type: string | undefined): type is NumberType => type !== 'v128' && type !== undefined;
const ops = [...instructions.keys()].flatMap((name) => {
  const signature = hasImmediate(name, 'none') ? signatureOf(name) : undefined;
  return signature && isNumber(signature.result) && signature.params.every(isNumber) && signature.params.length > 0
    ? [{ name, ...(signature as { params: NumberType[]; result: NumberType }) }]
    : [];
});

/** Writes the bits of a constant. */
export function constant(code: Code, type: NumberType, value: number | bigint): void {
  if (type === 'i32') code.i32(value as number);
  else if (type === 'i64') code.i64(value as bigint);
  else if (type === 'f32') code.f32(new Uint32Array(Float32Array.of(value as number).buffer)[0]!);
  else code.f64(new BigUint64Array(Float64Array.of(value as number).buffer)[0]!);
}

/** Whether there is a function with operand `i` of a name as the constant number `k`: a third of them, so that the spec is quick. */
const isWritten = (name: string, i: number, k: number): boolean => (name.length + i + k) % 3 === 0;

/** A module with a global for each operand, and functions `run` and, for each value of the operand `fixed`, one with that constant. */
function moduleOf(name: string, { params, result }: OpSignature): Uint8Array {
  const module = newModule();
  module.importMemory('memory', 1, 1);
  const cells = params.map((type, i) => module.global(type as NumberType, `operand${i}`));
  const target = module.global(result as NumberType, 'result');
  const write = (exportName: string, fixed: number, value: number | bigint): void => {
    const { code } = module.fn({ params: [], results: [] }, exportName);
    for (const [i, type] of params.entries()) {
      if (i === fixed) constant(code, type as NumberType, value);
      else code.at('global.get', cells[i]!);
    }
    code.op(name as 'i32.add');
    code.at('global.set', target);
  };
  write('run', -1, 0);
  for (const i of params.keys())
    for (const [k, value] of operands[params[i] as NumberType].entries()) if (isWritten(name, i, k)) write(`run ${i} ${k}`, i, value);
  return module.finish();
}

function check(name: string, params: readonly NumberType[], native: Exports, wasm: Exports): void {
  const results = (exports: Exports, run: string): unknown =>
    outcome(() => {
      exports[run]!();
      return exports.result!.value;
    });
  const compare = (run: string, values: readonly (number | bigint)[]): void => {
    for (const exports of [native, wasm]) for (const [i, value] of values.entries()) exports[`operand${i}`]!.value = value;
    assert.ok(
      Object.is(results(native, run), results(wasm, run)),
      `${name} ${run} of ${values.join(', ')}: ${results(native, run)} for ${results(wasm, run)}`,
    );
  };
  const [first, second] = params as [NumberType, NumberType | undefined];
  for (const [k, a] of operands[first].entries())
    for (const [l, b] of (second ? operands[second] : [undefined]).entries()) {
      const values = b === undefined ? [a] : [a, b];
      compare('run', values);
      if (isWritten(name, 0, k)) compare(`run 0 ${k}`, values);
      if (b !== undefined && isWritten(name, 1, l)) compare(`run 1 ${l}`, values);
    }
}

for (const [target, features] of targets)
  test(`all of ${ops.length} instructions, by ${target}`, () => {
    assert.ok(ops.length > 120);
    const memory = new WebAssembly.Memory({ initial: 1, maximum: 1 });
    for (const { name, params, result } of ops) {
      const bytes = moduleOf(name, { params, result });
      check(name, params, nativeExports(bytes, memory, {}, features), wasmExports(bytes, memory, {}));
    }
  });

if (targets.length === 0) test.skip('instructions of numbers: this machine runs no native code', () => {});

test.run();
