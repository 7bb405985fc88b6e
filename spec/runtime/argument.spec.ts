import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { elementTypes, parseArgument } from '../../src/runtime/index.ts';

const test = suite('runtime/argument');

const good: [spec: string, argument: object][] = [
  ['f32:1024', { kind: 'buffer', element: 'f32', shape: [1024], init: { kind: 'zeros' } }],
  ['f32:32x32', { kind: 'buffer', element: 'f32', shape: [32, 32], init: { kind: 'zeros' } }],
  ['f32:2x3x4=iota', { kind: 'buffer', element: 'f32', shape: [2, 3, 4], init: { kind: 'iota' } }],
  ['u8:7=ones', { kind: 'buffer', element: 'u8', shape: [7], init: { kind: 'ones' } }],
  ['f32:1024=fill(2.5)', { kind: 'buffer', element: 'f32', shape: [1024], init: { kind: 'fill', value: 2.5 } }],
  ['i16:4=fill(-3)', { kind: 'buffer', element: 'i16', shape: [4], init: { kind: 'fill', value: -3 } }],
  ['u64:4=fill(0xffffffffffffffff)', { kind: 'buffer', element: 'u64', shape: [4], init: { kind: 'fill', value: 2n ** 64n - 1n } }],
  ['f32:4=rand', { kind: 'buffer', element: 'f32', shape: [4], init: { kind: 'rand', seed: 0n } }],
  ['f32:4=rand(7)', { kind: 'buffer', element: 'f32', shape: [4], init: { kind: 'rand', seed: 7n } }],
  ['f16=1.5,2', { kind: 'buffer', element: 'f16', shape: [2], init: { kind: 'values', values: [1.5, 2] } }],
  ['f32=nan,-inf,0x1p4', { kind: 'buffer', element: 'f32', shape: [3], init: { kind: 'values', values: [Number.NaN, -Infinity, 16] } }],
  ['i64:2x2=1,-2,3,0x4', { kind: 'buffer', element: 'i64', shape: [2, 2], init: { kind: 'values', values: [1n, -2n, 3n, 4n] } }],
  ['u8:1=7', { kind: 'buffer', element: 'u8', shape: [1], init: { kind: 'values', values: [7] } }],
  ['f32@a.npy', { kind: 'file', element: 'f32', path: 'a.npy' }],
  ['u8@dir/a=b:c.bin', { kind: 'file', element: 'u8', path: 'dir/a=b:c.bin' }],
  ['i32=1024', { kind: 'scalar', element: 'i32', value: 1024 }],
  ['i32=-1', { kind: 'scalar', element: 'i32', value: -1 }],
  ['i32=0xffffffff', { kind: 'scalar', element: 'i32', value: -1 }],
  ['f32=0.5', { kind: 'scalar', element: 'f32', value: 0.5 }],
  ['f64=-1e-300', { kind: 'scalar', element: 'f64', value: -1e-300 }],
  ['f32=-inf', { kind: 'scalar', element: 'f32', value: Number.NEGATIVE_INFINITY }],
  ['f32=nan', { kind: 'scalar', element: 'f32', value: Number.NaN }],
  ['f64=0x1.8p3', { kind: 'scalar', element: 'f64', value: 12 }],
  ['u64=0xff', { kind: 'scalar', element: 'u64', value: 255n }],
  ['i64=-9223372036854775808', { kind: 'scalar', element: 'i64', value: -(2n ** 63n) }],
  ['bytes@params.bin', { kind: 'bytes', path: 'params.bin' }],
];
for (const [spec, argument] of good) {
  test(spec, () => {
    const diagnostics = new Diagnostics();
    assert.equal(parseArgument(spec, diagnostics), { label: spec, ...argument });
    assert.is(diagnostics.list.length, 0);
  });
}

test('every element type of the contract is known', () => {
  assert.equal(elementTypes, ['u8', 'i8', 'u16', 'i16', 'f16', 'bf16', 'u32', 'i32', 'f32', 'u64', 'i64', 'f64']);
});

const bad: [spec: string, words: RegExp][] = [
  ['f32', /`:SHAPE`, `=VALUE` or `@FILE`/],
  ['', /must follow the element type/],
  ['f33:4', /`f33` is not an element type, did you mean `f32`/],
  ['float:4', /is not an element type \(u8 i8/],
  ['f32:0', /`0` is not a shape/],
  ['f32:', /`` is not a shape/],
  ['f32:3x', /`3x` is not a shape/],
  ['f32:-4', /is not a shape/],
  ['f32:1e3', /is not a shape/],
  ['f32:99999999999999', /larger than 1 TiB/],
  ['f32:4=random', /`random` is not one of/],
  ['f32:4=fill()', /`` is not a number/],
  ['u8:4=fill(256)', /256 does not fit in u8 \(0 to 255\)/],
  ['f32:4=rand(1.5)', /`1.5` is not an integer/],
  ['u32=-1', /-1 does not fit in u32/],
  ['u8=0x100', /does not fit in u8/],
  ['i32=2147483648', /does not fit in i32/],
  ['i32=1.5', /`1.5` is not an integer/],
  ['i32=', /is not an integer/],
  ['f32=0xff', /could be a value or bits/],
  ['f32=one', /`one` is not a number/],
  ['f16=1.5,', /`` is not a number/],
  ['u8=1,300', /300 does not fit in u8 \(0 to 255\)/],
  ['u8=300', /300 does not fit in u8 \(0 to 255\)/],
  ['u8:2=1,2,3', /2 elements have 3 values/],
  ['u8:4=5', /4 elements have 1 values; `fill\(V\)` gives all elements one value/],
  ['f32=constructor', /`constructor` is not a number/],
  ['f32=__proto__', /`__proto__` is not a number/],
  ['f32:4=fill(__proto__)', /`__proto__` is not a number/],
  ['f32:4=toString', /`toString` is not one of/],
  ['constructor:4', /`constructor` is not an element type/],
  ['f32@', /a file name must follow/],
  ['bytes=3', /`bytes` needs a file/],
];
for (const [spec, words] of bad) {
  test(`refused: ${spec}`, () => {
    const diagnostics = new Diagnostics();
    assert.is(parseArgument(spec, diagnostics), undefined);
    assert.is(diagnostics.list[0]!.code, 'CM5010');
    assert.match(diagnostics.list[0]!.message, words);
  });
}

test.run();
