/** Modules as machine code: calls in and out, globals, jumps, and what has no code. Results are those of WebAssembly. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { compileNative } from '../../src/native/index.ts';
import { type NumberType, newModule, type ValueType, type WasmModule } from '../../src/wasm/index.ts';
import { type Exports, type Functions, nativeExports, outcome, runnableFeatures, wasmExports } from './support/run.ts';

const test = suite('native/compile');
const targets = runnableFeatures();
const whyOf = (module: WasmModule): string | undefined => {
  const made = compileNative(module.finish(), { avx512: false });
  return 'why' in made ? made.why : undefined;
};

const newMemory = (): WebAssembly.Memory => new WebAssembly.Memory({ initial: 1, maximum: 8 });

/** Runs the module in both ways, and compares what `use` sees. */
function both(
  name: string,
  write: (module: WasmModule) => void,
  imports: (memory: WebAssembly.Memory) => Functions,
  use: (exports: Exports, memory: WebAssembly.Memory) => unknown,
): void {
  for (const [target, features] of targets)
    test(`${name}, by ${target}`, () => {
      const module = newModule();
      module.importMemory('memory', 1, 8);
      write(module);
      const bytes = module.finish();
      const [own, other] = [newMemory(), newMemory()];
      const native = use(nativeExports(bytes, own, imports(own), features), own);
      const wasm = use(wasmExports(bytes, other, imports(other)), other);
      assert.equal(native, wasm);
    });
}

const types = ['i32', 'i64', 'f32', 'f64'] as const;

both(
  'an imported function gets up to six integers and eight floats, and returns each type',
  (module) => {
    const params: NumberType[] = ['f32', 'i32', 'i64', 'f64', 'i32', 'f64', 'i64', 'i64', 'f32', 'f32', 'i32', 'f64', 'f64', 'f32'];
    const functions = types.map((result) => module.importFunction(`give ${result}`, { params, results: [result] }));
    const globals = types.map((type) => module.global(type, type));
    const { code } = module.fn({ params: ['i32'], results: [] }, 'run');
    for (const [i, index] of functions.entries()) {
      for (const [k, type] of params.entries()) {
        code.at('local.get', 0);
        code.i32(k - 5);
        code.op('i32.mul');
        if (type === 'i64') code.op('i64.extend_i32_s');
        if (type === 'f32') code.op('f32.convert_i32_s');
        if (type === 'f64') code.op('f64.convert_i32_s');
      }
      code.at('call', index);
      code.at('global.set', globals[i]!);
    }
  },
  () =>
    Object.fromEntries(
      types.map((type) => [
        `give ${type}`,
        (...args: (number | bigint)[]) => {
          const sum = args.reduce<number>((all, each, i) => all + Number(each) * (i + 1), 0.25);
          return type === 'i64' ? BigInt(Math.floor(sum)) * -(2n ** 33n) : -sum;
        },
      ]),
    ) as Functions,
  (exports) =>
    [7, -3, 100].map((x) => {
      exports.run!(x);
      return types.map((type) => exports[type]!.value);
    }),
);

both(
  'a function that throws stops the module, whatever calls lie between',
  (module) => {
    const fail = module.importFunction('fail', { params: ['i32'], results: ['i32'] });
    const count = module.global('i32', 'count');
    let callee = fail;
    for (let i = 0; i < 4; i++) {
      const { index, code } = module.fn({ params: ['i32'], results: ['i32'] }, i === 3 ? 'run' : undefined);
      code.at('local.get', 0);
      code.i32(1);
      code.op('i32.add');
      code.at('call', callee);
      code.at('global.get', count);
      code.i32(1);
      code.op('i32.add');
      code.at('global.set', count);
      callee = index;
    }
  },
  () => ({
    fail(x: number) {
      if (x > 10) throw new Error(`fails at ${x}`);
      return x * 2;
    },
  }),
  (exports) => [1, 6, 7, 2].map((x) => [outcome(() => exports.run!(x)), exports.count!.value]),
);

