/** The text format: modules written out by hand, every instruction of the tables, and the modules of examples put together again. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { moduleBytes } from '../../src/device/cpu/launch/module-bytes.ts';
import { hasImmediate, instructions, moduleText, newModule, type WasmModule } from '../../src/wasm/index.ts';
import { assembleWat } from '../support/assemble-wat.ts';
import { compileExample, messages } from '../support/examples.ts';

const test = suite('wasm/text');

const valid = (module: WasmModule): Uint8Array => {
  const bytes = module.finish();
  assert.ok(WebAssembly.validate(bytes as BufferSource), 'the module is valid');
  return bytes;
};

test('imports, globals, exports, names, nesting and locals', () => {
  const module = newModule();
  module.importMemory('memory', 1, 65536, true);
  const tick = module.importFunction('tick', { params: [], results: [] });
  const total = module.global('i64', 'total');
  const hidden = module.global('f32');
  const { code } = module.fn({ params: ['i32', 'i32'], results: ['i32'] }, 'run.me');
  const local = code.local('i32');
  code.local('v128');
  code.open('block');
  code.open('loop');
  code.at('call', tick);
  code.at('local.get', 0);
  code.at('br_if', 1);
  code.at('local.get', 1);
  code.table([0, 1], 1);
  code.end();
  code.end();
  code.at('local.get', 0);
  code.open('if', 'i32');
  code.at('global.get', total);
  code.op('i32.wrap_i64');
  code.else();
  code.at('local.get', 1);
  code.access('i32.load', 4, 16);
  code.end();
  code.at('local.tee', local);
  const helper = module.fn({ params: [], results: [] });
  helper.code.at('global.get', hidden);
  helper.code.op('drop');
  assert.equal(
    moduleText(valid(module), 'my kernel'),
    `(module $my_kernel
  (type (;0;) (func))
  (type (;1;) (func (param i32 i32) (result i32)))
  (import "env" "memory" (memory 1 65536 shared))
  (import "env" "tick" (func $tick (type 0)))
  (global $total (mut i64) (i64.const 0))
  (global $g1 (mut f32) (f32.const 0))
  (export "total" (global $total))
  (export "run.me" (func $run.me))
  (func $run.me (type 1) (param i32 i32) (result i32)
    (local i32 v128)
    block
      loop
        call $tick
        local.get 0
        br_if 1
        local.get 1
        br_table 0 1 1
      end
    end
    local.get 0
    if (result i32)
      global.get $total
      i32.wrap_i64
    else
      local.get 1
      i32.load offset=16 align=4
    end
    local.tee 2
  )
  (func $f2 (type 0)
    global.get $g1
    drop
  )
)
`,
  );
});

/** The instructions of one function, a line each. */
function linesOf(module: WasmModule): string[] {
  const text = moduleText(valid(module));
  return [...text.matchAll(/^ {4}(.*)$/gm)].map((match) => match[1]!);
}

test('constants are exact: signed integers, floats with their infinities and NaN payloads, vectors', () => {
  const module = newModule();
  const { code } = module.fn({ params: [], results: [] });
  for (const bits of [0x3dcccccd, 0x80000000, 0x7f800000, 0xff800000, 0x7fc00000, 0xffa00001, 0x00000001, 0x7f7fffff]) code.f32(bits);
  for (const bits of [0x3fb999999999999an, 0x8000000000000000n, 0xfff0000000000000n, 0x7ff0000000000123n, 0x1n]) code.f64(bits);
  code.i32(-2147483648);
  code.i32(64);
  code.i64(-9223372036854775808n);
  code.i64(0x7fffffffffffffffn);
  code.v128([1, 0x80000000, 3, -1]);
  code.v128([0, 0, 0, 0]);
  code.shuffle([0, 1, 2, 3, 16, 17, 18, 19, 8, 9, 10, 11, 28, 29, 30, 31]);
  code.op('unreachable');
  assert.equal(linesOf(module), [
    'f32.const 0.10000000149011612',
    'f32.const -0',
    'f32.const inf',
    'f32.const -inf',
    'f32.const nan:0x400000',
    'f32.const -nan:0x200001',
    'f32.const 1.401298464324817e-45',
    'f32.const 3.4028234663852886e+38',
    'f64.const 0.1',
    'f64.const -0',
    'f64.const -inf',
    'f64.const nan:0x123',
    'f64.const 5e-324',
    'i32.const -2147483648',
    'i32.const 64',
    'i64.const -9223372036854775808',
    'i64.const 9223372036854775807',
    'v128.const i32x4 0x00000001 0x80000000 0x00000003 0xffffffff',
    'v128.const i32x4 0x00000000 0x00000000 0x00000000 0x00000000',
    'i8x16.shuffle 0 1 2 3 16 17 18 19 8 9 10 11 28 29 30 31',
    'unreachable',
  ]);
});

