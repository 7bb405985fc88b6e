/** The encoder against modules and numbers worked out by hand from the WebAssembly specification, and against the engine. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ByteWriter } from '../../src/base/bytes.ts';
import {
  bodyLimit,
  hasImmediate,
  instructions,
  localLimit,
  type NumberType,
  newCode,
  newModule,
  type ValueType,
  type WasmModule,
} from '../../src/wasm/index.ts';
import { signed, signed32, unsigned } from '../../src/wasm/leb.ts';

const test = suite('wasm/encoder');

const bytesOf = (hex: string): number[] => (hex.match(/[0-9a-f]{2}/g) ?? []).map((pair) => Number.parseInt(pair, 16));
const written = (write: (out: ByteWriter) => void): number[] => {
  const out = new ByteWriter();
  write(out);
  return [...out.finish()];
};
const isValid = (module: WasmModule): boolean => WebAssembly.validate(module.finish() as BufferSource);
const instanceOf = (module: WasmModule, env: Record<string, WebAssembly.ImportValue> = {}): WebAssembly.Exports =>
  new WebAssembly.Instance(new WebAssembly.Module(module.finish() as BufferSource), { env }).exports;

// ── numbers ──

test('unsigned LEB128: seven bits a byte, low ones first', () => {
  const cases: [number, string][] = [
    [0, '00'],
    [1, '01'],
    [127, '7f'],
    [128, '80 01'],
    [624485, 'e5 8e 26'],
    [16383, 'ff 7f'],
    [16384, '80 80 01'],
    [2 ** 31, '80 80 80 80 08'],
    [2 ** 32 - 1, 'ff ff ff ff 0f'],
  ];
  for (const [value, hex] of cases)
    assert.equal(
      written((out) => unsigned(out, value)),
      bytesOf(hex),
      String(value),
    );
});

const signedCases: [bigint, string][] = [
  [0n, '00'],
  [1n, '01'],
  [-1n, '7f'],
  [63n, '3f'],
  [64n, 'c0 00'],
  [-64n, '40'],
  [-65n, 'bf 7f'],
  [127n, 'ff 00'],
  [128n, '80 01'],
  [-128n, '80 7f'],
  [-123456n, 'c0 bb 78'],
  [2n ** 31n - 1n, 'ff ff ff ff 07'],
  [-(2n ** 31n), '80 80 80 80 78'],
];

test('signed LEB128 of 32 bits: the last byte carries the sign', () => {
  for (const [value, hex] of signedCases)
    assert.equal(
      written((out) => signed32(out, Number(value))),
      bytesOf(hex),
      String(value),
    );
});

test('signed LEB128 of 64 bits', () => {
  const large: [bigint, string][] = [
    [2n ** 63n - 1n, 'ff ff ff ff ff ff ff ff ff 00'],
    [-(2n ** 63n), '80 80 80 80 80 80 80 80 80 7f'],
    [2n ** 62n, '80 80 80 80 80 80 80 80 c0 00'],
  ];
  for (const [value, hex] of [...signedCases, ...large])
    assert.equal(
      written((out) => signed(out, value)),
      bytesOf(hex),
      String(value),
    );
});

test('a 32-bit constant wraps: 2^32 - 1 is -1', () => {
  assert.equal(
    written((out) => signed32(out, 0xffffffff)),
    [0x7f],
  );
});

test('constants of both integer widths come back from the engine', () => {
  const words = [0, 1, -1, 63, 64, -64, -65, 8191, 8192, -8192, -8193, 2 ** 31 - 1, -(2 ** 31), 0x12345678];
  const doubles = [0n, -1n, 2n ** 32n, -(2n ** 32n), 2n ** 63n - 1n, -(2n ** 63n), 0x0123456789abcdefn];
  const module = newModule();
  for (const [i, value] of words.entries()) module.fn({ params: [], results: ['i32'] }, `w${i}`).code.i32(value);
  for (const [i, value] of doubles.entries()) module.fn({ params: [], results: ['i64'] }, `d${i}`).code.i64(value);
  const exports = instanceOf(module) as Record<string, () => number | bigint>;
  for (const [i, value] of words.entries()) assert.is(exports[`w${i}`]!(), value);
  for (const [i, value] of doubles.entries()) assert.is(exports[`d${i}`]!(), value);
});

// ── modules, byte for byte ──

test('an empty module is magic and version', () => {
  assert.equal([...newModule().finish()], bytesOf('00 61 73 6d 01 00 00 00'));
});

test('a function that adds: type, function, export and code sections', () => {
  const module = newModule();
  const { index, code } = module.fn({ params: ['i32', 'i32'], results: ['i32'] }, 'add');
  code.at('local.get', 0);
  code.at('local.get', 1);
  code.op('i32.add');
  assert.is(index, 0);
  const expected = `
    00 61 73 6d 01 00 00 00
    01 07 01 60 02 7f 7f 01 7f
    03 02 01 00
    07 07 01 03 61 64 64 00 00
    0a 09 01 07 00 20 00 20 01 6a 0b`;
  assert.equal([...module.finish()], bytesOf(expected));
});

test('imports, globals and locals: imported functions come first, locals in runs of a type', () => {
  const module = newModule();
  module.importMemory('m', 1, 65535);
  assert.is(module.importFunction('f', { params: ['f64'], results: [] }), 0);
  assert.is(module.global('i64', 'g'), 0);
  assert.is(module.global('f32'), 1);
  const { index, code } = module.fn({ params: [], results: [] }, 'r');
  assert.is(index, 1);
  assert.equal([code.local('i32'), code.local('i32'), code.local('f32'), code.local('i32')], [0, 1, 2, 3]);
  code.f64(0x3ff0000000000000n);
  code.at('call', 0);
  const expected = `
    00 61 73 6d 01 00 00 00
    01 08 02 60 01 7c 00 60 00 00
    02 15 02 03 65 6e 76 01 6d 02 01 01 ff ff 03 03 65 6e 76 01 66 00 00
    03 02 01 01
    06 0e 02 7e 01 42 00 0b 7d 01 43 00 00 00 00 0b
    07 09 02 01 67 03 00 01 72 00 01
    0a 15 01 13 03 02 7f 01 7d 01 7f 44 00 00 00 00 00 00 f0 3f 10 00 0b`;
  assert.equal([...module.finish()], bytesOf(expected));
  assert.ok(isValid(module));
});

test('equal signatures share a type', () => {
  const module = newModule();
  for (let i = 0; i < 3; i++) module.fn({ params: ['i32'], results: [] });
  module.fn({ params: [], results: ['i32'] }).code.i32(7);
  module.fn({ params: ['i32', 'i32'], results: [] });
  assert.equal([...module.finish()].slice(8, 24), bytesOf('01 0e 03 60 01 7f 00 60 00 01 7f 60 02 7f 7f 00'));
});

test('a body: structures, a table of branches, accesses, float constants', () => {
  const code = newCode(['i32']);
  code.open('block');
  code.open('loop', 'i32');
  assert.is(code.depth, 2);
  code.at('local.get', 0);
  code.table([0, 1], 1);
  code.end();
  code.op('drop');
  code.end();
  code.at('local.get', 0);
  code.open('if', 'f32');
  code.f32(0x3f800000);
  code.else();
  code.i32(0);
  code.access('f32.load', 4, 200);
  code.end();
  code.op('drop');
  assert.is(code.depth, 0);
  const expected = `00
    02 40 03 7f 20 00 0e 02 00 01 01 0b 1a 0b
    20 00 04 7d 43 00 00 80 3f 05 41 00 2a 02 c8 01 0b 1a 0b`;
  assert.equal([...code.finish()], bytesOf(expected));
});

test('an unknown name or the wrong immediate is our own fault', () => {
  const code = newCode([]);
  // @ts-expect-error No instruction has this name.
  assert.throws(() => code.op('i32.sum'));
  // @ts-expect-error This one has an index.
  assert.throws(() => code.op('local.get'));
  // @ts-expect-error This one has none.
  assert.throws(() => code.at('i32.add', 0));
  // @ts-expect-error This one accesses no memory.
  assert.throws(() => code.access('i32.add', 4));
  const computed = (bits: 16 | 32): void => {
    // @ts-expect-error A name that is computed is checked for every value of its parts: there is no `i32.load32_u`.
    code.access(`i32.load${bits}_u`, 1);
  };
  computed(16);
  assert.throws(() => computed(32));
});

// ── the table ──

interface Shape {
  readonly params: readonly ValueType[];
  readonly result: ValueType | undefined;
}

const shape = (params: string, result?: ValueType): Shape => ({
  params: params.split(' ').filter((word) => word !== '') as ValueType[],
  result,
});

/** Operand and result types by the rule of names in the specification: `result.op_operand`. */
function shapeOf(name: string): Shape {
  const [type, kind = '', what = '', change = ''] = name.split('.') as [ValueType, string, string, string];
  if (what === 'rmw') return shape(change === 'cmpxchg' ? `i32 ${type} ${type}` : `i32 ${type}`, type);
  const op = kind === 'atomic' ? what : kind;
  if (/^(load)/.test(op)) return shape('i32', type as ValueType);
  if (/^(store)/.test(op)) return shape(`i32 ${type}`);
  const from = /_([if]\d\d)(_[su])?$/.exec(op)?.[1];
  if (from) return shape(from, type as ValueType);
  if (op === 'eqz') return shape(type, 'i32');
  if (/^(eq|ne|lt|gt|le|ge)(_[su])?$/.test(op)) return shape(`${type} ${type}`, 'i32');
  if (/^(clz|ctz|popcnt|extend\d+_s|abs|neg|ceil|floor|trunc|nearest|sqrt)$/.test(op)) return shape(type, type as ValueType);
  return shape(`${type} ${type}`, type as ValueType);
}