both(
  'memory that an imported function made grow is there behind the call',
  (module) => {
    const grow = module.importFunction('grow', { params: [], results: [] });
    const { code } = module.fn({ params: ['i32'], results: ['i32'] }, 'run');
    code.at('local.get', 0);
    code.i32(0x1234);
    code.at('call', grow);
    code.access('i32.store', 4);
    code.at('local.get', 0);
    code.access('i32.load', 4);
  },
  (memory) => ({ grow: () => void memory.grow(1) }),
  (exports, memory) => [65536, 3 * 65536 - 4, 65536 * 9].map((at) => [outcome(() => exports.run!(at)), memory.buffer.byteLength]),
);

for (const [target, features] of targets)
  test(`a module is entered again from a function that it imports, by ${target}`, () => {
    const module = newModule();
    module.importMemory('memory', 1, 1);
    const again = module.importFunction('again', { params: ['i32'], results: ['i32'] });
    const { code } = module.fn({ params: ['i32'], results: ['i32'] }, 'run');
    code.at('local.get', 0);
    code.at('call', again);
    code.at('local.get', 0);
    code.op('i32.add');
    const bytes = module.finish();
    for (const make of [
      (imports: Functions) => nativeExports(bytes, newMemory(), imports, features),
      (imports: Functions) => wasmExports(bytes, new WebAssembly.Memory({ initial: 1, maximum: 1 }), imports),
    ]) {
      const exports: Exports = make({
        again(x: number) {
          if (x === 13) throw new Error('thirteen');
          return x < 5 ? exports.run!(x + 1) : x;
        },
      });
      assert.is(exports.run!(0), 0 + 1 + 2 + 3 + 4 + 5 + 5);
      assert.throws(() => exports.run!(13), 'thirteen');
      assert.is(exports.run!(4), 4 + 5 + 5);
    }
  });

both(
  'parameters of all types go to functions of the module, and results come back',
  (module) => {
    const all: ValueType[] = ['i32', 'v128', 'f64', 'i64', 'f32', 'v128', 'i32'];
    const inner = module.fn({ params: all, results: ['v128'] });
    inner.code.at('local.get', 1);
    inner.code.at('local.get', 5);
    inner.code.op('i32x4.add');
    inner.code.at('local.get', 0);
    inner.code.at('local.get', 6);
    inner.code.op('i32.sub');
    inner.code.lane('i32x4.replace_lane', 1);
    inner.code.at('local.get', 4);
    inner.code.lane('f32x4.replace_lane', 2);
    inner.code.at('local.get', 3);
    inner.code.op('f64.convert_i64_s');
    inner.code.at('local.get', 2);
    inner.code.op('f64.mul');
    inner.code.op('i32.trunc_sat_f64_s');
    inner.code.lane('i32x4.replace_lane', 3);
    const { code } = module.fn({ params: ['i32', 'i32'], results: [] }, 'run');
    code.i32(64);
    code.at('local.get', 0);
    code.v128([1, 2, 3, 4]);
    code.f64(0x4004_0000_0000_0000n);
    code.at('local.get', 1);
    code.op('i64.extend_i32_s');
    code.f32(0x3fc0_0000);
    code.at('local.get', 0);
    code.op('i32x4.splat');
    code.at('local.get', 1);
    code.at('call', inner.index);
    code.access('v128.store', 1);
  },
  () => ({}),
  (exports, memory) =>
    [
      [1, 2],
      [-5, 1 << 30],
      [2 ** 31 - 1, -7],
    ].map(([a, b]) => {
      exports.run!(a!, b!);
      return [...new Int32Array(memory.buffer, 64, 4)];
    }),
);

