/** Vector instructions: each takes what the specification says, which the engine checks, and some give what was worked out by hand. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Code, hasImmediate, instructions, newModule, type ValueType } from '../../src/wasm/index.ts';

const test = suite('wasm/vectors');

const numberOf = (shape: string): ValueType => (/^i(8|16|32)x/.test(shape) ? 'i32' : (shape.slice(0, 3) as ValueType));

/** Operands and result of an instruction, by the names that the specification gives them. */
function typesOf(name: string, immediate: string): { params: ValueType[]; result: ValueType | undefined } {
  const [shape = '', op = ''] = name.split('.');
  if (immediate === 'memory') return op === 'store' ? { params: ['i32', 'v128'], result: undefined } : { params: ['i32'], result: 'v128' };
  if (immediate === 'memoryLane') return { params: ['i32', 'v128'], result: op.startsWith('store') ? undefined : 'v128' };
  if (op.startsWith('extract')) return { params: ['v128'], result: numberOf(shape) };
  if (op.startsWith('replace')) return { params: ['v128', numberOf(shape)], result: 'v128' };
  if (op === 'splat') return { params: [numberOf(shape)], result: 'v128' };
  if (/^(any_true|all_true|bitmask)$/.test(op)) return { params: ['v128'], result: 'i32' };
  if (/^(shl|shr_[su])$/.test(op)) return { params: ['v128', 'i32'], result: 'v128' };
  if (/^(bitselect|relaxed_madd)$/.test(op)) return { params: ['v128', 'v128', 'v128'], result: 'v128' };
  const isUnary =
    /^(not|abs|neg|sqrt|ceil|floor|trunc|nearest|popcnt|(extend|promote|convert|demote|trunc_sat|extadd)_.*)$/.test(op) ||
    op.startsWith('extend_');
  return { params: isUnary ? ['v128'] : ['v128', 'v128'], result: 'v128' };
}

function write(code: Code, name: string): void {
  if (hasImmediate(name, 'memory')) code.access(name, 1, 16);
  else if (hasImmediate(name, 'memoryLane')) code.accessLane(name, 1, 16, 1);
  else if (hasImmediate(name, 'lane')) code.lane(name, 1);
  else if (hasImmediate(name, 'none')) code.op(name);
}

for (const [name, { immediate }] of [...instructions].filter(([, { code }]) => code[0] === 0xfd))
  test(`${name} has its operands`, () => {
    const { params, result } = typesOf(name, immediate);
    const module = newModule();
    module.importMemory('memory', 1, 2);
    const { code } = module.fn({ params, results: result ? [result] : [] });
    for (const i of params.keys()) code.at('local.get', i);
    write(code, name);
    assert.ok(WebAssembly.validate(module.finish() as BufferSource));
  });

test('opcodes are as in the index of instructions', () => {
  const known: Record<string, number[]> = {
    'v128.load': [0xfd, 0x00],
    'v128.store': [0xfd, 0x0b],
    'i8x16.swizzle': [0xfd, 0x0e],
    'f64x2.replace_lane': [0xfd, 0x22],
    'i32x4.ge_u': [0xfd, 0x40],
    'f64x2.ge': [0xfd, 0x4c],
    'v128.any_true': [0xfd, 0x53],
    'v128.store64_lane': [0xfd, 0x5b],
    'f64x2.promote_low_f32x4': [0xfd, 0x5f],
    'i8x16.popcnt': [0xfd, 0x62],
    'i32x4.extadd_pairwise_i16x8_u': [0xfd, 0x7f],
    'i16x8.narrow_i32x4_u': [0xfd, 0x86, 0x01],
    'f64x2.nearest': [0xfd, 0x94, 0x01],
    'i32x4.add': [0xfd, 0xae, 0x01],
    'i32x4.mul': [0xfd, 0xb5, 0x01],
    'i64x2.ge_s': [0xfd, 0xdb, 0x01],
    'i64x2.extmul_high_i32x4_u': [0xfd, 0xdf, 0x01],
    'f32x4.pmax': [0xfd, 0xeb, 0x01],
    'f64x2.pmax': [0xfd, 0xf7, 0x01],
    'f64x2.convert_low_i32x4_u': [0xfd, 0xff, 0x01],
    'f32x4.relaxed_madd': [0xfd, 0x85, 0x02],
    'f64x2.relaxed_madd': [0xfd, 0x87, 0x02],
  };
  for (const [name, code] of Object.entries(known)) assert.equal(instructions.get(name)?.code, code, name);
});

/** The words that some code leaves as a vector. */
function wordsOf(body: (code: Code) => void): number[] {
  const module = newModule();
  module.importMemory('memory', 1, 2);
  const { code } = module.fn({ params: [], results: [] }, 'f');
  code.i32(0);
  body(code);
  code.access('v128.store', 1);
  const memory = new WebAssembly.Memory({ initial: 1, maximum: 2 });
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(module.finish() as BufferSource), { env: { memory } });
  (exports.f as () => void)();
  return [...new Int32Array(memory.buffer, 0, 4)];
}

test('constants, shuffles and choices', () => {
  assert.equal(
    wordsOf((code) => code.v128([1, -2, 0x7fffffff, 0x80000000])),
    [1, -2, 0x7fffffff, -0x80000000],
  );
  const both = (code: Code): void => {
    code.v128([10, 11, 12, 13]);
    code.v128([20, 21, 22, 23]);
  };
  assert.equal(
    wordsOf((code) => {
      both(code);
      code.shuffle([4, 5, 6, 7, 16, 17, 18, 19, 0, 1, 2, 3, 28, 29, 30, 31]);
    }),
    [11, 20, 10, 23],
  );
  for (const [cond, want] of [
    [1, [10, 11, 12, 13]],
    [0, [20, 21, 22, 23]],
  ] as const)
    assert.equal(
      wordsOf((code) => {
        both(code);
        code.i32(cond);
        code.choose('v128');
      }),
      [...want],
    );
});

test.run();