test('a select of a type', () => {
  const module = newModule();
  const { code } = module.fn({ params: ['v128', 'i32'], results: ['v128'] });
  for (const param of [0, 0, 1]) code.at('local.get', param);
  code.choose('v128');
  assert.equal(linesOf(module).at(-1), 'select (result v128)');
});

test('a branch hint has no text', () => {
  const module = newModule();
  const { code } = module.fn({ params: ['i32'], results: [] });
  code.at('local.get', 0);
  code.openRare();
  code.end();
  assert.equal(linesOf(module), ['local.get 0', 'if', 'end']);
});

/** Bytes of an access, by the name of its instruction: an atomic one needs its natural alignment. */
const widthOf = (name: string): number => Number(/(?:load|store)(\d+)/.exec(name)?.[1] ?? /^.(\d+)/.exec(name)![1]) / 8;

test('every instruction of the tables has its text, which ends where its bytes end', () => {
  for (const [name, { immediate }] of instructions) {
    const module = newModule();
    module.importMemory('memory', 1, 2, true);
    module.global('i32');
    const { code } = module.fn({ params: ['i32'], results: [] });
    // After this one, operands have any type.
    code.op('unreachable');
    const align = name.includes('.atomic.') ? widthOf(name) : 1;
    if (hasImmediate(name, 'memory')) code.access(name, align, 300);
    else if (hasImmediate(name, 'memoryLane')) code.accessLane(name, align, 300, 1);
    else if (hasImmediate(name, 'lane')) code.lane(name, 1);
    else if (hasImmediate(name, 'index')) code.at(name, 0);
    else if (hasImmediate(name, 'none')) code.op(name);
    code.op('unreachable');
    const wanted = {
      none: name,
      index: name === 'call' ? 'call $f0' : name.startsWith('global.') ? `${name} $g0` : `${name} 0`,
      lane: `${name} 1`,
      memory: `${name} offset=300 align=${align}`,
      memoryLane: `${name} offset=300 align=${align} 1`,
    }[immediate];
    assert.equal(linesOf(module), ['unreachable', wanted, 'unreachable'], name);
  }
});

/** The bytes without custom sections. The sections of these modules are shorter than 2^28 bytes. */
function withoutCustomSections(bytes: Uint8Array): number[] {
  const kept = [...bytes.subarray(0, 8)];
  for (let at = 8; at < bytes.length; ) {
    let [end, size, shift] = [at + 1, 0, 0];
    do {
      size |= (bytes[end]! & 0x7f) << shift;
      shift += 7;
    } while (bytes[end++]! >= 0x80);
    if (bytes[at] !== 0) kept.push(...bytes.subarray(at, end + size));
    at = end + size;
  }
  return kept;
}

for (const example of ['vector_add', 'block_sum', 'matmul_tiled', 'scan', 'heat3d'])
  for (const block of [undefined, [64, 1, 1]] as const)
    test(`${example}, ${block ? 'SIMD' : 'scalar'}: the text holds the whole module`, () => {
      const diagnostics = new Diagnostics();
      const modules = moduleBytes(compileExample(example).metallib, diagnostics, block);
      assert.equal(messages(diagnostics), []);
      assert.ok(modules && modules.length > 0);
      for (const { bytes } of modules) {
        assert.ok(WebAssembly.validate(bytes as BufferSource));
        assert.equal([...assembleWat(moduleText(bytes))], withoutCustomSections(bytes));
      }
    });

test('bytes that this encoder does not write are a bug, not a text', () => {
  const module = newModule();
  module.fn({ params: [], results: [] }).code.op('nop');
  const bytes = module.finish();
  // Section 12 counts data segments.
  assert.throws(() => moduleText(new Uint8Array([...bytes, 12, 1, 1])), /section 12/);
  // 0x06 is `try` of the legacy exception handling; the last byte is the `end` of the body.
  assert.is(bytes.at(-2), 0x01);
  bytes[bytes.length - 2] = 0x06;
  assert.throws(() => moduleText(bytes), /opcode 6/);
});

test.run();