both(
  'globals of all types keep their values between calls',
  (module) => {
    const globals = types.map((type) => module.global(type, type));
    const { code } = module.fn({ params: ['i32'], results: ['i32'] }, 'run');
    const [i32, i64, f32, f64] = globals as [number, number, number, number];
    code.at('global.get', i32);
    code.at('local.get', 0);
    code.op('i32.add');
    code.at('global.set', i32);
    code.at('global.get', i64);
    code.i64(0x1_0000_0001n);
    code.op('i64.mul');
    code.at('local.get', 0);
    code.op('i64.extend_i32_s');
    code.op('i64.add');
    code.at('global.set', i64);
    code.at('global.get', f32);
    code.at('local.get', 0);
    code.op('f32.convert_i32_s');
    code.op('f32.sub');
    code.at('global.set', f32);
    code.at('global.get', i64);
    code.op('f64.convert_i64_u');
    code.at('global.set', f64);
    code.at('global.get', i32);
  },
  () => ({}),
  (exports) => {
    exports.i64!.value = -5n;
    exports.f32!.value = 0.1;
    return [3, -7, 2 ** 31 - 1].map((x) => [exports.run!(x), ...types.map((type) => exports[type]!.value)]);
  },
);

both(
  'a jump by number goes to its case, to the last one where it is too large',
  (module) => {
    const { code } = module.fn({ params: ['i32'], results: ['i32'] }, 'run');
    const result = code.local('i32');
    for (let i = 0; i < 6; i++) code.open('block');
    code.at('local.get', 0);
    code.table([3, 1, 0, 3, 2], 4);
    for (let i = 0; i < 5; i++) {
      code.end();
      code.at('local.get', result);
      code.i32(10 ** i);
      code.op('i32.add');
      code.at('local.set', result);
      if (i % 2 === 1) code.at('br', 4 - i);
    }
    code.end();
    code.at('local.get', result);
  },
  () => ({}),
  (exports) => [0, 1, 2, 3, 4, 5, 6, -1, 2 ** 31 - 1].map((x) => exports.run!(x)),
);

both(
  'a load is done before the stores and calls that follow it, also if its one user follows those',
  (module) => {
    const change = module.importFunction('change', { params: [], results: [] });
    const write = (name: string, type: 'i32' | 'f64', between: (code: ReturnType<WasmModule['fn']>['code']) => void): void => {
      const { code } = module.fn({ params: ['i32', 'i32'], results: ['i32'] }, name);
      const first = code.local(type);
      const other = code.local(type);
      code.at('local.get', 1);
      if (type === 'f64') code.op('f64.convert_i32_s');
      code.at('local.set', other);
      code.at('local.get', 0);
      code.access(`${type}.load`, 4, 64);
      code.at('local.set', first);
      between(code);
      code.at('local.get', other);
      code.at('local.get', first);
      code.op(`${type}.sub`);
      if (type === 'f64') code.op('i32.trunc_sat_f64_s');
    };
    for (const type of ['i32', 'f64'] as const) {
      write(`${type} none`, type, () => {});
      write(`${type} call`, type, (code) => code.at('call', change));
      write(`${type} store`, type, (code) => {
        code.at('local.get', 1);
        code.i32(77);
        code.access('i32.store', 4, 68);
      });
      write(`${type} atomic`, type, (code) => {
        code.at('local.get', 1);
        code.i32(78);
        code.access('i32.atomic.rmw.xchg', 4, 64);
        code.op('drop');
      });
    }
  },
  (memory) => ({ change: () => new Int32Array(memory.buffer).fill(5) }),
  (exports, memory) =>
    Object.keys(exports).flatMap((name) =>
      [0, 4, 8].map((at) => {
        new Float64Array(memory.buffer).fill(-1234.5);
        new Int32Array(memory.buffer)[17] = 1_080_000_000 + at;
        return exports[name]!(at, 8);
      }),
    ),
);

both(
  'a vector that is loaded is either operand of a bitwise operation',
  (module) => {
    for (const op of ['v128.and', 'v128.andnot', 'v128.or', 'v128.xor'] as const)
      for (const place of [0, 1])
        for (const isNegated of [false, true]) {
          const { code } = module.fn({ params: ['i32'], results: [] }, `${op} ${place} ${isNegated}`);
          code.at('local.get', 0);
          for (const i of [0, 1]) {
            if (i === place) {
              code.at('local.get', 0);
              code.access('v128.load', 1, 64);
              if (isNegated) code.op('v128.not');
            } else {
              code.at('local.get', 0);
              code.op('i32x4.splat');
            }
          }
          code.op(op);
          code.access('v128.store', 1, 128);
        }
  },
  () => ({}),
  (exports, memory) =>
    Object.keys(exports).flatMap((name) => {
      const bytes = new Uint8Array(memory.buffer);
      for (const i of bytes.keys()) bytes[i] = i * 29;
      exports[name]!(0x55);
      return [...bytes.subarray(128 + 0x55, 144 + 0x55)];
    }),
);