/** What an access has to say of its alignment: nothing, but for atomics, which are of all their bytes. */
function alignOf(name: string): number {
  const [type = '', kind, what = ''] = name.split('.');
  return kind === 'atomic' ? Number(/\d+/.exec(what)?.[0] ?? type.slice(1)) / 8 : 1;
}

/** Numeric instructions and accesses; the others are tested by name below. */
const typed = [...instructions].filter(([name]) => /^[if]\d\d\./.test(name));

test('every numeric instruction and access has the operands that the specification gives it', () => {
  for (const [name] of typed) {
    const { params, result } = shapeOf(name);
    const module = newModule();
    module.importMemory('memory', 1, 2);
    const { code } = module.fn({ params, results: result ? [result] : [] });
    for (const i of params.keys()) code.at('local.get', i);
    if (hasImmediate(name, 'memory')) code.access(name, alignOf(name), 4);
    else if (hasImmediate(name, 'none')) code.op(name);
    assert.ok(isValid(module), name);
  }
  assert.is(typed.length, 23 + 11 * 2 + 6 * 2 + 18 * 2 + 14 * 2 + 25 + 5 + 8 + 11 * 2);
});

test('no numeric instruction takes an operand of another type', () => {
  for (const [name] of typed) {
    const { params, result } = shapeOf(name);
    const module = newModule();
    module.importMemory('memory', 1, 2);
    const { code } = module.fn({ params, results: result ? [result] : [] });
    for (const i of params.keys()) code.at('local.get', i);
    // The last operand as another type.
    code.op(
      ({ i32: 'f32.convert_i32_s', i64: 'i32.wrap_i64', f32: 'i32.reinterpret_f32', f64: 'i64.reinterpret_f64' } as const)[
        params.at(-1)! as NumberType
      ],
    );
    if (hasImmediate(name, 'memory')) code.access(name, alignOf(name));
    else if (hasImmediate(name, 'none')) code.op(name);
    assert.not(isValid(module), name);
  }
});

