/** Function constants: values by name or number, constructors that derive others from them, and conditional parameters. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type GivenConstant, reflectModule } from '../../src/air/index.ts';
import { bytesOfConstant } from '../../src/air/raise/function-constants.ts';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { readModule } from '../../src/bitcode/index.ts';
import { openCpuDevice } from '../../src/device/index.ts';
import { airBitcode, airLibrary, airModule, buffer } from '../support/air-text.ts';
import { need } from '../support/need.ts';

const test = suite('air function constants');

const initialized = 'internal unnamed_addr addrspace(2) externally_initialized constant';
const section = 'section "air.fc_initializer"';

/** A kernel as Apple's compiler writes it: constants of several types, of which one need not be given. */
const text = `${airModule(
  [buffer],
  `  %scale = load float, float addrspace(2)* @scale
  %word = fptosi float %scale to i32
  store i32 %word, i32 addrspace(1)* %p0, align 4
  %count = load i16, i16 addrspace(2)* @count
  %wide = sext i16 %count to i32
  %a1 = getelementptr i32, i32 addrspace(1)* %p0, i64 1
  store i32 %wide, i32 addrspace(1)* %a1, align 4
  %flag = load i8, i8 addrspace(2)* @flag_defined
  %flagword = zext i8 %flag to i32
  %a2 = getelementptr i32, i32 addrspace(1)* %p0, i64 2
  store i32 %flagword, i32 addrspace(1)* %a2, align 4
  %twice = load i32, i32 addrspace(2)* @sum
  %a3 = getelementptr i32, i32 addrspace(1)* %p0, i64 3
  store i32 %twice, i32 addrspace(1)* %a3, align 4`,
  `@scale.MTL_FC_INIT_3_f = ${initialized} float undef, ${section}, align 4
@count.MTL_FC_INIT_4_s = ${initialized} i16 undef, ${section}, align 2
@flag.MTL_FC_INIT_5_b = ${initialized} i8 undef, ${section}, align 1
@steps.MTL_FC_INIT_6_Dv3_j = ${initialized} <3 x i32> undef, ${section}, align 16
@scale = internal unnamed_addr addrspace(2) global float undef, align 4
@count = internal unnamed_addr addrspace(2) global i16 undef, align 2
@flag_defined = internal unnamed_addr addrspace(2) global i8 undef, align 1
@sum = internal unnamed_addr addrspace(2) global i32 undef, align 4
@llvm.global_ctors = appending global [1 x { i32, void ()*, i8* }] [{ i32, void ()*, i8* } { i32 65535, void ()* @init, i8* null }]
declare i1 @air.is_function_constant_defined(i8 addrspace(2)*)
declare i8 @air.normalize_function_constant_predicate.i8(i8)
define internal void @init() section "air.static_init" {
  %1 = load float, float addrspace(2)* @scale.MTL_FC_INIT_3_f
  store float %1, float addrspace(2)* @scale
  %2 = load i16, i16 addrspace(2)* @count.MTL_FC_INIT_4_s
  store i16 %2, i16 addrspace(2)* @count
  %3 = call i1 @air.is_function_constant_defined(i8 addrspace(2)* @flag.MTL_FC_INIT_5_b)
  %4 = load i8, i8 addrspace(2)* @flag.MTL_FC_INIT_5_b
  %5 = select i1 %3, i8 %4, i8 7
  store i8 %5, i8 addrspace(2)* @flag_defined
  %6 = load <3 x i32>, <3 x i32> addrspace(2)* @steps.MTL_FC_INIT_6_Dv3_j
  br label %loop
loop:
  %i = phi i32 [ 0, %0 ], [ %next, %loop ]
  %total = phi i32 [ 0, %0 ], [ %more, %loop ]
  %step = extractelement <3 x i32> %6, i32 %i
  %more = add i32 %total, %step
  %next = add i32 %i, 1
  %done = icmp eq i32 %next, 3
  br i1 %done, label %out, label %loop
out:
  store i32 %more, i32 addrspace(2)* @sum
  ret void
}`,
)}
!air.function_constants = !{!50, !51, !52, !53}
!50 = !{float addrspace(2)* @scale.MTL_FC_INIT_3_f, !"float", !"scale", i32 3, i1 true}
!51 = !{i16 addrspace(2)* @count.MTL_FC_INIT_4_s, !"short", !"count", i32 4, i1 true}
!52 = !{i8 addrspace(2)* @flag.MTL_FC_INIT_5_b, !"bool", !"flag", i32 5, i1 false}
!53 = !{<3 x i32> addrspace(2)* @steps.MTL_FC_INIT_6_Dv3_j, !"uint3", !"steps", i32 6, i1 true}
`;

/** The four result integers, or the diagnostics. */
function launched(metallib: Uint8Array, constants: readonly GivenConstant[], words = 4): number[] | string {
  const diagnostics = new Diagnostics();
  const device = openCpuDevice();
  const module = device.load(metallib, diagnostics, { constants });
  const out = device.allocate(4 * words, diagnostics)!;
  const shape = { grid: [1, 1, 1], block: [1, 1, 1], dynamicSharedBytes: 0, timeoutMs: 1000 } as const;
  const args = (module?.kernels[0]?.params ?? [{}]).map(() => ({ kind: 'buffer', buffer: out }) as const);
  const done = module?.launch({ kernel: 'k', ...shape, args }, diagnostics);
  return done ? [...new Int32Array(out.read().buffer)] : diagnostics.list.map((d) => `${d.code} ${d.message}`).join('; ');
}

const given = (...pairs: [GivenConstant['constant'], GivenConstant['value']][]): GivenConstant[] =>
  pairs.map(([constant, value]) => ({ constant, value }));