both(
  'each trap has its reason',
  (module) => {
    const write = (name: string, body: (code: ReturnType<WasmModule['fn']>['code']) => void): void => {
      const { code } = module.fn({ params: ['i32'], results: ['i32'] }, name);
      body(code);
    };
    write('unreachable', (code) => {
      code.at('local.get', 0);
      code.open('if');
      code.op('unreachable');
      code.end();
      code.i32(5);
    });
    // The result of a division that nobody uses is none, and the trap stays.
    write('unused', (code) => {
      code.i32(1);
      code.at('local.get', 0);
      code.op('i32.rem_u');
      code.op('drop');
      code.at('local.get', 0);
      code.op('f32.convert_i32_s');
      code.f32(0x4f00_0000);
      code.op('f32.mul');
      code.op('i32.trunc_f32_s');
      code.op('drop');
      code.at('local.get', 0);
      code.access('i32.load', 1, 65530);
      code.op('drop');
      code.i32(6);
    });
  },
  () => ({}),
  (exports) => ['unreachable', 'unused'].flatMap((name) => [0, 1, 2, 7, 0x10_0000, -1].map((x) => outcome(() => exports[name]!(x)))),
);

test('a module with a function that calls itself has no code', () => {
  const module = newModule();
  module.importMemory('memory', 1, 1);
  const first = module.fn({ params: [], results: [] }, 'run');
  const second = module.fn({ params: [], results: [] });
  first.code.at('call', second.index);
  second.code.at('call', first.index);
  assert.match(whyOf(module)!, /calls itself/);
});

test('a module whose calls need too much stack has no code', () => {
  const module = newModule();
  module.importMemory('memory', 1, 1);
  let callee: number | undefined;
  const params: ValueType[] = new Array(60).fill('i32');
  for (let i = 0; i < 300; i++) {
    const { index, code } = i === 299 ? module.fn({ params: [], results: [] }, 'run') : module.fn({ params, results: [] });
    if (callee !== undefined) {
      // A call that is seldom done is not inlined.
      code.i32(0);
      code.access('i32.load', 4);
      code.openRare();
      for (const k of params.keys()) code.i32(k);
      code.at('call', callee);
      code.end();
    }
    callee = index;
  }
  assert.match(whyOf(module)!, /bytes of stack/);
});

test('an export with a vector has no code, nor has a call with more arguments than registers', () => {
  const vector = newModule();
  vector.importMemory('memory', 1, 1);
  vector.fn({ params: ['v128'], results: [] }, 'run');
  assert.match(whyOf(vector)!, /exported function run/);
  const many = newModule();
  many.importMemory('memory', 1, 1);
  const params: ValueType[] = new Array(7).fill('i32');
  const imported = many.importFunction('many', { params, results: [] });
  const { code } = many.fn({ params: [], results: [] }, 'run');
  for (const i of params.keys()) code.i32(i);
  code.at('call', imported);
  assert.match(whyOf(many)!, /imported function/);
});

test('functions that no export reaches are not compiled, and say nothing of the module', () => {
  const module = newModule();
  module.importMemory('memory', 1, 1);
  const unused = module.importFunction('unused', { params: [], results: [] });
  const used = module.importFunction('used', { params: [], results: [] });
  const alone = module.fn({ params: ['v128'], results: [] });
  alone.code.at('call', unused);
  alone.code.at('local.get', 0);
  alone.code.at('call', alone.index);
  module.fn({ params: [], results: [] }, 'run').code.at('call', used);
  const made = compileNative(module.finish(), { avx512: true });
  if ('why' in made) throw new Error(made.why);
  assert.equal(
    made.imports.map(({ name, isUsed }) => [name, isUsed]),
    [
      ['unused', false],
      ['used', true],
    ],
  );
});

if (targets.length === 0) test.skip('calls: this machine runs no native code', () => {});

test.run();