test('opcodes are as in the index of instructions', () => {
  const known: Record<string, string> = {
    unreachable: '00',
    nop: '01',
    br: '0c',
    br_if: '0d',
    return: '0f',
    call: '10',
    drop: '1a',
    select: '1b',
    'local.get': '20',
    'local.set': '21',
    'local.tee': '22',
    'global.get': '23',
    'global.set': '24',
    'i32.load': '28',
    'i32.load16_u': '2f',
    'i64.load32_u': '35',
    'i32.store': '36',
    'i64.store32': '3e',
    'i32.eqz': '45',
    'i32.ge_u': '4f',
    'i64.eqz': '50',
    'i64.ge_u': '5a',
    'f32.ge': '60',
    'f64.ge': '66',
    'i32.clz': '67',
    'i32.rotr': '78',
    'i64.clz': '79',
    'i64.rotr': '8a',
    'f32.abs': '8b',
    'f32.max': '97',
    'f32.copysign': '98',
    'f64.abs': '99',
    'f64.max': 'a5',
    'f64.copysign': 'a6',
    'i32.wrap_i64': 'a7',
    'i64.trunc_f64_u': 'b1',
    'f32.demote_f64': 'b6',
    'f64.promote_f32': 'bb',
    'f64.reinterpret_i64': 'bf',
    'i32.extend8_s': 'c0',
    'i64.extend32_s': 'c4',
    'i32.trunc_sat_f32_s': 'fc 00',
    'i32.trunc_sat_f64_u': 'fc 03',
    'i64.trunc_sat_f32_s': 'fc 04',
    'i64.trunc_sat_f64_u': 'fc 07',
  };
  for (const [name, hex] of Object.entries(known)) assert.equal(instructions.get(name)?.code, bytesOf(hex), name);
  const codes = [...instructions.values()].map(({ code }) => code.join());
  assert.is(new Set(codes).size, codes.length, 'no code stands for two');
});