need(test, ['llvm-as-14'], 'by name and by number, with what the constructor makes of them', () => {
  const metallib = airLibrary(text);
  assert.equal(launched(metallib, given(['scale', 41.5], [4, -3n], ['steps', [10, 20n, 12]])), [41, -3, 7, 42]);
  assert.equal(launched(metallib, given([3, 2], ['count', 9], ['flag', true], [6, [1, 1, 1]])), [2, 9, 1, 3]);
});

need(test, ['llvm-as-14'], 'what is missing, unknown, or not of its type is said', () => {
  const metallib = airLibrary(text);
  const rest = given(['count', 1], ['steps', [1, 2, 3]]);
  assert.is(launched(metallib, rest), 'CM4054 kernel `k` needs a value for its function constant `scale`, float, number 3');
  assert.is(
    launched(metallib, [...rest, ...given(['scale', 1], ['size', 1])]),
    'CM4056 no kernel of the library has a function constant `size`',
  );
  const wrong = (...pair: [string, GivenConstant['value']]): string =>
    String(launched(metallib, [...given(['scale', 1]), ...rest, ...given(pair)]));
  assert.match(wrong('count', 40_000), /^CM4055 .*`count` of type short: .*from -32768 to 32767/);
  assert.match(wrong('count', 1.5), /^CM4055 .*an integer/);
  assert.match(wrong('flag', 2), /^CM4055 .*`true` or `false`/);
  assert.match(wrong('steps', [1, 2]), /^CM4055 .*3 values, but 2/);
  assert.match(wrong('scale', true), /^CM4055 .*a number/);
});

test('integers from the least to the most of their type, and no others', () => {
  for (const [name, bits] of Object.entries({ char: 8, short: 16, int: 32, long: 64 })) {
    const half = 1n << BigInt(bits - 1);
    for (const [type, least] of [
      [name, -half],
      [`u${name}`, 0n],
    ] as const) {
      const bytesOf = (value: bigint): string => {
        const bytes = bytesOfConstant(type, value);
        return 'why' in bytes ? bytes.why : Buffer.from(bytes).reverse().toString('hex');
      };
      const most = least + 2n * half - 1n;
      for (const value of [least, least + 1n, 1n, most])
        assert.is(
          bytesOf(value),
          BigInt.asUintN(bits, value)
            .toString(16)
            .padStart(bits / 4, '0'),
          `${type} ${value}`,
        );
      for (const value of [least - 1n, most + 1n]) assert.is(bytesOf(value), `it must be from ${least} to ${most}`, type);
    }
  }
  for (const type of ['constructor', 'valueof']) assert.equal(bytesOfConstant(type, 1), { why: 'values of that type are not supported' });
  assert.equal(bytesOfConstant('float', 1.5), Uint8Array.of(0, 0, 0xc0, 0x3f));
  assert.equal(bytesOfConstant('half', -2), Uint8Array.of(0, 0xc0));
  assert.equal(bytesOfConstant('bfloat', 1), Uint8Array.of(0x80, 0x3f));
  assert.equal(bytesOfConstant('ushort3', [1, 258, 65535]), Uint8Array.of(1, 0, 2, 1, 0xff, 0xff));
});

need(test, ['llvm-as-14'], 'they are described without any being given', () => {
  const [kernel] = reflectModule(readModule(airBitcode(text), new Diagnostics())!, new Diagnostics());
  assert.equal(kernel!.constants, [
    { name: 'scale', type: 'float', index: 3, isRequired: true },
    { name: 'count', type: 'short', index: 4, isRequired: true },
    { name: 'flag', type: 'bool', index: 5, isRequired: false },
    { name: 'steps', type: 'uint3', index: 6, isRequired: true },
  ]);
});

need(test, ['llvm-as-14'], 'a parameter is there where its condition holds', () => {
  const body = `  store i32 5, i32 addrspace(1)* %p0, align 4
  %on = load i8, i8 addrspace(2)* @pred
  %is = icmp ne i8 %on, 0
  br i1 %is, label %there, label %end
there:
  %last = getelementptr i32, i32 addrspace(1)* %p1, i64 3
  store i32 6, i32 addrspace(1)* %last, align 4
  br label %end
end:`;
  const conditional = airModule(
    [buffer, buffer],
    body,
    `@on.MTL_FC_INIT_0_b = ${initialized} i8 undef, ${section}, align 1
@pred = internal addrspace(2) global i8 0, align 1
@llvm.global_ctors = appending global [1 x { i32, void ()*, i8* }] [{ i32, void ()*, i8* } { i32 65535, void ()* @init, i8* null }]
declare i8 @air.normalize_function_constant_predicate.i8(i8)
define internal void @init() section "air.static_init" {
  %1 = load i8, i8 addrspace(2)* @on.MTL_FC_INIT_0_b
  %2 = call i8 @air.normalize_function_constant_predicate.i8(i8 %1)
  store i8 %2, i8 addrspace(2)* @pred
  ret void
}
!air.function_constants = !{!50}
!50 = !{i8 addrspace(2)* @on.MTL_FC_INIT_0_b, !"bool", !"on", i32 0, i1 true}
!51 = !{i8 addrspace(2)* @pred, !"bool", !"on"}`,
  ).replace('!11 = !{i32 1, !"air.buffer"', '!11 = !{i32 1, !"air.function_constant", !51, !"air.buffer"');
  const metallib = airLibrary(conditional);
  assert.equal(launched(metallib, given(['on', true])), [5, 0, 0, 6]);
  assert.equal(launched(metallib, given(['on', false])), [5, 0, 0, 0]);
});

test.run();