test('what instructions without a type do: drop, select, tee, globals, branches, calls, return', () => {
  const module = newModule();
  const seen: number[] = [];
  const note = module.importFunction('note', { params: ['i32'], results: [] });
  const global = module.global('i32', 'g');
  const { code } = module.fn({ params: ['i32'], results: ['i32'] }, 'f');
  code.op('nop');
  code.i32(5);
  code.op('drop');
  // g = param ? 10 : 20
  code.i32(10);
  code.i32(20);
  code.at('local.get', 0);
  code.op('select');
  code.at('global.set', global);
  // Count down to 0, and note each turn.
  code.open('loop');
  code.at('local.get', 0);
  code.at('call', note);
  code.at('local.get', 0);
  code.i32(1);
  code.op('i32.sub');
  code.at('local.tee', 0);
  code.i32(0);
  code.op('i32.gt_s');
  code.at('br_if', 0);
  code.end();
  code.open('block');
  code.at('br', 0);
  code.op('unreachable');
  code.end();
  code.at('global.get', global);
  code.op('return');
  const exports = instanceOf(module, { note: (n: number) => void seen.push(n) });
  assert.is((exports.f as (n: number) => number)(3), 10);
  assert.equal(seen, [3, 2, 1]);
  assert.is((exports.g as WebAssembly.Global).value, 10);
  assert.is((exports.f as (n: number) => number)(0), 20);
});

test('a table of branches picks by number, the last where it is too large', () => {
  const module = newModule();
  const { code } = module.fn({ params: ['i32'], results: ['i32'] }, 'f');
  for (let i = 0; i < 3; i++) code.open('block');
  code.at('local.get', 0);
  code.table([0, 1], 2);
  for (const result of [100, 200]) {
    code.end();
    code.i32(result);
    code.op('return');
  }
  code.end();
  code.i32(300);
  const f = instanceOf(module).f as (n: number) => number;
  assert.equal([0, 1, 2, 3, -1].map(f), [100, 200, 300, 300, 300]);
});

test('as many locals as the limit says are taken, and one more is not', () => {
  for (const [count, isTaken] of [
    [localLimit, true],
    [localLimit + 1, false],
  ] as const) {
    const module = newModule();
    const { code } = module.fn({ params: [], results: [] });
    for (let i = 0; i < count; i++) code.local(i % 2 === 0 ? 'i32' : 'f64');
    assert.is(isValid(module), isTaken, String(count));
  }
});

test('a body of as many bytes as the limit says is taken, and one more is not', () => {
  for (const [count, isTaken] of [
    // The count of locals and the end are bytes of the body too.
    [bodyLimit - 2, true],
    [bodyLimit - 1, false],
  ] as const) {
    const module = newModule();
    const { code } = module.fn({ params: [], results: [] });
    for (let i = 0; i < count; i++) code.op('nop');
    assert.is(isValid(module), isTaken, String(count));
  }
});

// Source: the proposal "Branch Hinting": function index, then offset from the locals' declaration, length 1, and 0 for unlikely.
test('a branch that is seldom taken has a hint before the code', () => {
  const module = newModule();
  module.importFunction('f', { params: [], results: [] });
  const plain = module.fn({ params: [], results: [] });
  plain.code.open('block');
  plain.code.end();
  const { code } = module.fn({ params: ['i32'], results: ['i32'] }, 'run');
  const local = code.local('i32');
  code.at('local.get', 0);
  code.openRare();
  code.i32(7);
  code.at('local.set', local);
  code.end();
  code.at('local.get', local);
  assert.ok(isValid(module));
  const [hints] = WebAssembly.Module.customSections(
    new WebAssembly.Module(module.finish() as BufferSource),
    'metadata.code.branch_hint',
  ) as ArrayBuffer[];
  // One function, number 2 with the import. Its body: `01 01 7f` one local, `20 00` local.get, and then the `if`.
  assert.equal([...new Uint8Array(hints!)], bytesOf('01 02 01 05 01 00'));
  const run = instanceOf(module, { f: () => {} }).run as (value: number) => number;
  assert.equal([run(0), run(1)], [0, 7]);
});

test('without such branches there is no section', () => {
  const module = newModule();
  module.fn({ params: [], results: [] });
  assert.is(
    WebAssembly.Module.customSections(new WebAssembly.Module(module.finish() as BufferSource), 'metadata.code.branch_hint').length,
    0,
  );
});

test.run();
